//! A grid without bounds: cells in a hash table.

use std::time::Instant;

use glam::Vec3;
use rayon::prelude::*;

use super::boxes::overlap;
use super::uniform_grid::MAX_COMPARISONS;
use super::uniform_grid::ReachPlan;
use super::uniform_grid::WIDENING;
use super::{GridCell, Pair, PairBuffer, PairSearch, SearchError, SearchTimes};
use crate::spheres::SphereSet;

/// Slots of the table unless there are more spheres: the paper's number.
pub const DEFAULT_SLOTS: usize = 4096;

/// Spheres that one task walks.
const SPHERES_PER_TASK: usize = 4096;

/// The end of a list.
const NONE: u32 = u32::MAX;

/// Odd numbers that spread cells over the table: large primes of a usual spatial hash.
pub(super) const SPREAD: [u64; 3] = [73_856_093, 19_349_663, 83_492_791];

/// Steps to the following half of the 26 neighbors.
const FOLLOWING: [[i64; 3]; 13] = [
    [1, 0, 0],
    [-1, 1, 0],
    [0, 1, 0],
    [1, 1, 0],
    [-1, -1, 1],
    [0, -1, 1],
    [1, -1, 1],
    [-1, 0, 1],
    [0, 0, 1],
    [1, 0, 1],
    [-1, 1, 1],
    [0, 1, 1],
    [1, 1, 1],
];

/// Number of a cell along each axis.
pub(super) type Cell = [i64; 3];

/// Uniform cells in a hash table.
///
/// The second form of uniform subdivision of Turk (1989, section 5.2):
///
/// 1. one pass over the spheres: the cell of each is hashed to a slot of a table, and the
///    sphere becomes the first of that slot's list;
/// 2. each sphere walks the lists of its own cell, behind itself, and of the following
///    half of the 26 neighbors.
///
/// No bounding box is needed, and no cell is outside: spheres may be anywhere. Different
/// cells may share a slot; each sphere knows its cell, so that no list of two cells is
/// mistaken for one. The table has [`DEFAULT_SLOTS`] slots as in the paper, and grows with
/// the number of spheres.
///
/// ```
/// use bevy_rapier_molecules::search::{HashGrid, PairSearch};
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// let mut spheres = SphereSet::new();
/// spheres.push(Vec3::splat(-1.0e6), 0.17, 0)?;
/// spheres.push(Vec3::ZERO, 0.17, 1)?;
/// spheres.push(Vec3::Y * 0.3, 0.17, 2)?;
/// assert_eq!(HashGrid::new().count_pairs(&spheres, 0.0)?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct HashGrid {
    /// For each slot the first sphere of its list.
    first: Vec<u32>,
    /// How many spheres each slot has.
    count: Vec<u32>,
    /// For each sphere the next of its list.
    next: Vec<u32>,
    /// Cell of each sphere.
    cell: Vec<Cell>,
    /// Cells per nm in the last search; zero if it needed none.
    per_nm: f32,
}

impl HashGrid {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Step 1; false if no pair is possible.
    fn build(&mut self, spheres: &SphereSet, margin: f32) -> Result<bool, SearchError> {
        self.per_nm = 0.0;
        let Some(plan) = ReachPlan::new(spheres, margin)? else {
            return Ok(false);
        };
        self.per_nm = 1.0 / (plan.longest * WIDENING);
        let slots = spheres.len().next_power_of_two().max(DEFAULT_SLOTS);
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
        if comparisons.sum::<u64>() > MAX_COMPARISONS {
            let slots = self.count.iter().copied().zip(&self.first);
            let (spheres, &sphere) = slots.max_by_key(|(count, _)| *count).unwrap_or((0, &0));
            return Err(SearchError::TooCrowded {
                sphere,
                spheres,
                reach: plan.longest,
            });
        }
        Ok(true)
    }

    /// The cell of a point, nm.
    ///
    /// The product of two 32-bit floats is exact in 64 bits. Beyond what an `i64` holds, all
    /// is one cell, and two different 32-bit floats are further apart than any reach.
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

    /// Step 2: calls `hit` for each pair of the spheres of `task` with others.
    fn walk(&self, spheres: &SphereSet, margin: f32, task: usize, mut hit: impl FnMut(Pair)) {
        let start = task * SPHERES_PER_TASK;
        let end = (start + SPHERES_PER_TASK).min(spheres.len());
        for index in start..end {
            let own = self.cell[index];
            let mut follow = |mut other: u32, cell: Cell| {
                while other != NONE {
                    let at = other as usize;
                    let pair = Pair::new(index as u32, other);
                    if self.cell[at] == cell
                        && spheres.owner(index) != spheres.owner(at)
                        && overlap(spheres, margin, pair)
                    {
                        hit(pair);
                    }
                    other = self.next[at];
                }
            };
            follow(self.next[index], own);
            for step in FOLLOWING {
                let cell = [0, 1, 2].map(|k| own[k].wrapping_add(step[k]));
                follow(self.first[self.slot_of(cell)], cell);
            }
        }
    }
}

impl PairSearch for HashGrid {
    fn name(&self) -> &'static str {
        "hash-grid"
    }

    fn find_pairs(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        pairs.clear();
        let start = Instant::now();
        if !self.build(spheres, margin)? {
            return Ok(SearchTimes::default());
        }
        let built = Instant::now();
        pairs
            .start(spheres.len().div_ceil(SPHERES_PER_TASK))
            .par_iter_mut()
            .enumerate()
            .for_each(|(task, list)| self.walk(spheres, margin, task, |pair| list.push(pair)));
        Ok(SearchTimes {
            build: built - start,
            walk: built.elapsed(),
        })
    }

    fn count_pairs(&mut self, spheres: &SphereSet, margin: f32) -> Result<u64, SearchError> {
        if !self.build(spheres, margin)? {
            return Ok(0);
        }
        let tasks = 0..spheres.len().div_ceil(SPHERES_PER_TASK);
        let count = tasks.into_par_iter().map(|task| {
            let mut count = 0;
            self.walk(spheres, margin, task, |_| count += 1);
            count
        });
        Ok(count.sum())
    }

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
