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
use crate::search::uniform_grid::scan::{Instructions, LANES};

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
        Instructions::Scalar => compare::<UNIQUE, false>(columns, start, ends, list),
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
    compare::<UNIQUE, true>(columns, start, ends, list);
}

/// With `AVX2` the caller promises that the processor has it.
#[inline(always)]
fn compare<const UNIQUE: bool, const AVX2: bool>(
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
            #[cfg(target_arch = "x86_64")]
            let mut mask = if AVX2 {
                // SAFETY: pieces end at the last one, behind which there are LANES more
                // entries, and the caller promises AVX2.
                unsafe { hits_avx2::<UNIQUE>(&piece, columns, at) }
            } else {
                hits::<UNIQUE>(&piece, columns, at)
            };
            #[cfg(not(target_arch = "x86_64"))]
            let mut mask = hits::<UNIQUE>(&piece, columns, at);
            if end - at < LANES {
                mask &= (1 << (end - at)) - 1;
            }
            while mask != 0 {
                let other = at + mask.trailing_zeros() as usize;
                list.push(Pair::new(piece.element, columns.element[other]));
                mask &= mask - 1;
            }
            at += LANES;
        }
    }
}

/// Bit `k` is set if piece `at + k` meets this one and has another owner.
#[inline(always)]
fn hits<const UNIQUE: bool>(piece: &Piece, columns: &Columns, at: usize) -> u32 {
    let owner = &columns.owner[at..at + LANES];
    let places: [&[f32]; 9] = std::array::from_fn(|k| &columns.places[k][at..at + LANES]);
    let mut hits = [0; LANES];
    for k in 0..LANES {
        let mut hit = owner[k] != piece.owner;
        for axis in 0..3 {
            let [low, from, high] = [places[axis][k], places[axis + 3][k], places[axis + 6][k]];
            let bottom = if UNIQUE {
                piece.low[axis]
            } else {
                piece.low[axis].max(piece.from[axis])
            };
            let others = if UNIQUE { low } else { low.max(from) };
            hit &= (others <= piece.high[axis]) & (bottom <= high);
            hit &= !UNIQUE | (from <= bottom);
        }
        hits[k] = u32::from(hit) << k;
    }
    hits.iter().fold(0, |mask, hit| mask | hit)
}

/// As [`hits`].
///
/// # Safety
/// The processor has AVX2, and the columns have eight entries from `at`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn hits_avx2<const UNIQUE: bool>(piece: &Piece, columns: &Columns, at: usize) -> u32 {
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
