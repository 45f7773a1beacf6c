//! Pairs of spheres, grouped by pairs of molecules.
//!
//! 1. counting sort by the molecule of the first sphere;
//! 2. the pairs of each molecule sorted by their second sphere: spheres of one molecule
//!    are neighbours in number, so this sorts by the second molecule, too;
//! 3. a group wherever the second molecule changes.
//!
//! The order follows from the numbers of the spheres alone.

use crate::search::{Pair, PairBuffer};
use crate::spheres::SphereSet;

/// Pairs that one task sorts at least.
const PAIRS_PER_TASK: usize = 4096;

/// The pairs between two molecules: owners `a` < `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PairGroup {
    pub a: u32,
    pub b: u32,
    /// Index of its first pair; it ends where the next begins.
    pub start: u32,
}

/// Pairs of spheres by pairs of molecules.
#[derive(Clone, Debug, Default)]
pub(super) struct PairGroups {
    pairs: Vec<Pair>,
    groups: Vec<PairGroup>,
    starts: Vec<u32>,
}

impl PairGroups {
    /// Removes all pairs and keeps the memory.
    pub fn clear(&mut self) {
        self.pairs.clear();
        self.groups.clear();
    }

    /// All pairs, group after group.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The pairs of each group.
    pub fn iter(&self) -> impl Iterator<Item = (PairGroup, &[Pair])> + '_ {
        let ends = self.groups.iter().skip(1).map(|group| group.start as usize);
        let ends = ends.chain([self.pairs.len()]);
        self.groups
            .iter()
            .zip(ends)
            .map(|(group, end)| (*group, &self.pairs[group.start as usize..end]))
    }

    /// Groups `found` pairs of `spheres`, which belong to `molecules` owners in
    /// contiguous ranges.
    pub fn build(&mut self, spheres: &SphereSet, found: &PairBuffer, molecules: usize) {
        self.clear();
        let owner = |sphere: u32| spheres.owner(sphere as usize);
        self.starts.clear();
        self.starts.resize(molecules + 1, 0);
        for pair in found.iter() {
            self.starts[owner(pair.a) as usize] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.pairs.resize(sum as usize, Pair { a: 0, b: 0 });
        for pair in found.iter() {
            let at = &mut self.starts[owner(pair.a) as usize];
            *at -= 1;
            self.pairs[*at as usize] = pair;
        }
        sort_segments(&mut self.pairs, &self.starts);
        let mut last = None;
        for (pair, index) in self.pairs.iter().zip(0..) {
            let key = (owner(pair.a), owner(pair.b));
            if last != Some(key) {
                last = Some(key);
                self.groups.push(PairGroup {
                    a: key.0,
                    b: key.1,
                    start: index,
                });
            }
        }
    }
}

/// Sorts the pairs of each molecule, in parallel; `starts` has one entry more than
/// there are molecules.
fn sort_segments(pairs: &mut [Pair], starts: &[u32]) {
    let molecules = starts.len() - 1;
    if pairs.len() > PAIRS_PER_TASK && molecules > 1 {
        let middle = molecules / 2;
        let cut = (starts[middle] - starts[0]) as usize;
        let (left, right) = pairs.split_at_mut(cut);
        rayon::join(
            || sort_segments(left, &starts[..=middle]),
            || sort_segments(right, &starts[middle..]),
        );
        return;
    }
    let mut rest = pairs;
    for range in starts.windows(2) {
        let (own, others) = rest.split_at_mut((range[1] - range[0]) as usize);
        own.sort_unstable_by_key(|pair| u64::from(pair.b) << 32 | u64::from(pair.a));
        rest = others;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn pairs_are_grouped_by_molecules_in_order() {
        let mut spheres = SphereSet::new();
        for owner in [0, 0, 1, 1, 2, 3] {
            spheres.push(Vec3::ZERO, 0.1, owner).unwrap();
        }
        let mut found = PairBuffer::new();
        let list = &mut found.start(1)[0];
        for (a, b) in [(3, 4), (1, 5), (0, 2), (1, 3), (2, 4), (0, 3), (0, 5)] {
            list.push(Pair { a, b });
        }
        let mut groups = PairGroups::default();
        groups.build(&spheres, &found, 4);
        let listed: Vec<_> = groups
            .iter()
            .map(|(group, pairs)| {
                let pairs: Vec<_> = pairs.iter().map(|pair| (pair.a, pair.b)).collect();
                ((group.a, group.b), pairs)
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
        groups.build(&spheres, &PairBuffer::new(), 4);
        assert_eq!(groups.iter().count(), 0);
    }
}
