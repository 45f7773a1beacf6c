//! Comparison of the spheres of neighboring cells.
//!
//! Each sphere is compared with the rest of its own cell and the *following* half of the 26
//! neighbors; the other half is compared with it in turn. Cells are numbered x fastest, so that
//! three adjacent cells are one run of spheres, and the half shell is five runs: the rest of
//! the own row, and the rows (+1, 0), (−1, +1), (0, +1) and (+1, +1) in (y, z).

use std::ops::Range;

use super::candidates::{Candidates, MAX_CANDIDATES};
use super::cell_walk::CellWalk;
use super::reach_plan::Reach;
#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};
use super::simd::{Columns, Comparison, Instructions, MAX_LANES, Query, Scalar};
use crate::search::Pair;
use crate::search::pair_tasks::{PairTasks, Visitor};

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

    fn list(&self, task: usize, list: &mut Vec<Pair>) {
        self.visit_hits(task, &mut PairSink { list });
        keep_headroom(list);
    }

    fn list_gaps(&self, task: usize, list: &mut Vec<Pair>, gaps: &mut Vec<f32>) {
        let mut sink = GapSink {
            pairs: PairSink { list },
            gaps,
        };
        self.visit_hits(task, &mut sink);
        keep_headroom(list);
        keep_headroom(gaps);
    }

    fn count(&self, task: usize) -> u64 {
        let mut counter = CountSink { count: 0 };
        self.visit_hits(task, &mut counter);
        counter.count
    }

    fn visit(&self, task: usize, list: &mut Vec<Pair>, gaps: &mut Vec<f32>, visit: Visitor<'_>) {
        list.clear();
        gaps.clear();
        let mut sink = BatchSink {
            sink: GapSink {
                pairs: PairSink { list },
                gaps,
            },
            visit,
        };
        self.visit_hits(task, &mut sink);
        sink.flush();
    }
}

impl<B: CoarserLevels> PairWalk<'_, B> {
    /// Passes all hits of `task` to `sink`.
    fn visit_hits<S: Sink>(&self, task: usize, sink: &mut S) {
        match (self.instructions, self.reach.is_mixed()) {
            (Instructions::Scalar, false) => self.visit_with::<Scalar, false, S>(task, sink),
            (Instructions::Scalar, true) => self.visit_with::<Scalar, true, S>(task, sink),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Avx2, mixed) => {
                // SAFETY: `Instructions::Avx2` exists only where it was detected.
                unsafe {
                    if mixed {
                        self.visit_avx2::<true, S>(task, sink);
                    } else {
                        self.visit_avx2::<false, S>(task, sink);
                    }
                }
            }
            #[cfg(target_arch = "x86_64")]
            (Instructions::Avx512, mixed) => {
                // SAFETY: `Instructions::Avx512` exists only where it was detected.
                unsafe {
                    if mixed {
                        self.visit_avx512::<true, S>(task, sink);
                    } else {
                        self.visit_avx512::<false, S>(task, sink);
                    }
                }
            }
        }
    }

    /// # Safety
    /// The CPU has AVX2, BMI1 and POPCNT.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    unsafe fn visit_avx2<const MIXED: bool, S: Sink>(&self, task: usize, sink: &mut S) {
        self.visit_with::<Avx2, MIXED, S>(task, sink);
    }

    /// # Safety
    /// The CPU has AVX-512F, AVX2, BMI1 and POPCNT.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx2,bmi1,popcnt")]
    unsafe fn visit_avx512<const MIXED: bool, S: Sink>(&self, task: usize, sink: &mut S) {
        self.visit_with::<Avx512, MIXED, S>(task, sink);
    }

    #[inline(always)]
    fn visit_with<C: Comparison, const MIXED: bool, S: Sink>(&self, task: usize, sink: &mut S) {
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
                        // SAFETY: the copies have MAX_LANES entries after the last one, all out of reach, and
                        // `visit_hits` chose `C`.
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
                            // SAFETY: runs end at the last sphere, and `visit_hits` chose `C`.
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

/// Receives the hits of a walk.
pub(in crate::search) trait Sink {
    /// Whether the sink reads the indices of the spheres that were hit.
    const WANTS_INDICES: bool;

    /// Where the next hit is written: passed by value, so that it can stay in registers.
    type Cursor;

    /// Reserves space for the hits of a sphere among `count` others, plus [`MAX_LANES`].
    fn open(&mut self, count: usize) -> Self::Cursor;

    /// Stores the hits of a sphere among one vector of others.
    ///
    /// # Safety
    /// The CPU has the instructions of `C`, the columns have a vector of entries, and `open`
    /// reserved space for as many hits.
    unsafe fn push<C: Comparison, const MIXED: bool>(cursor: &mut Self::Cursor, hits: &Hits<'_>);

    /// Keeps the hits that were stored since the last `open`.
    fn close(&mut self, cursor: Self::Cursor);
}

/// A sphere, and the hits among a vector of other spheres.
pub(in crate::search) struct Hits<'a> {
    /// Index of the sphere in the set.
    own: u32,
    query: &'a Query,
    columns: &'a Columns<'a>,
    /// Position of the first of the others.
    at: usize,
    mask: u32,
}

impl Hits<'_> {
    /// Indices of the others in the set.
    #[inline(always)]
    fn others(&self) -> *const u32 {
        debug_assert!(self.at < self.columns.index.len());
        self.columns.index.as_ptr().wrapping_add(self.at)
    }
}

/// Counts the hits.
struct CountSink {
    count: u64,
}

impl Sink for CountSink {
    const WANTS_INDICES: bool = false;

    type Cursor = u64;

    #[inline(always)]
    fn open(&mut self, _: usize) -> u64 {
        self.count
    }

