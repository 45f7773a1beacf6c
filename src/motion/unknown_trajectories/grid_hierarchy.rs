//! A hierarchy of grids, each twice as coarse as the one before.
//!
//! A sphere is a *native* of the grid that fits its size and a *guest* of all coarser grids. Two
//! spheres then share a cell in the coarser of their grids, where at least one of them is native.
//! So a sphere is tested against natives and guests of its own grid and natives of coarser grids,
//! and never visits the many finer cells inside its own. Faces of a coarse grid are also faces of
//! all finer ones, so a sphere enters a coarser cell only when it crosses a face of its own grid.
//!
//! Cells are stored modulo the size of the grid: space is unlimited, and distant cells may
//! share a list.

use glam::DVec3;

use crate::motion::time_of_impact::{GrowingSphere, first_not_positive};

/// Maximum number of cells per sphere of a grid.
const CELLS_PER_SPHERE: usize = 4;

/// Minimum number of cells along an axis, so that adjacent cells never share a list.
const MIN_CELLS_PER_AXIS: usize = 4;

/// Largest cell coordinate: 2⁵⁰, where `f64` still counts exactly.
const MAX_COORDINATE: f64 = 1_125_899_906_842_624.0;

/// Maximum number of grids. The coarsest cells are 1024 times as large as the finest.
pub(super) const MAX_LEVELS: usize = 11;

/// Distance beyond a face at which a bound has left a cell, in cells. Without this margin,
/// rounding could make a bound enter and leave forever.
pub(super) const LEAVE_MARGIN: f64 = 1.0 / 64.0;

/// A bound enters the next cell, or leaves its outermost cell, at one end along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Crossing {
    axis: u8,
    is_upper_end: bool,
    pub(super) is_entering: bool,
}

impl Crossing {
    /// The cells after the crossing.
    pub(super) fn apply(self, mut range: CellRange) -> CellRange {
        let end = if self.is_upper_end {
            &mut range.high
        } else {
            &mut range.low
        };
        let is_upward = self.is_upper_end == self.is_entering;
        end[self.axis as usize] += if is_upward { 1 } else { -1 };
        range
    }
}

/// The cells that a bound overlaps in its native grid, from `low` to `high` inclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CellRange {
    pub(super) low: [i64; 3],
    pub(super) high: [i64; 3],
}

impl CellRange {
    /// The range in the grid `levels` levels coarser.
    fn coarser(&self, levels: usize) -> Self {
        Self {
            low: self.low.map(|k| k >> levels),
            high: self.high.map(|k| k >> levels),
        }
    }

    /// Number of cells.
    pub(super) fn count(&self) -> u64 {
        let sides = (0..3).map(|k| (self.high[k] - self.low[k] + 1) as u64);
        sides.product()
    }

    fn contains(&self, cell: [i64; 3]) -> bool {
        (0..3).all(|k| (self.low[k]..=self.high[k]).contains(&cell[k]))
    }

