//! Comparison of one sphere with many, a vector at a time: the inner loop of the grids.
//!
//! [`Scalar`], for any CPU, and [`Avx2`] and [`Avx512`], for x86-64, compute the same expressions
//! in the same order, bit for bit. Methods are always inlined, and there are no closures around the
//! intrinsics: both would be compiled without the instructions of their caller otherwise.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use crate::search::Pair;
use crate::spheres::SphereSet;
#[cfg(target_arch = "x86_64")]
pub(in crate::search) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(in crate::search) use avx512::{Avx512, FIRST_PAIRS, LAST_PAIRS};
pub(in crate::search) use scalar::Scalar;

/// Spheres per vector of [`Scalar`] and [`Avx2`], and boxes per vector of the box searches.
pub(in crate::search) const LANES: usize = 8;

/// Spheres per vector of the widest implementation.
pub(in crate::search) const MAX_LANES: usize = 16;

/// Selects an implementation of [`Comparison`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) enum Instructions {
    /// Scalar code.
    Scalar,
    /// 256-bit vectors. Only constructed if the CPU has them.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512-bit vectors. Only constructed if the CPU has them, and those of [`Avx2`](Self::Avx2).
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Instructions {
    /// All implementations that the CPU supports, the widest last.
    pub(in crate::search) fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let vectors = {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("popcnt");
            let avx512 = avx2 && is_x86_feature_detected!("avx512f");
            let found = [(avx2, Self::Avx2), (avx512, Self::Avx512)];
            found
                .into_iter()
                .filter_map(|(supported, instructions)| supported.then_some(instructions))
        };
        #[cfg(not(target_arch = "x86_64"))]
        let vectors = std::iter::empty();
        std::iter::once(Self::Scalar).chain(vectors)
    }
}

impl Default for Instructions {
    /// The widest implementation that the CPU supports.
    fn default() -> Self {
        Self::available().last().unwrap_or(Self::Scalar)
    }
}

/// Columns of spheres, each with [`MAX_LANES`] readable entries after the last sphere.
#[derive(Clone, Copy)]
pub(in crate::search) struct Columns<'a> {
    pub(in crate::search) x: &'a [f32],
    pub(in crate::search) y: &'a [f32],
    pub(in crate::search) z: &'a [f32],
    /// Empty if all pairs have the same reach.
    pub(in crate::search) radius: &'a [f32],
    pub(in crate::search) owner: &'a [u32],
    pub(in crate::search) index: &'a [u32],
}

impl<'a> Columns<'a> {
    /// The columns of spheres, and their indices.
    pub(in crate::search) fn new(spheres: &'a SphereSet, index: &'a [u32]) -> Self {
        Self {
            x: &spheres.x,
            y: &spheres.y,
            z: &spheres.z,
            radius: &spheres.radius,
            owner: &spheres.owner,
            index,
        }
    }
}

/// The sphere that others are compared with.
#[derive(Clone, Copy)]
pub(in crate::search) struct Query {
    pub(in crate::search) x: f32,
    pub(in crate::search) y: f32,
    pub(in crate::search) z: f32,
    pub(in crate::search) owner: u32,
    /// Squared reach if it is the same for all pairs, otherwise the margin.
    pub(in crate::search) reach: f32,
    /// Sum of two radii if all are the same, otherwise the radius of the sphere.
    pub(in crate::search) radius: f32,
}

/// Compares a query with consecutive spheres.
pub(in crate::search) trait Comparison {
    /// Number of spheres per vector, at most [`MAX_LANES`].
    const LANES: usize;

    /// Bit `k` is set if sphere `at + k` is in reach and has another owner.
    ///
    /// # Safety
    /// `at + Self::LANES` is within every column, and the CPU has the instructions.
    unsafe fn hits<const MIXED: bool>(columns: &Columns<'_>, query: &Query, at: usize) -> u32;

    /// Writes the pairs of `own` with the `others` whose bits are set in `mask` to `target`, in
    /// order.
    ///
    /// # Safety
    /// There are [`Self::LANES`](Self::LANES) others, `target` has space for as many pairs
    /// whatever the mask, and the CPU has the instructions.
    unsafe fn write_pairs(own: u32, others: *const u32, mask: u32, target: *mut Pair);

    /// Writes the gaps between the query and the spheres from `at` whose bits are set in `mask` to
    /// `target`, in order: the distance of the centers minus the sum of the radii.
    ///
    /// # Safety
    /// As [`hits`](Self::hits), and `target` has space for [`Self::LANES`](Self::LANES) numbers
    /// whatever the mask.
    unsafe fn write_gaps<const MIXED: bool>(
        columns: &Columns<'_>,
        query: &Query,
        at: usize,
        mask: u32,
        target: *mut f32,
    );
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::search::{PairBuffer, PairSearch, UniformGrid};

    /// Pairs of an implementation, and the bits of their gaps.
    fn found(instructions: Instructions, spheres: &SphereSet) -> (Vec<Pair>, Vec<u32>) {
        let mut grid = UniformGrid::with_instructions(instructions);
        let mut pairs = PairBuffer::new();
        grid.find_gaps(spheres, 0.01, &mut pairs, &|_, _, _| {})
            .unwrap();
        let counted = grid.count_pairs(spheres, 0.01).unwrap();
        assert_eq!(counted, pairs.len() as u64, "{instructions:?}");
        let (lists, gaps) = pairs.lists_and_gaps();
        let gaps = gaps.iter().flatten().map(|gap| gap.to_bits()).collect();
        (lists.iter().flatten().copied().collect(), gaps)
    }

    #[test]
    fn all_implementations_find_the_same_pairs_in_the_same_order() {
        let mut random = Pcg64Mcg::seed_from_u64(7);
        // From neighborhoods shorter than a vector to neighborhoods that are compared in place.
        for (count, width, mixed) in [
            (40, 2.0, false),
            (3_000, 2.0, false),
            (3_000, 2.0, true),
            (2_000, 0.6, false),
            (2_000, 0.6, true),
        ] {
            let mut spheres = SphereSet::new();
            for owner in 0..count {
                let center = [(); 3].map(|()| random.random_range(0.0..width));
                let radius = if mixed {
                    random.random_range(0.05..0.1)
                } else {
                    0.1
                };
                spheres.push(center.into(), radius, owner / 3).unwrap();
            }
            let expected = found(Instructions::Scalar, &spheres);
            assert!(!expected.0.is_empty());
            for instructions in Instructions::available() {
                assert!(
                    found(instructions, &spheres) == expected,
                    "{instructions:?}, {count}"
                );
            }
        }
    }
}
