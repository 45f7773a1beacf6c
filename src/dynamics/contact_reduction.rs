//! Contact reduction: which of the many pairs of spheres between two molecules are kept.
//!
//! Two rigid bodies need only a few contacts, well spread and including the deepest. Up to
//! [`MAX_CONTACTS_PER_PAIR`] pairs are all kept. Of more, a hash of the first sphere's index
//! distributes the pairs over that many buckets, neighbors in the chain into different ones,
//! and each bucket keeps its deepest pair. That is one comparison per pair, and since a sphere
//! stays in its bucket, mostly the same pairs are kept from substep to substep. Molecules with
//! more than [`MAX_PAIRS_IN_ALL_BUCKETS`] pairs interpenetrate, and fewer contacts suffice:
//! buckets are joined two by two, beyond [`MAX_PAIRS_IN_HALF_BUCKETS`] pairs four by four.
//!
//! Ties: of equally deep pairs in a bucket the first found is kept, of equally deep pairs in
//! joined buckets the one with the smaller indices.
//!
//! A [`ListReduction`] reduces the pairs of one list; [`ReducedPairs::merge`] merges those of
//! several lists.

use std::cmp::Ordering;

use crate::search::Pair;

/// Maximum number of contacts between two molecules.
pub(crate) const MAX_CONTACTS_PER_PAIR: usize = 16;

/// Maximum number of pairs for which every bucket keeps one: molecules at rest have fewer.
pub(crate) const MAX_PAIRS_IN_ALL_BUCKETS: u32 = 32;

/// Maximum number of pairs for which every second bucket keeps one.
pub(crate) const MAX_PAIRS_IN_HALF_BUCKETS: u32 = 64;

/// Multiplier of the bucket hash: 2³² over the golden ratio.
pub(crate) const BUCKET_HASH: u32 = 0x9e37_79b9;

/// The top bits of the hash select the bucket; this many lower bits are dropped.
pub(crate) const BUCKET_SHIFT: u32 = u32::BITS - MAX_CONTACTS_PER_PAIR.ilog2();

/// A bucket without a pair.
const EMPTY: u64 = u64::MAX;

/// The pairs of one list between two molecules, reduced.
///
/// Branch-free: neither gaps nor counts are predictable.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListReduction {
    /// The two owners, as a [`Pair::key`].
    pub molecules: u64,
    /// Number of pairs in the lower half, number of overlapping pairs in the upper half.
    counts: u64,
    /// Per bucket the smallest gap, as [`to_sortable`], in the upper half, and the index of
    /// that pair.
    buckets: [u64; MAX_CONTACTS_PER_PAIR],
    /// Indices of the first pairs; the last entry is overwritten by all that follow.
    first: [u32; MAX_CONTACTS_PER_PAIR + 1],
}

impl ListReduction {
    pub fn new(molecules: u64) -> Self {
        Self {
            molecules,
            counts: 0,
            buckets: [EMPTY; MAX_CONTACTS_PER_PAIR],
            first: [0; MAX_CONTACTS_PER_PAIR + 1],
        }
    }

    fn count(&self) -> u32 {
        self.counts as u32
    }

    /// Adds a pair by its index in the list and its gap, nm, negative where the spheres overlap.
    #[inline]
    pub fn add(&mut self, pair: Pair, index: u32, gap: f32) {
        self.first[(self.count() as usize).min(MAX_CONTACTS_PER_PAIR)] = index;
        self.counts += 1 | u64::from(gap < 0.0) << 32;
        let bucket = &mut self.buckets[bucket_of(pair)];
        *bucket = (*bucket).min(u64::from(to_sortable(gap)) << 32 | u64::from(index));
    }
}

/// The pairs kept between two molecules.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReducedPairs {
    pairs: [Pair; MAX_CONTACTS_PER_PAIR],
    len: usize,
    /// Number of pairs that overlap, kept or not.
    pub overlaps: u32,
    /// Deepest overlap, nm; negative is a gap.
    pub penetration: f32,
}

impl ReducedPairs {
    pub const EMPTY: Self = Self {
        pairs: [Pair { a: 0, b: 0 }; MAX_CONTACTS_PER_PAIR],
        len: 0,
        overlaps: 0,
        penetration: f32::NEG_INFINITY,
    };

