//! The sweep: compares a sub-box with the following ones, eight at a time.
//!
//! Several pairs of sub-boxes of two boxes A and B may overlap. *kd-tree-2* finds the pair where
//! the lower corner of the intersection is, c = max(low A, low B) along each axis. Let P be a
//! sub-box of A, and Q a sub-box of B in a cell inside that of P. Along an axis,
//!
//! - if neither starts at a plane, c is in both if low A ≤ high Q and low B ≤ high P;
//! - if Q starts at a plane, c is in Q only if low A is: start Q ≤ low A ≤ high Q;
//! - if P starts at a plane, low A is below the cell of P, and so below that of Q: c is in Q if
//!   it is low B, so that Q does not start at a plane, and low B ≤ high P;
//! - if both do, c is not in both.
//!
//! With `low` = −∞ and `from` = start if a sub-box starts at a plane, and `low` = start and
//! `from` = −∞ otherwise, all four cases are
//!
//! low Q ≤ high P, from Q ≤ low P ≤ high Q.
//!
//! *kd-tree-1* finds all pairs of sub-boxes that overlap.
//!
//! Scalar code and 256-bit vectors give the same result, since numbers are only compared.

use super::sub_boxes::SubBoxBlock;
use crate::search::Pair;
#[cfg(target_arch = "x86_64")]
use crate::search::uniform_grid::simd::Avx2;
use crate::search::uniform_grid::simd::{Comparison, Instructions, LANES, Scalar};

/// Blocks that are compared before the list of pairs may grow.
const BLOCKS_PER_RESERVE: usize = 64;

/// The sub-box that others are compared with; its fields are those of a [`SubBoxBlock`].
struct Query {
    low: [f32; 3],
    from: [f32; 3],
    high: [f32; 3],
    owner: u32,
    element: u32,
}

impl Query {
    #[inline(always)]
    fn new(block: &SubBoxBlock, lane: usize) -> Self {
        let [low, from, high] = [&block.low, &block.from, &block.high];
        Self {
            low: [low[0][lane], low[1][lane], low[2][lane]],
            from: [from[0][lane], from[1][lane], from[2][lane]],
            high: [high[0][lane], high[1][lane], high[2][lane]],
            owner: block.owner[lane],
            element: block.element[lane],
        }
    }
}

/// Appends the pairs of each sub-box from `start` with the following ones up to its entry of
/// `ends`. Without `UNIQUE` there may be duplicate pairs of boxes.
pub(super) fn sweep<const UNIQUE: bool>(
    instructions: Instructions,
    blocks: &[SubBoxBlock],
    start: usize,
    ends: &[u32],
    list: &mut Vec<Pair>,
) {
    match instructions {
        // SAFETY: every CPU has the instructions of scalar code.
        Instructions::Scalar => unsafe { compare::<Scalar, UNIQUE>(blocks, start, ends, list) },
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 | Instructions::Avx512 => {
            // SAFETY: both exist only where AVX2 was detected.
            unsafe { compare_avx2::<UNIQUE>(blocks, start, ends, list) };
        }
    }
}

/// # Safety
/// The CPU has AVX2, BMI1 and POPCNT.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,popcnt")]
unsafe fn compare_avx2<const UNIQUE: bool>(
    blocks: &[SubBoxBlock],
    start: usize,
    ends: &[u32],
    list: &mut Vec<Pair>,
) {
    // SAFETY: the caller promises the instructions.
    unsafe { compare::<Avx2, UNIQUE>(blocks, start, ends, list) };
}

