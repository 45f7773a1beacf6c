//! What a task of the search by molecules has found, in this search and in the previous one.

use super::contact_reduction::MAX_CONTACTS_PER_PAIR;
use super::group_search::{PairGroup, PairGroups};
use super::members::Relabeling;
use crate::search::{FoundPairs, Pair};

/// The groups of a task. Those of molecules that have not moved are repeated.
#[derive(Default)]
pub(super) struct TaskGroups {
    current: CountedGroups,
    previous: CountedGroups,
    /// Index of the previous group that may be repeated next.
    next: usize,
    /// Whether previous groups are lost.
    is_forgetful: bool,
}

/// Groups, and the candidate pairs of each.
#[derive(Default)]
struct CountedGroups {
    groups: PairGroups,
    candidates: Vec<Candidates>,
}

/// The candidate pairs of a group.
#[derive(Clone, Copy)]
struct Candidates {
    count: u32,
    /// Whether other pairs would be kept by now: which ones depends on the indices of their
    /// spheres.
    is_outdated: bool,
}

impl CountedGroups {
    /// Adds a group with its `kept` pairs, which comes after all others.
    fn push(&mut self, group: PairGroup, candidates: Candidates, kept: impl Iterator<Item = Pair>) {
        self.candidates.push(candidates);
        self.groups.candidates += candidates.count as usize;
        self.groups.groups.push(PairGroup {
            first: self.groups.kept.len() as u32,
            ..group
        });
        self.groups.kept.extend(kept);
    }
}

impl TaskGroups {
    /// The groups.
    pub fn groups(&self) -> &PairGroups {
        &self.current.groups
    }

    /// Whether the groups are those that a search would find if nothing has moved.
    pub fn is_current(&self) -> bool {
        let mut candidates = self.current.candidates.iter();
        !self.is_forgetful && candidates.all(|one| !one.is_outdated)
    }

    /// Starts a search: the current groups become the previous ones.
    pub fn begin(&mut self) {
        std::mem::swap(&mut self.current, &mut self.previous);
        self.current.groups.clear();
        self.current.candidates.clear();
        self.next = 0;
    }

    /// Adds what was found between two molecules, which come after all others.
    pub fn push(&mut self, found: &FoundPairs<'_>) {
        let CountedGroups { groups, candidates } = &mut self.current;
        groups.push([found.a, found.b], found.pairs, found.gaps);
        candidates.push(Candidates {
            count: found.pairs.len() as u32,
            is_outdated: false,
        });
    }

    /// Adds what was found between two molecules in the previous search, if anything, and returns
    /// whether that is known. They come after all others.
    pub fn repeat(&mut self, molecules: [u32; 2]) -> bool {
        if self.is_forgetful {
            return false;
        }
        let CountedGroups { groups, candidates } = &self.previous;
        let key = |group: &PairGroup| [group.a.0, group.b.0];
        let rest = groups.groups[self.next..].iter();
        self.next += rest.take_while(|group| key(group) < molecules).count();
        let group = groups.groups.get(self.next);
        if let Some(group) = group.filter(|group| key(group) == molecules) {
            let candidates = candidates[self.next];
            if candidates.is_outdated {
                return false;
            }
            let kept = groups.kept_of(group).iter().copied();
            self.current.push(*group, candidates, kept);
        }
        true
    }

    /// Ends a search.
    pub fn end(&mut self) {
        self.is_forgetful = false;
    }

    /// Moves the groups to the new indices of their owners; removes those whose owner is gone.
    pub fn relabel(&mut self, relabeling: &Relabeling) {
        self.begin();
        let CountedGroups { groups, candidates } = &self.previous;
        for (group, &candidates) in groups.groups.iter().zip(candidates) {
            // What is added to the indices of spheres is that of sphere zero.
            let new = [group.a, group.b].map(|owner| relabeling.get(owner, 0));
            let [Some((a, first)), Some((b, second))] = new else {
                continue;
            };
            let kept = groups.kept_of(group).iter().map(|pair| Pair {
                a: pair.a.wrapping_add(first),
                b: pair.b.wrapping_add(second),
            });
            let is_reduced = candidates.count as usize > MAX_CONTACTS_PER_PAIR;
            let candidates = Candidates {
                is_outdated: candidates.is_outdated || (is_reduced && first != 0),
                ..candidates
            };
            self.current
                .push(PairGroup { a, b, ..*group }, candidates, kept);
        }
        let groups = &self.current.groups.groups;
        // In another order, they cannot be repeated one after the other.
        self.is_forgetful |= !groups.is_sorted_by_key(|group| (group.a, group.b));
    }
}
