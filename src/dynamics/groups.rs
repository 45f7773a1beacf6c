//! Pairs of spheres, grouped by pairs of molecules.
//!
//! 1. counting sort by the molecule of the first sphere;
//! 2. the pairs of each molecule sorted by their second sphere: spheres of one molecule
//!    are neighbours in number, so this sorts by the second molecule, too;
//! 3. a group wherever the second molecule changes;
//! 4. of a group with many pairs, few are kept for the solver: two rigid bodies need no
//!    more than the deepest contacts and those furthest out.
//!
//! The order follows from the numbers of the spheres alone.

use std::cell::RefCell;

use glam::Vec3;

use crate::search::{Pair, PairBuffer};
use crate::spheres::SphereSet;

/// Pairs that one task sorts at least.
const PAIRS_PER_TASK: usize = 4096;

/// Groups that one task looks through.
const GROUPS_PER_TASK: usize = 64;

/// Deepest pairs of a group that are kept.
const DEEPEST: usize = 6;

/// Most pairs of a group that are kept: the deepest, and the outermost either way
/// along each axis.
const MOST: usize = DEEPEST + 6;

/// The pairs between two molecules: owners `a` < `b`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PairGroup {
    pub a: u32,
    pub b: u32,
    /// Its pairs among all pairs.
    start: u32,
    end: u32,
    /// Its first pair among those that are kept.
    pub first: u32,
    /// How many of its pairs are kept.
    pub kept: u32,
    /// How many of its pairs overlap.
    pub overlaps: u32,
    /// Deepest overlap, nm; negative is a gap.
    pub deepest: f32,
}

/// Pairs of spheres by pairs of molecules.
#[derive(Clone, Debug, Default)]
pub(super) struct PairGroups {
    pairs: Vec<Pair>,
    kept: Vec<Pair>,
    groups: Vec<PairGroup>,
    starts: Vec<u32>,
}

/// A pair on its way to be kept or not.
#[derive(Clone, Copy)]
struct Candidate {
    pair: Pair,
    gap: f32,
    place: Vec3,
}

thread_local! {
    /// Candidates of the group that a thread is looking through.
    static CANDIDATES: RefCell<Vec<Candidate>> = const { RefCell::new(Vec::new()) };
}

impl PairGroups {
    /// Removes all pairs and keeps the memory.
    pub fn clear(&mut self) {
        self.pairs.clear();
        self.kept.clear();
        self.groups.clear();
    }

    /// The pairs that are kept for the solver, group after group.
    pub fn kept(&self) -> &[Pair] {
        &self.kept
    }

    /// The groups, sorted by `a`, then `b`.
    pub fn groups(&self) -> &[PairGroup] {
        &self.groups
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
        for (pair, index) in self.pairs.iter().zip(0..) {
            let (a, b) = (owner(pair.a), owner(pair.b));
            match self.groups.last_mut() {
                Some(last) if (last.a, last.b) == (a, b) => last.end = index + 1,
                _ => self.groups.push(PairGroup {
                    a,
                    b,
                    start: index,
                    end: index + 1,
                    first: 0,
                    kept: 0,
                    overlaps: 0,
                    deepest: f32::NEG_INFINITY,
                }),
            }
        }
        look_through(&mut self.pairs, &mut self.groups, spheres);
        for group in &mut self.groups {
            group.first = self.kept.len() as u32;
            let start = group.start as usize;
            let own = &self.pairs[start..start + group.kept as usize];
            self.kept.extend_from_slice(own);
        }
    }
}

/// Measures each group and brings the pairs that are kept to its front, in parallel.
fn look_through(pairs: &mut [Pair], groups: &mut [PairGroup], spheres: &SphereSet) {
    if groups.len() > GROUPS_PER_TASK {
        let (left, right) = groups.split_at_mut(groups.len() / 2);
        let cut = (right[0].start - left[0].start) as usize;
        let (own, others) = pairs.split_at_mut(cut);
        rayon::join(
            || look_through(own, left, spheres),
            || look_through(others, right, spheres),
        );
        return;
    }
    CANDIDATES.with_borrow_mut(|candidates| {
        let mut rest = pairs;
        for group in groups {
            let (own, others) = rest.split_at_mut((group.end - group.start) as usize);
            candidates.clear();
            candidates.extend(own.iter().map(|pair| Candidate::new(*pair, spheres)));
            for candidate in &*candidates {
                group.overlaps += u32::from(candidate.gap < 0.0);
                group.deepest = group.deepest.max(-candidate.gap);
            }
            group.kept = keep_few(candidates, own) as u32;
            rest = others;
        }
    });
}

