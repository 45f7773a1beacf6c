//! An unbounded uniform grid with its cells in a hash table.

use glam::Vec3;

use super::pair_sink::Sink;
use super::pair_tasks::{PairTasks, impl_pair_search};
use super::uniform_grid::{MAX_COMPARISONS, ReachPlan, WIDENING};
use super::{GridCell, Pair, PairSearch, SearchError};
use crate::spheres::SphereSet;

/// Least number of slots, as in the paper; more if there are more spheres.
const MIN_SLOTS: usize = 4096;

/// Spheres per task.
const SPHERES_PER_TASK: usize = 1024;

/// End of a list.
const NONE: u32 = u32::MAX;

/// Large primes that spread cells over the table.
const SPREAD: [u64; 3] = [73_856_093, 19_349_663, 83_492_791];

/// Offsets of the following half of the 26 neighbors, x fastest.
const FOLLOWING: [[i64; 3]; 13] = {
    let mut offsets = [[0; 3]; 13];
    let mut k = 0;
    while k < 13 {
        let number = k + 14;
        offsets[k as usize] = [number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1];
        k += 1;
    }
    offsets
};

/// Coordinates of a cell.
type Cell = [i64; 3];

/// Uniform grid with its cells in a hash table.
///
/// After the second form of uniform subdivision of Turk (1989, section 5.2), which puts each
/// sphere into all cells that it falls within and does not tell cells of a slot apart. Here:
///
/// 1. the cell of each sphere is hashed to a slot of the table, and the sphere becomes the
///    head of the linked list of that slot;
/// 2. each sphere is compared with the rest of its own cell and with the following half of
///    the 26 neighboring cells.
///
/// The grid has no bounds. Cells may share a slot; spheres of other cells are skipped. The
/// table has 4096 slots as in the paper, and more for more spheres.
#[derive(Clone, Debug, Default)]
pub struct HashGrid {
    /// First sphere of each slot.
    first: Vec<u32>,
    /// Number of spheres of each slot.
    count: Vec<u32>,
    /// Next sphere in the list of each sphere.
    next: Vec<u32>,
    /// Cell of each sphere.
    cell: Vec<Cell>,
    /// Cells per nm in the last search; zero if no pair was possible.
    per_nm: f32,
}

impl HashGrid {
    /// An empty grid.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Step 1; `None` if no pair is possible.
    fn build<'a>(
        &'a mut self,
        spheres: &'a SphereSet,
        margin: f32,
    ) -> Result<Option<HashGridWalk<'a>>, SearchError> {
        self.per_nm = 0.0;
        let Some(plan) = ReachPlan::new(spheres, margin)? else {
            return Ok(None);
        };
        self.per_nm = 1.0 / (plan.longest * WIDENING);
        let slots = spheres.len().next_power_of_two().max(MIN_SLOTS);
        self.first.clear();
        self.first.resize(slots, NONE);
        self.count.clear();
        self.count.resize(slots, 0);
        self.next.clear();
        self.cell.clear();
        for index in 0..spheres.len() {
            let cell = self.cell_of(spheres.center(index));
            let slot = self.slot_of(cell);
            self.next.push(self.first[slot]);
            self.cell.push(cell);
            self.first[slot] = index as u32;
            self.count[slot] += 1;
        }
        let comparisons = self.count.iter().map(|&count| u64::from(count).pow(2));
        let comparisons = comparisons.sum::<u64>();
        if comparisons > MAX_COMPARISONS {
            let slots = self.count.iter().copied().zip(&self.first);
            let (spheres, &sphere) = slots.max_by_key(|(count, _)| *count).unwrap_or((0, &0));
            return Err(SearchError::TooCrowded {
                sphere,
                spheres,
                reach: plan.longest,
            });
        }
        Ok(Some(HashGridWalk {
            grid: self,
            spheres,
            margin,
            comparisons,
        }))
    }

    /// The cell of a point, nm.
    ///
    /// The product of two 32-bit floats is exact in 64 bits. Coordinates beyond the range of
    /// `i64` share one cell; different 32-bit floats are further apart than any reach there.
    fn cell_of(&self, point: Vec3) -> Cell {
        let cell = (point.as_dvec3() * f64::from(self.per_nm)).floor();
        [cell.x as i64, cell.y as i64, cell.z as i64]
    }

    fn slot_of(&self, cell: Cell) -> usize {
        let mixed = (0..3).fold(0, |mixed, k| {
            mixed ^ (cell[k] as u64).wrapping_mul(SPREAD[k])
        });
        mixed as usize & (self.first.len() - 1)
    }
}

impl PairSearch for HashGrid {
    fn name(&self) -> &'static str {
        "hash-grid"
    }

    impl_pair_search!();

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        if self.per_nm == 0.0 {
            return None;
        }
        let number = self.cell_of(point);
        let width = 1.0 / self.per_nm;
        Some(GridCell {
            number: number.map(|n| n as i32).into(),
            low: Vec3::from_array(number.map(|n| n as f32)) * width,
            width,
        })
    }
}

/// A filled table, ready to be searched.
struct HashGridWalk<'a> {
    grid: &'a HashGrid,
    spheres: &'a SphereSet,
    margin: f32,
    comparisons: u64,
}

impl PairTasks for HashGridWalk<'_> {
    fn tasks(&self) -> usize {
        self.spheres.len().div_ceil(SPHERES_PER_TASK)
    }

    fn comparisons(&self) -> u64 {
        self.comparisons
    }

    /// Step 2.
    fn run<S: Sink>(&self, task: usize, sink: &mut S) {
        let Self { grid, spheres, .. } = *self;
        let start = task * SPHERES_PER_TASK;
        let end = (start + SPHERES_PER_TASK).min(spheres.len());
        for index in start..end {
            let own = grid.cell[index];
            let mut compare_list = |mut other: u32, cell: Cell| {
                while other != NONE {
                    let at = other as usize;
                    let pair = Pair::new(index as u32, other);
                    if grid.cell[at] == cell
                        && spheres.owner(index) != spheres.owner(at)
                        && pair.overlaps(spheres, self.margin)
                    {
                        sink.push_pair(pair, || pair.gap(spheres));
                    }
                    other = grid.next[at];
                }
            };
            compare_list(grid.next[index], own);
            for step in FOLLOWING {
                let cell = [0, 1, 2].map(|k| own[k].wrapping_add(step[k]));
                compare_list(grid.first[grid.slot_of(cell)], cell);
            }
        }
    }
}
