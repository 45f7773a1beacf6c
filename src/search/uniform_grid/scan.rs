//! Compares one sphere with many: the inner loop, eight at a time.
//!
//! Two twins compute the same expressions in the same order, bit for bit:
//! [`Scalar`] for any processor and [`Avx2`] for x86-64. Methods are always
//! inlined, and there are no closures around the intrinsics: both would otherwise
//! be compiled without the instructions that their caller was compiled for.

use crate::search::Pair;

/// Spheres that are compared at once.
pub(in crate::search) const LANES: usize = 8;

/// Which of the twins runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) enum Instructions {
    /// Plain code.
    Scalar,
    /// 256-bit vectors. Only ever made when the processor has them.
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Default for Instructions {
    /// The widest that this processor has.
    fn default() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt")
        {
            return Self::Avx2;
        }
        Self::Scalar
    }
}

/// Columns that spheres are read from, each with [`LANES`] readable entries beyond
/// the last sphere.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub(super) x: &'a [f32],
    pub(super) y: &'a [f32],
    pub(super) z: &'a [f32],
    /// Empty when all reaches are the same.
    pub(super) radius: &'a [f32],
    pub(super) owner: &'a [u32],
    pub(super) index: &'a [u32],
}

/// The sphere that others are compared with.
#[derive(Clone, Copy)]
pub(super) struct Query {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) z: f32,
    pub(super) owner: u32,
    /// Squared reach if all are the same, else own radius plus margin.
    pub(super) reach: f32,
    /// Sum of two radii if all are the same, else own radius.
    pub(super) radius: f32,
}

/// Compares a query with eight consecutive spheres.
pub(super) trait Comparison {
    /// Bit `k` is set if sphere `at + k` is in reach and has another owner.
    ///
    /// # Safety
    /// `at + LANES` is within every column, and the processor has the instructions.
    unsafe fn hits<const MIXED: bool>(columns: &Columns<'_>, query: &Query, at: usize) -> u32;

    /// Writes the pairs of `own` with those of eight `others` whose bit is set in
    /// `mask` to `target`, in order.
    ///
    /// # Safety
    /// `target` has room for [`LANES`] pairs whatever the mask, and the processor has
    /// the instructions.
    unsafe fn write_pairs(own: u32, others: &[u32; LANES], mask: u32, target: *mut Pair);

    /// Writes the gaps between the query and those of eight spheres from `at` whose bit is
    /// set in `mask` to `target`, in order: the distance of the centres minus the sum of
    /// the radii.
    ///
    /// # Safety
    /// As [`hits`](Self::hits), and `target` has room for [`LANES`] numbers whatever the
    /// mask.
    unsafe fn write_gaps<const MIXED: bool>(
        columns: &Columns<'_>,
        query: &Query,
        at: usize,
        mask: u32,
        target: *mut f32,
    );
}

/// Plain code.
pub(super) struct Scalar;

impl Scalar {
    /// Squared distance of the query from sphere `at`, nm².
    #[inline(always)]
    fn squared(columns: &Columns<'_>, query: &Query, at: usize) -> f32 {
        let dx = columns.x[at] - query.x;
        let dy = columns.y[at] - query.y;
        let dz = columns.z[at] - query.z;
        dx * dx + dy * dy + dz * dz
    }
}

impl Comparison for Scalar {
    #[inline(always)]
    unsafe fn hits<const MIXED: bool>(columns: &Columns<'_>, query: &Query, at: usize) -> u32 {
        let mut mask = 0;
        for k in 0..LANES {
            let squared = Self::squared(columns, query, at + k);
            let reach = if MIXED {
                let sum = columns.radius[at + k] + query.reach;
                sum * sum
            } else {
                query.reach
            };
            let hit = squared < reach && columns.owner[at + k] != query.owner;
            mask |= u32::from(hit) << k;
        }
        mask
    }

