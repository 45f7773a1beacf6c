//! Linear kd-tree: cells of a tree as sorted numbers.

mod lattice;
mod locational_code;
mod record_sort;
mod split;
mod sub_boxes;
mod sweep;

use std::time::Instant;

use rayon::prelude::*;

use super::boxes::{BoxError, BoxSearch, BoxSet};
use super::pair_tasks::StoredPairs;
use super::uniform_grid::MAX_COMPARISONS;
use super::uniform_grid::simd::{Instructions, LANES};
use super::{Pair, PairBuffer, SearchError, SearchTimes};
use crate::bucket_sort::BucketSort;
use lattice::Lattice;
use locational_code::Code;
use sub_boxes::{SubBoxBlock, SubBoxId, SubBoxLists};

/// Records per task of the sweep.
const RECORDS_PER_TASK: usize = 2048;

/// A sub-box: its cell, and where it is stored.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    code: Code,
    sub_box: SubBoxId,
}

/// What the sweep selects, before boxes are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Selection {
    /// Number of sub-boxes, N to 8 N.
    pub sub_elements: usize,
    /// Total volume of the cells of all sub-boxes, nm³; a cell counts once for each sub-box.
    pub cell_volume: f64,
    /// Number of selected pairs; a pair of boxes may count several times.
    pub pairs: u64,
}

/// Boxes in the cells of an implicit kd-tree.
///
/// The broad phase of Poirrier (2009). The tree halves space along x, y and z in turn, and
/// consists of the paths from its root only:
///
/// 1. split each box at most once along each axis, where that makes the enclosing cells smaller;
/// 2. each sub-box gets the *locational code* of the smallest cell around it: the common prefix
///    of the interleaved bits of its corners;
/// 3. sort the records (code, sub-box), prefixes first: the contents of a cell follow it;
/// 4. sweep: compare each sub-box with the following ones as long as its code is their prefix.
///
/// *kd-tree-1* of the paper finds a pair of boxes up to eight times. *kd-tree-2* makes the pairs
/// unique with a list of those already found. Here a pair is only found where the lower corner of
/// the intersection of the two boxes is, which is in one sub-box of each: that needs no memory.
///
/// The paper leaves open how deep the tree should be (section 7.3): leaves are about as wide as the
/// boxes, unless [`with_finest_leaves`](Self::with_finest_leaves) makes them as small as possible.
/// It also leaves the parallel construction open (section 7.2): codes, buckets of the sort and
/// parts of the sweep are separate tasks. The pairs do not depend on the number of threads.
#[derive(Clone, Debug, Default)]
pub struct LinearKdTree {
    /// Whether boxes are not split.
    whole: bool,
    /// Whether leaves are as small as possible.
    finest: bool,
    /// Whether all pairs are stored and sorted, and duplicates removed (kd-tree-1).
    duplicates: bool,
    instructions: Instructions,
    lattice: Lattice,
    /// Sub-boxes and records before sorting.
    unsorted: SubBoxLists,
    buckets: BucketSort,
    records: Vec<Record>,
    /// The sub-boxes in the order of the records.
    blocks: Vec<SubBoxBlock>,
    /// For each record, the first following one that is not in its cell.
    ends: Vec<u32>,
}

impl LinearKdTree {
    /// The paper's kd-tree-2: unique pairs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The paper's kd-tree-1: the sweep finds duplicate pairs, which are removed at the end.
    #[must_use]
    pub fn with_duplicates() -> Self {
        Self {
            duplicates: true,
            ..Self::default()
        }
    }

    /// Does not split boxes: the variant that section 4 of the paper improves on.
    #[must_use]
    pub fn without_splitting(mut self) -> Self {
        self.whole = true;
        self
    }

    /// Divides space as finely as the codes allow, whatever the boxes, as in section 4 of the
    /// paper. The pairs are the same, in another order.
    #[must_use]
    pub fn with_finest_leaves(mut self) -> Self {
        self.finest = true;
        self
    }

    /// Uses scalar code, the reference of the vector code.
    #[must_use]
    pub fn scalar(mut self) -> Self {
        self.instructions = Instructions::Scalar;
        self
    }

    /// What the sweep selects among `boxes`. Calls `each` for every selected pair of boxes of
    /// different owners, from any thread; a pair may be selected up to eight times. This is
    /// *kd-tree-1* as in the paper, which compares the elements of each selected pair.
    ///
    /// # Errors
    /// [`SearchError`] if a box is invalid, or too many boxes lie in one place.
    pub fn select(
        &mut self,
        boxes: &BoxSet,
        each: impl Fn(Pair) + Sync,
    ) -> Result<Selection, SearchError> {
        self.build(boxes)?;
        let owned = |at: usize| {
            let (block, lane) = (&self.blocks[at / LANES], at % LANES);
            (block.owner[lane], block.element[lane])
        };
        let pairs = self.ends.par_iter().enumerate().map(|(one, &end)| {
            let (owner, element) = owned(one);
            let others = (one + 1..end as usize).map(owned);
            let others = others.filter(|other| other.0 != owner);
            others
                .inspect(|other| each(Pair::new(element, other.1)))
                .count() as u64
        });
        let pairs = pairs.sum();
        let leaf = self.lattice.edge.powi(3);
        let bits = self.lattice.bits;
        let volume = |record: &Record| record.code.volume(bits) as f64 * leaf;
        Ok(Selection {
            sub_elements: self.records.len(),
            cell_volume: self.records.iter().map(volume).sum(),
            pairs,
        })
    }