    fn intersects(&self, other: &Self) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }

    fn for_each(&self, mut visit: impl FnMut([i64; 3])) {
        for x in self.low[0]..=self.high[0] {
            for y in self.low[1]..=self.high[1] {
                for z in self.low[2]..=self.high[2] {
                    visit([x, y, z]);
                }
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Cell {
    natives: Vec<u32>,
    guests: Vec<u32>,
}

impl Cell {
    /// The list for spheres whose native grid is `levels` levels finer.
    fn list(&mut self, levels: usize) -> &mut Vec<u32> {
        if levels == 0 {
            &mut self.natives
        } else {
            &mut self.guests
        }
    }
}

#[derive(Clone, Debug)]
struct Grid {
    /// Number of cells along each axis, powers of two.
    counts: [usize; 3],
    cells: Vec<Cell>,
}

impl Grid {
    fn new(extent: DVec3, cell_size: f64, spheres: usize) -> Self {
        let budget = (CELLS_PER_SPHERE * spheres).max(MIN_CELLS_PER_AXIS.pow(3));
        let mut counts = [0, 1, 2].map(|k| {
            let wanted = (extent[k] / cell_size).clamp(1.0, budget as f64) as usize + 2;
            wanted.next_power_of_two().max(MIN_CELLS_PER_AXIS)
        });
        while counts.iter().product::<usize>() > budget {
            let longest = if counts[0] >= counts[1].max(counts[2]) {
                0
            } else if counts[1] >= counts[2] {
                1
            } else {
                2
            };
            if counts[longest] == MIN_CELLS_PER_AXIS {
                break;
            }
            counts[longest] /= 2;
        }
        Self {
            counts,
            cells: vec![Cell::default(); counts.iter().product()],
        }
    }

    fn index(&self, cell: [i64; 3]) -> usize {
        let [x, y, z] = [0, 1, 2].map(|k| cell[k] as usize & (self.counts[k] - 1));
        (z * self.counts[1] + y) * self.counts[0] + x
    }
}

/// All grids, and the cells of each bound.
#[derive(Clone, Debug)]
pub(super) struct GridHierarchy {
    finest: f64,
    grids: Vec<Grid>,
    /// Native grid of each sphere.
    levels: Vec<u8>,
    ranges: Vec<CellRange>,
    /// The last visit that reached each sphere.
    visited: Vec<u32>,
    visit: u32,
}

impl GridHierarchy {
    /// Empty grids with cells of `finest` nm, twice that, four times that, ..., for spheres that
    /// need cells of at least these sizes (nm) in a space of `extent` nm.
    pub(super) fn new(finest: f64, extent: DVec3, sizes: impl Iterator<Item = f64>) -> Self {
        let levels: Vec<u8> = sizes.map(|size| level(finest, size) as u8).collect();
        let count = levels.iter().max().map_or(1, |&top| usize::from(top) + 1);
        let grids = (0..count)
            .map(|k| {
                let members = levels.iter().filter(|&&level| usize::from(level) <= k);
                Grid::new(extent, finest * f64::from(1 << k), members.count())
            })
            .collect();
        let empty = CellRange {
            low: [0; 3],
            high: [-1; 3],
        };
        Self {
            finest,
            grids,
            ranges: vec![empty; levels.len()],
            visited: vec![0; levels.len()],
            visit: 0,
            levels,
        }
    }

    /// Cell sizes of all grids, from fine to coarse, nm.
    pub(super) fn cell_sizes(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.grids.len()).map(|k| self.finest * f64::from(1_u32 << k))
    }

    /// Cell size of the native grid of a sphere, nm.
    pub(super) fn cell_size(&self, sphere: u32) -> f64 {
        self.finest * f64::from(1_u32 << self.levels[sphere as usize])
    }

    pub(super) fn range(&self, sphere: u32) -> CellRange {
        self.ranges[sphere as usize]
    }

    /// The cells that a bound with this center and radius overlaps.
    pub(super) fn range_at(&self, sphere: u32, center: DVec3, radius: f64) -> CellRange {
        let scale = 1.0 / self.cell_size(sphere);
        let cell = |point: DVec3| {
            (point * scale)
                .floor()
                .to_array()
                .map(|k| k.clamp(-MAX_COORDINATE, MAX_COORDINATE) as i64)
        };
        CellRange {
            low: cell(center - radius),
            high: cell(center + radius),
        }
    }

    /// The next crossing of the bound of a sphere within `max_time` s, and the time until then.
    ///
    /// Along an axis a bound spans x + v t − r(t) to x + v t + r(t). It enters the next cell when
    /// one end touches the face, and leaves a cell when its other end has passed the face
    /// (equation 7). All of these are quadratic equations.
    pub(super) fn next_crossing(
        &self,
        sphere: u32,
        bound: &GrowingSphere,
        max_time: f64,
    ) -> Option<(f64, Crossing)> {
        let (range, size) = (self.range(sphere), self.cell_size(sphere));
        let mut best = (max_time, None);
        let half = 0.5 * bound.acceleration;
        for (k, axis) in (0..3).zip(0..) {
            let mut offer = |time: f64, is_upper_end: bool, is_entering: bool| {
                if time < best.0 {
                    let crossing = Crossing {
                        axis,
                        is_upper_end,
                        is_entering,
                    };
                    best = (time, Some(crossing));
                }
            };
            let (x, v) = (bound.center[k], bound.velocity[k]);
            let (low, high) = (x - bound.radius, x + bound.radius);
            let (low_speed, high_speed) = (v - bound.growth, v + bound.growth);
            let (first, last) = (range.low[k] as f64, range.high[k] as f64);
            let below = first_not_positive(low - first * size, low_speed, -half);
            offer(below, false, true);
            let above = first_not_positive((last + 1.0) * size - high, -high_speed, -half);
            offer(above, true, true);
            if range.high[k] > range.low[k] {
                let face = (first + 1.0 + LEAVE_MARGIN) * size;
                offer(
                    first_not_positive(face - low, -low_speed, half),
                    false,
                    false,
                );
                let face = (last - LEAVE_MARGIN) * size;
                offer(
                    first_not_positive(high - face, high_speed, half),
                    true,
                    false,
                );
            }
        }
        best.1.map(|crossing| (best.0, crossing))
    }

    /// Moves a sphere to other cells.
    pub(super) fn set_range(&mut self, sphere: u32, new: CellRange) {
        let old = self.ranges[sphere as usize];
        if old == new {
            return;
        }
        let native = usize::from(self.levels[sphere as usize]);
        self.ranges[sphere as usize] = new;
        for (levels, grid) in self.grids[native..].iter_mut().enumerate() {
            // An empty range stays empty, since −1 >> k is −1.
            let [old, new] = [old.coarser(levels), new.coarser(levels)];
            if old == new {
                break;
            }
            old.for_each(|cell| {
                if !new.contains(cell) {
                    let index = grid.index(cell);
                    let list = grid.cells[index].list(levels);
                    if let Some(at) = list.iter().position(|&other| other == sphere) {
                        list.swap_remove(at);
                    }
                }
            });
            new.for_each(|cell| {
                if !old.contains(cell) {
                    let index = grid.index(cell);
                    grid.cells[index].list(levels).push(sphere);
                }
            });
        }
    }

    /// Visits each sphere that shares a cell with `sphere` once, except spheres that already
    /// shared a cell with its `previous` range.
    pub(super) fn visit_neighbors(
        &mut self,
        sphere: u32,
        previous: Option<CellRange>,
        mut visit: impl FnMut(u32),
    ) {
        if self.visit == u32::MAX {
            self.visited.fill(0);
            self.visit = 0;
        }
        self.visit += 1;
        let current = self.visit;
        let native = usize::from(self.levels[sphere as usize]);
        let range = self.ranges[sphere as usize];
        let (all_levels, ranges, visited) = (&self.levels, &self.ranges, &mut self.visited);
        visited[sphere as usize] = current;
        for (levels, grid) in self.grids[native..].iter().enumerate() {
            let range = range.coarser(levels);
            let previous = previous.map(|previous| previous.coarser(levels));
            if previous == Some(range) {
                break;
            }
            range.for_each(|cell| {
                if previous.is_some_and(|previous| previous.contains(cell)) {
                    return;
                }
                let cell = &grid.cells[grid.index(cell)];
                let guests: &[u32] = if levels == 0 { &cell.guests } else { &[] };
                for &other in cell.natives.iter().chain(guests) {
                    let index = other as usize;
                    if visited[index] == current {
                        continue;
                    }
                    visited[index] = current;
                    let finer = native + levels - usize::from(all_levels[index]);
                    let other_range = ranges[index].coarser(finer);
                    // Skip distant spheres that only share the list.
                    if other_range.intersects(&range)
                        && !previous.is_some_and(|previous| other_range.intersects(&previous))
                    {
                        visit(other);
                    }
                }
            });
        }
    }
}

/// The finest grid whose cells have at least this size: the native grid of a sphere whose bound
/// needs that space to grow.
pub(super) fn level(finest: f64, size: f64) -> usize {
    (0..MAX_LEVELS - 1)
        .find(|&k| finest * f64::from(1 << k) >= size)
        .unwrap_or(MAX_LEVELS - 1)
}
