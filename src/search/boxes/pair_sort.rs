//! Sorts the pairs that a search has found, in parallel.
//!
//! 1. pairs to *slabs*, runs of consecutive boxes, by their first box;
//! 2. each slab sorts its pairs by their first box, by counting;
//! 3. the few pairs of each box are sorted by the other box.

use rayon::prelude::*;

use crate::bucket_sort::BucketSort;
use crate::search::{Pair, PairBuffer};

/// Smallest number of boxes of a slab.
const MIN_SLAB: usize = 256;

/// Largest number of slabs: few enough that their write positions stay in the cache.
const MAX_SLABS: usize = 256;

/// Buffers of the sort.
#[derive(Clone, Debug, Default)]
pub(super) struct PairSort {
    slabs: BucketSort,
    slab_order: Vec<Pair>,
    /// For each box the count, then the place of its next pair.
    next: Vec<u32>,
}

/// Number of boxes of a slab; a slab has one list of pairs.
pub(super) fn slab_size(boxes: usize) -> usize {
    boxes.div_ceil(MAX_SLABS).next_power_of_two().max(MIN_SLAB)
}

impl PairSort {
    /// Writes the pairs of `boxes` boxes in `found` into `sorted`, by their first, then their
    /// second box, with one list for each slab.
    pub(super) fn sort(&mut self, boxes: usize, found: &PairBuffer, sorted: &mut PairBuffer) {
        let slab = slab_size(boxes);
        let shift = slab.trailing_zeros();
        let slabs = boxes.div_ceil(slab);
        let lists = sorted.start(slabs);
        if slabs == 0 {
            return;
        }
        let tasks = found.lists().par_iter();
        self.slabs.reserve(MAX_SLABS, tasks.len());
        self.slabs.count(slabs, tasks.clone(), |list, counts| {
            for pair in list {
                counts[(pair.a >> shift) as usize] += 1;
            }
        });
        let total = self.slabs.starts()[slabs] as usize;
        if self.slab_order.len() < total {
            self.slab_order
                .resize(total + total / 4, Pair { a: 0, b: 0 });
        }
        // SAFETY: the same lists push one pair for each that they counted.
        unsafe {
            self.slabs
                .scatter(&mut self.slab_order, tasks, |list, writer| {
                    for &pair in list {
                        writer.push((pair.a >> shift) as usize, pair);
                    }
                });
        }
        let (starts, slab_order) = (self.slabs.starts(), &self.slab_order);
        self.next.clear();
        self.next.resize(boxes, 0);
        lists
            .par_iter_mut()
            .zip(self.next.par_chunks_mut(slab))
            .enumerate()
            .for_each(|(k, (list, next))| {
                let members = &slab_order[starts[k] as usize..starts[k + 1] as usize];
                sort_slab((k * slab) as u32, members, next, list);
            });
    }
}

/// Steps 2 and 3 for the slab that begins with box `first`.
fn sort_slab(first: u32, members: &[Pair], next: &mut [u32], list: &mut Vec<Pair>) {
    for pair in members {
        next[(pair.a - first) as usize] += 1;
    }
    let mut sum = 0;
    for next in next.iter_mut() {
        sum += std::mem::replace(next, sum);
    }
    reserve(list, members.len());
    list.resize(members.len(), Pair { a: 0, b: 0 });
    for &pair in members {
        let next = &mut next[(pair.a - first) as usize];
        list[*next as usize] = pair;
        *next += 1;
    }
    // Each entry has moved to the end of the pairs of its box.
    let mut start = 0;
    for &end in &*next {
        let end = end as usize;
        list[start..end].sort_unstable_by_key(|pair| pair.b);
        start = end;
    }
}

/// Reserves memory for `count` pairs in an empty list, with headroom, so that a few more do not
/// allocate.
pub(super) fn reserve(list: &mut Vec<Pair>, count: usize) {
    if list.capacity() < count {
        list.reserve_exact(count + count / 4 + 16);
    }
}
