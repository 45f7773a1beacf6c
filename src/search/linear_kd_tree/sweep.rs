//! The sweep: compares a piece of a box with those that follow it, eight at a time.
//!
//! Two boxes A and B may meet in several pairs of their pieces. *kd-tree-2* takes them
//! where the lower corner of their intersection is, c = max(low A, low B) along each axis.
//! Let P be a piece of A, and Q, in a cell inside that of P, a piece of B. Along an axis
//!
//! - where neither is cut below, c is in both if low A ≤ high Q and low B ≤ high P;
//! - where Q starts at a cut, c is in Q only if low A is: start Q ≤ low A ≤ high Q;
//! - where P starts at a cut, low A is below the cell of P, and so below that of Q: c is in
//!   Q if it is low B, so that Q is not cut, and low B ≤ high P;
//! - where both do, c is not in both.
//!
//! With `low` = −∞ and `from` = start where a piece starts at a cut, and `low` = start and
//! `from` = −∞ where it does not, all four are one:
//!
//! low Q ≤ high P, from Q ≤ low P ≤ high Q.
//!
//! *kd-tree-1* takes all pairs of pieces that overlap.
//!
//! Two twins: plain code for any processor, and 256-bit vectors. As numbers are only
//! compared, both give the same.

use super::sub_boxes::SubBoxBlock;
use crate::search::Pair;
#[cfg(target_arch = "x86_64")]
use crate::search::uniform_grid::simd::Avx2;
use crate::search::uniform_grid::simd::{Comparison, Instructions, LANES, Scalar};

/// Blocks that are compared before the list of pairs may have to grow.
const BLOCKS_PER_ROOM: usize = 64;

/// The piece that others are compared with; its fields are those of a [`SubBoxBlock`].
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

/// Appends the pairs of each piece from `start` with those behind it, up to where `ends`
/// says. Without `UNIQUE` a pair of boxes may come several times.
pub(super) fn sweep<const UNIQUE: bool>(
    instructions: Instructions,
    blocks: &[SubBoxBlock],
    start: usize,
    ends: &[u32],
    list: &mut Vec<Pair>,
) {
    match instructions {
        // SAFETY: every processor has the instructions of plain code.
        Instructions::Scalar => unsafe { compare::<Scalar, UNIQUE>(blocks, start, ends, list) },
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 | Instructions::Avx512 => {
            // SAFETY: both exist only where AVX2 was detected.
            unsafe { compare_avx2::<UNIQUE>(blocks, start, ends, list) };
        }
    }
}

/// # Safety
/// The processor has AVX2, BMI1 and POPCNT.
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
/// The processor has the instructions.
#[inline(always)]
unsafe fn compare<C: Meeting, const UNIQUE: bool>(
    blocks: &[SubBoxBlock],
    start: usize,
    ends: &[u32],
    list: &mut Vec<Pair>,
) {
    /// Bits of all pieces of a block.
    const ALL: u32 = (1 << LANES) - 1;
    for (one, &end) in (start..).zip(ends) {
        let (next, end) = (one + 1, end as usize);
        if next >= end {
            continue;
        }
        let query = Query::new(&blocks[one / LANES], one % LANES);
        let (first, last) = (next / LANES, (end - 1) / LANES);
        // SplitBox of the first block that are not behind the query do not count, nor do
        // those of the last that are outside.
        let mut counts = ALL << (next % LANES);
        let of_last = ALL >> (LANES - 1 - (end - 1) % LANES);
        for (room, blocks) in blocks[first..=last].chunks(BLOCKS_PER_ROOM).enumerate() {
            list.reserve(BLOCKS_PER_ROOM * LANES);
            // SAFETY: there is room for all pairs of these blocks, and a block has LANES
            // elements. The caller promises the
            // instructions.
            unsafe {
                let mut next = list.as_mut_ptr().add(list.len());
                for (at, block) in (first + room * BLOCKS_PER_ROOM..).zip(blocks) {
                    let mut mask = C::meets::<UNIQUE>(&query, block) & counts;
                    counts = ALL;
                    if at == last {
                        mask &= of_last;
                    }
                    // Also if there are none: a branch would be wrong half of the time.
                    C::write_pairs(query.element, block.element.as_ptr(), mask, next);
                    next = next.add(mask.count_ones() as usize);
                }
                list.set_len(next.offset_from_unsigned(list.as_ptr()));
            }
        }
    }
}

/// Compares a piece with the eight of a block.
trait Meeting: Comparison {
    /// Bit `k` is set if piece `k` of the block meets this one and has another owner.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn meets<const UNIQUE: bool>(query: &Query, block: &SubBoxBlock) -> u32;
}

impl Meeting for Scalar {
    #[inline(always)]
    unsafe fn meets<const UNIQUE: bool>(query: &Query, block: &SubBoxBlock) -> u32 {
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
impl Meeting for Avx2 {
    #[inline(always)]
    unsafe fn meets<const UNIQUE: bool>(query: &Query, block: &SubBoxBlock) -> u32 {
        use std::arch::x86_64::*;
        // SAFETY: the caller promises AVX2; each array of a block is one vector, at a
        // multiple of its size.
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
