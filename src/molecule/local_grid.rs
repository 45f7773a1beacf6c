//! A uniform grid over the atoms of one molecule, in its body frame.
//!
//! After Turk (*Interactive Collision Detection for Molecular Graphics*, 1989), who puts each
//! atom into all cells that it falls within. Here each is in the cell of its center:
//! 1. a cell is at least as wide as the diameter of the largest atom,
//! 2. so an atom that touches a ball no larger than the atoms is in one of the 27 cells around
//!    the center of the ball;
//! 3. atoms are counting-sorted by cell, x fastest, so these 27 cells are nine contiguous ranges;
//! 4. a flag per cell says whether any of its 27 neighbors has an atom, which rejects most balls.
//!
//! The grid is built once per template and shared by all its molecules.

use std::ops::{ControlFlow, Range};

use glam::{IVec3, Vec3};

/// Width of a cell in units of the largest radius.
///
/// Two is the diameter. The remaining quarter is for the prediction distance: balls of atom size
/// enlarged by it still need only 27 cells.
const CELL_WIDTH: f32 = 2.25;

/// Maximum number of cells per atom; beyond it cells become wider.
///
/// A protein has about two; a few atoms in a huge box would need millions.
const MAX_CELLS_PER_ATOM: f64 = 64.0;

/// Factor of squared reaches that allows for rounding.
const ROUNDED_REACH: f32 = 1.001;

/// Rounding error of the face of a cell relative to the largest coordinate.
const FACE_ROUNDING: f32 = 8.0 * f32::EPSILON;

/// An atom in a [`LocalGrid`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridAtom {
    /// Center in the body frame, nm.
    pub center: Vec3,
    /// Radius, nm.
    pub radius: f32,
    /// Index in the template.
    pub index: u32,
}

impl GridAtom {
    /// Whether the atom touches or overlaps the ball at `center` with `radius` (body frame, nm).
    /// A negative radius tests whether the center is that deep inside the atom.
    #[inline]
    fn touches(&self, center: Vec3, radius: f32) -> bool {
        let sum = self.radius + radius;
        sum >= 0.0 && self.center.distance_squared(center) <= sum * sum
    }
}

/// A uniform grid over the atoms of one molecule, in its body frame.
#[derive(Clone, Debug)]
pub struct LocalGrid {
    /// Corner of the first cell, nm. The outermost cells on all sides are empty.
    low: Vec3,
    cell_width: f32,
    inverse_cell_width: f32,
    cell_counts: IVec3,
    /// Index in `atoms` of the first atom of each cell, and the number of atoms at the end.
    starts: Vec<u32>,
    /// Whether any of the 27 cells around each cell has an atom.
    has_neighbors: Vec<bool>,
    atoms: Vec<GridAtom>,
    largest_radius: f32,
    /// Rounding error of the faces of cells, nm.
    face_error: f32,
}

impl LocalGrid {
    /// Sorts atoms with `positions` and `radii`, nm, into cells.
    ///
    /// Positions must be finite and radii positive, as in every
    /// [`MoleculeTemplate`](super::MoleculeTemplate).
    ///
    /// # Panics
    /// If there are fewer radii than positions, but not none.
    #[must_use]
    pub fn new(positions: &[Vec3], radii: &[f32]) -> Self {
        let largest_radius = radii.iter().copied().fold(0.0, f32::max);
        let mut grid = Self {
            low: Vec3::ZERO,
            cell_width: 1.0,
            inverse_cell_width: 1.0,
            cell_counts: IVec3::ZERO,
            starts: vec![0],
            has_neighbors: Vec::new(),
            atoms: Vec::new(),
            largest_radius,
            face_error: 0.0,
        };
        if positions.is_empty() || radii.is_empty() {
            return grid;
        }
        let low = positions.iter().copied().fold(Vec3::INFINITY, Vec3::min);
        let high = positions
            .iter()
            .copied()
            .fold(Vec3::NEG_INFINITY, Vec3::max);
        grid.choose_cells(low, high, positions.len());
        grid.sort(positions, radii);
        grid.face_error = FACE_ROUNDING * low.abs().max(high.abs()).max_element();
        grid.flag_neighbors();
        grid
    }

    /// Chooses the cells for atom centers between `low` and `high`.
    fn choose_cells(&mut self, low: Vec3, high: Vec3, atoms: usize) {
        let max_cells = 1024.0 + MAX_CELLS_PER_ATOM * atoms as f64;
        self.cell_width = (CELL_WIDTH * self.largest_radius).max(f32::MIN_POSITIVE);
        // One cell for the last atom and one border cell on either side.
        let counts = |width: f32| ((high - low) * (1.0 / width)).floor().as_dvec3() + 3.0;
        while counts(self.cell_width).element_product() > max_cells {
            self.cell_width *= 1.25;
        }
        self.cell_counts = counts(self.cell_width).as_ivec3();
        self.inverse_cell_width = 1.0 / self.cell_width;
        self.low = low - self.cell_width;
    }

