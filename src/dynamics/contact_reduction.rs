//! What is kept of the many pairs of spheres between two molecules.
//!
//! Two rigid bodies need no more than a few contacts, well spread, the deepest among
//! them. Up to [`MAX_CONTACTS_PER_PAIR`] pairs are all kept. Of more, the spheres of the first molecule
//! are dealt into [`MAX_CONTACTS_PER_PAIR`] hands, neighbors in the chain into different ones, and each
//! hand keeps its deepest pair: one comparison a pair, and as spheres stay in their
//! hands, mostly the same pairs from substep to substep. Molecules that have more than
//! [`MAX_PAIRS_IN_ALL_BUCKETS`] pairs are inside each other rather than at rest, and need less care: two
//! hands are made one, and beyond [`MAX_PAIRS_IN_HALF_BUCKETS`] pairs four.
//!
//! Of equally deep pairs in a hand the one that was found first is kept, of equally deep
//! ones in two hands the one with the smaller indices.
//!
//! A [`Digest`] is made of the pairs of one list; the digests of several lists are
//! brought together by [`Kept::of`].

use std::cmp::Ordering;

use crate::search::Pair;

/// Most pairs that are kept.
pub(crate) const MAX_CONTACTS_PER_PAIR: usize = 16;

/// As many pairs as molecules at rest have.
pub(crate) const MAX_PAIRS_IN_ALL_BUCKETS: u32 = 32;

/// As many as molecules have that are inside each other.
pub(crate) const MAX_PAIRS_IN_HALF_BUCKETS: u32 = 64;

/// What spreads the numbers of spheres evenly over the hands: 2³² over the golden ratio.
pub(crate) const BUCKET_HASH: u32 = 0x9e37_79b9;

/// Bits of a spread number that do not decide about the hand.
pub(crate) const BUCKET_SHIFT: u32 = u32::BITS - MAX_CONTACTS_PER_PAIR.ilog2();

/// A hand without a pair.
const EMPTY: u64 = u64::MAX;

/// The pairs of one list that matter between two molecules, owners `a` < `b`.
///
/// Nothing here branches on a gap or a count: no processor could foresee the outcome.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digest {
    /// Both owners, as [`Pair::key`] has them.
    pub molecules: u64,
    /// How many pairs there are, and in the upper half how many of them overlap.
    counts: u64,
    /// For each hand its smallest gap, in the upper half, and the index of that pair.
    hands: [u64; MAX_CONTACTS_PER_PAIR],
    /// Indices of the first pairs; the last entry is for all that follow.
    first: [u32; MAX_CONTACTS_PER_PAIR + 1],
}

impl Digest {
    /// No pairs yet, between two molecules.
    pub fn new(molecules: u64) -> Self {
        Self {
            molecules,
            counts: 0,
            hands: [EMPTY; MAX_CONTACTS_PER_PAIR],
            first: [0; MAX_CONTACTS_PER_PAIR + 1],
        }
    }

    /// How many pairs there are.
    fn count(&self) -> u32 {
        self.counts as u32
    }

    /// How many pairs overlap.
    fn overlaps(&self) -> u32 {
        (self.counts >> 32) as u32
    }

    /// Takes in a pair of a list, with its index there and its gap, nm, negative where
    /// the spheres overlap.
    #[inline]
    pub fn take(&mut self, pair: Pair, index: u32, gap: f32) {
        self.first[(self.counts as u32 as usize).min(MAX_CONTACTS_PER_PAIR)] = index;
        self.counts += 1 | u64::from(gap < 0.0) << 32;
        let hand = &mut self.hands[hand_of(pair)];
        *hand = (*hand).min(u64::from(sortable(gap)) << 32 | u64::from(index));
    }
}

/// What is kept between two molecules.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pairs: [Pair; MAX_CONTACTS_PER_PAIR],
    len: usize,
    /// How many pairs overlap, kept or not.
    pub overlaps: u32,
    /// Deepest overlap, nm; negative is a gap.
    pub deepest: f32,
}