/// # Safety
/// The CPU has the instructions.
#[inline(always)]
unsafe fn compare<C: SubBoxComparison, const UNIQUE: bool>(
    blocks: &[SubBoxBlock],
    start: usize,
    ends: &[u32],
    list: &mut Vec<Pair>,
) {
    /// Bits of all sub-boxes of a block.
    const ALL: u32 = (1 << LANES) - 1;
    for (one, &end) in (start..).zip(ends) {
        let (next, end) = (one + 1, end as usize);
        if next >= end {
            continue;
        }
        let query = Query::new(&blocks[one / LANES], one % LANES);
        let (first, last) = (next / LANES, (end - 1) / LANES);
        // Mask out sub-boxes of the first block before the query, and sub-boxes of the last block
        // after the end.
        let mut first_mask = ALL << (next % LANES);
        let last_mask = ALL >> (LANES - 1 - (end - 1) % LANES);
        for (chunk, blocks) in blocks[first..=last].chunks(BLOCKS_PER_RESERVE).enumerate() {
            list.reserve(BLOCKS_PER_RESERVE * LANES);
            // SAFETY: there is space for all pairs of these blocks, a block has LANES elements,
            // and the caller promises the instructions.
            unsafe {
                let mut next = list.as_mut_ptr().add(list.len());
                for (at, block) in (first + chunk * BLOCKS_PER_RESERVE..).zip(blocks) {
                    let mut mask = C::overlaps::<UNIQUE>(&query, block) & first_mask;
                    first_mask = ALL;
                    if at == last {
                        mask &= last_mask;
                    }
                    // Also if there are no hits, since a branch would be unpredictable.
                    C::write_pairs(query.element, block.element.as_ptr(), mask, next);
                    next = next.add(mask.count_ones() as usize);
                }
                list.set_len(next.offset_from_unsigned(list.as_ptr()));
            }
        }
    }
}

/// Compares a sub-box with the eight of a block.
trait SubBoxComparison: Comparison {
    /// Bit `k` is set if sub-box `k` of the block overlaps this one and has another owner.
    ///
    /// # Safety
    /// The CPU has the instructions.
    unsafe fn overlaps<const UNIQUE: bool>(query: &Query, block: &SubBoxBlock) -> u32;
}

impl SubBoxComparison for Scalar {
    #[inline(always)]
    unsafe fn overlaps<const UNIQUE: bool>(query: &Query, block: &SubBoxBlock) -> u32 {
        let mut mask = 0;
        for k in 0..LANES {
            let mut hit = block.owner[k] != query.owner;
            for axis in 0..3 {
                let (mut low, from) = (block.low[axis][k], block.from[axis][k]);
                let mut bottom = query.low[axis];
                if UNIQUE {
                    hit &= from <= bottom;
                } else {
                    bottom = bottom.max(query.from[axis]);
                    low = low.max(from);
                }
                hit &= (low <= query.high[axis]) & (bottom <= block.high[axis][k]);
            }
            mask |= u32::from(hit) << k;
        }
        mask
    }
}

#[cfg(target_arch = "x86_64")]
impl SubBoxComparison for Avx2 {
    #[inline(always)]
    unsafe fn overlaps<const UNIQUE: bool>(query: &Query, block: &SubBoxBlock) -> u32 {
        use std::arch::x86_64::*;
        // SAFETY: the caller promises AVX2; each array of a block is one aligned vector.
        unsafe {
            let owners = _mm256_load_si256(block.owner.as_ptr().cast());
            let same = _mm256_cmpeq_epi32(owners, _mm256_set1_epi32(query.owner as i32));
            let mut apart = _mm256_castsi256_ps(same);
            for axis in 0..3 {
                let mut low = _mm256_load_ps(block.low[axis].as_ptr());
                let from = _mm256_load_ps(block.from[axis].as_ptr());
                let high = _mm256_load_ps(block.high[axis].as_ptr());
                let mut bottom = _mm256_set1_ps(query.low[axis]);
                if UNIQUE {
                    let below = _mm256_cmp_ps::<_CMP_GT_OQ>(from, bottom);
                    apart = _mm256_or_ps(apart, below);
                } else {
                    bottom = _mm256_max_ps(bottom, _mm256_set1_ps(query.from[axis]));
                    low = _mm256_max_ps(low, from);
                }
                let above = _mm256_cmp_ps::<_CMP_GT_OQ>(low, _mm256_set1_ps(query.high[axis]));
                let below = _mm256_cmp_ps::<_CMP_LT_OQ>(high, bottom);
                apart = _mm256_or_ps(apart, _mm256_or_ps(above, below));
            }
            !_mm256_movemask_ps(apart) as u32 & ((1 << LANES) - 1)
        }
    }
}
