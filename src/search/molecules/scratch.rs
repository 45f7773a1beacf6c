//! Buffers of the threads that search.

use std::sync::Mutex;

use super::cluster_compare::{ClusterPair, Comparison};
use super::task::NeighborPair;

/// Buffers of a thread.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) comparison: Comparison,
    /// Pairs and clusters that a task is about to remember instead of others.
    pub(super) pairs: Vec<NeighborPair>,
    pub(super) clusters: Vec<ClusterPair>,
}

impl Scratch {
    /// Capacity of each list.
    pub(super) fn capacities(&self) -> [usize; 7] {
        let [pairs, gaps, centers, near_a, near_b] = self.comparison.capacities();
        let (own_pairs, clusters) = (self.pairs.capacity(), self.clusters.capacity());
        [own_pairs, clusters, pairs, gaps, centers, near_a, near_b]
    }

    /// Makes sure that each list has at least this capacity.
    pub(super) fn reserve(&mut self, [own_pairs, clusters, rest @ ..]: [usize; 7]) {
        reserve_total(&mut self.pairs, own_pairs);
        reserve_total(&mut self.clusters, clusters);
        self.comparison.reserve(rest);
    }
}

/// Makes sure that a list has at least this capacity.
pub(super) fn reserve_total<T>(list: &mut Vec<T>, capacity: usize) {
    list.reserve_exact(capacity.saturating_sub(list.len()));
}

/// The buffers of all threads, so that tasks need none of their own.
#[derive(Default)]
pub(super) struct Scratches(Vec<Mutex<Scratch>>);

impl Scratches {
    /// Makes sure that each thread of the current pool has buffers, as large as those of the others:
    /// which thread does which task is random, and none should allocate later.
    pub(super) fn reserve(&mut self) {
        let threads = rayon::current_num_threads();
        if self.0.len() < threads {
            self.0.resize_with(threads, Mutex::default);
        }
        let mut largest = [0; 7];
        for scratch in self.0.iter_mut().filter_map(|it| it.get_mut().ok()) {
            for (largest, capacity) in largest.iter_mut().zip(scratch.capacities()) {
                *largest = capacity.max(*largest);
            }
        }
        for scratch in self.0.iter_mut().filter_map(|it| it.get_mut().ok()) {
            if scratch.capacities() != largest {
                scratch.reserve(largest);
            }
        }
    }

    /// Calls `work` with the buffers of the current thread, or with new ones if they are in use
    /// further down the stack.
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut Scratch) -> R) -> R {
        let thread = rayon::current_thread_index().unwrap_or(0);
        match self.0.get(thread).map(Mutex::try_lock) {
            Some(Ok(mut scratch)) => work(&mut scratch),
            _ => work(&mut Scratch::default()),
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        let bytes = |scratch: &Mutex<Scratch>| match scratch.try_lock() {
            Ok(scratch) => {
                scratch.pairs.capacity() * size_of::<NeighborPair>()
                    + scratch.clusters.capacity() * size_of::<ClusterPair>()
                    + scratch.comparison.bytes()
            }
            Err(_) => 0,
        };
        self.0.iter().map(bytes).sum::<usize>() as u64
    }
}

/// Reserves headroom, so that a few more entries do not allocate.
pub(crate) fn keep_headroom<T>(list: &mut Vec<T>) {
    let headroom = list.len() / 4 + 4;
    if list.capacity() - list.len() < headroom {
        list.reserve_exact(2 * headroom);
    }
}
