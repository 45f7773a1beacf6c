//! Cells over the atoms of one molecule, in its body frame.
//!
//! Turk's grid (*Interactive Collision Detection for Molecular Graphics*, 1989):
//! 1. a cell is at least as wide as the largest atom's diameter,
//! 2. so an atom that touches a ball no larger than the atoms is in one of the 27
//!    cells around the ball's center;
//! 3. atoms are counting-sorted by cell, x fastest, so that those 27 cells are nine
//!    contiguous ranges;
//! 4. one flag a cell says whether any of its 27 has an atom: most balls are turned
//!    away by that flag alone.
//!
//! The grid is built once for a template and shared by all its molecules.

use std::ops::{ControlFlow, Range};

use glam::{IVec3, Vec3};

/// Width of a cell in units of the largest radius.
///
/// Two is the diameter. The quarter more is the margin inside which contacts are
/// predicted: balls of atom size enlarged by it still need 27 cells only.
const CELL_WIDTH: f32 = 2.25;

/// Width of the cells for atoms with this largest radius, nm.
pub(super) fn cell_width(largest_radius: f32) -> f32 {
    (CELL_WIDTH * largest_radius).max(f32::MIN_POSITIVE)
}

/// Most cells for each atom before cells are made wider than they need to be.
///
/// A protein has about two; a few atoms at the far ends of a huge box would need
/// millions.
const MOST_CELLS_PER_ATOM: f64 = 64.0;

/// How much further than squared reaches rows of cells are looked at: numbers are rounded.
const ROUNDED_REACH: f32 = 1.001;

/// Error of the face of a cell in units of the largest coordinate: some roundings.
const FACE_ROUNDING: f32 = 8.0 * f32::EPSILON;

/// One atom as the grid stores it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridAtom {
    /// Center in the body frame, nm.
    pub center: Vec3,
    /// Radius, nm.
    pub radius: f32,
    /// Index of the atom in its template.
    pub index: u32,
}

impl GridAtom {
    /// Whether it touches or overlaps the ball at `center` with `radius`, both in the body
    /// frame, nm; with a negative radius, whether the center lies that deep in it.
    #[inline]
    pub(super) fn touches(&self, center: Vec3, radius: f32) -> bool {
        let sum = self.radius + radius;
        sum >= 0.0 && self.center.distance_squared(center) <= sum * sum
    }
}

/// Cells over the atoms of one molecule, in its body frame.
///
/// ```
/// use std::ops::ControlFlow;
/// use bevy_rapier_molecules::molecule::LocalGrid;
/// use bevy_rapier_molecules::prelude::*;
///
/// let protein = load("assets/molecules/1ubq.cif", &LoadOptions::default())?;
/// let grid = LocalGrid::new(protein.positions(), protein.radii());
/// let mut touched = Vec::new();
/// let _ = grid.visit_touching(protein.positions()[7], 0.05, |atom| {
///     touched.push(atom.index);
///     ControlFlow::<()>::Continue(())
/// });
/// assert!(touched.contains(&7) && touched.len() < 10, "itself, and what it is bound to");
/// # Ok::<(), bevy_rapier_molecules::molecule::MoleculeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LocalGrid {
    /// Corner of the first cell, nm; the outermost cells are empty all round.
    low: Vec3,
    cell: f32,
    /// One over the width of a cell, 1/nm.
    inverse_cell: f32,
    counts: IVec3,
    /// First atom of each cell in `atoms`, and one past the last atom at the end.
    starts: Vec<u32>,
    /// For each cell whether one of the 27 cells around it has an atom.
    near: Vec<bool>,
    atoms: Vec<GridAtom>,
    largest_radius: f32,
    /// How far faces of cells may be from where they should be, nm.
    rounding: f32,
}

