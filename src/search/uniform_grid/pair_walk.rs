//! Comparison of the spheres of neighboring cells.

use std::ops::Range;

use super::candidates::{Candidates, MAX_CANDIDATES};
use super::cell_walk::CellWalk;
use super::reach_plan::Reach;
#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};
use super::simd::{Columns, Comparison, Instructions, Query, Scalar};
use crate::search::pair_sink::{Hits, Sink};
use crate::search::pair_tasks::PairTasks;

/// Approximate number of spheres per task.
pub(in crate::search) const SPHERES_PER_TASK: usize = 4096;

/// A sorted grid, divided into tasks.
pub(in crate::search) struct PairWalk<'a, B = NoCoarserLevels> {
    pub(in crate::search) cells: CellWalk<'a>,
    /// Further spheres to compare with.
    pub(in crate::search) coarser: B,
    pub(in crate::search) reach: Reach,
    /// Largest radius, nm.
    pub(in crate::search) largest_radius: f32,
    pub(in crate::search) instructions: Instructions,
    /// Comparisons within cells.
    pub(in crate::search) comparisons: u64,
}

impl<B: CoarserLevels> PairTasks for PairWalk<'_, B> {
    fn tasks(&self) -> usize {
        self.cells.tasks()
    }

    fn comparisons(&self) -> u64 {
        self.comparisons
    }

    fn run<S: Sink>(&self, task: usize, sink: &mut S) {
        if self.reach.is_mixed() {
            self.dispatch::<true, S>(task, sink);
        } else {
            self.dispatch::<false, S>(task, sink);
        }
    }
}

