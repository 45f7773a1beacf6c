//! Linear kd-tree: cells of a tree as numbers in a sorted array.

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

/// Records that one task sweeps from.
const RECORDS_PER_TASK: usize = 2048;

/// A piece of a box: its cell, and where it is written down.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    code: Code,
    piece: SubBoxId,
}

/// What the sweep selects, before any box is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Selection {
    /// SplitBox of boxes, N to 8 N.
    pub sub_elements: usize,
    /// Volume of the cells of all pieces, nm³; a cell counts once for each piece.
    pub cell_volume: f64,
    /// Pairs that are selected, some of them several times.
    pub pairs: u64,
}

/// How a [`LinearKdTree`] comes to unique pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Unique {
    /// All are written down, then sorted; doubles are dropped (kd-tree-1).
    BySorting,
    /// A pair is taken where the lower corner of the intersection is (kd-tree-2).
    #[default]
    ByCorner,
}

/// Boxes in the cells of an implicit kd-tree.
///
/// The broad phase of Poirrier (2009). The tree halves space along x, y and z in turn,
/// and exists only as the paths from its root:
///
/// 1. each box is split once along each axis at most, where that makes its enclosing cells
///    smaller;
/// 2. each piece gets the *locational code* of the smallest cell around it: the
///    interleaved bits of its corners, as far as they agree;
/// 3. the records (code, piece) are sorted, prefixes first: what is inside a cell follows it
///    at once;
/// 4. sweep: each piece meets those behind it for as long as its code is their prefix.
///
/// *kd-tree-1* of the paper takes what the sweep selects: a pair of boxes up to eight
/// times. *kd-tree-2* makes unique pairs of it with a list of those it has seen. Here a
/// pair is taken only where the lower corner of the two boxes' intersection lies, which
/// is in one piece of either: no memory is needed for it.
///
/// The paper leaves open how deep the tree should be (section 7.3): leaves are about as wide
/// as the boxes, unless [`with_finest_leaves`](Self::with_finest_leaves) wants them as small
/// as they can be. It leaves the parallel construction open, too (section 7.2): codes are
/// made by many tasks, each part of the records is sorted by one task, and tasks sweep from
/// different places. The lists do not depend on the threads.
///
/// ```
/// use bevy_rapier_molecules::search::boxes::{BoxSearch, BoxSet};
/// use bevy_rapier_molecules::search::{LinearKdTree, PairBuffer};
/// use glam::Vec3;
///
/// let mut boxes = BoxSet::new();
/// boxes.push(Vec3::ZERO, Vec3::ONE, 0)?;
/// boxes.push(Vec3::splat(0.9), Vec3::splat(0.95), 1)?;
/// boxes.push(Vec3::splat(-20.0), Vec3::splat(20.0), 2)?;
/// let mut pairs = PairBuffer::new();
/// LinearKdTree::new().find_box_pairs(&boxes, &mut pairs)?;
/// let pairs: Vec<[u32; 2]> = pairs.to_sorted_vec().iter().map(|pair| [pair.a, pair.b]).collect();
/// assert_eq!(pairs, [[0, 1], [0, 2], [1, 2]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LinearKdTree {
    splits: bool,
    finest: bool,
    unique: Unique,
    instructions: Instructions,
    lattice: Lattice,
    /// SplitBox and records, before they are sorted.
    made: SubBoxLists,
    buckets: BucketSort,
    records: Vec<Record>,
    /// The pieces in the order of the records.
    blocks: Vec<SubBoxBlock>,
    /// For each record where those behind it cease to be in its cell.
    ends: Vec<u32>,
}

impl Default for LinearKdTree {
    fn default() -> Self {
        Self {
            splits: true,
            finest: false,
            unique: Unique::ByCorner,
            instructions: Instructions::default(),
            lattice: Lattice::default(),
            made: SubBoxLists::default(),
            buckets: BucketSort::default(),
            records: Vec::new(),
            blocks: Vec::new(),
            ends: Vec::new(),
        }
    }
}