impl LocalGrid {
    /// Sorts atoms with `positions` and `radii`, nm, into cells.
    ///
    /// Positions must be finite and radii positive, as those of every
    /// [`MoleculeTemplate`](super::MoleculeTemplate) are. No atoms make a grid that
    /// finds nothing.
    ///
    /// # Panics
    /// If there are some radii, but fewer than positions.
    #[must_use]
    pub fn new(positions: &[Vec3], radii: &[f32]) -> Self {
        let largest_radius = radii.iter().copied().fold(0.0, f32::max);
        let mut grid = Self {
            low: Vec3::ZERO,
            cell: 1.0,
            inverse_cell: 1.0,
            counts: IVec3::ZERO,
            starts: vec![0],
            near: Vec::new(),
            atoms: Vec::new(),
            largest_radius,
            rounding: 0.0,
        };
        if positions.is_empty() || radii.is_empty() {
            return grid;
        }
        let low = positions.iter().copied().fold(Vec3::INFINITY, Vec3::min);
        let high = positions
            .iter()
            .copied()
            .fold(Vec3::NEG_INFINITY, Vec3::max);
        grid.lay_out(low, high, positions.len());
        grid.sort(positions, radii);
        grid.rounding = FACE_ROUNDING * low.abs().max(high.abs()).max_element();
        grid.flag();
        grid
    }

    /// Chooses the cells for atom centers between `low` and `high`.
    fn lay_out(&mut self, low: Vec3, high: Vec3, atoms: usize) {
        let most = 1024.0 + MOST_CELLS_PER_ATOM * atoms as f64;
        self.cell = cell_width(self.largest_radius);
        // One cell for the last atom and one border cell on either side.
        let counts = |cell: f32| ((high - low) * (1.0 / cell)).floor().as_dvec3() + 3.0;
        while counts(self.cell).element_product() > most {
            self.cell *= 1.25;
        }
        self.counts = counts(self.cell).as_ivec3();
        self.inverse_cell = 1.0 / self.cell;
        self.low = low - self.cell;
    }

