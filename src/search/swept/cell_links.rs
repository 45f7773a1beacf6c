//! Space in cells, and the links between cells and spheres.
//!
//! The paper's dual representation (section 3.1): each cell has a list of the spheres that
//! any part of is in it (`particleList`), and each sphere a list of the cells that it is in
//! (`cellList`), so that it can be taken out of them again when it moves.
//!
//! Cells repeat themselves in space: coordinates are taken modulo the number of cells, so
//! that nothing is outside. Spheres that are far apart may share a cell then, which costs
//! a check and nothing else.

use glam::{DVec3, Vec3};

/// Most cells for each sphere.
const CELLS_PER_SPHERE: usize = 4;

/// Cells that there may be in any case.
const MIN_CELLS: usize = 4096;

/// Fewest cells along an axis that is cut: with fewer, a cell would meet the same
/// neighbor on both sides.
const MIN_ALONG: usize = 4;

/// Number of a cell along each axis.
pub(super) type Cell = [i64; 3];

/// How space is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CellLayout {
    /// Width of a cell, nm.
    pub(super) width: f64,
    /// Cells along each axis, powers of two; one where space is not cut.
    along: [usize; 3],
}

impl CellLayout {
    /// Cubes of `width` nm for `count` spheres in a space of `size` nm.
    pub(super) fn cubes(width: f64, size: Vec3, count: usize) -> Self {
        let budget = (count * CELLS_PER_SPHERE).max(MIN_CELLS);
        let mut along = [0, 1, 2].map(|k| wanted(size[k], width, budget));
        while along.iter().product::<usize>() > budget {
            let longest = (0..3).fold(0, |longest, k| {
                if along[k] > along[longest] {
                    k
                } else {
                    longest
                }
            });
            if along[longest] <= MIN_ALONG {
                break;
            }
            along[longest] /= 2;
        }
        Self { width, along }
    }

    /// Slices of `width` nm across the longest axis of a space of `size` nm.
    pub(super) fn slices(width: f64, size: Vec3, count: usize) -> Self {
        let budget = (count * CELLS_PER_SPHERE).max(MIN_CELLS);
        let axis = size.max_position();
        let mut along = [1; 3];
        along[axis] = wanted(size[axis], width, budget);
        Self { width, along }
    }

    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        self.along.iter().product()
    }

    /// Whether space is cut across an axis.
    pub(super) fn is_cut(&self, axis: usize) -> bool {
        self.along[axis] > 1
    }

    /// The cell of a point, nm.
    pub(super) fn cell(&self, point: DVec3) -> Cell {
        [0, 1, 2].map(|k| {
            if self.is_cut(k) {
                (point[k] / self.width).floor() as i64
            } else {
                0
            }
        })
    }

    /// Place of a cell among all.
    pub(super) fn place(&self, cell: Cell) -> usize {
        let [x, y, z] = [0, 1, 2].map(|k| (cell[k] & (self.along[k] as i64 - 1)) as usize);
        x + self.along[0] * (y + self.along[1] * z)
    }

    /// Middle of a cell along an axis, nm.
    pub(super) fn middle(&self, cell: Cell, axis: usize) -> f64 {
        (cell[axis] as f64 + 0.5) * self.width
    }
}

/// Cells that an axis of `size` nm needs.
fn wanted(size: f32, width: f64, budget: usize) -> usize {
    let cells = (f64::from(size) / width).ceil() + 1.0;
    // Casts saturate.
    let cells = (cells as usize).min(budget).next_power_of_two();
    cells.clamp(MIN_ALONG, budget.next_power_of_two())
}

/// The cells that a sphere is in: two along each axis at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CellsOfSphere {
    low: Cell,
    high: Cell,
    linked: bool,
}

/// CellLinks between cells and spheres.
#[derive(Clone, Debug, Default)]
pub(super) struct CellLinks {
    /// `particleList` of each cell.
    spheres: Vec<Vec<u32>>,
    /// `cellList` of each sphere.
    cells: Vec<CellsOfSphere>,
    /// CellLinks that were made or unmade.
    pub(super) changes: u64,
}

impl CellLinks {
    /// Removes all links.
    pub(super) fn clear(&mut self, cut: &CellLayout, spheres: usize) {
        for list in &mut self.spheres {
            list.clear();
        }
        self.spheres.resize_with(cut.len(), Vec::new);
        self.cells.clear();
        self.cells.resize(spheres, CellsOfSphere::default());
    }

    /// Spheres with a part in the cell at `place`.
    pub(super) fn spheres(&self, place: usize) -> &[u32] {
        &self.spheres[place]
    }

    /// CellLinks a sphere with the cells that any part of it is in now, nm.
    pub(super) fn update(&mut self, cut: &CellLayout, sphere: u32, center: DVec3, radius: f64) {
        let now = CellsOfSphere {
            low: cut.cell(center - radius),
            high: cut.cell(center + radius),
            linked: true,
        };
        if self.cells[sphere as usize] != now {
            self.remove(cut, sphere);
            self.cells[sphere as usize] = now;
            self.for_each_cell(cut, now, |list| list.push(sphere));
        }
    }

    /// Takes a sphere out of all its cells.
    pub(super) fn remove(&mut self, cut: &CellLayout, sphere: u32) {
        let before = std::mem::take(&mut self.cells[sphere as usize]);
        if before.linked {
            self.for_each_cell(cut, before, |list| {
                if let Some(place) = list.iter().position(|other| *other == sphere) {
                    list.swap_remove(place);
                }
            });
        }
    }

    fn for_each_cell(
        &mut self,
        cut: &CellLayout,
        cells: CellsOfSphere,
        mut change: impl FnMut(&mut Vec<u32>),
    ) {
        for x in cells.low[0]..=cells.high[0] {
            for y in cells.low[1]..=cells.high[1] {
                for z in cells.low[2]..=cells.high[2] {
                    change(&mut self.spheres[cut.place([x, y, z])]);
                    self.changes += 1;
                }
            }
        }
    }
}
