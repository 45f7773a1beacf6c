//! The walk over neighbouring cells.
//!
//! Each sphere meets the rest of its own cell and the *following* half of the 26
//! neighbours; the other half meets it from their side. Cells are numbered x
//! fastest, so that three cells side by side are one run of spheres, and the half
//! shell is five runs: the rest of the own row, and the rows (+1, 0), (−1, +1),
//! (0, +1) and (+1, +1) in (y, z).

use std::time::Instant;

use rayon::prelude::*;

use super::candidates::{Candidates, MAX_CANDIDATES};
use super::cells::CellWalk;
use super::plan::Reach;
#[cfg(target_arch = "x86_64")]
use super::scan::Avx2;
use super::scan::{Columns, Comparison, Instructions, LANES, Query, Scalar};
use crate::search::{Pair, PairBuffer, SearchTimes};

/// Spheres that one task walks, about.
pub(super) const SPHERES_PER_TASK: usize = 4096;

/// A sorted grid, ready to be walked by several tasks at once.
pub(in crate::search) struct Walk<'a> {
    pub(super) cells: CellWalk<'a>,
    pub(super) reach: Reach,
    /// Largest radius, nm.
    pub(super) largest_radius: f32,
    pub(super) instructions: Instructions,
}

impl Walk<'_> {
    /// Writes all pairs. The search began at `start`.
    pub(in crate::search) fn find_pairs(
        &self,
        start: Instant,
        pairs: &mut PairBuffer,
    ) -> SearchTimes {
        let built = Instant::now();
        pairs
            .start(self.cells.tasks())
            .par_iter_mut()
            .enumerate()
            .for_each(|(task, list)| self.list(task, list));
        SearchTimes {
            build: built - start,
            walk: built.elapsed(),
        }
    }

    /// Writes all pairs and their gaps, and calls `each` for each list.
    pub(in crate::search) fn find_gaps(
        &self,
        start: Instant,
        pairs: &mut PairBuffer,
        each: &(dyn Fn(usize, &[Pair], &[f32]) + Sync),
    ) -> SearchTimes {
        let built = Instant::now();
        let (lists, gaps) = pairs.start_with_gaps(self.cells.tasks());
        let lists = lists.par_iter_mut().zip(gaps).enumerate();
        lists.for_each(|(task, (list, gaps))| {
            self.list_gaps(task, list, gaps);
            each(task, list, gaps);
        });
        SearchTimes {
            build: built - start,
            walk: built.elapsed(),
        }
    }

    /// Counts all pairs.
    pub(in crate::search) fn count_pairs(&self) -> u64 {
        let tasks = (0..self.cells.tasks()).into_par_iter();
        tasks.map(|task| self.count(task)).sum()
    }

    /// Appends the pairs of one task to `list`.
    fn list(&self, task: usize, list: &mut Vec<Pair>) {
        self.visit(task, &mut Lister { list });
        keep_headroom(list);
    }

    /// Appends the pairs of one task to `list`, and their gaps to `gaps`.
    fn list_gaps(&self, task: usize, list: &mut Vec<Pair>, gaps: &mut Vec<f32>) {
        let mut sink = GapLister {
            pairs: Lister { list },
            gaps,
        };
        self.visit(task, &mut sink);
        keep_headroom(list);
        keep_headroom(gaps);
    }

    /// Counts the pairs of one task.
    fn count(&self, task: usize) -> u64 {
        let mut counter = Counter { count: 0 };
        self.visit(task, &mut counter);
        counter.count
    }

    /// Passes all hits of `task` to `sink`.
    fn visit<S: Sink>(&self, task: usize, sink: &mut S) {
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
        }
    }

    /// # Safety
    /// The processor has AVX2, BMI1 and POPCNT.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    unsafe fn visit_avx2<const MIXED: bool, S: Sink>(&self, task: usize, sink: &mut S) {
        self.visit_with::<Avx2, MIXED, S>(task, sink);
    }

    #[inline(always)]
    fn visit_with<C: Comparison, const MIXED: bool, S: Sink>(&self, task: usize, sink: &mut S) {
        let CellWalk { sorted, layout, .. } = self.cells;
        let columns = sorted.columns();
        let cell_start = &sorted.cell_start[..];
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
                        candidates.append::<MIXED, S>(&columns, from, to);
                    }
                    candidates.finish();
                    let copies = candidates.columns();
                    for one in 0..end - start {
                        let query = self.query::<MIXED>(&copies, one);
                        // SAFETY: the copies have LANES entries behind the last, all
                        // out of reach, and `visit` chose `C`.
                        unsafe {
                            scan::<C, MIXED, S>(&copies, &query, one, candidates.len(), sink);
                        }
                    }
                } else {
                    for one in start..end {
                        let query = self.query::<MIXED>(&columns, one);
                        for (k, (from, to)) in runs.iter().enumerate() {
                            // The first run holds the cell itself: only what follows.
                            let from = if k == 0 { one + 1 } else { from };
                            // SAFETY: runs end at the last sphere, and `visit` chose `C`.
                            unsafe {
                                scan_run::<C, MIXED, S>(&columns, &query, one, from..to, sink);
                            }
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
                Reach::Mixed { margin } => columns.radius[one] + margin,
            },
            radius: match self.reach {
                Reach::Same { .. } => 2.0 * self.largest_radius,
                Reach::Mixed { .. } => columns.radius[one],
            },
        }
    }
}