    /// Counting sort of the atoms by cell; inside a cell they keep their order.
    fn sort(&mut self, positions: &[Vec3], radii: &[f32]) {
        let cells = self
            .counts
            .to_array()
            .map(|n| n as usize)
            .iter()
            .product::<usize>();
        let cell_of: Vec<usize> = positions
            .iter()
            .map(|&position| {
                // Rounding must not put an atom into the border.
                self.number(self.cell_at(position).clamp(IVec3::ONE, self.counts - 2))
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
        let nothing = GridAtom {
            center: Vec3::ZERO,
            radius: 0.0,
            index: 0,
        };
        self.atoms = vec![nothing; cell_of.len()];
        for (index, &cell) in cell_of.iter().enumerate() {
            self.atoms[next[cell] as usize] = GridAtom {
                center: positions[index],
                radius: radii[index],
                index: index as u32,
            };
            next[cell] += 1;
        }
    }

    /// Sets the flag of each cell that has an atom in one of the 27 cells around it.
    fn flag(&mut self) {
        self.near = vec![false; self.starts.len() - 1];
        for z in 1..self.counts.z - 1 {
            for y in 1..self.counts.y - 1 {
                for x in 1..self.counts.x - 1 {
                    let cell = self.number(IVec3::new(x, y, z));
                    if self.starts[cell] == self.starts[cell + 1] {
                        continue;
                    }
                    for (dz, dy) in (-1..=1).flat_map(|dz| (-1..=1).map(move |dy| (dz, dy))) {
                        let first = self.number(IVec3::new(x - 1, y + dy, z + dz));
                        self.near[first..first + 3].fill(true);
                    }
                }
            }
        }
    }

    /// Largest radius of any atom, nm; zero without atoms.
    #[must_use]
    pub fn largest_radius(&self) -> f32 {
        self.largest_radius
    }

    /// How much a ball of `radius` nm may be enlarged, nm, so that only the 27 cells
    /// around its center are looked at; zero at least.
    #[must_use]
    pub(crate) fn quick_margin(&self, radius: f32) -> f32 {
        (self.cell - self.largest_radius - radius).max(0.0)
    }

    /// All atoms, sorted by cell.
    #[must_use]
    pub fn atoms(&self) -> &[GridAtom] {
        &self.atoms
    }

    /// Visits every atom that touches or overlaps the ball at `center` with `radius`,
    /// both in the body frame, nm, until `visit` breaks.
    ///
    /// A negative radius finds atoms in which the center lies that deep.
    #[inline]
    pub fn visit_touching<B>(
        &self,
        center: Vec3,
        radius: f32,
        mut visit: impl FnMut(&GridAtom) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let reach = radius + self.largest_radius;
        if reach <= self.cell {
            let cell = self.cell_at(center);
            let inside = cell.cmpge(IVec3::ZERO).all() && cell.cmplt(self.counts).all();
            if !(inside && self.near[self.number(cell)]) {
                return ControlFlow::Continue(());
            }
        }
        let (low, high) = self.range(center - reach, center + reach);
        if low.x > high.x {
            return ControlFlow::Continue(());
        }
        // Plain loops: a user moves a molecule while thousands of atoms look around here.
        let furthest = reach + self.rounding;
        let furthest = ROUNDED_REACH * furthest * furthest;
        for z in low.z..=high.z {
            let dz = self.outside(center.z - self.low.z, z);
            for y in low.y..=high.y {
                let dy = self.outside(center.y - self.low.y, y);
                if dy * dy + dz * dz > furthest {
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

    /// Visits every atom whose center lies in the box from `low` to `high`, nm, and
    /// some around it.
    pub(crate) fn visit_in_box(&self, low: Vec3, high: Vec3, mut visit: impl FnMut(&GridAtom)) {
        let (low, high) = self.range(low, high);
        if low.x > high.x {
            return;
        }
        for z in low.z..=high.z {
            for y in low.y..=high.y {
                let row = self.row(low.x, high.x, y, z);
                self.atoms[row].iter().for_each(&mut visit);
            }
        }
    }

    /// First and last cells of a box, nm; there are none if the first is beyond the last.
    #[inline]
    fn range(&self, low: Vec3, high: Vec3) -> (IVec3, IVec3) {
        (
            self.cell_at(low).clamp(IVec3::ZERO, self.counts),
            self.cell_at(high).clamp(IVec3::NEG_ONE, self.counts - 1),
        )
    }

    /// How far a coordinate, counted from the first cell, is outside a cell along one
    /// axis, nm.
    #[inline]
    fn outside(&self, coordinate: f32, cell: i32) -> f32 {
        let start = cell as f32 * self.cell;
        (start - coordinate)
            .max(coordinate - start - self.cell)
            .max(0.0)
    }

    /// Range of `atoms` in the cells from `low` to `high` of a row.
    #[inline]
    fn row(&self, low: i32, high: i32, y: i32, z: i32) -> Range<usize> {
        let first = self.number(IVec3::new(low, y, z));
        let next = first + (high - low + 1) as usize;
        self.starts[first] as usize..self.starts[next] as usize
    }

    /// The cell of a point, which may lie outside of the grid. Saturates far away.
    ///
    /// Rounds towards zero, which many processors do faster than down: what lies less than
    /// a cell before the first cell is taken for part of it, and that one is empty.
    #[inline]
    fn cell_at(&self, point: Vec3) -> IVec3 {
        ((point - self.low) * self.inverse_cell).as_ivec3()
    }

    /// Number of a cell inside of the grid, x fastest.
    #[inline]
    fn number(&self, cell: IVec3) -> usize {
        let [x, y, z] = cell.to_array().map(|k| k as usize);
        let [nx, ny] = [self.counts.x, self.counts.y].map(|k| k as usize);
        (z * ny + y) * nx + x
    }
}

#[cfg(test)]
pub(super) mod tests {
    use rand::{Rng, RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    /// Someone who looks at atoms.
    type Visitor<'a> = &'a mut dyn FnMut(&GridAtom) -> ControlFlow<()>;

    /// Indices of the atoms that `look` shows to a visitor, in rising order.
    pub fn seen(look: impl FnOnce(Visitor<'_>) -> ControlFlow<()>) -> Vec<u32> {
        let mut found = Vec::new();
        let _ = look(&mut |atom| {
            found.push(atom.index);
            ControlFlow::Continue(())
        });
        found.sort_unstable();
        found
    }

    pub fn touching(grid: &LocalGrid, center: Vec3, radius: f32) -> Vec<u32> {
        seen(|visitor| grid.visit_touching(center, radius, visitor))
    }

    fn brute(positions: &[Vec3], radii: &[f32], center: Vec3, radius: f32) -> Vec<u32> {
        (0..positions.len())
            .filter(|&k| {
                let sum = radii[k] + radius;
                sum >= 0.0 && positions[k].distance_squared(center) <= sum * sum
            })
            .map(|k| k as u32)
            .collect()
    }

    pub fn point(random: &mut impl Rng, side: f32) -> Vec3 {
        Vec3::from_array([(); 3].map(|()| random.random_range(-side..side)))
    }

    /// Numbers of atoms, and half the sides of the cubes that they are in, nm.
    pub const CUBES: [(usize, f32); 5] =
        [(1, 0.1), (2, 5.0), (100, 0.5), (100, 20.0), (10_000, 3.0)];

    /// Atoms of 0.1 nm on the faces of cells, and three in one place.
    pub fn on_cell_faces() -> Vec<Vec3> {
        (0..27)
            .map(|k| Vec3::new((k % 3) as f32, (k / 3 % 3) as f32, (k / 9) as f32) * 0.225)
            .chain([Vec3::ZERO; 3])
            .collect()
    }

    #[test]
    fn finds_what_brute_force_finds() {
        let mut random = Pcg64::seed_from_u64(7);
        for (count, side) in CUBES {
            let positions: Vec<Vec3> = (0..count).map(|_| point(&mut random, side)).collect();
            let radii: Vec<f32> = (0..count).map(|_| random.random_range(0.05..0.2)).collect();
            let grid = LocalGrid::new(&positions, &radii);
            assert_eq!(grid.atoms().len(), count);
            for query in 0..200 {
                let center = point(&mut random, 1.3 * side);
                let radius = [0.0, -0.05, 0.12, 0.25, 1.5, 100.0][query % 6];
                assert_eq!(
                    touching(&grid, center, radius),
                    brute(&positions, &radii, center, radius),
                    "{count} atoms, ball of {radius} nm at {center}"
                );
            }
        }
    }

    #[test]
    fn atoms_on_cell_faces_and_coincident_atoms_are_found() {
        let positions = on_cell_faces();
        let radii = vec![0.1; positions.len()];
        let grid = LocalGrid::new(&positions, &radii);
        for &center in &positions {
            assert_eq!(
                touching(&grid, center, 0.1251),
                brute(&positions, &radii, center, 0.1251)
            );
        }
    }

    #[test]
    fn no_atoms_and_points_that_are_not_finite_find_nothing() {
        let empty = LocalGrid::new(&[], &[]);
        assert!(touching(&empty, Vec3::ZERO, 1.0).is_empty());
        assert!(touching(&empty, Vec3::ZERO, 0.0).is_empty());
        empty.visit_in_box(Vec3::NEG_ONE, Vec3::ONE, |_| panic!("there are no atoms"));
        let one = LocalGrid::new(&[Vec3::ONE], &[0.1]);
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
            assert!(touching(&one, Vec3::splat(bad), 0.1).is_empty());
        }
        assert!(touching(&one, Vec3::ONE, f32::NAN).is_empty());
        assert_eq!(touching(&one, Vec3::ONE, f32::MAX.sqrt() / 2.0), [0]);
    }

    #[test]
    fn few_atoms_far_apart_do_not_make_millions_of_cells() {
        let grid = LocalGrid::new(&[Vec3::splat(-1.0e5), Vec3::splat(1.0e5)], &[0.1, 0.1]);
        assert!(grid.near.len() < 2000);
        assert_eq!(touching(&grid, Vec3::splat(1.0e5), 0.1), [1]);
    }

    #[test]
    fn a_box_holds_every_atom_inside_it() {
        let mut random = Pcg64::seed_from_u64(3);
        let positions: Vec<Vec3> = (0..500).map(|_| point(&mut random, 2.0)).collect();
        let grid = LocalGrid::new(&positions, &vec![0.1; positions.len()]);
        let (low, high) = (Vec3::new(-0.7, -3.0, 0.1), Vec3::new(0.4, 0.2, 0.9));
        let mut seen = vec![false; positions.len()];
        grid.visit_in_box(low, high, |atom| seen[atom.index as usize] = true);
        for (position, seen) in positions.iter().zip(seen) {
            assert!(seen || !(position.cmpge(low).all() && position.cmple(high).all()));
        }
    }
}