/// Writes the pairs that are kept to the front of `pairs`, sorted, and counts them.
fn keep_few(candidates: &mut [Candidate], pairs: &mut [Pair]) -> usize {
    if candidates.len() <= MOST {
        return pairs.len();
    }
    let depth = |a: &Candidate, b: &Candidate| a.gap.total_cmp(&b.gap).then(a.pair.cmp(&b.pair));
    candidates.select_nth_unstable_by(DEEPEST - 1, depth);
    let (deepest, others) = candidates.split_at(DEEPEST);
    let mut kept = [pairs[0]; MOST];
    for (target, candidate) in kept.iter_mut().zip(deepest) {
        *target = candidate.pair;
    }
    // Only those that overlap hold from further out; if none does, those that are near.
    let overlapping = others.iter().any(|candidate| candidate.gap < 0.0);
    let limit = if overlapping { 0.0 } else { f32::INFINITY };
    let mut outermost: [Option<(f32, Pair)>; 6] = [None; 6];
    for candidate in others.iter().filter(|candidate| candidate.gap < limit) {
        for axis in 0..3 {
            let along = candidate.place[axis];
            for (slot, along) in [(axis, along), (axis + 3, -along)] {
                let key = (along, candidate.pair);
                if outermost[slot].is_none_or(|(most, pair)| {
                    most.total_cmp(&along)
                        .then(pair.cmp(&candidate.pair))
                        .is_lt()
                }) {
                    outermost[slot] = Some(key);
                }
            }
        }
    }
    let mut count = DEEPEST;
    for (_, pair) in outermost.into_iter().flatten() {
        if !kept[..count].contains(&pair) {
            kept[count] = pair;
            count += 1;
        }
    }
    kept[..count].sort_unstable_by_key(|pair| (pair.b, pair.a));
    pairs[..count].copy_from_slice(&kept[..count]);
    count
}

impl Candidate {
    fn new(pair: Pair, spheres: &SphereSet) -> Self {
        let [first, second] = [pair.a as usize, pair.b as usize];
        let [one, other] = [first, second].map(|sphere| spheres.centre(sphere));
        let reach = spheres.radius(first) + spheres.radius(second);
        Self {
            pair,
            gap: one.distance(other) - reach,
            place: one + other,
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
        groups.build(&spheres, &PairBuffer::new(), 4);
        assert!(groups.groups().is_empty() && groups.kept().is_empty());
    }

    #[test]
    fn of_many_pairs_the_deepest_and_the_outermost_are_kept() {
        // Two rows of atoms side by side, deepest in the middle.
        let mut spheres = SphereSet::new();
        for owner in 0..2 {
            for k in 0..41 {
                let bend = (k - 20) as f32 * 1.0e-3;
                let y = owner as f32 * (0.1 + bend.abs());
                let place = Vec3::new(k as f32, y, 0.0);
                spheres.push(place, 0.1, owner).unwrap();
            }
        }
        let mut found = PairBuffer::new();
        let list = &mut found.start(1)[0];
        list.extend((0..41).map(|a| Pair { a, b: a + 41 }));
        let mut groups = PairGroups::default();
        groups.build(&spheres, &found, 2);
        let group = groups.groups()[0];
        assert_eq!(group.overlaps, 41);
        assert!((group.deepest - 0.1).abs() < 1.0e-6);
        assert!(group.kept as usize <= MOST);
        let first: Vec<u32> = groups.kept().iter().map(|pair| pair.a).collect();
        for wanted in [0, 18, 20, 22, 40] {
            assert!(first.contains(&wanted), "{first:?}");
        }
    }
}
