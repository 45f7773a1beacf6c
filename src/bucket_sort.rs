//! Parallel, stable counting sort into buckets.
//!
//! 1. each task counts its entries per bucket;
//! 2. a prefix sum over buckets, then tasks, gives every task its own range in each bucket;
//! 3. each task writes its entries to its ranges.
//!
//! Entries of a bucket are in task order, so the result does not depend on the number of
//! threads as long as the tasks do not.

use std::marker::PhantomData;

use rayon::prelude::*;

/// Counts and offsets of a parallel counting sort; its memory is reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct BucketSort {
    buckets: usize,
    /// For each task and bucket the count, then the place of the task's next entry.
    offsets: Vec<u32>,
    /// First entry of each bucket, followed by the total.
    starts: Vec<u32>,
}

impl BucketSort {
    /// Reserves memory for `buckets` buckets and `tasks` tasks.
    pub(crate) fn reserve(&mut self, buckets: usize, tasks: usize) {
        let reserve = |values: &mut Vec<u32>, length: usize| {
            values.reserve_exact(length.saturating_sub(values.len()));
        };
        reserve(&mut self.offsets, buckets * tasks);
        reserve(&mut self.starts, buckets + 1);
    }

    /// Bytes of memory of the counts and offsets.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.offsets) + size_of_val(&*self.starts)
    }

    /// Steps 1 and 2: `count` adds the entries of each of `tasks` to the counts of its
    /// `buckets`, of which there is at least one. There are fewer than 2³² entries.
    pub(crate) fn count<I: IndexedParallelIterator>(
        &mut self,
        buckets: usize,
        tasks: I,
        count: impl Fn(I::Item, &mut [u32]) + Send + Sync,
    ) {
        self.buckets = buckets;
        self.offsets.clear();
        self.offsets.resize(buckets * tasks.len(), 0);
        tasks
            .zip(self.offsets.par_chunks_mut(buckets))
            .for_each(|(task, counts)| count(task, counts));
        self.starts.clear();
        let mut sum = 0;
        for bucket in 0..buckets {
            self.starts.push(sum);
            for offset in self.offsets.iter_mut().skip(bucket).step_by(buckets) {
                sum += std::mem::replace(offset, sum);
            }
        }
        self.starts.push(sum);
    }

    /// First entry of each bucket, followed by the number of entries.
    pub(crate) fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Step 3: `write` pushes the entries of each of `tasks` to their buckets in `target`.
    ///
    /// # Safety
    /// `tasks` and the entries that `write` pushes are those of the last
    /// [`count`](Self::count), and `target` has space for all of them.
    pub(crate) unsafe fn scatter<T: Copy + Send, I: IndexedParallelIterator>(
        &mut self,
        target: &mut [T],
        tasks: I,
        write: impl Fn(I::Item, &mut BucketWriter<'_, T>) + Send + Sync,
    ) {
        debug_assert!(
            self.starts
                .last()
                .is_none_or(|&total| total as usize <= target.len())
        );
        let target = ScatterTarget::new(target);
        tasks
            .zip(self.offsets.par_chunks_mut(self.buckets))
            .for_each(|(task, next)| {
                let mut writer = BucketWriter {
                    target: &target,
                    next,
                };
                write(task, &mut writer);
            });
    }
}

/// Where one task of a [`BucketSort`] writes its entries.
pub(crate) struct BucketWriter<'a, T> {
    target: &'a ScatterTarget<'a, T>,
    next: &'a mut [u32],
}

impl<T: Copy> BucketWriter<'_, T> {
    /// Appends `value` to the entries of this task in `bucket`.
    #[inline]
    pub(crate) fn push(&mut self, bucket: usize, value: T) {
        let at = &mut self.next[bucket];
        // SAFETY: the prefix sum gave each task its own range of every bucket, and the caller
        // of `scatter` promises that it pushes what it counted.
        unsafe { self.target.write(*at as usize, value) };
        *at += 1;
    }
}

/// A mutable slice that many threads write to, each to its own places.
pub(crate) struct ScatterTarget<'a, T> {
    start: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: the only access is `write`, whose caller promises that no place is written twice,
// so that sharing is as safe as splitting the slice.
unsafe impl<T: Send> Sync for ScatterTarget<'_, T> {}
// SAFETY: the pointer stands for a `&mut [T]`, which is `Send` if `T` is.
unsafe impl<T: Send> Send for ScatterTarget<'_, T> {}

impl<'a, T: Copy> ScatterTarget<'a, T> {
    /// Borrows `slice` for scattered writes.
    pub(crate) fn new(slice: &'a mut [T]) -> Self {
        Self {
            start: slice.as_mut_ptr(),
            len: slice.len(),
            slice: PhantomData,
        }
    }

    /// Writes `value` to place `at`.
    ///
    /// # Safety
    /// `at` is inside the slice, and no other thread writes to it during the borrow.
    #[inline]
    pub(crate) unsafe fn write(&self, at: usize, value: T) {
        debug_assert!(at < self.len);
        // SAFETY: in bounds and unshared, as the caller promises.
        unsafe { self.start.add(at).write(value) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted_by_bucket_and_keep_their_order() {
        let entries: Vec<(usize, u32)> = (0..1000).map(|k| ((k * 7 % 13) as usize, k)).collect();
        let mut sort = BucketSort::default();
        sort.count(13, entries.par_chunks(64), |chunk, counts| {
            for (bucket, _) in chunk {
                counts[*bucket] += 1;
            }
        });
        let mut sorted = vec![(0, 0); entries.len()];
        // SAFETY: the same chunks push what they counted.
        unsafe {
            sort.scatter(&mut sorted, entries.par_chunks(64), |chunk, writer| {
                for &entry in chunk {
                    writer.push(entry.0, entry);
                }
            });
        }
        let mut expected = entries;
        expected.sort();
        assert_eq!(sorted, expected);
        assert_eq!((sort.starts()[0], sort.starts()[13]), (0, 1000));
    }
}