impl Kept {
    /// Nothing.
    pub const NONE: Self = Self {
        pairs: [Pair { a: 0, b: 0 }; MAX_CONTACTS_PER_PAIR],
        len: 0,
        overlaps: 0,
        deepest: f32::NEG_INFINITY,
    };

    /// What is kept of some digests, each with the list that it is of, in the order of the
    /// lists.
    pub fn of<'a>(digests: impl Iterator<Item = (&'a Digest, &'a [Pair])> + Clone) -> Self {
        let mut kept = Self::NONE;
        let mut hands = [Hand::EMPTY; MAX_CONTACTS_PER_PAIR];
        let mut count = 0;
        for ((digest, _), from) in digests.clone().zip(0..) {
            count += digest.count();
            kept.overlaps += digest.overlaps();
            for (hand, &held) in hands.iter_mut().zip(&digest.hands) {
                hand.take(held, from);
            }
        }
        let smallest = hands.iter().map(Hand::gap).min();
        if let Some(gap) = smallest
            && count > 0
        {
            kept.deepest = -from_sortable(gap);
        }
        if count as usize <= MAX_CONTACTS_PER_PAIR {
            for (digest, list) in digests {
                for index in &digest.first[..digest.count() as usize] {
                    kept.push(list[*index as usize]);
                }
            }
            // In an order that does not depend on the lists.
            kept.pairs[..kept.len].sort_unstable();
            return kept;
        }
        let together = if count <= MAX_PAIRS_IN_ALL_BUCKETS {
            1
        } else if count <= MAX_PAIRS_IN_HALF_BUCKETS {
            2
        } else {
            4
        };
        // Few pairs are looked up: they are far apart in memory.
        let pair = |hand: &Hand| {
            let (_, list) = digests.clone().nth(hand.from as usize)?;
            list.get(hand.held as u32 as usize).copied()
        };
        for hands in hands.chunks(together) {
            let deepest = hands.iter().reduce(|one, other| {
                let better = match other.gap().cmp(&one.gap()) {
                    Ordering::Less => true,
                    Ordering::Greater => false,
                    Ordering::Equal => pair(other) < pair(one),
                };
                if better { other } else { one }
            });
            if let Some(pair) = deepest.filter(|hand| hand.held != EMPTY).and_then(pair) {
                kept.push(pair);
            }
        }
        kept
    }

    fn push(&mut self, pair: Pair) {
        self.pairs[self.len] = pair;
        self.len += 1;
    }

    /// The pairs.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs[..self.len]
    }
}

/// The deepest pair of a hand in several lists.
#[derive(Clone, Copy)]
struct Hand {
    /// As in a digest.
    held: u64,
    /// Which digest it is of.
    from: u32,
}

impl Hand {
    const EMPTY: Self = Self {
        held: EMPTY,
        from: 0,
    };

    /// Its gap, as a number that sorts.
    fn gap(&self) -> u32 {
        (self.held >> 32) as u32
    }

    /// Takes what a digest holds if it is deeper: of the same depth, the list before has
    /// priority.
    #[inline]
    fn take(&mut self, held: u64, from: u32) {
        if held >> 32 < self.held >> 32 {
            *self = Self { held, from };
        }
    }
}

/// The hand of a pair: its first sphere decides.
#[inline]
fn hand_of(pair: Pair) -> usize {
    const { assert!(MAX_CONTACTS_PER_PAIR.is_power_of_two()) };
    (pair.a.wrapping_mul(BUCKET_HASH) >> BUCKET_SHIFT) as usize
}

/// A number that sorts as `value` does.
#[inline]
fn sortable(value: f32) -> u32 {
    let bits = value.to_bits();
    let negative = (bits as i32 >> 31) as u32;
    bits ^ (negative | 1 << 31)
}

