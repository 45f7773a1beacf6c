//! Pairs of spheres, grouped by pairs of molecules.
//!
//! 1. each list of pairs that the search writes becomes a list of [`Digest`]s, one for
//!    each two molecules in it, found by hashing, while the search goes on;
//! 2. the digests of all lists are sorted by their molecules, and those of the same two
//!    are merged into a group;
//! 3. each group keeps the few pairs that the solver needs.
//!
//! Groups and pairs come out sorted, however the lists were cut.

use std::sync::{Mutex, MutexGuard, PoisonError};

use glam::Vec3;
use rayon::prelude::*;

use super::contact_reduction::{Digest, Kept};
use super::group_search::{GroupSearch, PairGroup, PairGroups};
use crate::search::{Pair, PairBuffer, PairSearch, SearchError, SearchTimes};
use crate::spheres::SphereSet;

/// Groups that one task merges.
const GROUPS_PER_TASK: usize = 256;

/// Spheres that one task copies at least.
const SPHERES_PER_TASK: usize = 16 * 1024;

/// Pairs of spheres by pairs of molecules.
#[derive(Clone, Debug, Default)]
pub(super) struct PairGrouper {
    spheres: Vec<Sphere>,
    /// Lists to be filled, and those that are.
    lists: Vec<DigestList>,
    done: Vec<DigestList>,
    /// Where the digests of all lists are, sorted by molecules.
    sorted: Vec<DigestPlace>,
    /// First entry of each group in `sorted`.
    starts: Vec<u32>,
    merged: Vec<Kept>,
    found: PairGroups,
}

/// A sphere in one place of memory: pairs look spheres up in no order.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(super) struct Sphere {
    /// Center in the world, nm.
    pub center: Vec3,
    /// Radius, nm.
    pub radius: f32,
}

impl Sphere {
    fn of(spheres: &SphereSet, index: usize) -> Self {
        Self {
            center: spheres.center(index),
            radius: spheres.radius(index),
        }
    }
}

/// Where a digest is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DigestPlace {
    /// The two molecules.
    key: u64,
    list: u32,
    index: u32,
}

impl PairGrouper {
    /// Removes all pairs and keeps the memory.
    pub fn clear(&mut self) {
        self.found.clear();
    }

    /// The pairs that are kept for the solver, group after group.
    pub fn kept(&self) -> &[Pair] {
        &self.found.kept
    }

    /// A sphere of the set that was searched.
    #[inline]
    pub fn sphere(&self, index: u32) -> &Sphere {
        &self.spheres[index as usize]
    }

    /// The groups, sorted by `a`, then `b`.
    pub fn groups(&self) -> &[PairGroup] {
        &self.found.groups
    }

    /// Number of pairs, kept or not.
    pub fn candidates(&self) -> usize {
        self.found.candidates
    }

    /// Says how many pairs there are, which somebody else has.
    pub fn set_candidates(&mut self, candidates: usize) {
        self.found.candidates = candidates;
    }

    /// Searches for pairs of `spheres` closer than their radii plus `margin` (nm), and
    /// groups them. Without success there are no groups.
    ///
    /// # Errors
    /// Those of the search.
    pub fn find(
        &mut self,
        search: &mut dyn PairSearch,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        self.clear();
        self.copy(spheres);
        let spare = Mutex::new(std::mem::take(&mut self.lists));
        let done = Mutex::new(std::mem::take(&mut self.done));
        let owners = &spheres.owner[..];
        let times = search.find_gaps(spheres, margin, pairs, &|number, pairs, gaps| {
            let mut list = lock(&spare).pop().unwrap_or_default();
            list.number = number as u32;
            list.build(owners, pairs, gaps);
            lock(&done).push(list);
        });
        self.lists = spare.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.done.sort_unstable_by_key(|list| list.number);
        if times.is_ok() {
            self.sort();
            self.merge(pairs.lists());
            self.found.candidates = pairs.len();
        }
        self.lists.append(&mut self.done);
        times
    }

    /// As [`find`](Self::find), with a search that groups by itself.
    ///
    /// # Errors
    /// Those of the search.
    pub fn find_grouped(
        &mut self,
        search: &mut dyn GroupSearch,
        spheres: &SphereSet,
        margin: f32,
    ) -> Result<SearchTimes, SearchError> {
        self.clear();
        self.copy(spheres);
        search.find_groups(spheres, margin, &mut self.found)
    }

