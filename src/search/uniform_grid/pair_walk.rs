//! The walk over neighboring cells.
//!
//! Each sphere meets the rest of its own cell and the *following* half of the 26
//! neighbors; the other half meets it from their side. Cells are numbered x
//! fastest, so that three cells side by side are one run of spheres, and the half
//! shell is five runs: the rest of the own row, and the rows (+1, 0), (−1, +1),
//! (0, +1) and (+1, +1) in (y, z).

use std::ops::Range;

use super::candidates::{Candidates, MAX_CANDIDATES};
use super::cell_walk::CellWalk;
use super::reach_plan::Reach;
#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};
use super::simd::{Columns, Comparison, Instructions, MAX_LANES, Query, Scalar};
use crate::search::Pair;
use crate::search::pair_tasks::{PairTasks, Visitor};

/// Spheres that one task walks, about.
pub(in crate::search) const SPHERES_PER_TASK: usize = 4096;

/// A sorted grid, ready to be walked by several tasks at once.
pub(in crate::search) struct PairWalk<'a, B = NoCoarserLevels> {
    pub(in crate::search) cells: CellWalk<'a>,
    /// Who else is met.
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
        self.visit_hits(task, &mut PairLister { list });
        keep_headroom(list);
    }

    fn list_gaps(&self, task: usize, list: &mut Vec<Pair>, gaps: &mut Vec<f32>) {
        let mut sink = GapLister {
            pairs: PairLister { list },
            gaps,
        };
        self.visit_hits(task, &mut sink);
        keep_headroom(list);
        keep_headroom(gaps);
    }

    fn count(&self, task: usize) -> u64 {
        let mut counter = Counter { count: 0 };
        self.visit_hits(task, &mut counter);
        counter.count
    }

    fn visit(&self, task: usize, list: &mut Vec<Pair>, gaps: &mut Vec<f32>, visit: Visitor<'_>) {
        list.clear();
        gaps.clear();
        let mut sink = BatchVisitor {
            lister: GapLister {
                pairs: PairLister { list },
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
    /// The processor has AVX2, BMI1 and POPCNT.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    unsafe fn visit_avx2<const MIXED: bool, S: Sink>(&self, task: usize, sink: &mut S) {
        self.visit_with::<Avx2, MIXED, S>(task, sink);
    }

    /// # Safety
    /// The processor has AVX-512F, AVX2, BMI1 and POPCNT.
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
                        // SAFETY: the copies have MAX_LANES entries behind the last, all
                        // out of reach, and `visit` chose `C`.
                        unsafe {
                            scan::<C, MIXED, true, S>(&copies, &query, own, run, sink);
                            self.coarser
                                .visit::<C, MIXED, S>(&columns, &query, own, sink);
                        }
                    }
                } else {
                    for one in start..end {
                        let query = self.query::<MIXED>(&columns, one);
                        let own = columns.index[one];
                        for (k, (from, to)) in runs.iter().enumerate() {
                            // The first run holds the cell itself: only what follows.
                            let from = if k == 0 { one + 1 } else { from };
                            // SAFETY: runs end at the last sphere, and `visit` chose `C`.
                            unsafe {
                                scan_run::<C, MIXED, S>(&columns, &query, own, from..to, sink);
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

/// The coarser levels that the spheres of a level are compared with, too.
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

/// What becomes of the hits.
pub(in crate::search) trait Sink {
    /// Whether the indices of the others are looked at.
    const WANTS_INDICES: bool;

    /// Where the hits of one sphere go: by value, so that it can stay in registers.
    type Room;

    /// Room for the hits of a sphere among `most` others, and [`MAX_LANES`] to spare.
    fn open(&mut self, most: usize) -> Self::Room;

    /// Takes the hits of a sphere among as many others as `C` compares at once.
    ///
    /// # Safety
    /// The processor has the instructions of `C`, and there are entries in the columns and
    /// room for hits of as many others.
    unsafe fn take<C: Comparison, const MIXED: bool>(room: &mut Self::Room, hits: &Hits<'_>);

    /// Keeps what was taken into the room that was opened last.
    fn close(&mut self, room: Self::Room);
}

/// A sphere, and which of a vector of others it hits.
pub(in crate::search) struct Hits<'a> {
    /// Index of the sphere in the set.
    own: u32,
    query: &'a Query,
    columns: &'a Columns<'a>,
    /// Place of the first of the others.
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
struct Counter {
    count: u64,
}

impl Sink for Counter {
    const WANTS_INDICES: bool = false;

    type Room = u64;

    #[inline(always)]
    fn open(&mut self, _: usize) -> u64 {
        self.count
    }

    #[inline(always)]
    unsafe fn take<C: Comparison, const MIXED: bool>(count: &mut u64, hits: &Hits<'_>) {
        *count += u64::from(hits.mask.count_ones());
    }

    #[inline(always)]
    fn close(&mut self, count: u64) {
        self.count = count;
    }
}

/// Writes the hits down.
pub(in crate::search) struct PairLister<'a> {
    pub(in crate::search) list: &'a mut Vec<Pair>,
}

impl Sink for PairLister<'_> {
    const WANTS_INDICES: bool = true;

    /// Where the next pair goes.
    type Room = *mut Pair;

    #[inline(always)]
    fn open(&mut self, most: usize) -> *mut Pair {
        open(self.list, most)
    }

    #[inline(always)]
    unsafe fn take<C: Comparison, const MIXED: bool>(next: &mut *mut Pair, hits: &Hits<'_>) {
        if hits.mask == 0 {
            return;
        }
        // SAFETY: there is room for a vector of pairs, of which the first `count_ones` are
        // written; the caller promises the instructions and the entries.
        unsafe {
            C::write_pairs(hits.own, hits.others(), hits.mask, *next);
            *next = next.add(hits.mask.count_ones() as usize);
        }
    }

    #[inline(always)]
    fn close(&mut self, next: *mut Pair) {
        // SAFETY: `take` wrote everything before `next`, within the room of `open`.
        unsafe { close(self.list, next) };
    }
}

/// Writes the hits and their gaps down.
struct GapLister<'a> {
    pairs: PairLister<'a>,
    gaps: &'a mut Vec<f32>,
}

impl Sink for GapLister<'_> {
    const WANTS_INDICES: bool = true;

    /// Where the next pair and its gap go.
    type Room = (*mut Pair, *mut f32);

    #[inline(always)]
    fn open(&mut self, most: usize) -> Self::Room {
        (self.pairs.open(most), open(self.gaps, most))
    }

    #[inline(always)]
    unsafe fn take<C: Comparison, const MIXED: bool>(
        (pair, gap): &mut Self::Room,
        hits: &Hits<'_>,
    ) {
        if hits.mask == 0 {
            return;
        }
        // SAFETY: there is room for a vector of numbers, of which the first `count_ones` are
        // written; the caller promises the instructions and the entries.
        unsafe {
            C::write_gaps::<MIXED>(hits.columns, hits.query, hits.at, hits.mask, *gap);
            *gap = gap.add(hits.mask.count_ones() as usize);
            PairLister::take::<C, MIXED>(pair, hits);
        }
    }

    #[inline(always)]
    fn close(&mut self, (pair, gap): Self::Room) {
        self.pairs.close(pair);
        // SAFETY: `take` wrote everything before `gap`, within the room of `open`.
        unsafe { close(self.gaps, gap) };
    }
}

/// Pairs of a batch, at least, except for the last batch of a task.
const BATCH: usize = 4096;

/// Passes the hits and their gaps to a [`Visitor`], in batches.
struct BatchVisitor<'a> {
    lister: GapLister<'a>,
    visit: Visitor<'a>,
}

