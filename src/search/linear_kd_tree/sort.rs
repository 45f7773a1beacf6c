//! Sorts the records, in parallel.
//!
//! 1. each list of records is counted by *part*: the first bits of the codes;
//! 2. a prefix sum over parts and lists says where each list writes in each part;
//! 3. each list scatters its records to the parts;
//! 4. each part is sorted.
//!
//! Records have a total order, so that the result does not depend on who did what.

use rayon::prelude::*;

use super::Record;
use crate::scatter::ScatterTarget;

/// Parts of space: eight along each axis.
const PARTS: usize = 512;

/// Sorts the records of all `lists` into `sorted`; `offsets` is memory to work with.
pub(super) fn sort(lists: &[Vec<Record>], offsets: &mut Vec<u32>, sorted: &mut Vec<Record>) {
    let count = lists.iter().map(Vec::len).sum();
    sorted.resize(count, Record::default());
    offsets.clear();
    offsets.resize(PARTS * lists.len(), 0);
    lists
        .par_iter()
        .zip(offsets.par_chunks_mut(PARTS))
        .for_each(|(list, counts)| {
            for record in list {
                counts[record.code.part(PARTS)] += 1;
            }
        });
    let mut starts = [0; PARTS + 1];
    let mut sum = 0;
    for part in 0..PARTS {
        starts[part] = sum as usize;
        for list in 0..lists.len() {
            sum += std::mem::replace(&mut offsets[list * PARTS + part], sum);
        }
    }
    starts[PARTS] = count;
    let target = ScatterTarget::new(sorted);
    lists
        .par_iter()
        .zip(offsets.par_chunks_mut(PARTS))
        .for_each(|(list, offsets)| {
            for record in list {
                let at = &mut offsets[record.code.part(PARTS)];
                // SAFETY: the prefix sum gave each (part, list) a range of its own.
                unsafe { target.write(*at as usize, *record) };
                *at += 1;
            }
        });
    sort_parts(sorted, &starts);
}

/// Sorts the ranges between consecutive `starts`, halving them until one is left.
fn sort_parts(records: &mut [Record], starts: &[usize]) {
    if starts.len() <= 2 {
        records.sort_unstable();
        return;
    }
    let middle = starts.len() / 2;
    let (left, right) = records.split_at_mut(starts[middle] - starts[0]);
    rayon::join(
        || sort_parts(left, &starts[..=middle]),
        || sort_parts(right, &starts[middle..]),
    );
}