    /// Exchanges what was found for other groups.
    pub fn swap_found(&mut self, other: &mut PairGroups) {
        std::mem::swap(&mut self.found, other);
    }

    /// Copies the spheres, so that each is in one place of memory.
    fn copy(&mut self, spheres: &SphereSet) {
        self.spheres.resize(spheres.len(), Sphere::default());
        self.spheres
            .par_iter_mut()
            .enumerate()
            .with_min_len(SPHERES_PER_TASK)
            .for_each(|(index, sphere)| *sphere = Sphere::of(spheres, index));
    }

    /// Sorts the digests of all lists by molecules.
    fn sort(&mut self) {
        self.sorted.clear();
        for (list, position) in self.done.iter().zip(0..) {
            let places = list.digests.iter().zip(0..);
            self.sorted
                .extend(places.map(|(digest, index)| DigestPlace {
                    key: digest.molecules,
                    list: position,
                    index,
                }));
        }
        self.sorted.par_sort_unstable();
    }

    /// Merges digests of the same molecules, and collects what they keep of what was
    /// `found`.
    fn merge(&mut self, found: &[Vec<Pair>]) {
        self.starts.clear();
        let mut last = None;
        for (place, index) in self.sorted.iter().zip(0..) {
            if last != Some(place.key) {
                last = Some(place.key);
                self.starts.push(index);
            }
        }
        let groups = self.starts.len();
        self.starts.push(self.sorted.len() as u32);
        self.merged.resize(groups, Kept::NONE);
        let (lists, sorted, starts) = (&self.done, &self.sorted, &self.starts);
        self.merged
            .par_iter_mut()
            .zip(starts.par_windows(2))
            .with_min_len(GROUPS_PER_TASK)
            .for_each(|(merged, range)| {
                let places = &sorted[range[0] as usize..range[1] as usize];
                *merged = Kept::of(places.iter().map(|place| {
                    let list = &lists[place.list as usize];
                    let digest = &list.digests[place.index as usize];
                    (digest, &found[list.number as usize][..])
                }));
            });
        for (merged, start) in self.merged.iter().zip(&self.starts) {
            let molecules = Pair::from_key(self.sorted[*start as usize].key);
            self.found.groups.push(PairGroup {
                a: molecules.a,
                b: molecules.b,
                first: self.found.kept.len() as u32,
                kept: merged.pairs().len() as u32,
                overlaps: merged.overlaps,
                penetration: merged.deepest,
            });
            self.found.kept.extend_from_slice(merged.pairs());
        }
    }
}

/// The digests of one list of pairs, in the order of their first pairs.
#[derive(Clone, Debug, Default)]
struct DigestList {
    /// Number of the list of pairs.
    number: u32,
    digests: Vec<Digest>,
    /// Open addressing: one more than the index of a digest, or zero. The length is a
    /// power of two.
    table: Vec<u32>,
}

impl DigestList {
    fn build(&mut self, owners: &[u32], pairs: &[Pair], gaps: &[f32]) {
        self.digests.clear();
        self.table.fill(0);
        for ((&pair, &gap), index) in pairs.iter().zip(gaps).zip(0..) {
            let [a, b] = [pair.a, pair.b].map(|sphere| owners[sphere as usize]);
            self.digest_of(Pair { a, b }.key()).take(pair, index, gap);
        }
    }

    /// The digest between two molecules, a new one at need.
    #[inline]
    fn digest_of(&mut self, molecules: u64) -> &mut Digest {
        // As long as there is a table, there are free slots in it.
        let mask = self.table.len().wrapping_sub(1);
        let mut slot = hash(molecules) & mask;
        while let Some(&number) = self.table.get(slot) {
            let index = number.wrapping_sub(1) as usize;
            match self.digests.get(index) {
                Some(digest) if digest.molecules == molecules => return &mut self.digests[index],
                Some(_) => slot = (slot + 1) & mask,
                None => break,
            }
        }
        self.add(molecules)
    }

    /// A new digest.
    #[cold]
    fn add(&mut self, molecules: u64) -> &mut Digest {
        if 2 * (self.digests.len() + 1) > self.table.len() {
            self.grow();
        }
        let slot = self.free_slot(molecules);
        let index = self.digests.len();
        self.table[slot] = index as u32 + 1;
        self.digests.push(Digest::new(molecules));
        &mut self.digests[index]
    }