/// What becomes of the hits.
pub(super) trait Sink {
    /// Whether the indices of the others are looked at.
    const WANTS_INDICES: bool;

    /// Takes the hits of a sphere among eight others.
    ///
    /// # Safety
    /// The processor has the instructions of `C`, and the columns have eight entries from
    /// the first of the others.
    unsafe fn take<C: Comparison, const MIXED: bool>(&mut self, hits: &Hits<'_>);
}

/// A sphere, and which of eight others it hits.
pub(super) struct Hits<'a> {
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
    ///
    /// # Safety
    /// The columns have eight entries from the first of the others.
    #[inline(always)]
    unsafe fn others(&self) -> &[u32; LANES] {
        // SAFETY: as the caller promises.
        unsafe { lanes(self.columns.index, self.at) }
    }
}

/// Counts the hits.
struct Counter {
    count: u64,
}

impl Sink for Counter {
    const WANTS_INDICES: bool = false;

    #[inline(always)]
    unsafe fn take<C: Comparison, const MIXED: bool>(&mut self, hits: &Hits<'_>) {
        self.count += u64::from(hits.mask.count_ones());
    }
}

/// Writes the hits down.
struct Lister<'a> {
    list: &'a mut Vec<Pair>,
}

impl Sink for Lister<'_> {
    const WANTS_INDICES: bool = true;

    #[inline(always)]
    unsafe fn take<C: Comparison, const MIXED: bool>(&mut self, hits: &Hits<'_>) {
        if hits.mask == 0 {
            return;
        }
        let len = self.list.len();
        if self.list.capacity() - len < LANES {
            grow(self.list);
        }
        // SAFETY: there is room for LANES pairs, of which the first `count_ones` are
        // written; the caller promises the instructions and the entries.
        unsafe {
            let target = self.list.as_mut_ptr().add(len);
            C::write_pairs(hits.own, hits.others(), hits.mask, target);
            self.list.set_len(len + hits.mask.count_ones() as usize);
        }
    }
}

/// Writes the hits and their gaps down.
struct GapLister<'a> {
    pairs: Lister<'a>,
    gaps: &'a mut Vec<f32>,
}

impl Sink for GapLister<'_> {
    const WANTS_INDICES: bool = true;

    #[inline(always)]
    unsafe fn take<C: Comparison, const MIXED: bool>(&mut self, hits: &Hits<'_>) {
        if hits.mask == 0 {
            return;
        }
        let len = self.gaps.len();
        if self.gaps.capacity() - len < LANES {
            grow(self.gaps);
        }
        // SAFETY: there is room for LANES numbers, of which the first `count_ones` are
        // written; the caller promises the instructions and the entries.
        unsafe {
            self.pairs.take::<C, MIXED>(hits);
            let target = self.gaps.as_mut_ptr().add(len);
            C::write_gaps::<MIXED>(hits.columns, hits.query, hits.at, hits.mask, target);
            self.gaps.set_len(len + hits.mask.count_ones() as usize);
        }
    }
}

/// Headroom for the next search, so that a few pairs more do not allocate.
fn keep_headroom<T>(list: &mut Vec<T>) {
    if list.capacity() - list.len() < list.len() / 8 + LANES {
        grow(list);
    }
}

/// Makes room for more: half as many again, less than a vector's own doubling.
#[cold]
fn grow<T>(list: &mut Vec<T>) {
    list.reserve_exact((list.len() / 2).max(64 * LANES));
}

/// Compares `query`, candidate `one`, with all candidates behind it.
///
/// # Safety
/// `columns` have [`LANES`] entries behind `len`, all out of reach, and the processor
/// has the instructions.
#[inline(always)]
unsafe fn scan<C: Comparison, const MIXED: bool, S: Sink>(
    columns: &Columns<'_>,
    query: &Query,
    one: usize,
    len: usize,
    sink: &mut S,
) {
    let own = columns.index[one];
    let mut at = one + 1;
    while at < len {
        // SAFETY: as the caller promises.
        unsafe {
            let mask = C::hits::<MIXED>(columns, query, at);
            sink.take::<C, MIXED>(&Hits {
                own,
                query,
                columns,
                at,
                mask,
            });
        }
        at += LANES;
    }
}

/// Compares `query`, sphere `one`, with the spheres of a run.
///
/// # Safety
/// `columns` have [`LANES`] entries behind the end of the run, and the processor has
/// the instructions.
#[inline(always)]
unsafe fn scan_run<C: Comparison, const MIXED: bool, S: Sink>(
    columns: &Columns<'_>,
    query: &Query,
    one: usize,
    run: std::ops::Range<usize>,
    sink: &mut S,
) {
    let own = columns.index[one];
    let mut at = run.start;
    while at < run.end {
        // SAFETY: as the caller promises.
        unsafe {
            let mut mask = C::hits::<MIXED>(columns, query, at);
            if run.end - at < LANES {
                mask &= (1 << (run.end - at)) - 1;
            }
            sink.take::<C, MIXED>(&Hits {
                own,
                query,
                columns,
                at,
                mask,
            });
        }
        at += LANES;
    }
}

/// Eight entries from `at`.
///
/// # Safety
/// They exist.
#[inline(always)]
unsafe fn lanes(column: &[u32], at: usize) -> &[u32; LANES] {
    debug_assert!(at + LANES <= column.len());
    // SAFETY: in bounds, as the caller promises.
    unsafe { &*column.as_ptr().add(at).cast() }
}
