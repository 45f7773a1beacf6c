//! Sinks: count, list or visit the pairs that a search finds.

use super::Pair;
use super::pair_tasks::Visitor;
use super::uniform_grid::simd::{Columns, Comparison, MAX_LANES, Query};

/// Receives the hits of a walk.
pub(super) trait Sink {
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

    /// Stores a single pair; `gap` returns its gap, nm.
    fn push_pair(&mut self, pair: Pair, gap: impl FnOnce() -> f32);
}

/// A sphere, and the hits among a vector of other spheres.
pub(super) struct Hits<'a> {
    /// Index of the sphere in the set.
    pub(super) own: u32,
    pub(super) query: &'a Query,
    pub(super) columns: &'a Columns<'a>,
    /// Position of the first of the others.
    pub(super) at: usize,
    pub(super) mask: u32,
}

/// Counts the hits.
impl Sink for u64 {
    const WANTS_INDICES: bool = false;

    type Cursor = u64;

    #[inline(always)]
    fn open(&mut self, _: usize) -> u64 {
        *self
    }

    #[inline(always)]
    unsafe fn push<C: Comparison, const MIXED: bool>(count: &mut u64, hits: &Hits<'_>) {
        *count += u64::from(hits.mask.count_ones());
    }

    #[inline(always)]
    fn close(&mut self, count: u64) {
        *self = count;
    }

    fn push_pair(&mut self, _pair: Pair, _gap: impl FnOnce() -> f32) {
        *self += 1;
    }
}

/// Lists the hits.
impl Sink for Vec<Pair> {
    const WANTS_INDICES: bool = true;

    /// Where the next pair goes.
    type Cursor = *mut Pair;

    #[inline(always)]
    fn open(&mut self, count: usize) -> *mut Pair {
        open(self, count)
    }

    #[inline(always)]
    unsafe fn push<C: Comparison, const MIXED: bool>(next: &mut *mut Pair, hits: &Hits<'_>) {
        if hits.mask == 0 {
            return;
        }
        debug_assert!(hits.at < hits.columns.index.len());
        // SAFETY: there is space for a vector of pairs, of which the first `count_ones` are kept;
        // the caller promises the instructions and the entries.
        unsafe {
            let others = hits.columns.index.as_ptr().add(hits.at);
            C::write_pairs(hits.own, others, hits.mask, *next);
            *next = next.add(hits.mask.count_ones() as usize);
        }
    }

    #[inline(always)]
    fn close(&mut self, next: *mut Pair) {
        // SAFETY: `push` wrote all pairs before `next`, within the space of `open`.
        unsafe { close(self, next) };
    }

    fn push_pair(&mut self, pair: Pair, _gap: impl FnOnce() -> f32) {
        self.push(pair);
    }
}

/// Smallest number of pairs per batch, except for the last batch of a task.
const BATCH: usize = 4096;

/// Lists the hits and their gaps, or passes them to a [`Visitor`] in batches.
pub(super) struct GapSink<'a> {
    pub(super) pairs: &'a mut Vec<Pair>,
    pub(super) gaps: &'a mut Vec<f32>,
    pub(super) visit: Option<Visitor<'a>>,
}

impl GapSink<'_> {
    /// Passes the pairs to the visitor, if any, unless there are less than `min`.
    #[inline(always)]
    pub(super) fn flush(&mut self, min: usize) {
        if let Some(visit) = self.visit
            && self.gaps.len() >= min
        {
            visit(self.pairs, self.gaps);
            self.pairs.clear();
            self.gaps.clear();
        }
    }
}

impl Sink for GapSink<'_> {
    const WANTS_INDICES: bool = true;

    /// Where the next pair and its gap go.
    type Cursor = (*mut Pair, *mut f32);

    #[inline(always)]
    fn open(&mut self, count: usize) -> Self::Cursor {
        (open(self.pairs, count), open(self.gaps, count))
    }

    #[inline(always)]
    unsafe fn push<C: Comparison, const MIXED: bool>(
        (pair, gap): &mut Self::Cursor,
        hits: &Hits<'_>,
    ) {
        if hits.mask == 0 {
            return;
        }
        // SAFETY: there is space for a vector of gaps, of which the first `count_ones` are kept;
        // the caller promises the instructions and the entries.
        unsafe {
            C::write_gaps::<MIXED>(hits.columns, hits.query, hits.at, hits.mask, *gap);
            *gap = gap.add(hits.mask.count_ones() as usize);
            <Vec<Pair> as Sink>::push::<C, MIXED>(pair, hits);
        }
    }

    #[inline(always)]
    fn close(&mut self, (pair, gap): Self::Cursor) {
        // SAFETY: `push` wrote all pairs and gaps before these, within the space of `open`.
        unsafe {
            close(self.pairs, pair);
            close(self.gaps, gap);
        }
        self.flush(BATCH);
    }

    fn push_pair(&mut self, pair: Pair, gap: impl FnOnce() -> f32) {
        self.pairs.push(pair);
        self.gaps.push(gap());
        self.flush(BATCH);
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
pub(super) fn keep_headroom<T>(list: &mut Vec<T>) {
    let headroom = list.len() / 8 + MAX_LANES;
    if list.capacity() - list.len() < headroom {
        grow(list, headroom);
    }
}

/// Reserves space for at least `min` more entries: half the length, less than the doubling of
/// `Vec`.
#[cold]
fn grow<T>(list: &mut Vec<T>, min: usize) {
    list.reserve_exact((list.len() / 2).max(32 * MAX_LANES).max(min));
}