    /// Merges reductions, each with the list it was made from, in the order of the lists.
    pub fn merge<'a>(
        reductions: impl Iterator<Item = (&'a ListReduction, &'a [Pair])> + Clone,
    ) -> Self {
        let mut kept = Self::EMPTY;
        let empty = MergedBucket {
            deepest: EMPTY,
            source: 0,
        };
        let mut buckets = [empty; MAX_CONTACTS_PER_PAIR];
        let mut count = 0;
        for ((reduction, _), source) in reductions.clone().zip(0..) {
            count += reduction.count();
            kept.overlaps += (reduction.counts >> 32) as u32;
            for (bucket, &deepest) in buckets.iter_mut().zip(&reduction.buckets) {
                // Of equally deep pairs the first stays.
                if deepest >> 32 < bucket.deepest >> 32 {
                    *bucket = MergedBucket { deepest, source };
                }
            }
        }
        let smallest = buckets.iter().map(MergedBucket::gap).min();
        if let Some(gap) = smallest
            && count > 0
        {
            kept.penetration = -from_sortable(gap);
        }
        if count as usize <= MAX_CONTACTS_PER_PAIR {
            for (reduction, list) in reductions {
                for index in &reduction.first[..reduction.count() as usize] {
                    kept.push(list[*index as usize]);
                }
            }
            // The order must not depend on the lists.
            kept.pairs[..kept.len].sort_unstable();
            return kept;
        }
        let joined = if count <= MAX_PAIRS_IN_ALL_BUCKETS {
            1
        } else if count <= MAX_PAIRS_IN_HALF_BUCKETS {
            2
        } else {
            4
        };
        // Looked up only on ties and for pairs that are kept: they are far apart in memory.
        let pair = |bucket: &MergedBucket| {
            let (_, list) = reductions.clone().nth(bucket.source as usize)?;
            list.get(bucket.deepest as u32 as usize).copied()
        };
        for buckets in buckets.chunks(joined) {
            let deepest = buckets.iter().reduce(|one, other| {
                let deeper = match other.gap().cmp(&one.gap()) {
                    Ordering::Less => true,
                    Ordering::Greater => false,
                    Ordering::Equal => pair(other) < pair(one),
                };
                if deeper { other } else { one }
            });
            if let Some(pair) = deepest.filter(|one| one.deepest != EMPTY).and_then(pair) {
                kept.push(pair);
            }
        }
        kept
    }

    fn push(&mut self, pair: Pair) {
        self.pairs[self.len] = pair;
        self.len += 1;
    }

    pub fn pairs(&self) -> &[Pair] {
        &self.pairs[..self.len]
    }
}

/// The deepest pair of a bucket over several lists.
#[derive(Clone, Copy)]
struct MergedBucket {
    /// As in [`ListReduction::buckets`].
    deepest: u64,
    /// The reduction it comes from.
    source: u32,
}

impl MergedBucket {
    /// Its gap, as [`to_sortable`].
    fn gap(&self) -> u32 {
        (self.deepest >> 32) as u32
    }
}

/// The bucket of a pair, by its first sphere.
#[inline]
fn bucket_of(pair: Pair) -> usize {
    const { assert!(MAX_CONTACTS_PER_PAIR.is_power_of_two()) };
    (pair.a.wrapping_mul(BUCKET_HASH) >> BUCKET_SHIFT) as usize
}

/// Maps floats to integers of the same order.
#[inline]
fn to_sortable(value: f32) -> u32 {
    let bits = value.to_bits();
    let negative = (bits as i32 >> 31) as u32;
    bits ^ (negative | 1 << 31)
}

