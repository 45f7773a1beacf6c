//! Comparison of spheres with 256-bit vectors.

use std::arch::x86_64::*;

use super::{Columns, Comparison, LANES, Query};
use crate::search::Pair;

/// 256-bit vectors.
pub(in crate::search) struct Avx2;

impl Avx2 {
    /// Squared distances of the query from eight spheres, nm².
    ///
    /// # Safety
    /// As [`Comparison::hits`].
    #[inline(always)]
    unsafe fn squared(columns: &Columns<'_>, query: &Query, at: usize) -> __m256 {
        // SAFETY: the caller promises AVX2 and eight readable entries from `at` in each
        // column; loads are unaligned.
        unsafe {
            let x = _mm256_loadu_ps(columns.x.as_ptr().add(at));
            let y = _mm256_loadu_ps(columns.y.as_ptr().add(at));
            let z = _mm256_loadu_ps(columns.z.as_ptr().add(at));
            let dx = _mm256_sub_ps(x, _mm256_set1_ps(query.x));
            let dy = _mm256_sub_ps(y, _mm256_set1_ps(query.y));
            let dz = _mm256_sub_ps(z, _mm256_set1_ps(query.z));
            _mm256_add_ps(
                _mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy)),
                _mm256_mul_ps(dz, dz),
            )
        }
    }
}

impl Comparison for Avx2 {
    const LANES: usize = LANES;

    #[inline(always)]
    unsafe fn hits<const MIXED: bool>(columns: &Columns<'_>, query: &Query, at: usize) -> u32 {
        debug_assert!(at + LANES <= columns.x.len() && at + LANES <= columns.owner.len());
        // SAFETY: the caller promises AVX2 and eight readable entries from `at` in each
        // column; loads are unaligned.
        unsafe {
            let squared = Self::squared(columns, query, at);
            let reach = if MIXED {
                let radius = _mm256_loadu_ps(columns.radius.as_ptr().add(at));
                let radii = _mm256_add_ps(radius, _mm256_set1_ps(query.radius));
                let sum = _mm256_add_ps(radii, _mm256_set1_ps(query.reach));
                _mm256_mul_ps(sum, sum)
            } else {
                _mm256_set1_ps(query.reach)
            };
            let near = _mm256_cmp_ps::<_CMP_LT_OQ>(squared, reach);
            let owners = _mm256_loadu_si256(columns.owner.as_ptr().add(at).cast());
            let same = _mm256_cmpeq_epi32(owners, _mm256_set1_epi32(query.owner as i32));
            let hit = _mm256_andnot_ps(_mm256_castsi256_ps(same), near);
            _mm256_movemask_ps(hit) as u32
        }
    }

    #[inline(always)]
    unsafe fn write_pairs(own: u32, others: *const u32, mask: u32, target: *mut Pair) {
        // SAFETY: the caller promises AVX2, eight others and space for as many pairs; `Pair` is two
        // u32 in order, and loads and stores are unaligned.
        unsafe {
            // Move the selected lanes to the front.
            let chosen = _mm256_loadu_si256(FRONT[mask as usize].as_ptr().cast());
            let others = _mm256_loadu_si256(others.cast());
            let others = _mm256_permutevar8x32_epi32(others, chosen);
            let own = _mm256_set1_epi32(own as i32);
            let a = _mm256_min_epu32(own, others);
            let b = _mm256_max_epu32(own, others);
            // Interleaved: lanes 0 1 4 5 and 2 3 6 7, then reordered.
            let low = _mm256_unpacklo_epi32(a, b);
            let high = _mm256_unpackhi_epi32(a, b);
            let target: *mut __m256i = target.cast();
            _mm256_storeu_si256(target, _mm256_permute2x128_si256::<0x20>(low, high));
            _mm256_storeu_si256(target.add(1), _mm256_permute2x128_si256::<0x31>(low, high));
        }
    }

    #[inline(always)]
    unsafe fn write_gaps<const MIXED: bool>(
        columns: &Columns<'_>,
        query: &Query,
        at: usize,
        mask: u32,
        target: *mut f32,
    ) {
        debug_assert!(at + LANES <= columns.x.len());
        // SAFETY: the caller promises AVX2, eight readable entries from `at` in each column, and
        // space for eight numbers; loads and stores are unaligned.
        unsafe {
            let squared = Self::squared(columns, query, at);
            let radii = if MIXED {
                let radius = _mm256_loadu_ps(columns.radius.as_ptr().add(at));
                _mm256_add_ps(radius, _mm256_set1_ps(query.radius))
            } else {
                _mm256_set1_ps(query.radius)
            };
            let gaps = _mm256_sub_ps(_mm256_sqrt_ps(squared), radii);
            let chosen = _mm256_loadu_si256(FRONT[mask as usize].as_ptr().cast());
            _mm256_storeu_ps(target, _mm256_permutevar8x32_ps(gaps, chosen));
        }
    }
}

/// For each mask the lanes whose bit is set, in order; the rest is arbitrary.
static FRONT: [[u32; LANES]; 1 << LANES] = {
    let mut table = [[0; LANES]; 1 << LANES];
    let mut mask = 0;
    while mask < table.len() {
        let (mut lane, mut at) = (0, 0);
        while lane < LANES {
            if mask >> lane & 1 != 0 {
                table[mask][at] = lane as u32;
                at += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};
