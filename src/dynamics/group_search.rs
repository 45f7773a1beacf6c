//! Searches whose result is grouped by pairs of molecules. On the CPU, [`PairGrouper`] does it:
//!
//! 1. While the search runs, each list of pairs that it completes is reduced to one
//!    [`ListReduction`] per pair of molecules, found by hashing.
//! 2. The reductions of all lists are sorted by molecules, and those of the same two molecules
//!    are merged into a group.
//! 3. Each group keeps the few pairs that the solver needs.
//!
//! Groups and kept pairs are sorted and independent of how the pairs are cut into lists.

use std::sync::{Mutex, MutexGuard, PoisonError};

use glam::Vec3;
use rayon::prelude::*;

use super::OwnerIndex;
use super::contact_reduction::{ListReduction, ReducedPairs};
use crate::search::{AutoGrid, GridCell, Pair, PairBuffer, PairSearch, SearchError, SearchTimes};
use crate::spheres::SphereSet;

/// Minimum number of groups that one task merges.
const GROUPS_PER_TASK: usize = 256;

/// The candidate pairs between two molecules, owners `a` < `b`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairGroup {
    /// The owner with the smaller index.
    pub a: OwnerIndex,
    /// The owner with the larger index.
    pub b: OwnerIndex,
    /// Index of its first pair in [`PairGroups::kept`].
    pub first: u32,
    /// Number of pairs kept.
    pub kept: u32,
    /// Number of pairs that overlap, kept or not.
    pub overlaps: u32,
    /// Deepest overlap, nm; negative is a gap.
    pub penetration: f32,
}

/// Result of a [`GroupSearch`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairGroups {
    /// The groups, sorted by `a`, then `b`.
    pub groups: Vec<PairGroup>,
    /// The pairs kept for the solver, group after group: at most 16 per group.
    pub kept: Vec<Pair>,
    /// Number of candidate pairs, kept or not.
    pub candidates: usize,
}

impl PairGroups {
    /// Removes all groups and keeps the memory.
    pub fn clear(&mut self) {
        self.groups.clear();
        self.kept.clear();
        self.candidates = 0;
    }

    /// The pairs kept of one of the groups.
    pub(super) fn kept_of(&self, group: &PairGroup) -> &[Pair] {
        &self.kept[group.first as usize..(group.first + group.kept) as usize]
    }
}

/// Finds candidate pairs as a [`PairSearch`](crate::search::PairSearch) does, and returns only
/// which molecules have some and the few that the solver needs. A GPU implements it to avoid
/// the readback of all pairs.
///
/// All implementations return what a [`PairGrouper`](super::PairGrouper) makes of the pairs of
/// a [`UniformGrid`](crate::search::UniformGrid).
pub trait GroupSearch: Send + Sync {
    /// Name for command lines and reports.
    fn name(&self) -> &'static str;

    /// Replaces `found` by the groups of all pairs closer than their radii plus `margin`, nm.
    ///
    /// # Errors
    /// As [`PairSearch::find_pairs`](crate::search::PairSearch::find_pairs); `found` is empty then.
    fn find_groups(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        found: &mut PairGroups,
    ) -> Result<SearchTimes, SearchError>;

    /// See [`PairSearch::cell_around`](crate::search::PairSearch::cell_around).
    fn cell_around(&self, _point: Vec3) -> Option<GridCell> {
        None
    }
}

/// Groups the pairs of a [`PairSearch`] on the CPU: the reference for searches that group on a
/// device.
pub struct PairGrouper {
    search: Box<dyn PairSearch>,
    pairs: PairBuffer,
    /// Unused lists, and those of this search.
    spare: Vec<ReductionList>,
    lists: Vec<ReductionList>,
    /// The reductions of all lists, sorted by molecules.
    sorted: Vec<ReductionRef>,
    /// First entry of each group in `sorted`, and one entry more.
    starts: Vec<u32>,
    merged: Vec<ReducedPairs>,
}

/// Where a reduction is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ReductionRef {
    /// The two molecules, as a [`Pair::key`].
    molecules: u64,
    list: u32,
    index: u32,
}

impl Default for PairGrouper {
    /// Groups the pairs of an [`AutoGrid`].
    fn default() -> Self {
        Self::new(Box::new(AutoGrid::new()))
    }
}

impl PairGrouper {
    /// Groups the pairs of `search`.
    #[must_use]
    pub fn new(search: Box<dyn PairSearch>) -> Self {
        Self {
            search,
            pairs: PairBuffer::new(),
            spare: Vec::new(),
            lists: Vec::new(),
            sorted: Vec::new(),
            starts: Vec::new(),
            merged: Vec::new(),
        }
    }

    /// Sorts the reductions of all lists by molecules.
    fn sort(&mut self) {
        self.sorted.clear();
        for (list, position) in self.lists.iter().zip(0..) {
            let reductions = list.reductions.iter().zip(0..);
            self.sorted
                .extend(reductions.map(|(reduction, index)| ReductionRef {
                    molecules: reduction.molecules,
                    list: position,
                    index,
                }));
        }
        self.sorted.par_sort_unstable();
    }