/// The inverse of [`to_sortable`].
fn from_sortable(number: u32) -> f32 {
    let negative = !((number as i32 >> 31) as u32);
    f32::from_bits(number ^ (negative | 1 << 31))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs with distinct gaps, the deepest in the middle.
    fn row(len: u32) -> Vec<(Pair, f32)> {
        let gap = |k: u32| -0.01 + (k as f32 - (len / 2) as f32 - 0.2).abs() * 1.0e-3;
        (0..len)
            .map(|k| (Pair { a: k, b: k + len }, gap(k)))
            .collect()
    }

    /// The pairs kept of `pairs`, cut into lists at `cuts`.
    fn kept(pairs: &[(Pair, f32)], cuts: &[usize]) -> ReducedPairs {
        let ends = cuts.iter().copied().chain([pairs.len()]);
        let mut start = 0;
        let lists: Vec<(ListReduction, Vec<Pair>)> = ends
            .map(|end| {
                let list = &pairs[start..end];
                start = end;
                let mut reduction = ListReduction::new(Pair { a: 0, b: 1 }.key());
                for ((pair, gap), index) in list.iter().zip(0..) {
                    reduction.add(*pair, index, *gap);
                }
                (reduction, list.iter().map(|(pair, _)| *pair).collect())
            })
            .collect();
        ReducedPairs::merge(lists.iter().map(|(reduction, list)| (reduction, &list[..])))
    }

    #[test]
    fn each_bucket_keeps_its_deepest_pair() {
        for (len, joined) in [(32, 1), (41, 2), (100, 4)] {
            let row = row(len);
            let kept = kept(&row, &[]);
            assert_eq!(kept.overlaps, 20);
            assert!((kept.penetration - 0.0098).abs() < 1.0e-6);
            assert_eq!(kept.pairs().len(), MAX_CONTACTS_PER_PAIR / joined);
            for pair in kept.pairs() {
                let bucket = |pair: Pair| bucket_of(pair) / joined;
                let same = row
                    .iter()
                    .filter(|(other, _)| bucket(*other) == bucket(*pair));
                let deepest = same.map(|(_, gap)| *gap).fold(f32::INFINITY, f32::min);
                assert_eq!(row[pair.a as usize].1, deepest);
            }
        }
    }

    #[test]
    fn the_result_depends_on_neither_order_nor_lists() {
        let all = row(80);
        for len in [
            0,
            3,
            MAX_CONTACTS_PER_PAIR - 1,
            MAX_CONTACTS_PER_PAIR,
            MAX_CONTACTS_PER_PAIR + 1,
            32,
            33,
            64,
            65,
            80,
        ] {
            let mut pairs = all[..len].to_vec();
            let uncut = kept(&pairs, &[]);
            pairs.reverse();
            assert_eq!(kept(&pairs, &[]).pairs(), uncut.pairs());
            for cut in 0..=len {
                let parts = kept(&pairs, &[cut / 2, cut]);
                assert_eq!(parts.pairs(), uncut.pairs(), "{len} cut at {cut}");
                assert_eq!(parts.overlaps, uncut.overlaps);
                assert_eq!(parts.penetration, uncut.penetration);
            }
        }
    }

    #[test]
    fn of_equally_deep_pairs_the_first_is_kept_however_lists_are_cut() {
        let pairs: Vec<(Pair, f32)> = (0..60)
            .map(|k| (Pair::new(7 * k % 30, 100 - k), -0.01))
            .collect();
        let uncut = kept(&pairs, &[]);
        for pair in uncut.pairs() {
            let bucket = |pair: &Pair| bucket_of(*pair);
            let first = pairs
                .iter()
                .find(|(other, _)| bucket(other) == bucket(pair));
            assert_eq!(first.unwrap().0, *pair);
        }
        for cut in 0..=60 {
            assert_eq!(kept(&pairs, &[cut / 2, cut]).pairs(), uncut.pairs());
        }
    }

    #[test]
    fn few_pairs_are_all_kept() {
        let row = row(MAX_CONTACTS_PER_PAIR as u32);
        let pairs: Vec<Pair> = row.iter().map(|(pair, _)| *pair).collect();
        assert_eq!(kept(&row, &[]).pairs(), pairs);
        assert!(kept(&[], &[]).pairs().is_empty());
    }

    #[test]
    fn sortable_integers_have_the_order_of_the_floats() {
        let values = [
            f32::NEG_INFINITY,
            -1.0,
            -1.0e-30,
            0.0,
            1.0e-30,
            2.5,
            f32::INFINITY,
        ];
        assert!(values.map(to_sortable).is_sorted());
        assert_eq!(
            values.map(|value| from_sortable(to_sortable(value))),
            values
        );
    }
}
