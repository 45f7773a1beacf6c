//! Parallel sort of the records by locational code.
//!
//! A [`BucketSort`] by the leading bits of the codes, then each bucket is sorted by itself.

use rayon::prelude::*;

use super::Record;
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
