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
//! Of equally deep pairs the one with the smaller indices is kept, so that the result does not
//! depend on the order of the pairs.

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
    /// Reduces pairs with these gaps, nm, negative where the spheres overlap.
    pub fn new(pairs: &[Pair], gaps: &[f32]) -> Self {
        let mut kept = Self {
            pairs: [Pair { a: 0, b: 0 }; MAX_CONTACTS_PER_PAIR],
            len: 0,
            overlaps: gaps.iter().map(|gap| u32::from(*gap < 0.0)).sum(),
            penetration: -gaps.iter().copied().fold(f32::INFINITY, f32::min),
        };
        if pairs.len() <= MAX_CONTACTS_PER_PAIR {
            kept.pairs[..pairs.len()].copy_from_slice(pairs);
            kept.len = pairs.len();
            kept.pairs[..kept.len].sort_unstable();
            return kept;
        }
        let buckets = Bucket::fill(pairs, gaps);
        let joined = if pairs.len() <= MAX_PAIRS_IN_ALL_BUCKETS as usize {
            1
        } else if pairs.len() <= MAX_PAIRS_IN_HALF_BUCKETS as usize {
            2
        } else {
            4
        };
        for buckets in buckets.chunks(joined) {
            if let Some(deepest) = buckets.iter().min().filter(|one| **one != Bucket::EMPTY) {
                kept.pairs[kept.len] = deepest.pair();
                kept.len += 1;
            }
        }
        kept
    }

    pub fn pairs(&self) -> &[Pair] {
        &self.pairs[..self.len]
    }
}

/// The deepest of the `pairs` in each bucket that has any. Their `gaps` are negative where the
/// spheres overlap.
pub(crate) fn deepest_of_buckets(pairs: &[Pair], gaps: &[f32]) -> impl Iterator<Item = Pair> {
    let buckets = Bucket::fill(pairs, gaps).into_iter();
    let filled = buckets.filter(|bucket| *bucket != Bucket::EMPTY);
    filled.map(Bucket::pair)
}

/// The deepest pair of a bucket, as one integer: its gap as [`to_sortable`], then its spheres. Deeper
/// pairs are smaller, and two are compared without branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bucket(u128);

impl Bucket {
    /// A bucket without a pair.
    const EMPTY: Self = Self(u128::MAX);

    #[inline]
    fn new(pair: Pair, gap: f32) -> Self {
        Self(u128::from(to_sortable(gap)) << 64 | u128::from(pair.key()))
    }

    /// The buckets of all pairs.
    fn fill(pairs: &[Pair], gaps: &[f32]) -> [Self; MAX_CONTACTS_PER_PAIR] {
        let mut buckets = [Self::EMPTY; MAX_CONTACTS_PER_PAIR];
        for (&pair, &gap) in pairs.iter().zip(gaps) {
            let bucket = &mut buckets[bucket_of(pair)];
            *bucket = (*bucket).min(Self::new(pair, gap));
        }
        buckets
    }

    fn pair(self) -> Pair {
        Pair::from_key(self.0 as u64)
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

    fn kept(pairs: &[(Pair, f32)]) -> ReducedPairs {
        let (pairs, gaps): (Vec<Pair>, Vec<f32>) = pairs.iter().copied().unzip();
        ReducedPairs::new(&pairs, &gaps)
    }

    #[test]
    fn each_bucket_keeps_its_deepest_pair() {
        for (len, joined) in [(32, 1), (41, 2), (100, 4)] {
            let row = row(len);
            let kept = kept(&row);
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
    fn the_result_does_not_depend_on_the_order_of_the_pairs() {
        let all = row(80);
        for len in [0, 3, 15, 16, 17, 32, 33, 64, 65, 80] {
            let mut pairs = all[..len].to_vec();
            let expected = kept(&pairs);
            pairs.reverse();
            let reversed = kept(&pairs);
            assert_eq!(reversed.pairs(), expected.pairs());
            assert_eq!(reversed.overlaps, expected.overlaps);
            assert_eq!(reversed.penetration, expected.penetration);
        }
    }

    #[test]
    fn of_equally_deep_pairs_the_smaller_indices_are_kept() {
        let mut pairs: Vec<(Pair, f32)> = (0..60)
            .map(|k| (Pair::new(7 * k % 30, 100 - k), -0.01))
            .collect();
        let expected = kept(&pairs);
        for pair in expected.pairs() {
            let same = pairs.iter().map(|(other, _)| *other);
            let same = same.filter(|other| bucket_of(*other) / 2 == bucket_of(*pair) / 2);
            assert_eq!(same.min(), Some(*pair));
        }
        pairs.reverse();
        assert_eq!(kept(&pairs).pairs(), expected.pairs());
    }

    #[test]
    fn few_pairs_are_all_kept() {
        let row = row(MAX_CONTACTS_PER_PAIR as u32);
        let pairs: Vec<Pair> = row.iter().map(|(pair, _)| *pair).collect();
        assert_eq!(kept(&row).pairs(), pairs);
        assert!(kept(&[]).pairs().is_empty());
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
    }
}
