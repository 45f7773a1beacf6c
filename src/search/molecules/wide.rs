//! Sixteen numbers at a time: one for each sphere of a cluster.
//!
//! [`Scalar`], for any CPU, and [`Avx2`] and [`Avx512`], for x86-64, round alike, so results are the
//! same bit for bit. Methods are always inlined: they would be compiled without the instructions of
//! their caller otherwise.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use crate::search::Pair;
#[cfg(target_arch = "x86_64")]
use crate::search::uniform_grid::simd::{FIRST_PAIRS, LAST_PAIRS};

/// Numbers per vector.
pub(super) const LANES: usize = 16;

/// Sixteen numbers.
///
/// The methods are safe to call where the CPU has the instructions of the type, which the callers
/// of the functions that are compiled for them make sure of.
pub(super) trait Wide: Copy {
    fn load(values: &[f32; LANES]) -> Self;
    fn splat(value: f32) -> Self;
    fn store(self, values: &mut [f32; LANES]);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn sqrt(self) -> Self;
    /// The lanes that are smaller than those of `other`, as bits.
    fn below(self, other: Self) -> u32;

    /// Appends the pairs of sphere `b` with the lanes whose bits are set in `mask`, whose spheres
    /// are `first` plus their `index`, to `pairs`, and these lanes of `self` to `gaps`.
    #[inline(always)]
    fn append_pairs(
        self,
        mask: u32,
        [first, b]: [u32; 2],
        index: &[u32; LANES],
        pairs: &mut Vec<Pair>,
        gaps: &mut Vec<f32>,
    ) {
        let mut lanes = [0.0; LANES];
        self.store(&mut lanes);
        let mut rest = mask;
        while rest != 0 {
            let k = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            pairs.push(Pair {
                a: first + index[k],
                b,
            });
            gaps.push(lanes[k]);
        }
    }
}

/// Sixteen numbers, for any CPU.
#[derive(Clone, Copy)]
pub(super) struct Scalar([f32; LANES]);

impl Scalar {
    #[inline(always)]
    fn zip(self, other: Self, operation: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|k| operation(self.0[k], other.0[k])))
    }
}

impl Wide for Scalar {
    #[inline(always)]
    fn load(values: &[f32; LANES]) -> Self {
        Self(*values)
    }

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    fn store(self, values: &mut [f32; LANES]) {
        *values = self.0;
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(f32::sqrt))
    }

    #[inline(always)]
    fn below(self, other: Self) -> u32 {
        let lanes = self.0.iter().zip(&other.0).zip(0..);
        lanes.fold(0, |mask, ((a, b), lane)| mask | u32::from(a < b) << lane)
    }
}

/// Two 256-bit vectors.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Avx2(__m256, __m256);

#[cfg(target_arch = "x86_64")]
impl Wide for Avx2 {
    #[inline(always)]
    fn load(values: &[f32; LANES]) -> Self {
        // SAFETY: see the trait; there are sixteen numbers.
        unsafe {
            let values = values.as_ptr();
            Self(_mm256_loadu_ps(values), _mm256_loadu_ps(values.add(8)))
        }
    }

    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: see the trait.
        let value = unsafe { _mm256_set1_ps(value) };
        Self(value, value)
    }

    #[inline(always)]
    fn store(self, values: &mut [f32; LANES]) {
        // SAFETY: see the trait; there is space for sixteen numbers.
        unsafe {
            let values = values.as_mut_ptr();
            _mm256_storeu_ps(values, self.0);
            _mm256_storeu_ps(values.add(8), self.1);
        }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: see the trait.
        unsafe {
            Self(
                _mm256_add_ps(self.0, other.0),
                _mm256_add_ps(self.1, other.1),
            )
        }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: see the trait.
        unsafe {
            Self(
                _mm256_sub_ps(self.0, other.0),
                _mm256_sub_ps(self.1, other.1),
            )
        }
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: see the trait.
        unsafe {
            Self(
                _mm256_mul_ps(self.0, other.0),
                _mm256_mul_ps(self.1, other.1),
            )
        }
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see the trait.
        unsafe {
            Self(
                _mm256_min_ps(self.0, other.0),
                _mm256_min_ps(self.1, other.1),
            )
        }
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: see the trait.
        unsafe { Self(_mm256_sqrt_ps(self.0), _mm256_sqrt_ps(self.1)) }
    }

    #[inline(always)]
    fn below(self, other: Self) -> u32 {
        // SAFETY: see the trait.
        unsafe {
            let low = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0));
            let high = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(self.1, other.1));
            low as u32 | (high as u32) << 8
        }
    }
}

