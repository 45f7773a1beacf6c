//! Pairs of spheres or boxes, and the buffer that searches write them to.

use rayon::prelude::*;

use super::content_id::ContentId;
use crate::spheres::SphereSet;

/// Two overlapping spheres or boxes, by index; `a < b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct Pair {
    /// The smaller index.
    pub a: u32,
    /// The larger index.
    pub b: u32,
}

impl Pair {
    /// The pair of two different indices, in either order.
    #[inline]
    #[must_use]
    pub fn new(one: u32, other: u32) -> Self {
        Self {
            a: one.min(other),
            b: one.max(other),
        }
    }

    /// Distance between the surfaces of the spheres, nm; negative where they overlap.
    ///
    /// # Panics
    /// If an index is out of range.
    #[inline]
    #[must_use]
    pub fn gap(self, spheres: &SphereSet) -> f32 {
        let [a, b] = [self.a as usize, self.b as usize];
        let distance = spheres.center(a).distance(spheres.center(b));
        distance - (spheres.radius(a) + spheres.radius(b))
    }

    /// Whether the spheres are closer than their radii plus `margin`, nm.
    #[inline]
    pub(super) fn overlaps(self, spheres: &SphereSet, margin: f32) -> bool {
        let [a, b] = [self.a as usize, self.b as usize];
        let reach = spheres.radius(a) + spheres.radius(b) + margin;
        spheres.center(a).distance_squared(spheres.center(b)) < reach * reach
    }

    /// Both indices as one number, which sorts like the pair.
    #[inline]
    pub(crate) fn key(self) -> u64 {
        u64::from(self.a) << 32 | u64::from(self.b)
    }

    /// The pair of a [`key`](Self::key).
    #[inline]
    pub(crate) fn from_key(key: u64) -> Self {
        Self {
            a: (key >> 32) as u32,
            b: key as u32,
        }
    }
}

/// Pairs in lists that are filled in parallel, one list per task.
///
/// The pairs are the concatenation of the lists. Memory is reused from search to search.
#[derive(Clone, Debug, Default)]
pub struct PairBuffer {
    lists: Vec<Vec<Pair>>,
    /// Gaps of the pairs (nm), as many lists; empty if they were not requested.
    gaps: Vec<Vec<f32>>,
    /// The search result that the lists hold unchanged, if it is known.
    result: Option<ContentId>,
}

impl PairBuffer {
    /// An empty buffer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of pairs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lists.iter().map(Vec::len).sum()
    }

    /// Whether there are no pairs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lists.iter().all(Vec::is_empty)
    }

    /// Removes all pairs, keeping the memory.
    pub fn clear(&mut self) {
        self.result = None;
        for list in &mut self.lists {
            list.clear();
        }
        for list in &mut self.gaps {
            list.clear();
        }
    }

    /// All pairs, in the deterministic order of the search.
    pub fn iter(&self) -> impl Iterator<Item = Pair> + '_ {
        self.lists.iter().flatten().copied()
    }

    /// The lists of pairs.
    #[must_use]
    pub fn lists(&self) -> &[Vec<Pair>] {
        &self.lists
    }

    /// The lists of pairs, mutable.
    pub(crate) fn lists_mut(&mut self) -> &mut [Vec<Pair>] {
        self.result = None;
        &mut self.lists
    }

    /// Keeps the pairs for which `keep` is true, in order.
    pub(crate) fn retain(&mut self, keep: impl Fn(Pair) -> bool + Sync) {
        self.result = None;
        self.lists.par_iter_mut().for_each(|list| {
            let mut kept = 0;
            // Branch-free, since the outcome is unpredictable.
            for at in 0..list.len() {
                let pair = list[at];
                list[kept] = pair;
                kept += usize::from(keep(pair));
            }
            list.truncate(kept);
        });
    }

    /// Sorts all pairs by index, and removes duplicates.
    pub(crate) fn sort_and_dedup(&mut self) {
        self.result = None;
        let Some((all, others)) = self.lists.split_first_mut() else {
            return;
        };
        for list in others {
            all.append(list);
        }
        all.par_sort_unstable();
        all.dedup();
    }

    /// All pairs sorted by index, in a new vector.
    #[must_use]
    pub fn to_sorted_vec(&self) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = self.iter().collect();
        pairs.sort_unstable();
        pairs
    }

    /// Drops all pairs and returns `tasks` empty lists, to be filled in parallel by a
    /// [`PairSearch`](super::PairSearch).
    pub fn start(&mut self, tasks: usize) -> &mut [Vec<Pair>] {
        self.clear();
        if self.lists.len() < tasks {
            self.lists.resize_with(tasks, Vec::new);
            self.gaps.resize_with(tasks, Vec::new);
        }
        &mut self.lists[..tasks]
    }

    /// As [`start`](Self::start), with a list of gaps (nm) beside each list of pairs.
    pub(crate) fn start_with_gaps(&mut self, tasks: usize) -> (&mut [Vec<Pair>], &mut [Vec<f32>]) {
        self.start(tasks);
        (&mut self.lists[..tasks], &mut self.gaps[..tasks])
    }

    /// The pairs, and lists for their gaps.
    pub(crate) fn lists_and_gaps(&mut self) -> (&[Vec<Pair>], &mut [Vec<f32>]) {
        self.result = None;
        (&self.lists, &mut self.gaps)
    }

    /// Marks the content as this result. Every change of the buffer removes the mark.
    pub(crate) fn set_result(&mut self, result: ContentId) {
        self.result = Some(result);
    }

    /// Whether the content is this result.
    pub(crate) fn holds(&self, result: ContentId) -> bool {
        self.result == Some(result)
    }
}