    #[inline(always)]
    unsafe fn push<C: Comparison, const MIXED: bool>(count: &mut u64, hits: &Hits<'_>) {
        *count += u64::from(hits.mask.count_ones());
    }

    #[inline(always)]
    fn close(&mut self, count: u64) {
        self.count = count;
    }
}

/// Lists the hits.
pub(in crate::search) struct PairSink<'a> {
    pub(in crate::search) list: &'a mut Vec<Pair>,
}

impl Sink for PairSink<'_> {
    const WANTS_INDICES: bool = true;

    /// Where the next pair goes.
    type Cursor = *mut Pair;

    #[inline(always)]
    fn open(&mut self, count: usize) -> *mut Pair {
        open(self.list, count)
    }

    #[inline(always)]
    unsafe fn push<C: Comparison, const MIXED: bool>(next: &mut *mut Pair, hits: &Hits<'_>) {
        if hits.mask == 0 {
            return;
        }
        // SAFETY: there is space for a vector of pairs, of which the first `count_ones` are kept; the
        // caller promises the instructions and the entries.
        unsafe {
            C::write_pairs(hits.own, hits.others(), hits.mask, *next);
            *next = next.add(hits.mask.count_ones() as usize);
        }
    }

    #[inline(always)]
    fn close(&mut self, next: *mut Pair) {
        // SAFETY: `push` wrote all pairs before `next`, within the space of `open`.
        unsafe { close(self.list, next) };
    }
}

/// Lists the hits and their gaps.
struct GapSink<'a> {
    pairs: PairSink<'a>,
    gaps: &'a mut Vec<f32>,
}

impl Sink for GapSink<'_> {
    const WANTS_INDICES: bool = true;

    /// Where the next pair and its gap go.
    type Cursor = (*mut Pair, *mut f32);

    #[inline(always)]
    fn open(&mut self, count: usize) -> Self::Cursor {
        (self.pairs.open(count), open(self.gaps, count))
    }

    #[inline(always)]
    unsafe fn push<C: Comparison, const MIXED: bool>(
        (pair, gap): &mut Self::Cursor,
        hits: &Hits<'_>,
    ) {
        if hits.mask == 0 {
            return;
        }
        // SAFETY: there is space for a vector of gaps, of which the first `count_ones` are kept; the
        // caller promises the instructions and the entries.
        unsafe {
            C::write_gaps::<MIXED>(hits.columns, hits.query, hits.at, hits.mask, *gap);
            *gap = gap.add(hits.mask.count_ones() as usize);
            PairSink::push::<C, MIXED>(pair, hits);
        }
    }

    #[inline(always)]
    fn close(&mut self, (pair, gap): Self::Cursor) {
        self.pairs.close(pair);
        // SAFETY: `push` wrote all gaps before `gap`, within the space of `open`.
        unsafe { close(self.gaps, gap) };
    }
}

/// Smallest number of pairs per batch, except for the last batch of a task.
const BATCH: usize = 4096;

/// Passes the hits and their gaps to a [`Visitor`], in batches.
struct BatchSink<'a> {
    sink: GapSink<'a>,
    visit: Visitor<'a>,
}

impl BatchSink<'_> {
    fn flush(&mut self) {
        let GapSink { pairs, gaps } = &mut self.sink;
        if !gaps.is_empty() {
            (self.visit)(pairs.list, gaps);
        }
        pairs.list.clear();
        gaps.clear();
    }
}

impl Sink for BatchSink<'_> {
    const WANTS_INDICES: bool = true;

    type Cursor = (*mut Pair, *mut f32);

    #[inline(always)]
    fn open(&mut self, count: usize) -> Self::Cursor {
        self.sink.open(count)
    }

    #[inline(always)]
    unsafe fn push<C: Comparison, const MIXED: bool>(cursor: &mut Self::Cursor, hits: &Hits<'_>) {
        // SAFETY: as the caller promises.
        unsafe { GapSink::push::<C, MIXED>(cursor, hits) };
    }

    #[inline(always)]
    fn close(&mut self, cursor: Self::Cursor) {
        self.sink.close(cursor);
        if self.sink.gaps.len() >= BATCH {
            self.flush();
        }
    }
}

/// The end of a list, with space for `count` more entries plus [`MAX_LANES`].
#[inline(always)]
fn open<T>(list: &mut Vec<T>, count: usize) -> *mut T {
    if list.capacity() - list.len() < count + MAX_LANES {
        grow(list, count + MAX_LANES);
    }
    list.spare_capacity_mut().as_mut_ptr().cast()
}

/// Sets the end of a list to `next`.
///
/// # Safety
/// `next` is within the space that [`open`] reserved, and all entries before it are written.
#[inline(always)]
unsafe fn close<T>(list: &mut Vec<T>, next: *mut T) {
    // SAFETY: both point into the same allocation, and the entries are written.
    unsafe {
        let len = next.offset_from_unsigned(list.as_ptr());
        list.set_len(len);
    }
}

/// Reserves headroom, so that a few more pairs in the next search do not allocate.
fn keep_headroom<T>(list: &mut Vec<T>) {
    let headroom = list.len() / 8 + MAX_LANES;
    if list.capacity() - list.len() < headroom {
        grow(list, headroom);
    }
}

/// Reserves space for at min `min` more entries: half the length, less than the doubling of
/// `Vec`.
#[cold]
fn grow<T>(list: &mut Vec<T>, min: usize) {
    list.reserve_exact((list.len() / 2).max(32 * MAX_LANES).max(min));
}

/// Compares `query`, which has index `own` in the set, with the spheres of a run.
///
/// # Safety
/// `columns` have [`MAX_LANES`] entries after the end of the run, and the CPU has the
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