impl<B: CoarserLevels> PairWalk<'_, B> {
    fn dispatch<const MIXED: bool, S: Sink>(&self, task: usize, sink: &mut S) {
        match self.instructions {
            Instructions::Scalar => self.run_with::<Scalar, MIXED, S>(task, sink),
            // SAFETY: `Instructions::Avx2` exists only where it was detected.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { self.run_avx2::<MIXED, S>(task, sink) },
            // SAFETY: `Instructions::Avx512` exists only where it was detected.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => unsafe { self.run_avx512::<MIXED, S>(task, sink) },
        }
    }

    /// # Safety
    /// The CPU has AVX2, BMI1 and POPCNT.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    unsafe fn run_avx2<const MIXED: bool, S: Sink>(&self, task: usize, sink: &mut S) {
        self.run_with::<Avx2, MIXED, S>(task, sink);
    }

    /// # Safety
    /// The CPU has AVX-512F, AVX2, BMI1 and POPCNT.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx2,bmi1,popcnt")]
    unsafe fn run_avx512<const MIXED: bool, S: Sink>(&self, task: usize, sink: &mut S) {
        self.run_with::<Avx512, MIXED, S>(task, sink);
    }

    #[inline(always)]
    fn run_with<C: Comparison, const MIXED: bool, S: Sink>(&self, task: usize, sink: &mut S) {
        let CellWalk {
            sorted,
            cell_start,
            layout,
            ..
        } = self.cells;
        let columns = sorted.columns();
        let row_cells = layout.cells[0] as usize;
        let mut candidates = Candidates::new();
        for row in self.cells.rows_of(task) {
            let first = row * row_cells;
            if cell_start[first] == cell_start[first + row_cells] {
                continue;
            }
            let following = self.cells.following_rows(row);
            for cx in 0..row_cells {
                let cell = first + cx;
                let (start, end) = (cell_start[cell] as usize, cell_start[cell + 1] as usize);
                if start == end {
                    continue;
                }
                let runs = self.cells.runs(first, cx, &following);
                if runs.total() <= MAX_CANDIDATES {
                    candidates.clear();
                    for (from, to) in runs.iter() {
                        candidates.append::<C, MIXED, S>(&columns, from, to);
                    }
                    candidates.finish();
                    let copies = candidates.columns();
                    for one in 0..end - start {
                        let query = self.query::<MIXED>(&copies, one);
                        let own = columns.index[start + one];
                        let run = one + 1..candidates.len();
                        // SAFETY: the copies have MAX_LANES entries after the last one, all out
                        // of reach, and `run` chose `C`.
                        unsafe {
                            compare::<C, MIXED, true, S>(&copies, &query, own, run, sink);
                            self.coarser
                                .visit::<C, MIXED, S>(&columns, &query, own, sink);
                        }
                    }
                } else {
                    for one in start..end {
                        let query = self.query::<MIXED>(&columns, one);
                        let own = columns.index[one];
                        for (k, (from, to)) in runs.iter().enumerate() {
                            // The first run contains the cell itself: skip to the following sphere.
                            let from = if k == 0 { one + 1 } else { from };
                            // SAFETY: runs end at the last sphere, and `run` chose `C`.
                            unsafe {
                                compare_run::<C, MIXED, S>(&columns, &query, own, from..to, sink);
                            }
                        }
                        // SAFETY: as above.
                        unsafe {
                            self.coarser
                                .visit::<C, MIXED, S>(&columns, &query, own, sink);
                        }
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn query<const MIXED: bool>(&self, columns: &Columns<'_>, one: usize) -> Query {
        Query {
            x: columns.x[one],
            y: columns.y[one],
            z: columns.z[one],
            owner: columns.owner[one],
            reach: match self.reach {
                Reach::Same { squared } => squared,
                Reach::Mixed { margin } => margin,
            },
            radius: match self.reach {
                Reach::Same { .. } => 2.0 * self.largest_radius,
                Reach::Mixed { .. } => columns.radius[one],
            },
        }
    }
}

/// The coarser levels of a hierarchical grid.
pub(in crate::search) trait CoarserLevels: Sync {
    /// Passes the hits of `query`, which has index `own` in the set, to `sink`.
    ///
    /// # Safety
    /// As [`Comparison::hits`] for all spheres of `columns`.
    unsafe fn visit<C: Comparison, const MIXED: bool, S: Sink>(
        &self,
        columns: &Columns<'_>,
        query: &Query,
        own: u32,
        sink: &mut S,
    );
}

/// A grid of a single level.
pub(in crate::search) struct NoCoarserLevels;

impl CoarserLevels for NoCoarserLevels {
    #[inline(always)]
    unsafe fn visit<C: Comparison, const MIXED: bool, S: Sink>(
        &self,
        _columns: &Columns<'_>,
        _query: &Query,
        _own: u32,
        _sink: &mut S,
    ) {
    }
}

/// Compares `query`, which has index `own` in the set, with the spheres of a run.
///
/// # Safety
/// `columns` have `MAX_LANES` entries after the end of the run, and the CPU has the
/// instructions of `C`.
#[inline(always)]
pub(in crate::search) unsafe fn compare_run<C: Comparison, const MIXED: bool, S: Sink>(
    columns: &Columns<'_>,
    query: &Query,
    own: u32,
    run: Range<usize>,
    sink: &mut S,
) {
    // SAFETY: as the caller promises.
    unsafe { compare::<C, MIXED, false, S>(columns, query, own, run, sink) };
}

/// As [`compare_run`]. If `PADDED`, all entries after the run are out of reach, and its end
/// need not be masked.
///
/// # Safety
/// As [`compare_run`].
#[inline(always)]
unsafe fn compare<C: Comparison, const MIXED: bool, const PADDED: bool, S: Sink>(
    columns: &Columns<'_>,
    query: &Query,
    own: u32,
    run: Range<usize>,
    sink: &mut S,
) {
    let mut at = run.start;
    let mut cursor = sink.open(run.len());
    while at < run.end {
        // SAFETY: as the caller promises; there is space for a hit of each sphere of the run.
        unsafe {
            let mut mask = C::hits::<MIXED>(columns, query, at);
            if !PADDED && run.end - at < C::LANES {
                mask &= (1 << (run.end - at)) - 1;
            }
            let hits = Hits {
                own,
                query,
                columns,
                at,
                mask,
            };
            S::push::<C, MIXED>(&mut cursor, &hits);
        }
        at += C::LANES;
    }
    sink.close(cursor);
}
