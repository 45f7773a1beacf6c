//! Cells, and the links between cells and spheres.
//!
//! The dual representation of the paper (section 3.1): each cell has a list of the spheres that
//! overlap it (`particleList`), and each sphere a list of the cells that it overlaps
//! (`cellList`), so that it can be removed from them when it moves.
//!
//! Cells repeat in space: coordinates are taken modulo the number of cells, so that no sphere is
//! outside. Distant spheres may share a cell, which only costs a check.

use glam::DVec3;

/// Largest number of cells per sphere. With fewer, more distant spheres share a cell; with more,
/// visiting the empty ones takes longer.
const CELLS_PER_SPHERE: usize = 32;

/// Number of cells that is always allowed.
const MIN_CELLS: usize = 4096;

/// Smallest number of cells along a divided axis: with fewer, a cell would have the same
/// neighbor on both sides.
const MIN_CELLS_ALONG: usize = 4;

/// Coordinates of a cell.
pub(super) type Cell = [i64; 3];

/// Division of space into cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CellLayout {
    /// Width of a cell, nm.
    pub(super) width: f64,
    /// Cells along each axis, powers of two; one if the axis is not divided.
    along: [usize; 3],
}

impl CellLayout {
    /// Cubes of `width` nm for `count` spheres in a space of `size` nm.
    pub(super) fn cubes(width: f64, size: DVec3, count: usize) -> Self {
        let budget = (count * CELLS_PER_SPHERE).max(MIN_CELLS);
        let mut along = [0, 1, 2].map(|k| cells_along(size[k], width, budget));
        while along.iter().product::<usize>() > budget {
            let longest = (0..3).fold(0, |longest, k| {
                if along[k] > along[longest] {
                    k
                } else {
                    longest
                }
            });
            if along[longest] <= MIN_CELLS_ALONG {
                break;
            }
            along[longest] /= 2;
        }
        Self { width, along }
    }

    /// Slices of `width` nm across the longest axis of a space of `size` nm.
    pub(super) fn slices(width: f64, size: DVec3, count: usize) -> Self {
        let budget = (count * CELLS_PER_SPHERE).max(MIN_CELLS);
        let axis = size.max_position();
        let mut along = [1; 3];
        along[axis] = cells_along(size[axis], width, budget);
        Self { width, along }
    }

    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        self.along.iter().product()
    }

    /// Whether an axis is divided.
    pub(super) fn is_divided(&self, axis: usize) -> bool {
        self.along[axis] > 1
    }

    /// The cell of a point, nm.
    pub(super) fn cell(&self, point: DVec3) -> Cell {
        [0, 1, 2].map(|k| {
            if self.is_divided(k) {
                (point[k] / self.width).floor() as i64
            } else {
                0
            }
        })
    }

    /// Index of a cell.
    pub(super) fn index(&self, cell: Cell) -> usize {
        let [x, y, z] = [0, 1, 2].map(|k| self.place_along(cell, k));
        x + self.along[0] * (y + self.along[1] * z)
    }

    /// Coordinate of a cell along an axis, modulo the number of cells.
    fn place_along(&self, cell: Cell, axis: usize) -> usize {
        (cell[axis] & (self.along[axis] as i64 - 1)) as usize
    }

    /// Coordinates of the cell with this index, modulo the numbers of cells.
    fn place(&self, index: usize) -> [usize; 3] {
        let [x, y, _] = self.along;
        [index % x, index / x % y, index / x / y]
    }

    /// Middle of a cell along an axis, nm.
    pub(super) fn middle(&self, cell: Cell, axis: usize) -> f64 {
        (cell[axis] as f64 + 0.5) * self.width
    }
}

/// Number of cells for an axis of `size` nm.
fn cells_along(size: f64, width: f64, budget: usize) -> usize {
    let cells = (size / width).ceil() + 1.0;
    // Casts saturate.
    let cells = (cells as usize).min(budget).next_power_of_two();
    cells.clamp(MIN_CELLS_ALONG, budget.next_power_of_two())
}

/// The cells that a sphere overlaps: at most two along each axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CellsOfSphere {
    low: Cell,
    high: Cell,
    linked: bool,
}

/// Links between cells and spheres.
#[derive(Clone, Debug, Default)]
pub(super) struct CellLinks {
    /// `particleList` of each cell.
    spheres: Vec<Vec<u32>>,
    /// `cellList` of each sphere.
    cells: Vec<CellsOfSphere>,
}

impl CellLinks {
    /// Removes all links.
    pub(super) fn clear(&mut self, layout: &CellLayout, spheres: usize) {
        for list in &mut self.spheres {
            list.clear();
        }
        self.spheres.resize_with(layout.len(), Vec::new);
        self.cells.clear();
        self.cells.resize(spheres, CellsOfSphere::default());
    }

    /// Spheres that overlap the cell with this index.
    pub(super) fn spheres(&self, cell: usize) -> &[u32] {
        &self.spheres[cell]
    }

    /// Coordinates of the cell with this index that a sphere is linked with.
    pub(super) fn cell_of(&self, layout: &CellLayout, index: usize, sphere: u32) -> Cell {
        let CellsOfSphere { low, high, .. } = self.cells[sphere as usize];
        let place = layout.place(index);
        // The two cells along an axis are at different places.
        [0, 1, 2].map(|k| {
            if layout.place_along(low, k) == place[k] {
                low[k]
            } else {
                high[k]
            }
        })
    }

    /// Links a sphere with the cells that it overlaps.
    pub(super) fn update(&mut self, layout: &CellLayout, sphere: u32, center: DVec3, radius: f64) {
        let cells = CellsOfSphere {
            low: layout.cell(center - radius),
            high: layout.cell(center + radius),
            linked: true,
        };
        if self.cells[sphere as usize] != cells {
            self.remove(layout, sphere);
            self.cells[sphere as usize] = cells;
            self.for_each_cell(layout, cells, |list| list.push(sphere));
        }
    }

    /// Removes a sphere from all its cells.
    fn remove(&mut self, layout: &CellLayout, sphere: u32) {
        let previous = std::mem::take(&mut self.cells[sphere as usize]);
        if previous.linked {
            self.for_each_cell(layout, previous, |list| {
                if let Some(place) = list.iter().position(|other| *other == sphere) {
                    list.swap_remove(place);
                }
            });
        }
    }

    fn for_each_cell(
        &mut self,
        layout: &CellLayout,
        cells: CellsOfSphere,
        mut change: impl FnMut(&mut Vec<u32>),
    ) {
        for x in cells.low[0]..=cells.high[0] {
            for y in cells.low[1]..=cells.high[1] {
                for z in cells.low[2]..=cells.high[2] {
                    change(&mut self.spheres[layout.index([x, y, z])]);
                }
            }
        }
    }
}
