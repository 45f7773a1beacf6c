//! Comparison of the spheres of all levels.

use rayon::prelude::*;

use super::levels::{Level, Levels, MAX_LEVELS};
use crate::search::pair_sink::Sink;
use crate::search::pair_tasks::PairTasks;
use crate::search::uniform_grid::MAX_COMPARISONS;
use crate::search::uniform_grid::ReachPlan;
use crate::search::uniform_grid::cell_walk::{CellWalk, Runs};
use crate::search::uniform_grid::pair_walk::{
    CoarserLevels, PairWalk, SPHERES_PER_TASK, compare_run,
};
use crate::search::uniform_grid::simd::{Columns, Comparison, Instructions, Query};
use crate::search::uniform_grid::sorted_spheres::SortedSpheres;

/// The coarser levels that the spheres of a level are compared with.
pub(in crate::search) struct ReachedLevels<'a> {
    levels: &'a [Level],
    /// First sphere of each cell of all levels, followed by the number of spheres.
    cell_start: &'a [u32],
}

/// Largest number of runs that a sphere overlaps in a coarser level: five cells along each
/// axis, and a folded grid may split each row in two.
const MAX_RUNS: usize = 5 * 5 * 2;

impl ReachedLevels<'_> {
    /// Finds the runs of spheres of `level` that a sphere at `center` (nm) with this `radius` (nm)
    /// may overlap.
    #[inline(always)]
    fn runs(&self, level: &Level, center: [f32; 3], radius: f32, found: &mut Runs<MAX_RUNS>) {
        found.len = 0;
        let [x, y, z] = level.layout.cells_within(center, radius + level.reach);
        for cz in z.iter() {
            for cy in y.iter() {
                let row = level.first_cell + level.layout.row_start(cy, cz);
                for (from, to) in x.runs() {
                    let first = self.cell_start[(row + from) as usize];
                    let end = self.cell_start[(row + to) as usize];
                    if first < end && found.len < MAX_RUNS {
                        found.add(first, end);
                    }
                }
            }
        }
    }
}

impl CoarserLevels for ReachedLevels<'_> {
    // Runs are collected first: the loop around the comparisons must be simple, or they are
    // compiled without their instructions.
    #[inline(always)]
    unsafe fn visit<C: Comparison, const MIXED: bool, S: Sink>(
        &self,
        columns: &Columns<'_>,
        query: &Query,
        own: u32,
        sink: &mut S,
    ) {
        let mut found = Runs::new();
        for level in self.levels {
            self.runs(level, [query.x, query.y, query.z], query.radius, &mut found);
            for (first, end) in found.iter() {
                // SAFETY: cells end at the last sphere, and the caller promises the instructions.
                unsafe { compare_run::<C, MIXED, S>(columns, query, own, first..end, sink) };
            }
        }
    }
}

/// The walks over all levels, finest first.
pub(in crate::search) struct LevelWalks<'a> {
    sorted: &'a SortedSpheres,
    levels: &'a [Level],
    plan: ReachPlan,
    instructions: Instructions,
    /// Comparisons within cells.
    comparisons: u64,
    /// First task of each level, followed by the number of tasks.
    first_task: [usize; MAX_LEVELS + 1],
}

impl<'a> LevelWalks<'a> {
    pub(super) fn new(
        sorted: &'a SortedSpheres,
        levels: &'a Levels,
        plan: &ReachPlan,
        instructions: Instructions,
        comparisons: u64,
    ) -> Self {
        let mut walks = Self {
            sorted,
            levels: levels.all(),
            plan: *plan,
            instructions,
            comparisons,
            first_task: [0; MAX_LEVELS + 1],
        };
        for number in 0..walks.levels.len() {
            let tasks = walks.walk(number).cells.tasks();
            walks.first_task[number + 1] = walks.first_task[number] + tasks;
        }
        walks
    }

    /// The walk over one level.
    fn walk(&self, number: usize) -> PairWalk<'a, ReachedLevels<'a>> {
        let level = &self.levels[number];
        let first = level.first_cell as usize;
        PairWalk {
            cells: CellWalk {
                sorted: self.sorted,
                // The last cell ends where the first cell of the next level starts.
                cell_start: &self.sorted.cell_start[first..=first + level.layout.cell_count()],
                layout: level.layout,
                per_task: SPHERES_PER_TASK,
            },
            coarser: ReachedLevels {
                levels: &self.levels[number + 1..],
                cell_start: &self.sorted.cell_start,
            },
            reach: self.plan.reach,
            largest_radius: self.plan.extent.largest_radius,
            instructions: self.instructions,
            comparisons: self.comparisons,
        }
    }

    /// Whether there are too many comparisons between levels.
    pub(super) fn is_crowded(&self) -> bool {
        let max_count = u64::from(self.sorted.cell_counts().max().unwrap_or(0));
        // A cheap upper bound, which most scenes are far below.
        let finer = self.sorted.len() as u64;
        max_count.saturating_mul(finer) > MAX_COMPARISONS
            && self.comparisons_between_levels() > MAX_COMPARISONS
    }

    /// Comparisons between levels.
    fn comparisons_between_levels(&self) -> u64 {
        let columns = self.sorted.columns();
        let count_level = |number: usize| -> u64 {
            let walk = self.walk(number);
            let [first, end] = walk.cells.spheres();
            let spheres = (first..end).into_par_iter();
            let count = spheres.map(|k| {
                let mut count = 0;
                let mut found = Runs::new();
                let center = [columns.x[k], columns.y[k], columns.z[k]];
                let radius = columns.radius.get(k).copied().unwrap_or(0.0);
                for level in walk.coarser.levels {
                    walk.coarser.runs(level, center, radius, &mut found);
                    count += found.total() as u64;
                }
                count
            });
            count.sum()
        };
        (0..self.levels.len()).map(count_level).sum()
    }

    /// The walk that a task belongs to, and its index there.
    fn walk_of(&self, task: usize) -> (PairWalk<'a, ReachedLevels<'a>>, usize) {
        let firsts = &self.first_task[..self.levels.len()];
        let number = firsts.partition_point(|&first| first <= task) - 1;
        (self.walk(number), task - firsts[number])
    }
}

impl PairTasks for LevelWalks<'_> {
    fn tasks(&self) -> usize {
        self.first_task[self.levels.len()]
    }

    fn comparisons(&self) -> u64 {
        self.comparisons
    }

    fn run<S: Sink>(&self, task: usize, sink: &mut S) {
        let (walk, task) = self.walk_of(task);
        walk.run(task, sink);
    }
}
