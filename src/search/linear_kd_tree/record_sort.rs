//! Sorts the records, in parallel.
//!
//! 1. each list of records is counted by *part*: the first bits of the codes;
//! 2. a prefix sum over parts and lists says where each list writes in each part;
//! 3. each list scatters its records to the parts;
//! 4. each part is sorted.
//!
//! Each part is sorted by one task from the same order, so that the result does not depend
//! on who did what.

use rayon::prelude::*;

use super::Record;
use crate::scatter::ScatterTarget;

/// Records of a part, about: few enough to stay near the processor while they are sorted.
const RECORDS_PER_PART: usize = 128;

/// Most parts: their counts stay near the processor, too.
const MOST_PARTS: usize = 4096;

/// Memory that sorting works with.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordSorter {
    /// Where each list writes in each part.
    offsets: Vec<u32>,
    /// Where each part starts, and the last one ends.
    starts: Vec<usize>,
}

impl RecordSorter {
    /// Sorts the records of all `lists`, whose codes have `width` bits, into `sorted`.
    pub(super) fn sort(&mut self, lists: &[Vec<Record>], width: u32, sorted: &mut Vec<Record>) {
        let count = lists.iter().map(Vec::len).sum();
        sorted.resize(count, Record::default());
        let parts = (count / RECORDS_PER_PART)
            .next_power_of_two()
            .min(MOST_PARTS)
            .min(1_usize.checked_shl(width).unwrap_or(usize::MAX));
        let shift = width - parts.ilog2();
        let part = |record: &Record| (record.code.key() >> shift) as usize;
        self.offsets.clear();
        self.offsets.resize(parts * lists.len(), 0);
        lists
            .par_iter()
            .zip(self.offsets.par_chunks_mut(parts))
            .for_each(|(list, counts)| {
                for record in list {
                    counts[part(record)] += 1;
                }
            });
        self.add_up(parts, lists.len());
        let target = ScatterTarget::new(sorted);
        lists
            .par_iter()
            .zip(self.offsets.par_chunks_mut(parts))
            .for_each(|(list, offsets)| {
                for record in list {
                    let at = &mut offsets[part(record)];
                    // SAFETY: the prefix sum gave each (part, list) a range of its own.
                    unsafe { target.write(*at as usize, *record) };
                    *at += 1;
                }
            });
        sort_parts(sorted, &self.starts);
    }

    /// Makes places of counts.
    fn add_up(&mut self, parts: usize, lists: usize) {
        self.starts.clear();
        let mut sum = 0;
        for part in 0..parts {
            self.starts.push(sum as usize);
            for list in 0..lists {
                sum += std::mem::replace(&mut self.offsets[list * parts + part], sum);
            }
        }
        self.starts.push(sum as usize);
    }
}

/// Sorts the ranges between consecutive `starts`, halving them until few are left.
fn sort_parts(records: &mut [Record], starts: &[usize]) {
    /// Parts that one task sorts.
    const PARTS_PER_TASK: usize = 16;
    if starts.len() <= PARTS_PER_TASK + 1 {
        for range in starts.windows(2) {
            let part = &mut records[range[0] - starts[0]..range[1] - starts[0]];
            part.sort_unstable_by_key(|record| record.code);
        }
        return;
    }
    let middle = starts.len() / 2;
    let (left, right) = records.split_at_mut(starts[middle] - starts[0]);
    rayon::join(
        || sort_parts(left, &starts[..=middle]),
        || sort_parts(right, &starts[middle..]),
    );
}