/// The value of a [`sortable`] number.
fn from_sortable(number: u32) -> f32 {
    let negative = !((number as i32 >> 31) as u32);
    f32::from_bits(number ^ (negative | 1 << 31))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs in a row, the deepest in the middle, with their gaps, no two the same.
    fn row(len: u32) -> Vec<(Pair, f32)> {
        let gap = |k: u32| -0.01 + (k as f32 - (len / 2) as f32 - 0.2).abs() * 1.0e-3;
        (0..len)
            .map(|k| (Pair { a: k, b: k + len }, gap(k)))
            .collect()
    }

    /// What is kept of pairs in lists that are cut at these places.
    fn kept(pairs: &[(Pair, f32)], cuts: &[usize]) -> Kept {
        let ends = cuts.iter().copied().chain([pairs.len()]);
        let mut start = 0;
        let lists: Vec<(Digest, Vec<Pair>)> = ends
            .map(|end| {
                let list = &pairs[start..end];
                start = end;
                let mut digest = Digest::new(Pair { a: 0, b: 1 }.key());
                for ((pair, gap), index) in list.iter().zip(0..) {
                    digest.take(*pair, index, *gap);
                }
                (digest, list.iter().map(|(pair, _)| *pair).collect())
            })
            .collect();
        Kept::of(lists.iter().map(|(digest, list)| (digest, &list[..])))
    }

    #[test]
    fn of_many_pairs_the_deepest_of_each_hand_are_kept() {
        for (len, together) in [(32, 1), (41, 2), (100, 4)] {
            let row = row(len);
            let kept = kept(&row, &[]);
            assert_eq!(kept.overlaps, 20);
            assert!((kept.deepest - 0.0098).abs() < 1.0e-6);
            assert_eq!(kept.pairs().len(), MAX_CONTACTS_PER_PAIR / together);
            for pair in kept.pairs() {
                let hand = |pair: Pair| hand_of(pair) / together;
                let same = row.iter().filter(|(other, _)| hand(*other) == hand(*pair));
                let deepest = same.map(|(_, gap)| *gap).fold(f32::INFINITY, f32::min);
                assert_eq!(row[pair.a as usize].1, deepest);
            }
        }
    }

    #[test]
    fn neither_order_nor_lists_matter() {
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
            let whole = kept(&pairs, &[]);
            pairs.reverse();
            assert_eq!(kept(&pairs, &[]).pairs(), whole.pairs());
            for cut in 0..=len {
                let parts = kept(&pairs, &[cut / 2, cut]);
                assert_eq!(parts.pairs(), whole.pairs(), "{len} cut at {cut}");
                assert_eq!(parts.overlaps, whole.overlaps);
                assert_eq!(parts.deepest, whole.deepest);
            }
        }
    }

    #[test]
    fn of_equally_deep_pairs_the_first_is_kept_however_the_lists_are_cut() {
        let pairs: Vec<(Pair, f32)> = (0..60)
            .map(|k| {
                (
                    Pair {
                        a: 7 * k % 30,
                        b: 100 - k,
                    },
                    -0.01,
                )
            })
            .collect();
        let whole = kept(&pairs, &[]);
        for pair in whole.pairs() {
            let hand = |pair: &Pair| hand_of(*pair);
            let first = pairs.iter().find(|(other, _)| hand(other) == hand(pair));
            assert_eq!(first.unwrap().0, *pair);
        }
        for cut in 0..=60 {
            assert_eq!(kept(&pairs, &[cut / 2, cut]).pairs(), whole.pairs());
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
    fn sortable_numbers_sort_as_their_values() {
        let values = [
            f32::NEG_INFINITY,
            -1.0,
            -1.0e-30,
            0.0,
            1.0e-30,
            2.5,
            f32::INFINITY,
        ];
        assert!(values.map(sortable).is_sorted());
        assert_eq!(values.map(|value| from_sortable(sortable(value))), values);
    }
}