    /// Where the number of a digest that is not in the table belongs.
    fn free_slot(&self, molecules: u64) -> usize {
        let mask = self.table.len() - 1;
        let mut slot = hash(molecules) & mask;
        while self.table[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Makes the table larger, with all digests in it.
    #[cold]
    fn grow(&mut self) {
        let len = (2 * self.table.len()).max(64);
        self.table.clear();
        self.table.resize(len, 0);
        for (index, number) in (0..self.digests.len()).zip(1..) {
            let slot = self.free_slot(self.digests[index].molecules);
            self.table[slot] = number;
        }
    }
}

/// No one panics while holding these locks, and if so, the lists are as good as any.
fn lock(lists: &Mutex<Vec<DigestList>>) -> MutexGuard<'_, Vec<DigestList>> {
    lists.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Spreads keys by Fibonacci hashing: 2⁶⁴ over the golden ratio.
#[inline]
fn hash(molecules: u64) -> usize {
    (molecules.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A search that finds what it was told to, in lists of its own.
    struct Told(Vec<Vec<(u32, u32)>>);

    impl PairSearch for Told {
        fn name(&self) -> &'static str {
            "told"
        }

        fn find_pairs(
            &mut self,
            _: &SphereSet,
            _: f32,
            pairs: &mut PairBuffer,
        ) -> Result<SearchTimes, SearchError> {
            for (list, told) in pairs.start(self.0.len()).iter_mut().zip(&self.0) {
                list.extend(told.iter().map(|&(a, b)| Pair { a, b }));
            }
            Ok(SearchTimes::default())
        }

        fn count_pairs(&mut self, _: &SphereSet, _: f32) -> Result<u64, SearchError> {
            Ok(self.0.iter().map(|list| list.len() as u64).sum())
        }
    }

    fn spheres_of(owners: &[u32]) -> SphereSet {
        let mut spheres = SphereSet::new();
        for owner in owners {
            spheres.push(Vec3::ZERO, 0.1, *owner).unwrap();
        }
        spheres
    }

    fn find(groups: &mut PairGrouper, spheres: &SphereSet, lists: Vec<Vec<(u32, u32)>>) {
        let mut pairs = PairBuffer::new();
        groups
            .find(&mut Told(lists), spheres, 0.0, &mut pairs)
            .unwrap();
    }

    #[test]
    fn pairs_are_grouped_by_molecules_in_order_however_the_lists_are_cut() {
        let spheres = spheres_of(&[0, 0, 1, 1, 2, 3]);
        let pairs = [(3, 4), (1, 5), (0, 2), (1, 3), (2, 4), (0, 3), (0, 5)];
        let mut groups = PairGrouper::default();
        for size in [7, 4, 3, 1] {
            let lists = pairs.chunks(size).map(<[_]>::to_vec).collect();
            find(&mut groups, &spheres, lists);
            let listed: Vec<_> = groups
                .groups()
                .iter()
                .map(|group| {
                    let own = group.first as usize..(group.first + group.kept) as usize;
                    let pairs = groups.kept()[own].iter().map(|pair| (pair.a, pair.b));
                    ((group.a, group.b), pairs.collect::<Vec<_>>())
                })
                .collect();
            assert_eq!(
                listed,
                [
                    ((0, 1), vec![(0, 2), (0, 3), (1, 3)]),
                    ((0, 3), vec![(0, 5), (1, 5)]),
                    ((1, 2), vec![(2, 4), (3, 4)]),
                ]
            );
        }
        find(&mut groups, &spheres, Vec::new());
        assert!(groups.groups().is_empty() && groups.kept().is_empty());
    }

    #[test]
    fn more_molecules_than_the_table_holds_at_first_find_their_groups() {
        let owners: Vec<u32> = (0..300).collect();
        let mut list: Vec<_> = (0..299).rev().map(|a| (a, a + 1)).collect();
        list.extend((0..298).map(|a| (a, a + 2)));
        let mut groups = PairGrouper::default();
        find(&mut groups, &spheres_of(&owners), vec![list]);
        let owners = groups.groups().iter().map(|group| [group.a, group.b]);
        let owners: Vec<_> = owners.collect();
        assert_eq!(owners.len(), 299 + 298);
        assert!(owners.is_sorted());
        assert!(groups.groups().iter().all(|group| group.kept == 1));
    }
}