    #[inline(always)]
    unsafe fn write_pairs(own: u32, others: &[u32; LANES], mask: u32, target: *mut Pair) {
        let mut at = 0;
        for (k, &other) in others.iter().enumerate() {
            if mask >> k & 1 != 0 {
                // SAFETY: at most LANES pairs are written.
                unsafe { target.add(at).write(Pair::new(own, other)) };
                at += 1;
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
        let hits = (at..at + LANES).filter(|k| mask >> (k - at) & 1 != 0);
        for (into, k) in hits.enumerate() {
            let squared = Self::squared(columns, query, k);
            let radii = if MIXED {
                columns.radius[k] + query.radius
            } else {
                query.radius
            };
            // SAFETY: at most LANES numbers are written.
            unsafe { target.add(into).write(squared.sqrt() - radii) };
        }
    }
}

/// 256-bit vectors.
#[cfg(target_arch = "x86_64")]
pub(super) struct Avx2;

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// Squared distances of the query from eight spheres, nm².
    ///
    /// # Safety
    /// As [`Comparison::hits`].
    #[inline(always)]
    unsafe fn squared(
        columns: &Columns<'_>,
        query: &Query,
        at: usize,
    ) -> std::arch::x86_64::__m256 {
        use std::arch::x86_64::*;
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

#[cfg(target_arch = "x86_64")]
impl Comparison for Avx2 {
    #[inline(always)]
    unsafe fn hits<const MIXED: bool>(columns: &Columns<'_>, query: &Query, at: usize) -> u32 {
        use std::arch::x86_64::*;
        debug_assert!(at + LANES <= columns.x.len() && at + LANES <= columns.owner.len());
        // SAFETY: the caller promises AVX2 and eight readable entries from `at` in each
        // column; loads are unaligned.
        unsafe {
            let squared = Self::squared(columns, query, at);
            let reach = if MIXED {
                let radius = _mm256_loadu_ps(columns.radius.as_ptr().add(at));
                let sum = _mm256_add_ps(radius, _mm256_set1_ps(query.reach));
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
    unsafe fn write_pairs(own: u32, others: &[u32; LANES], mask: u32, target: *mut Pair) {
        use std::arch::x86_64::*;
        // SAFETY: the caller promises AVX2 and room for eight pairs; `Pair` is two u32
        // in order, and stores are unaligned.
        unsafe {
            // Selected lanes to the front.
            let chosen = _mm256_loadu_si256(FRONT[mask as usize].as_ptr().cast());
            let others = _mm256_loadu_si256(others.as_ptr().cast());
            let others = _mm256_permutevar8x32_epi32(others, chosen);
            let own = _mm256_set1_epi32(own as i32);
            let a = _mm256_min_epu32(own, others);
            let b = _mm256_max_epu32(own, others);
            // Interleaved: lanes 0 1 4 5 and 2 3 6 7, then put in order.
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
        use std::arch::x86_64::*;
        debug_assert!(at + LANES <= columns.x.len());
        // SAFETY: the caller promises AVX2, eight readable entries from `at` in each
        // column, and room for eight numbers; loads and stores are unaligned.
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

/// For each mask the lanes whose bit is set, in order; the rest does not matter.
#[cfg(target_arch = "x86_64")]
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

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn both_twins_write_the_same_pairs_for_every_mask() {
        if Instructions::default() != Instructions::Avx2 {
            return;
        }
        let others = [7, 3, 9, 1, 20, 5, 0, 11];
        for mask in 0..1_u32 << LANES {
            let mut written = [[Pair::new(0, 0); LANES]; 2];
            // SAFETY: AVX2 was detected, and both targets hold LANES pairs.
            unsafe {
                Scalar::write_pairs(6, &others, mask, written[0].as_mut_ptr());
                Avx2::write_pairs(6, &others, mask, written[1].as_mut_ptr());
            }
            let count = mask.count_ones() as usize;
            assert_eq!(written[0][..count], written[1][..count]);
        }
    }
}