    /// Bytes of memory that the records, the sub-boxes and the buffers of the sort use.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.unsorted.memory_bytes()
            + self.buckets.memory_bytes()
            + size_of_val(&*self.records)
            + size_of_val(&*self.blocks)
            + size_of_val(&*self.ends)
    }

    /// Steps 1 to 3, and the end of the sweep of each record.
    fn build(&mut self, boxes: &BoxSet) -> Result<(), SearchError> {
        let extent = boxes.extent()?;
        if boxes.is_empty() {
            self.records.clear();
            self.ends.clear();
            return Ok(());
        }
        let side = if self.finest {
            0.0
        } else {
            boxes.median_side()
        };
        self.lattice = Lattice::new(extent, f64::from(side));
        self.unsorted.fill(boxes, &self.lattice, self.whole);
        let count: usize = self.unsorted.records.iter().map(Vec::len).sum();
        if count >= u32::MAX as usize {
            return Err(BoxError::TooMany { count }.into());
        }
        let width = Code::width(self.lattice.bits);
        record_sort::sort(
            &mut self.buckets,
            &self.unsorted.records,
            width,
            &mut self.records,
        );
        // Checked before pairs are stored: boxes in one place would fill the memory.
        if self.find_ends() > MAX_COMPARISONS {
            return Err(self.too_crowded(boxes));
        }
        sub_boxes::gather(&self.unsorted, &self.records, &mut self.blocks);
        Ok(())
    }

    /// Finds the end of the sweep of each record; returns the number of comparisons.
    fn find_ends(&mut self) -> u64 {
        let (records, bits) = (&self.records, self.lattice.bits);
        self.ends.resize(records.len(), 0);
        let tasks = self.ends.par_chunks_mut(RECORDS_PER_TASK).enumerate();
        tasks
            .map(|(task, ends)| {
                let mut comparisons = 0;
                let mut previous = None;
                for (at, end) in (task * RECORDS_PER_TASK..).zip(ends) {
                    let code = records[at].code;
                    *end = match previous {
                        Some((same, end)) if same == code => end,
                        _ => end_of(records, at, bits) as u32,
                    };
                    previous = Some((code, *end));
                    comparisons += u64::from(*end) - at as u64 - 1;
                }
                comparisons
            })
            .sum()
    }

    /// The error for the fullest cell.
    fn too_crowded(&self, boxes: &BoxSet) -> SearchError {
        let cells = self.records.chunk_by(|one, other| one.code == other.code);
        let fullest = cells.max_by_key(|cell| cell.len()).unwrap_or_default();
        let sphere = fullest.first();
        let sphere = sphere.map_or(0, |record| self.unsorted.sub_box(record.sub_box).element);
        let sides = boxes.high(sphere as usize) - boxes.low(sphere as usize);
        SearchError::TooCrowded {
            sphere,
            spheres: fullest.len() as u32,
            reach: sides.max_element(),
        }
    }
}

/// The first record after `at` that is not in its cell.
fn end_of(records: &[Record], at: usize, bits: u32) -> usize {
    let last = records[at].code.last(bits);
    // Exponential, then binary search, since most cells have few records.
    let mut step = 1;
    while let Some(record) = records.get(at + step)
        && record.code <= last
    {
        step *= 2;
    }
    let (inside, outside) = (at + step / 2, (at + step).min(records.len()));
    inside + records[inside..outside].partition_point(|record| record.code <= last)
}

impl BoxSearch for LinearKdTree {
    fn name(&self) -> &'static str {
        if self.duplicates {
            "kd-tree-1"
        } else {
            "kd-tree-2"
        }
    }

    fn find_box_pairs(
        &mut self,
        boxes: &BoxSet,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        pairs.clear();
        let start = Instant::now();
        self.build(boxes)?;
        let built = Instant::now();
        let lists = pairs.start(self.records.len().div_ceil(RECORDS_PER_TASK));
        let sweep = if self.duplicates {
            sweep::sweep::<false>
        } else {
            sweep::sweep::<true>
        };
        let stored = StoredPairs::default();
        lists
            .par_iter_mut()
            .zip(self.ends.par_chunks(RECORDS_PER_TASK))
            .enumerate()
            .for_each(|(task, (list, ends))| {
                let first = task * RECORDS_PER_TASK;
                stored.add(list, |list| {
                    sweep(self.instructions, &self.blocks, first, ends, list);
                });
            });
        stored.finish(pairs)?;
        if self.duplicates {
            pairs.sort_and_dedup();
        }
        Ok(SearchTimes::of(start, built))
    }
}