    /// Counting sort of the atoms by cell; atoms of a cell keep their order.
    fn sort(&mut self, positions: &[Vec3], radii: &[f32]) {
        let cells = self
            .cell_counts
            .to_array()
            .map(|n| n as usize)
            .iter()
            .product::<usize>();
        let cell_of: Vec<usize> = positions
            .iter()
            .map(|&position| {
                // Rounding must not put an atom into a border cell.
                let cell = self.cell_at(position);
                self.cell_index(cell.clamp(IVec3::ONE, self.cell_counts - 2))
            })
            .collect();
        self.starts = vec![0; cells + 1];
        for &cell in &cell_of {
            self.starts[cell + 1] += 1;
        }
        for cell in 0..cells {
            self.starts[cell + 1] += self.starts[cell];
        }
        let mut next = self.starts.clone();
        let placeholder = GridAtom {
            center: Vec3::ZERO,
            radius: 0.0,
            index: 0,
        };
        self.atoms = vec![placeholder; cell_of.len()];
        for (index, &cell) in cell_of.iter().enumerate() {
            self.atoms[next[cell] as usize] = GridAtom {
                center: positions[index],
                radius: radii[index],
                index: index as u32,
            };
            next[cell] += 1;
        }
    }

    /// Flags each cell with an atom in one of the 27 cells around it.
    fn flag_neighbors(&mut self) {
        self.has_neighbors = vec![false; self.starts.len() - 1];
        for z in 1..self.cell_counts.z - 1 {
            for y in 1..self.cell_counts.y - 1 {
                for x in 1..self.cell_counts.x - 1 {
                    let cell = self.cell_index(IVec3::new(x, y, z));
                    if self.starts[cell] == self.starts[cell + 1] {
                        continue;
                    }
                    for (dz, dy) in (-1..=1).flat_map(|dz| (-1..=1).map(move |dy| (dz, dy))) {
                        let first = self.cell_index(IVec3::new(x - 1, y + dy, z + dz));
                        self.has_neighbors[first..first + 3].fill(true);
                    }
                }
            }
        }
    }

    /// Largest radius of any atom, nm; 0 without atoms.
    #[must_use]
    pub fn largest_radius(&self) -> f32 {
        self.largest_radius
    }

    /// How much a ball of `radius` nm may be enlarged, nm, so that a query visits only the 27
    /// cells around its center; at least 0.
    pub(crate) fn quick_margin(&self, radius: f32) -> f32 {
        (self.cell_width - self.largest_radius - radius).max(0.0)
    }

    /// Visits every atom that touches or overlaps the ball at `center` with `radius` (body
    /// frame, nm) until `visit` breaks.
    ///
    /// A negative radius finds atoms with the center that deep inside.
    #[inline]
    pub fn visit_touching<B>(
        &self,
        center: Vec3,
        radius: f32,
        mut visit: impl FnMut(&GridAtom) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let reach = radius + self.largest_radius;
        if reach <= self.cell_width {
            let cell = self.cell_at(center);
            let inside = cell.cmpge(IVec3::ZERO).all() && cell.cmplt(self.cell_counts).all();
            if !(inside && self.has_neighbors[self.cell_index(cell)]) {
                return ControlFlow::Continue(());
            }
        }
        let (low, high) = self.range(center - reach, center + reach);
        if low.x > high.x {
            return ControlFlow::Continue(());
        }
        let max_distance = reach + self.face_error;
        let max_distance_squared = ROUNDED_REACH * max_distance * max_distance;
        for z in low.z..=high.z {
            let dz = self.distance_to_cell(center.z - self.low.z, z);
            for y in low.y..=high.y {
                let dy = self.distance_to_cell(center.y - self.low.y, y);
                if dy * dy + dz * dz > max_distance_squared {
                    continue;
                }
                for atom in &self.atoms[self.row(low.x, high.x, y, z)] {
                    if atom.touches(center, radius) {
                        visit(atom)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// First and last cell of a box, nm; no cells if the first is beyond the last.
    #[inline]
    fn range(&self, low: Vec3, high: Vec3) -> (IVec3, IVec3) {
        (
            self.cell_at(low).clamp(IVec3::ZERO, self.cell_counts),
            self.cell_at(high)
                .clamp(IVec3::NEG_ONE, self.cell_counts - 1),
        )
    }

    /// Distance of a coordinate, relative to the first cell, from a cell along one axis, nm.
    #[inline]
    fn distance_to_cell(&self, coordinate: f32, cell: i32) -> f32 {
        let start = cell as f32 * self.cell_width;
        (start - coordinate)
            .max(coordinate - start - self.cell_width)
            .max(0.0)
    }

    /// Range in `atoms` of the cells from `low` to `high` of a row.
    #[inline]
    fn row(&self, low: i32, high: i32, y: i32, z: i32) -> Range<usize> {
        let first = self.cell_index(IVec3::new(low, y, z));
        let next = first + (high - low + 1) as usize;
        self.starts[first] as usize..self.starts[next] as usize
    }

    /// The cell of a point, which may be outside the grid; saturates far away.
    ///
    /// Rounds towards zero, which is faster than rounding down. Points less than a cell before
    /// the first cell are assigned to it, which is harmless because it is empty.
    #[inline]
    fn cell_at(&self, point: Vec3) -> IVec3 {
        ((point - self.low) * self.inverse_cell_width).as_ivec3()
    }

    /// Index of a cell of the grid, x fastest.
    #[inline]
    fn cell_index(&self, cell: IVec3) -> usize {
        let [x, y, z] = cell.to_array().map(|k| k as usize);
        let [nx, ny] = [self.cell_counts.x, self.cell_counts.y].map(|k| k as usize);
        (z * ny + y) * nx + x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ControlFlow::Break;

    #[test]
    fn sparse_atoms_do_not_need_millions_of_cells() {
        let grid = LocalGrid::new(&[Vec3::splat(-1.0e5), Vec3::splat(1.0e5)], &[0.1, 0.1]);
        assert!(grid.has_neighbors.len() < 2000);
        let found = grid.visit_touching(Vec3::splat(1.0e5), 0.1, |atom| Break(atom.index));
        assert_eq!(found, Break(1));
    }
}
