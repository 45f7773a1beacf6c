//! The sweep: compares a piece of a box with those that follow it, eight at a time.
//!
//! Two boxes A and B may meet in several pairs of their pieces. *kd-tree-2* takes them
//! where the lower corner of their intersection is, c = max(low A, low B) along each axis.
//! With Q, a piece of B, in a cell inside that of P, a piece of A, c is in Q and in A if
//!
//! - c is not below the cell of Q: either Q is the lowest piece of B, or low A is not
//!   below the cell (`from` ≤ low A);
//! - c is not above Q (low A ≤ high Q; low B never is);
//! - c is not above P (low B ≤ high P; low A never is).
//!
//! Then c is in P as well, as the cell of P holds that of Q. *kd-tree-1* takes all pairs
//! of pieces that overlap.
//!
//! Two twins: plain code for any processor, and 256-bit vectors. As numbers are only
//! compared, both give the same.

use super::pieces::{Columns, Piece};
use crate::search::Pair;
#[cfg(target_arch = "x86_64")]
use crate::search::uniform_grid::scan::Avx2;
use crate::search::uniform_grid::scan::{Comparison, Instructions, LANES, Scalar};

/// Appends the pairs of each piece from `start` with those behind it, up to where `ends`
/// says. Without `UNIQUE` a pair of boxes may come several times.
pub(super) fn sweep<const UNIQUE: bool>(
    instructions: Instructions,
    columns: &Columns,
    start: usize,
    ends: &[u32],
    list: &mut Vec<Pair>,
) {
    match instructions {
        // SAFETY: every processor has the instructions of plain code.
        Instructions::Scalar => unsafe { compare::<Scalar, UNIQUE>(columns, start, ends, list) },
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => {
            // SAFETY: `Instructions::Avx2` exists only where it was detected.
            unsafe { compare_avx2::<UNIQUE>(columns, start, ends, list) };
        }
    }
}

/// # Safety
/// The processor has AVX2, BMI1 and POPCNT.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,popcnt")]
unsafe fn compare_avx2<const UNIQUE: bool>(
    columns: &Columns,
    start: usize,
    ends: &[u32],
    list: &mut Vec<Pair>,
) {
    // SAFETY: the caller promises the instructions.
    unsafe { compare::<Avx2, UNIQUE>(columns, start, ends, list) };
}

/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn compare<C: Meeting, const UNIQUE: bool>(
    columns: &Columns,
    start: usize,
    ends: &[u32],
    list: &mut Vec<Pair>,
) {
    for (one, &end) in (start..).zip(ends) {
        let (mut at, end) = (one + 1, end as usize);
        if at >= end {
            continue;
        }
        let piece = columns.piece(one);
        while at < end {
            // SAFETY: pieces end at the last one, behind which there are LANES more
            // entries, and the caller promises the instructions.
            let mut mask = unsafe { C::meets::<UNIQUE>(&piece, columns, at) };
            if end - at < LANES {
                mask &= (1 << (end - at)) - 1;
            }
            if let Some(others) = columns.element[at..].first_chunk()
                && mask != 0
            {
                list.reserve(LANES);
                // SAFETY: there is room for LANES pairs, of which as many are written as
                // the mask has bits; the caller promises the instructions.
                unsafe {
                    let target = list.as_mut_ptr().add(list.len());
                    C::write_pairs(piece.element, others, mask, target);
                    list.set_len(list.len() + mask.count_ones() as usize);
                }
            }
            at += LANES;
        }
    }
}

/// Compares a piece with eight consecutive ones.
trait Meeting: Comparison {
    /// Bit `k` is set if piece `at + k` meets this one and has another owner.
    ///
    /// # Safety
    /// The columns have [`LANES`] entries from `at`, and the processor has the
    /// instructions.
    unsafe fn meets<const UNIQUE: bool>(piece: &Piece, columns: &Columns, at: usize) -> u32;
}

impl Meeting for Scalar {
    #[inline(always)]
    unsafe fn meets<const UNIQUE: bool>(piece: &Piece, columns: &Columns, at: usize) -> u32 {
        let owner = &columns.owner[at..at + LANES];
        let places = columns.places.each_ref();
        let places = places.map(|column| &column[at..at + LANES]);
        let mut hits = [0; LANES];
        for k in 0..LANES {
            let mut hit = owner[k] != piece.owner;
            for axis in 0..3 {
                let (mut low, from) = (places[axis][k], places[axis + 3][k]);
                let mut bottom = piece.low[axis];
                if UNIQUE {
                    hit &= from <= bottom;
                } else {
                    bottom = bottom.max(piece.from[axis]);
                    low = low.max(from);
                }
                hit &= (low <= piece.high[axis]) & (bottom <= places[axis + 6][k]);
            }
            hits[k] = u32::from(hit) << k;
        }
        hits.iter().fold(0, |mask, hit| mask | hit)
    }
}

#[cfg(target_arch = "x86_64")]
impl Meeting for Avx2 {
    #[inline(always)]
    unsafe fn meets<const UNIQUE: bool>(piece: &Piece, columns: &Columns, at: usize) -> u32 {
        use std::arch::x86_64::*;
        debug_assert!(columns.places.iter().all(|column| at + LANES <= column.len()));
        debug_assert!(at + LANES <= columns.owner.len());
        // SAFETY: the caller promises AVX2 and eight entries; loads are unaligned.
        unsafe {
            let owners = _mm256_loadu_si256(columns.owner.as_ptr().add(at).cast());
            let same = _mm256_cmpeq_epi32(owners, _mm256_set1_epi32(piece.owner as i32));
            let mut apart = _mm256_castsi256_ps(same);
            for axis in 0..3 {
                let mut low = _mm256_loadu_ps(columns.places[axis].as_ptr().add(at));
                let from = _mm256_loadu_ps(columns.places[axis + 3].as_ptr().add(at));
                let high = _mm256_loadu_ps(columns.places[axis + 6].as_ptr().add(at));
                let mut bottom = _mm256_set1_ps(piece.low[axis]);
                if UNIQUE {
                    let below = _mm256_cmp_ps::<_CMP_GT_OQ>(from, bottom);
                    apart = _mm256_or_ps(apart, below);
                } else {
                    bottom = _mm256_max_ps(bottom, _mm256_set1_ps(piece.from[axis]));
                    low = _mm256_max_ps(low, from);
                }
                let above = _mm256_cmp_ps::<_CMP_GT_OQ>(low, _mm256_set1_ps(piece.high[axis]));
                let below = _mm256_cmp_ps::<_CMP_LT_OQ>(high, bottom);
                apart = _mm256_or_ps(apart, _mm256_or_ps(above, below));
            }
            !_mm256_movemask_ps(apart) as u32 & ((1 << LANES) - 1)
        }
    }
}