impl BatchVisitor<'_> {
    fn flush(&mut self) {
        let GapLister { pairs, gaps } = &mut self.lister;
        if !gaps.is_empty() {
            (self.visit)(pairs.list, gaps);
        }
        pairs.list.clear();
        gaps.clear();
    }
}

impl Sink for BatchVisitor<'_> {
    const WANTS_INDICES: bool = true;

    type Room = (*mut Pair, *mut f32);

    #[inline(always)]
    fn open(&mut self, most: usize) -> Self::Room {
        self.lister.open(most)
    }

    #[inline(always)]
    unsafe fn take<C: Comparison, const MIXED: bool>(room: &mut Self::Room, hits: &Hits<'_>) {
        // SAFETY: as the caller promises.
        unsafe { GapLister::take::<C, MIXED>(room, hits) };
    }

    #[inline(always)]
    fn close(&mut self, room: Self::Room) {
        self.lister.close(room);
        if self.lister.gaps.len() >= BATCH {
            self.flush();
        }
    }
}

/// The end of a list, with room for `most` more entries and [`MAX_LANES`] to spare.
#[inline(always)]
fn open<T>(list: &mut Vec<T>, most: usize) -> *mut T {
    if list.capacity() - list.len() < most + MAX_LANES {
        grow(list, most + MAX_LANES);
    }
    list.spare_capacity_mut().as_mut_ptr().cast()
}

/// Makes a list end at `next`.
///
/// # Safety
/// `next` is in the room that [`open`] gave, and all entries before it are written.
#[inline(always)]
unsafe fn close<T>(list: &mut Vec<T>, next: *mut T) {
    // SAFETY: both are of the same allocation, and the entries are written.
    unsafe {
        let len = next.offset_from_unsigned(list.as_ptr());
        list.set_len(len);
    }
}

/// Headroom for the next search, so that a few pairs more do not allocate.
fn keep_headroom<T>(list: &mut Vec<T>) {
    let headroom = list.len() / 8 + MAX_LANES;
    if list.capacity() - list.len() < headroom {
        grow(list, headroom);
    }
}

/// Makes room for `least` more: half as many again, less than a vector's own doubling.
#[cold]
fn grow<T>(list: &mut Vec<T>, least: usize) {
    list.reserve_exact((list.len() / 2).max(32 * MAX_LANES).max(least));
}

/// Compares `query`, which has index `own` in the set, with the spheres of a run.
///
/// # Safety
/// `columns` have [`MAX_LANES`] entries behind the end of the run, and the processor has
/// the instructions.
#[inline(always)]
pub(in crate::search) unsafe fn scan_run<C: Comparison, const MIXED: bool, S: Sink>(
    columns: &Columns<'_>,
    query: &Query,
    own: u32,
    run: Range<usize>,
    sink: &mut S,
) {
    // SAFETY: as the caller promises.
    unsafe { scan::<C, MIXED, false, S>(columns, query, own, run, sink) };
}

/// As [`scan_run`]. If all that follows the run is out of reach, it is `PADDED`, and nobody
/// has to look where it ends.
///
/// # Safety
/// As [`scan_run`].
#[inline(always)]
unsafe fn scan<C: Comparison, const MIXED: bool, const PADDED: bool, S: Sink>(
    columns: &Columns<'_>,
    query: &Query,
    own: u32,
    run: Range<usize>,
    sink: &mut S,
) {
    let mut at = run.start;
    let mut room = sink.open(run.len());
    while at < run.end {
        // SAFETY: as the caller promises; no more than the run can be hit.
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
            S::take::<C, MIXED>(&mut room, &hits);
        }
        at += C::LANES;
    }
    sink.close(room);
}
