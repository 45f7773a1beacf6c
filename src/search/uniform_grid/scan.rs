//! Compares one sphere with a run of others: the inner loop, eight at a time.
//!
//! Two twins compute the same expression in the same order, bit for bit:
//! [`Scalar`] for any processor and [`Avx2`] for x86-64.

/// Spheres that are compared at once.
pub(super) const LANES: usize = 8;

/// Which of the twins runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instructions {
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
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") {
            return Self::Avx2;
        }
        Self::Scalar
    }
}

/// Arrays that a run is read from, each with [`LANES`] entries beyond the last sphere.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub(super) x: &'a [f32],
    pub(super) y: &'a [f32],
    pub(super) z: &'a [f32],
    /// Empty when all reaches are the same.
    pub(super) radius: &'a [f32],
    pub(super) owner: &'a [u32],
}

/// The sphere that a run is compared with.
#[derive(Clone, Copy)]
pub(super) struct Query {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) z: f32,
    pub(super) owner: u32,
    /// Squared reach if all are the same, else own radius plus margin.
    pub(super) reach: f32,
}

/// Compares a query with eight consecutive spheres.
pub(super) trait Comparison {
    /// Bit `k` is set if sphere `at + k` is in reach and has another owner.
    ///
    /// # Safety
    /// `at + LANES` is within every column, and the processor has the instructions.
    unsafe fn hits<const MIXED: bool>(columns: &Columns<'_>, query: &Query, at: usize) -> u32;
}

/// Calls `hit(at, mask)` for every eight spheres of the run `from..to` that hold a
/// partner of `query`.
///
/// # Safety
/// `to` is at most the number of spheres, and the processor has the instructions.
#[inline(always)]
pub(super) unsafe fn scan_run<C: Comparison, const MIXED: bool>(
    columns: &Columns<'_>,
    query: &Query,
    (from, to): (usize, usize),
    mut hit: impl FnMut(usize, u32),
) {
    let mut at = from;
    while at < to {
        // SAFETY: `at < to`, and the columns have LANES entries beyond the last sphere.
        let mut mask = unsafe { C::hits::<MIXED>(columns, query, at) };
        if to - at < LANES {
            mask &= (1 << (to - at)) - 1;
        }
        if mask != 0 {
            hit(at, mask);
        }
        at += LANES;
    }
}

/// Plain code.
pub(super) struct Scalar;

impl Comparison for Scalar {
    #[inline(always)]
    unsafe fn hits<const MIXED: bool>(columns: &Columns<'_>, query: &Query, at: usize) -> u32 {
        let mut mask = 0;
        for k in 0..LANES {
            let dx = columns.x[at + k] - query.x;
            let dy = columns.y[at + k] - query.y;
            let dz = columns.z[at + k] - query.z;
            let squared = dx * dx + dy * dy + dz * dz;
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
}

/// 256-bit vectors.
#[cfg(target_arch = "x86_64")]
pub(super) struct Avx2;

#[cfg(target_arch = "x86_64")]
impl Comparison for Avx2 {
    #[inline(always)]
    unsafe fn hits<const MIXED: bool>(columns: &Columns<'_>, query: &Query, at: usize) -> u32 {
        use std::arch::x86_64::*;
        debug_assert!(at + LANES <= columns.x.len() && at + LANES <= columns.owner.len());
        // SAFETY: the caller promises AVX2 and eight readable entries from `at` in each
        // column; loads are unaligned.
        unsafe {
            // No closure here: a closure would not inherit the instructions.
            let x = _mm256_loadu_ps(columns.x.as_ptr().add(at));
            let y = _mm256_loadu_ps(columns.y.as_ptr().add(at));
            let z = _mm256_loadu_ps(columns.z.as_ptr().add(at));
            let dx = _mm256_sub_ps(x, _mm256_set1_ps(query.x));
            let dy = _mm256_sub_ps(y, _mm256_set1_ps(query.y));
            let dz = _mm256_sub_ps(z, _mm256_set1_ps(query.z));
            let squared = _mm256_add_ps(
                _mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy)),
                _mm256_mul_ps(dz, dz),
            );
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
}