/// One 512-bit vector.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Avx512(__m512);

#[cfg(target_arch = "x86_64")]
impl Wide for Avx512 {
    #[inline(always)]
    fn load(values: &[f32; LANES]) -> Self {
        // SAFETY: see the trait; there are sixteen numbers.
        unsafe { Self(_mm512_loadu_ps(values.as_ptr())) }
    }

    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: see the trait.
        unsafe { Self(_mm512_set1_ps(value)) }
    }

    #[inline(always)]
    fn store(self, values: &mut [f32; LANES]) {
        // SAFETY: see the trait; there is space for sixteen numbers.
        unsafe { _mm512_storeu_ps(values.as_mut_ptr(), self.0) };
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: see the trait.
        unsafe { Self(_mm512_add_ps(self.0, other.0)) }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: see the trait.
        unsafe { Self(_mm512_sub_ps(self.0, other.0)) }
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: see the trait.
        unsafe { Self(_mm512_mul_ps(self.0, other.0)) }
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see the trait.
        unsafe { Self(_mm512_min_ps(self.0, other.0)) }
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: see the trait.
        unsafe { Self(_mm512_sqrt_ps(self.0)) }
    }

    #[inline(always)]
    fn below(self, other: Self) -> u32 {
        // SAFETY: see the trait.
        unsafe { u32::from(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0)) }
    }

    #[inline(always)]
    fn append_pairs(
        self,
        mask: u32,
        [first, b]: [u32; 2],
        index: &[u32; LANES],
        pairs: &mut Vec<Pair>,
        gaps: &mut Vec<f32>,
    ) {
        let count = mask.count_ones() as usize;
        pairs.reserve(LANES);
        gaps.reserve(LANES);
        // SAFETY: see the trait. There is space for sixteen more entries of both lists, of which
        // `count` are set; `Pair` is two u32 in order, and loads and stores are unaligned.
        unsafe {
            let chosen = mask as __mmask16;
            let target = gaps.as_mut_ptr().add(gaps.len());
            _mm512_storeu_ps(target, _mm512_maskz_compress_ps(chosen, self.0));
            gaps.set_len(gaps.len() + count);
            let index = _mm512_loadu_si512(index.as_ptr().cast());
            let index = _mm512_maskz_compress_epi32(chosen, index);
            let a = _mm512_add_epi32(index, _mm512_set1_epi32(first.cast_signed()));
            let b = _mm512_set1_epi32(b.cast_signed());
            let target: *mut __m512i = pairs.as_mut_ptr().add(pairs.len()).cast();
            let places = _mm512_loadu_si512(FIRST_PAIRS.as_ptr().cast());
            _mm512_storeu_si512(target, _mm512_permutex2var_epi32(a, places, b));
            if count > LANES / 2 {
                let places = _mm512_loadu_si512(LAST_PAIRS.as_ptr().cast());
                _mm512_storeu_si512(target.add(1), _mm512_permutex2var_epi32(a, places, b));
            }
            pairs.set_len(pairs.len() + count);
        }
    }
}

/// Three coordinates of sixteen points.
#[derive(Clone, Copy)]
pub(super) struct WidePoints<W> {
    pub x: W,
    pub y: W,
    pub z: W,
}

impl<W: Wide> WidePoints<W> {
    #[inline(always)]
    pub fn load([x, y, z]: [&[f32; LANES]; 3]) -> Self {
        Self {
            x: W::load(x),
            y: W::load(y),
            z: W::load(z),
        }
    }

    #[inline(always)]
    pub fn store(self) -> [[f32; LANES]; 3] {
        let mut values = [[0.0; LANES]; 3];
        let [x, y, z] = &mut values;
        self.x.store(x);
        self.y.store(y);
        self.z.store(z);
        values
    }

    /// Squared distances from a point.
    #[inline(always)]
    pub fn squared_distances(self, [x, y, z]: [f32; 3]) -> W {
        let dx = self.x.sub(W::splat(x));
        let dy = self.y.sub(W::splat(y));
        let dz = self.z.sub(W::splat(z));
        dx.mul(dx).add(dy.mul(dy)).add(dz.mul(dz))
    }
}