    /// Merges the reductions of the same molecules and collects the pairs they keep.
    fn merge(&mut self, found: &mut PairGroups) {
        self.starts.clear();
        let mut previous = None;
        for (reduction, index) in self.sorted.iter().zip(0..) {
            if previous != Some(reduction.molecules) {
                previous = Some(reduction.molecules);
                self.starts.push(index);
            }
        }
        let groups = self.starts.len();
        self.starts.push(self.sorted.len() as u32);
        self.merged.resize(groups, ReducedPairs::EMPTY);
        let (lists, sorted, starts) = (&self.lists, &self.sorted, &self.starts);
        let pairs = self.pairs.lists();
        self.merged
            .par_iter_mut()
            .zip(starts.par_windows(2))
            .with_min_len(GROUPS_PER_TASK)
            .for_each(|(merged, range)| {
                let reductions = &sorted[range[0] as usize..range[1] as usize];
                *merged = ReducedPairs::merge(reductions.iter().map(|place| {
                    let list = &lists[place.list as usize];
                    let reduction = &list.reductions[place.index as usize];
                    (reduction, &pairs[list.number as usize][..])
                }));
            });
        for (merged, start) in self.merged.iter().zip(&self.starts) {
            let molecules = Pair::from_key(self.sorted[*start as usize].molecules);
            found.groups.push(PairGroup {
                a: OwnerIndex(molecules.a),
                b: OwnerIndex(molecules.b),
                first: found.kept.len() as u32,
                kept: merged.pairs().len() as u32,
                overlaps: merged.overlaps,
                penetration: merged.penetration,
            });
            found.kept.extend_from_slice(merged.pairs());
        }
    }
}

impl GroupSearch for PairGrouper {
    fn name(&self) -> &'static str {
        self.search.name()
    }

    fn find_groups(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        found: &mut PairGroups,
    ) -> Result<SearchTimes, SearchError> {
        found.clear();
        let spare = Mutex::new(std::mem::take(&mut self.spare));
        let lists = Mutex::new(std::mem::take(&mut self.lists));
        let owners = &spheres.owner[..];
        let reduce = |number: usize, pairs: &[Pair], gaps: &[f32]| {
            let mut list = lock(&spare).pop().unwrap_or_default();
            list.number = number as u32;
            list.build(owners, pairs, gaps);
            lock(&lists).push(list);
        };
        let times = self
            .search
            .find_gaps(spheres, margin, &mut self.pairs, &reduce);
        self.spare = spare.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.lists = lists.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.lists.sort_unstable_by_key(|list| list.number);
        if times.is_ok() {
            self.sort();
            self.merge(found);
            found.candidates = self.pairs.len();
        }
        self.spare.append(&mut self.lists);
        times
    }

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.search.cell_around(point)
    }
}

/// The reductions of one list of pairs, in the order of their first pairs.
#[derive(Default)]
struct ReductionList {
    /// Number of the list of pairs.
    number: u32,
    reductions: Vec<ListReduction>,
    /// Hash table with open addressing: one more than the index of a reduction, or zero. The
    /// length is a power of two.
    table: Vec<u32>,
}

impl ReductionList {
    fn build(&mut self, owners: &[u32], pairs: &[Pair], gaps: &[f32]) {
        self.reductions.clear();
        self.table.fill(0);
        for ((&pair, &gap), index) in pairs.iter().zip(gaps).zip(0..) {
            let [a, b] = [pair.a, pair.b].map(|sphere| owners[sphere as usize]);
            let molecules = Pair { a, b }.key();
            self.find_or_add(molecules).add(pair, index, gap);
        }
    }

    #[inline]
    fn find_or_add(&mut self, molecules: u64) -> &mut ListReduction {
        // A table that is not empty has free slots.
        let mask = self.table.len().wrapping_sub(1);
        let mut slot = hash(molecules) & mask;
        while let Some(&number) = self.table.get(slot) {
            let index = number.wrapping_sub(1) as usize;
            match self.reductions.get(index) {
                Some(found) if found.molecules == molecules => return &mut self.reductions[index],
                Some(_) => slot = (slot + 1) & mask,
                None => break,
            }
        }
        self.add(molecules)
    }

    #[cold]
    fn add(&mut self, molecules: u64) -> &mut ListReduction {
        if 2 * (self.reductions.len() + 1) > self.table.len() {
            self.grow();
        }
        let slot = self.free_slot(molecules);
        let index = self.reductions.len();
        self.table[slot] = index as u32 + 1;
        self.reductions.push(ListReduction::new(molecules));
        &mut self.reductions[index]
    }

    /// The slot of a reduction that is not in the table.
    fn free_slot(&self, molecules: u64) -> usize {
        let mask = self.table.len() - 1;
        let mut slot = hash(molecules) & mask;
        while self.table[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[cold]
    fn grow(&mut self) {
        let len = (2 * self.table.len()).max(64);
        self.table.clear();
        self.table.resize(len, 0);
        for (index, number) in (0..self.reductions.len()).zip(1..) {
            let slot = self.free_slot(self.reductions[index].molecules);
            self.table[slot] = number;
        }
    }
}

/// Ignores poisoning: nothing panics while holding these locks.
fn lock(lists: &Mutex<Vec<ReductionList>>) -> MutexGuard<'_, Vec<ReductionList>> {
    lists.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fibonacci hashing: multiplies by 2⁶⁴ over the golden ratio.
#[inline]
fn hash(molecules: u64) -> usize {
    (molecules.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize
}
