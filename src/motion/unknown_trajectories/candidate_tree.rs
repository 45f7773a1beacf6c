//! The event tree of the paper for colliding events (sections 3.1 and 3.3).
//!
//! It holds every candidate before the resets of both bounds. When a bound is reset, all of its
//! candidates are removed.

use std::cmp::Ordering;
use std::collections::BTreeSet;

/// A possible collision of two bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Time, s.
    pub(super) time: f64,
    pub(super) a: u32,
    pub(super) b: u32,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let times = self.time.total_cmp(&other.time);
        times.then_with(|| (self.a, self.b).cmp(&(other.a, other.b)))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// Candidates in order of time.
#[derive(Clone, Debug)]
pub(super) struct CandidateTree {
    tree: BTreeSet<Candidate>,
    /// The candidates of each bound since its last reset. Some are no longer in the tree.
    of_bound: Vec<Vec<Candidate>>,
}

impl CandidateTree {
    /// An empty tree for this number of bounds.
    pub(super) fn new(bounds: usize) -> Self {
        Self {
            tree: BTreeSet::new(),
            of_bound: vec![Vec::new(); bounds],
        }
    }

    /// The first candidate.
    pub(super) fn first(&self) -> Option<&Candidate> {
        self.tree.first()
    }

    pub(super) fn insert(&mut self, candidate: Candidate) {
        self.tree.insert(candidate);
        for bound in [candidate.a, candidate.b] {
            self.of_bound[bound as usize].push(candidate);
        }
    }

    /// Removes all candidates of a bound.
    pub(super) fn remove_bound(&mut self, bound: u32) {
        for candidate in self.of_bound[bound as usize].drain(..) {
            self.tree.remove(&candidate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_candidate_is_the_earliest_whose_bounds_were_not_reset() {
        let mut tree = CandidateTree::new(4);
        let candidate = |time: f64, a: u32, b: u32| Candidate { time, a, b };
        let all = [
            candidate(-1.0, 0, 1),
            candidate(2.0, 1, 2),
            candidate(2.0, 0, 3),
            candidate(3.0, 2, 3),
        ];
        for one in all {
            tree.insert(one);
        }
        assert_eq!(tree.first(), Some(&all[0]));
        tree.remove_bound(0);
        assert_eq!(tree.first(), Some(&all[1]));
        tree.insert(candidate(1.0, 0, 3));
        assert_eq!(tree.first(), Some(&candidate(1.0, 0, 3)));
        tree.remove_bound(3);
        tree.remove_bound(1);
        assert_eq!(tree.first(), None);
    }
}
