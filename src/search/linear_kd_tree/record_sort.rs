//! Parallel sort of the records by locational code.
//!
//! A [`BucketSort`] by the leading bits of the codes, then each bucket is sorted by itself.

use rayon::prelude::*;

use super::Record;
use super::sub_boxes::SubBoxLists;
use crate::bucket_sort::BucketSort;

/// Approximate number of records per bucket: few enough to be sorted in the cache.
const RECORDS_PER_BUCKET: usize = 128;

/// Largest number of buckets: their counts stay in the cache, too.
const MAX_BUCKETS: usize = 4096;

/// Sorts the records of all `lists`, whose codes have `width` bits, into `sorted`.
pub(super) fn sort(
    buckets: &mut BucketSort,
    lists: &[Vec<Record>],
    width: u32,
    sorted: &mut Vec<Record>,
) {
    let count = lists.iter().map(Vec::len).sum();
    sorted.resize(count, Record::default());
    let bucket_count = (count / RECORDS_PER_BUCKET)
        .next_power_of_two()
        .min(MAX_BUCKETS)
        .min(1_usize.checked_shl(width).unwrap_or(usize::MAX));
    let shift = width - bucket_count.ilog2();
    let bucket = |record: &Record| (record.code.key() >> shift) as usize;
    buckets.count(bucket_count, lists.par_iter(), |list, counts| {
        for record in list {
            counts[bucket(record)] += 1;
        }
    });
    // SAFETY: the same lists push each record once, to the bucket that it was counted in.
    unsafe {
        buckets.scatter(sorted, lists.par_iter(), |list, writer| {
            for record in list {
                writer.push(bucket(record), *record);
            }
        });
    }
    sort_buckets(sorted, buckets.starts());
}

/// Sorts the records between consecutive `starts` by code, in parallel.
fn sort_buckets(records: &mut [Record], starts: &[u32]) {
    /// Buckets per task.
    const BUCKETS_PER_TASK: usize = 16;
    if starts.len() <= BUCKETS_PER_TASK + 1 {
        for range in starts.windows(2) {
            let [first, end] = [range[0], range[1]].map(|at| (at - starts[0]) as usize);
            records[first..end].sort_unstable_by_key(|record| record.code);
        }
        return;
    }
    let middle = starts.len() / 2;
    let (left, right) = records.split_at_mut((starts[middle] - starts[0]) as usize);
    rayon::join(
        || sort_buckets(left, &starts[..=middle]),
        || sort_buckets(right, &starts[middle..]),
    );
}

/// Buffers for sorting records that are nearly sorted.
#[derive(Clone, Debug, Default)]
pub(super) struct NearlySorted {
    /// Number of records of each box in the last search.
    parts: Vec<u8>,
    kept: Vec<Record>,
    strays: Vec<Record>,
}

/// Largest part of the records that may be out of order: more are sorted from scratch.
const MAX_STRAYS: f64 = 0.4;

impl NearlySorted {
    /// Bytes of memory of the buffers.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.parts) + size_of_val(&*self.kept) + size_of_val(&*self.strays)
    }

    /// Remembers the number of records of each box.
    pub(super) fn remember(&mut self, lists: &SubBoxLists) {
        self.parts.clear();
        let parts = (0..lists.boxes).map(|index| lists.of_box(index).len() as u8);
        self.parts.extend(parts);
    }

    /// Sorts the records of `lists`, starting from the order in `sorted`, which are those of the
    /// same boxes earlier. Returns whether few enough were out of order; if not, `sorted` is
    /// unchanged.
    pub(super) fn sort(&mut self, lists: &SubBoxLists, sorted: &mut Vec<Record>) -> bool {
        if self.parts.len() != lists.boxes {
            return false;
        }
        let max_strays = (MAX_STRAYS * sorted.len() as f64) as usize;
        self.kept.clear();
        self.strays.clear();
        for (index, parts) in self.parts.iter().enumerate() {
            let records = lists.of_box(index);
            self.strays.extend(records.iter().skip(usize::from(*parts)));
        }
        for previous in &*sorted {
            let (index, number) = previous.sub_box.part();
            let Some(&record) = lists.of_box(index).get(number) else {
                continue;
            };
            match self.kept.last() {
                // One of the two is out of order, but not necessarily this one.
                Some(last) if last.code > record.code => {
                    self.strays.extend([*last, record]);
                    self.kept.pop();
                }
                _ => self.kept.push(record),
            }
            if self.strays.len() > max_strays {
                return false;
            }
        }
        self.strays.sort_unstable_by_key(|record| record.code);
        sorted.clear();
        let mut strays = self.strays.iter().copied().peekable();
        for record in &self.kept {
            while let Some(stray) = strays.next_if(|stray| stray.code < record.code) {
                sorted.push(stray);
            }
            sorted.push(*record);
        }
        sorted.extend(strays);
        true
    }
}
