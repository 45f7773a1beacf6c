//! The walk over neighbouring cells.
//!
//! Each sphere meets the rest of its own cell and the *following* half of the 26
//! neighbours; the other half meets it from their side. Cells are numbered x
//! fastest, so that three cells side by side are one run of spheres, and the half
//! shell is five runs: the rest of the own row, and the rows (+1, 0), (−1, +1),
//! (0, +1) and (+1, +1) in (y, z).

use super::beyond::{Beyond, Nobody};
use super::candidates::{Candidates, MAX_CANDIDATES};
use super::layout::GridLayout;
use super::plan::Reach;
#[cfg(target_arch = "x86_64")]
use super::scan::Avx2;
use super::scan::{Columns, Comparison, Instructions, LANES, Query, Scalar};
use super::sort::SortedSpheres;
use crate::search::Pair;

/// Spheres that one task walks, about.
const SPHERES_PER_TASK: usize = 4096;

/// Offsets in (y, z) of the four following rows.
pub(crate) const FOLLOWING_ROWS: [(i32, i32); 4] = [(1, 0), (-1, 1), (0, 1), (1, 1)];

/// Most runs of a cell: five rows, each in two pieces where a folded grid wraps.
const MAX_RUNS: usize = 10;

/// A sorted grid, ready to be walked by several tasks at once.
pub(in crate::search) struct Walk<'a, B = Nobody> {
    pub(in crate::search) sorted: &'a SortedSpheres,
    /// For each cell of the layout its first sphere, and one entry more.
    pub(in crate::search) cell_start: &'a [u32],
    pub(in crate::search) layout: GridLayout,
    /// Who else is met.
    pub(in crate::search) beyond: B,
    pub(in crate::search) reach: Reach,
    /// Largest radius, nm.
    pub(in crate::search) largest_radius: f32,
    pub(in crate::search) instructions: Instructions,
}

impl<B: Beyond> Walk<'_, B> {
    /// First sphere of all cells, and the end.
    pub(in crate::search) fn spheres(&self) -> [usize; 2] {
        [self.cell_start.first(), self.cell_start.last()].map(|k| k.map_or(0, |&k| k as usize))
    }

    /// Number of tasks: fixed by the scene, not by the number of threads.
    pub(in crate::search) fn tasks(&self) -> usize {
        let [first, end] = self.spheres();
        (end - first).div_ceil(SPHERES_PER_TASK)
    }

    /// Appends the pairs of one task to `list`.
    pub(in crate::search) fn list(&self, task: usize, list: &mut Vec<Pair>) {
        self.visit(task, &mut Lister { list });
        keep_headroom(list);
    }

    /// Appends the pairs of one task to `list`, and their gaps to `gaps`.
    pub(in crate::search) fn list_gaps(
        &self,
        task: usize,
        list: &mut Vec<Pair>,
        gaps: &mut Vec<f32>,
    ) {
        let mut sink = GapLister {
            pairs: Lister { list },
            gaps,
        };
        self.visit(task, &mut sink);
        keep_headroom(list);
        keep_headroom(gaps);
    }

    /// Counts the pairs of one task.
    pub(in crate::search) fn count(&self, task: usize) -> u64 {
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
        let columns = self.sorted.columns();
        let cell_start = self.cell_start;
        let row_cells = self.layout.cells[0] as usize;
        let mut candidates = Candidates::new();
        for row in self.rows_of(task) {
            let first = row * row_cells;
            if cell_start[first] == cell_start[first + row_cells] {
                continue;
            }
            let following = self.following_rows(row);
            for cx in 0..row_cells {
                let cell = first + cx;
                let (start, end) = (cell_start[cell] as usize, cell_start[cell + 1] as usize);
                if start == end {
                    continue;
                }
                let runs = self.runs(first, cx, &following);
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
                            let own = columns.index[start + one];
                            self.beyond
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
                            self.beyond
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

    /// Rows of cells whose spheres belong to `task`: whole rows, about
    /// [`SPHERES_PER_TASK`] spheres.
    fn rows_of(&self, task: usize) -> std::ops::Range<usize> {
        let row_cells = self.layout.cells[0] as usize;
        let rows = self.layout.row_count();
        let [first, _] = self.spheres();
        let row_at = |sphere: usize| {
            let (mut low, mut high) = (0, rows);
            while low < high {
                let middle = low.midpoint(high);
                if (self.cell_start[middle * row_cells] as usize) < first + sphere {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        let start = if task == 0 {
            0
        } else {
            row_at(task * SPHERES_PER_TASK)
        };
        let end = if task + 1 == self.tasks() {
            rows
        } else {
            row_at((task + 1) * SPHERES_PER_TASK)
        };
        start..end
    }

    /// First cells of the four rows that follow `row`.
    fn following_rows(&self, row: usize) -> [usize; 4] {
        let [nx, ny, nz] = self.layout.cells.map(|n| n as i32);
        let (cy, cz) = (row as i32 % ny, row as i32 / ny);
        FOLLOWING_ROWS.map(|(dy, dz)| {
            // A plain grid has a border, so that spheres never sit in the outermost
            // rows and the remainder changes nothing there.
            let (y, z) = ((cy + dy).rem_euclid(ny), (cz + dz).rem_euclid(nz));
            (y as usize + ny as usize * z as usize) * nx as usize
        })
    }

    /// The runs of a cell: first the one that starts with the cell itself.
    #[inline(always)]
    fn runs(&self, first: usize, cx: usize, following: &[usize; 4]) -> Runs {
        let cell_start = self.cell_start;
        let row_cells = self.layout.cells[0] as usize;
        let mut runs = Runs::default();
        let mut add = |from: usize, to: usize| runs.add(cell_start[from], cell_start[to]);
        let at_start = cx == 0;
        let at_end = cx + 1 == row_cells;
        if at_end {
            add(first + cx, first + row_cells);
            add(first, first + 1);
        } else {
            add(first + cx, first + cx + 2);
        }
        for &row in following {
            if at_start {
                add(row + row_cells - 1, row + row_cells);
                add(row, row + 2);
            } else if at_end {
                add(row, row + 1);
                add(row + cx - 1, row + row_cells);
            } else {
                add(row + cx - 1, row + cx + 2);
            }
        }
        runs
    }
}

/// Runs of spheres that a cell is compared with.
#[derive(Clone, Copy, Default)]
struct Runs {
    runs: [(u32, u32); MAX_RUNS],
    len: usize,
}

impl Runs {
    #[inline(always)]
    fn add(&mut self, from: u32, to: u32) {
        self.runs[self.len] = (from, to);
        self.len += 1;
    }

    #[inline(always)]
    fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.runs[..self.len]
            .iter()
            .map(|&(from, to)| (from as usize, to as usize))
    }

    /// Number of spheres in all runs.
    #[inline(always)]
    fn total(&self) -> usize {
        self.iter().map(|(from, to)| to - from).sum()
    }
}

/// What becomes of the hits.
pub(in crate::search) trait Sink {
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
pub(in crate::search) struct Lister<'a> {
    pub(in crate::search) list: &'a mut Vec<Pair>,
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

/// Compares `query`, which has index `own` in the set, with the spheres of a run.
///
/// # Safety
/// `columns` have [`LANES`] entries behind the end of the run, and the processor has
/// the instructions.
#[inline(always)]
pub(in crate::search) unsafe fn scan_run<C: Comparison, const MIXED: bool, S: Sink>(
    columns: &Columns<'_>,
    query: &Query,
    own: u32,
    run: std::ops::Range<usize>,
    sink: &mut S,
) {
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
