//! Comparison of spheres with 512-bit vectors.

use std::arch::x86_64::*;

use super::{Columns, Comparison, Query};
use crate::search::Pair;

/// 512-bit vectors.
pub(in crate::search) struct Avx512;

impl Avx512 {
    /// Squared distances of the query from sixteen spheres, nm².
    ///
    /// # Safety
    /// As [`Comparison::hits`].
    #[inline(always)]
    unsafe fn squared(columns: &Columns<'_>, query: &Query, at: usize) -> __m512 {
        // SAFETY: the caller promises AVX-512 and sixteen readable entries from `at` in
        // each column; loads are unaligned.
        unsafe {
            let x = _mm512_loadu_ps(columns.x.as_ptr().add(at));
            let y = _mm512_loadu_ps(columns.y.as_ptr().add(at));
            let z = _mm512_loadu_ps(columns.z.as_ptr().add(at));
            let dx = _mm512_sub_ps(x, _mm512_set1_ps(query.x));
            let dy = _mm512_sub_ps(y, _mm512_set1_ps(query.y));
            let dz = _mm512_sub_ps(z, _mm512_set1_ps(query.z));
            _mm512_add_ps(
                _mm512_add_ps(_mm512_mul_ps(dx, dx), _mm512_mul_ps(dy, dy)),
                _mm512_mul_ps(dz, dz),
            )
        }
    }
}

impl Comparison for Avx512 {
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn hits<const MIXED: bool>(columns: &Columns<'_>, query: &Query, at: usize) -> u32 {
        debug_assert!(at + Self::LANES <= columns.x.len());
        debug_assert!(at + Self::LANES <= columns.owner.len());
        // SAFETY: the caller promises AVX-512 and sixteen readable entries from `at` in
        // each column; loads are unaligned.
        unsafe {
            let squared = Self::squared(columns, query, at);
            let reach = if MIXED {
                let radius = _mm512_loadu_ps(columns.radius.as_ptr().add(at));
                let radii = _mm512_add_ps(radius, _mm512_set1_ps(query.radius));
                let sum = _mm512_add_ps(radii, _mm512_set1_ps(query.reach));
                _mm512_mul_ps(sum, sum)
            } else {
                _mm512_set1_ps(query.reach)
            };
            let near = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(squared, reach);
            let owners = _mm512_loadu_si512(columns.owner.as_ptr().add(at).cast());
            let own = _mm512_set1_epi32(query.owner as i32);
            u32::from(_mm512_mask_cmpneq_epi32_mask(near, owners, own))
        }
    }

    #[inline(always)]
    unsafe fn write_pairs(own: u32, others: *const u32, mask: u32, target: *mut Pair) {
        // SAFETY: the caller promises AVX-512, sixteen others and space for as many pairs; `Pair`
        // is two u32 in order, and loads and stores are unaligned.
        unsafe {
            let others = _mm512_loadu_si512(others.cast());
            let others = _mm512_maskz_compress_epi32(mask as __mmask16, others);
            let own = _mm512_set1_epi32(own as i32);
            let a = _mm512_min_epu32(own, others);
            let b = _mm512_max_epu32(own, others);
            let target: *mut __m512i = target.cast();
            let first = _mm512_loadu_si512(FIRST_PAIRS.as_ptr().cast());
            _mm512_storeu_si512(target, _mm512_permutex2var_epi32(a, first, b));
            // There are rarely more pairs than fit one vector.
            if mask.count_ones() > 8 {
                let last = _mm512_loadu_si512(LAST_PAIRS.as_ptr().cast());
                _mm512_storeu_si512(target.add(1), _mm512_permutex2var_epi32(a, last, b));
            }
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
        debug_assert!(at + Self::LANES <= columns.x.len());
        // SAFETY: the caller promises AVX-512, sixteen readable entries from `at` in each column,
        // and space for sixteen numbers; loads and stores are unaligned.
        unsafe {
            let squared = Self::squared(columns, query, at);
            let radii = if MIXED {
                let radius = _mm512_loadu_ps(columns.radius.as_ptr().add(at));
                _mm512_add_ps(radius, _mm512_set1_ps(query.radius))
            } else {
                _mm512_set1_ps(query.radius)
            };
            let gaps = _mm512_sub_ps(_mm512_sqrt_ps(squared), radii);
            let chosen = _mm512_maskz_compress_ps(mask as __mmask16, gaps);
            _mm512_storeu_ps(target, chosen);
        }
    }
}

/// Lanes of two vectors, the second counted from 16, that form the first eight pairs.
pub(in crate::search) static FIRST_PAIRS: [u32; 16] = pairs_from(0);

/// Lanes that form the last eight pairs.
pub(in crate::search) static LAST_PAIRS: [u32; 16] = pairs_from(8);

const fn pairs_from(first: u32) -> [u32; 16] {
    let mut lanes = [0; 16];
    let mut k = 0;
    while k < 8 {
        lanes[2 * k] = first + k as u32;
        lanes[2 * k + 1] = 16 + first + k as u32;
        k += 1;
    }
    lanes
}
