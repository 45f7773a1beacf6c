//! The walk over all levels.

use rayon::prelude::*;

use super::levels::{Level, Levels, MAX_LEVELS};
use crate::search::Pair;
use crate::search::pair_tasks::{PairTasks, Visitor};
use crate::search::uniform_grid::MAX_COMPARISONS;
use crate::search::uniform_grid::ReachPlan;
use crate::search::uniform_grid::cell_walk::CellWalk;
use crate::search::uniform_grid::pair_walk::{
    CoarserLevels, PairWalk, SPHERES_PER_TASK, Sink, scan_run,
};
use crate::search::uniform_grid::simd::{Columns, Comparison, Instructions, Query};
use crate::search::uniform_grid::sorted_spheres::SortedSpheres;

/// The coarser levels that the spheres of a level reach into.
pub(in crate::search) struct ReachedLevels<'a> {
    levels: &'a [Level],
    /// For each cell of all levels its first sphere, and one entry more.
    cell_start: &'a [u32],
}

/// Most runs of spheres that one may meet in a coarser level: it reaches into five cells
/// along each axis at most, and a folded grid may cut each row in two.
const MAX_RUNS: usize = 5 * 5 * 2;

/// Runs of sorted spheres.
struct Runs {
    runs: [(u32, u32); MAX_RUNS],
    len: usize,
}

impl ReachedLevels<'_> {
    /// The runs of spheres of `level` that one at `center` (nm) with this `radius` (nm) may
    /// meet.
    #[inline(always)]
    fn runs(&self, level: &Level, center: [f32; 3], radius: f32, found: &mut Runs) {
        found.len = 0;
        let [x, y, z] = level.layout.cells_within(center, radius + level.look);
        for cz in z.iter() {
            for cy in y.iter() {
                let row = level.first_cell + level.layout.row_start(cy, cz);
                for (from, to) in x.runs() {
                    let first = self.cell_start[(row + from) as usize];
                    let end = self.cell_start[(row + to) as usize];
                    if first < end && found.len < MAX_RUNS {
                        found.runs[found.len] = (first, end);
                        found.len += 1;
                    }
                }
            }
        }
    }
}

impl CoarserLevels for ReachedLevels<'_> {
    // Runs are written down first: the loop around the comparisons must be plain, or they
    // are compiled without their instructions.
    #[inline(always)]
    unsafe fn visit<C: Comparison, const MIXED: bool, S: Sink>(
        &self,
        columns: &Columns<'_>,
        query: &Query,
        own: u32,
        sink: &mut S,
    ) {
        let mut found = Runs {
            runs: [(0, 0); MAX_RUNS],
            len: 0,
        };
        for level in self.levels {
            self.runs(level, [query.x, query.y, query.z], query.radius, &mut found);
            for &(first, end) in &found.runs[..found.len] {
                let run = first as usize..end as usize;
                // SAFETY: cells end at the last sphere, and the caller promises the
                // instructions.
                unsafe { scan_run::<C, MIXED, S>(columns, query, own, run, sink) };
            }
        }
    }
}

/// The walks over all levels, the finest first.
pub(in crate::search) struct LevelWalks<'a> {
    sorted: &'a SortedSpheres,
    levels: &'a [Level],
    plan: ReachPlan,
    instructions: Instructions,
    /// Comparisons within cells.
    comparisons: u64,
    /// First task of each level, and behind the last the number of all.
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
                // Behind its last cell comes the first of the next level.
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

    /// Whether so many spheres may reach into the fullest cell of a coarser level that
    /// comparing them would take too long.
    pub(super) fn is_crowded(&self) -> bool {
        let cells = self.sorted.cell_start.windows(2);
        let counts = cells.map(|cell| u64::from(cell[1] - cell[0]));
        let most = counts.max().unwrap_or(0);
        // Most scenes are far below what would be possible at worst.
        let finer = self.sorted.len() as u64;
        most.saturating_mul(finer) > MAX_COMPARISONS
            && self.comparisons_between_levels() > MAX_COMPARISONS
    }

    /// Comparisons between levels.
    fn comparisons_between_levels(&self) -> u64 {
        let columns = self.sorted.columns();
        let of_level = |number: usize| -> u64 {
            let walk = self.walk(number);
            let [first, end] = walk.cells.spheres();
            let spheres = (first..end).into_par_iter();
            let met = spheres.map(|k| {
                let mut met = 0;
                let mut found = Runs {
                    runs: [(0, 0); MAX_RUNS],
                    len: 0,
                };
                let center = [columns.x[k], columns.y[k], columns.z[k]];
                let radius = columns.radius.get(k).copied().unwrap_or(0.0);
                for level in walk.coarser.levels {
                    walk.coarser.runs(level, center, radius, &mut found);
                    let runs = found.runs[..found.len].iter();
                    met += runs.map(|(first, end)| u64::from(end - first)).sum::<u64>();
                }
                met
            });
            met.sum()
        };
        (0..self.levels.len()).map(of_level).sum()
    }

    /// The cell that has most spheres.
    pub(super) fn fullest_cell(&self) -> usize {
        let cells = self.sorted.cell_start.windows(2).enumerate();
        let fullest = cells.max_by_key(|(at, cell)| (cell[1] - cell[0], std::cmp::Reverse(*at)));
        fullest.map_or(0, |(at, _)| at)
    }

    /// The walk that a task belongs to, and its number there.
    fn part(&self, task: usize) -> (PairWalk<'a, ReachedLevels<'a>>, usize) {
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

    fn list(&self, task: usize, list: &mut Vec<Pair>) {
        let (walk, task) = self.part(task);
        walk.list(task, list);
    }

    fn list_gaps(&self, task: usize, list: &mut Vec<Pair>, gaps: &mut Vec<f32>) {
        let (walk, task) = self.part(task);
        walk.list_gaps(task, list, gaps);
    }

    fn count(&self, task: usize) -> u64 {
        let (walk, task) = self.part(task);
        walk.count(task)
    }

    fn visit(&self, task: usize, list: &mut Vec<Pair>, gaps: &mut Vec<f32>, visit: Visitor<'_>) {
        let (walk, task) = self.part(task);
        walk.visit(task, list, gaps, visit);
    }
}