impl LinearKdTree {
    /// The paper's kd-tree-2: unique pairs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The paper's kd-tree-1: the sweep takes a pair as often as it meets it. Doubles are
    /// sorted out at the end.
    #[must_use]
    pub fn with_duplicates() -> Self {
        Self {
            unique: Unique::BySorting,
            ..Self::default()
        }
    }

    /// Leaves boxes whole: what section 4 of the paper improves on.
    #[must_use]
    pub fn without_splitting(self) -> Self {
        Self {
            splits: false,
            ..self
        }
    }

    /// Cuts space as finely as the codes allow, whatever the boxes: as if the tree had no
    /// limit, as in section 4 of the paper. The pairs are the same, in another order.
    #[must_use]
    pub fn with_finest_leaves(self) -> Self {
        Self {
            finest: true,
            ..self
        }
    }

    /// Uses plain scalar code, the twin that the vector code is tested with.
    #[must_use]
    pub fn scalar(self) -> Self {
        Self {
            instructions: Instructions::Scalar,
            ..self
        }
    }

    /// What the sweep selects among `boxes`; calls `each` for every pair of boxes of
    /// different owners as often as it is selected, from any thread.
    ///
    /// # Errors
    /// [`SearchError`] if a box cannot be searched, or too many lie in one place.
    pub fn select(
        &mut self,
        boxes: &BoxSet,
        each: &(dyn Fn(Pair) + Sync),
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

    /// Steps 1 to 3, and where the sweep of each record ends.
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
        self.lattice = Lattice::new(&extent, f64::from(side));
        self.made.fill(boxes, &self.lattice, self.splits);
        let count = self.made.count();
        if count >= u32::MAX as usize {
            return Err(BoxError::TooMany { count }.into());
        }
        let width = Code::width(self.lattice.bits);
        record_sort::sort(
            &mut self.buckets,
            self.made.records(),
            width,
            &mut self.records,
        );
        // Before anything is written down: a heap would make pairs until the memory is full.
        if self.find_ends() > MAX_COMPARISONS {
            return Err(self.crowded(boxes));
        }
        sub_boxes::gather(&self.made, &self.records, &mut self.blocks);
        Ok(())
    }

    /// Finds where the sweep of each record ends; returns how many it meets in all.
    fn find_ends(&mut self) -> u64 {
        let (records, bits) = (&self.records, self.lattice.bits);
        self.ends.resize(records.len(), 0);
        let tasks = self.ends.par_chunks_mut(RECORDS_PER_TASK).enumerate();
        tasks
            .map(|(task, ends)| {
                let mut met = 0;
                let mut before = None;
                for (at, end) in (task * RECORDS_PER_TASK..).zip(ends) {
                    let code = records[at].code;
                    *end = match before {
                        Some((same, end)) if same == code => end,
                        _ => end_of(records, at, bits) as u32,
                    };
                    before = Some((code, *end));
                    met += u64::from(*end) - at as u64 - 1;
                }
                met
            })
            .sum()
    }

    /// What to say of the fullest cell.
    fn crowded(&self, boxes: &BoxSet) -> SearchError {
        let cells = self.records.chunk_by(|one, other| one.code == other.code);
        let fullest = cells.max_by_key(|cell| cell.len()).unwrap_or_default();
        let sphere = fullest.first();
        let sphere = sphere.map_or(0, |record| self.made.piece(record.piece).element);
        let sides = boxes.high(sphere as usize) - boxes.low(sphere as usize);
        SearchError::TooCrowded {
            sphere,
            spheres: fullest.len() as u32,
            reach: sides.max_element(),
        }
    }
}

/// The first record behind `at` that is not in its cell.
fn end_of(records: &[Record], at: usize, bits: u32) -> usize {
    let last = records[at].code.last(bits);
    // Most cells hold few: in steps that double until one is outside, then by halves.
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
        match self.unique {
            Unique::BySorting => "kd-tree-1",
            Unique::ByCorner => "kd-tree-2",
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
        let sweep = match self.unique {
            Unique::BySorting => sweep::sweep::<false>,
            Unique::ByCorner => sweep::sweep::<true>,
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
        if self.unique == Unique::BySorting {
            pairs.sort_and_dedup();
        }
        Ok(SearchTimes {
            build: built - start,
            walk: built.elapsed(),
        })
    }
}
