//! Comparison of one box with many, eight at a time.
//!
//! Scalar code and 256-bit vectors give the same result, since numbers are only compared.

use crate::search::Pair;
use crate::search::uniform_grid::simd::{Instructions, LANES};

/// Boxes as columns. Entries after the last box, if any, are not compared.
#[derive(Clone, Copy)]
pub(super) struct BoxColumns<'a> {
    pub(super) low: [&'a [f32]; 3],
    pub(super) high: [&'a [f32]; 3],
    pub(super) owner: &'a [u32],
    /// Index of each box in its set.
    pub(super) index: &'a [u32],
}

/// Appends the pairs of the boxes `own` with the following boxes of the first of the `runs`, and
/// with all boxes of the other runs.
pub(super) fn compare_cell(
    instructions: Instructions,
    columns: &BoxColumns<'_>,
    own: std::ops::Range<usize>,
    runs: impl Iterator<Item = (usize, usize)> + Clone,
    list: &mut Vec<Pair>,
) {
    match instructions {
        Instructions::Scalar => compare::<false>(columns, own, runs, list),
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 | Instructions::Avx512 => {
            // SAFETY: both exist only where AVX2 was detected.
            unsafe { compare_avx2(columns, own, runs, list) };
        }
    }
}

/// # Safety
/// The CPU has AVX2, BMI1 and POPCNT.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,popcnt")]
unsafe fn compare_avx2(
    columns: &BoxColumns<'_>,
    own: std::ops::Range<usize>,
    runs: impl Iterator<Item = (usize, usize)> + Clone,
    list: &mut Vec<Pair>,
) {
    compare::<true>(columns, own, runs, list);
}

/// With `AVX2`, the caller promises that the CPU has it.
#[inline(always)]
fn compare<const AVX2: bool>(
    columns: &BoxColumns<'_>,
    own: std::ops::Range<usize>,
    runs: impl Iterator<Item = (usize, usize)> + Clone,
    list: &mut Vec<Pair>,
) {
    for one in own {
        let query = Query {
            low: columns.low.map(|axis| axis[one]),
            high: columns.high.map(|axis| axis[one]),
            owner: columns.owner[one],
        };
        for (number, (from, to)) in runs.clone().enumerate() {
            let mut at = if number == 0 { one + 1 } else { from };
            while at < to {
                let mut mask = if at + LANES > columns.owner.len() {
                    query.hits(columns, at, to - at)
                } else {
                    #[cfg(target_arch = "x86_64")]
                    if AVX2 {
                        // SAFETY: the columns have LANES entries from there, and the caller
                        // promises AVX2.
                        unsafe { query.hits_avx2(columns, at) }
                    } else {
                        query.hits(columns, at, LANES)
                    }
                    #[cfg(not(target_arch = "x86_64"))]
                    query.hits(columns, at, LANES)
                };
                if to - at < LANES {
                    mask &= (1 << (to - at)) - 1;
                }
                #[cfg(target_arch = "x86_64")]
                if AVX2 && at + LANES <= columns.owner.len() {
                    // SAFETY: as above; there are at least as many indices as owners.
                    unsafe { push_avx2(columns, one, at, mask, list) };
                    at += LANES;
                    continue;
                }
                while mask != 0 {
                    let other = at + mask.trailing_zeros() as usize;
                    list.push(Pair::new(columns.index[one], columns.index[other]));
                    mask &= mask - 1;
                }
                at += LANES;
            }
        }
    }
}

/// For each mask, the places of its set bits, followed by zeros.
#[cfg(target_arch = "x86_64")]
static SET_BITS: [[u32; LANES]; 1 << LANES] = {
    let mut table = [[0; LANES]; 1 << LANES];
    let mut mask = 0;
    while mask < table.len() {
        let (mut bit, mut count) = (0, 0);
        while bit < LANES {
            if mask >> bit & 1 == 1 {
                table[mask][count] = bit as u32;
                count += 1;
            }
            bit += 1;
        }
        mask += 1;
    }
    table
};

/// Appends the pairs of box `one` with the boxes `at + k` for each set bit `k` of `mask`, without
/// a branch for each.
///
/// # Safety
/// The CPU has AVX2 and POPCNT, and there are eight indices from `at`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn push_avx2(
    columns: &BoxColumns<'_>,
    one: usize,
    at: usize,
    mask: u32,
    list: &mut Vec<Pair>,
) {
    use std::arch::x86_64::*;
    debug_assert!(at + LANES <= columns.index.len());
    list.reserve(LANES);
    // SAFETY: the caller promises the instructions and the indices. The list has space for eight
    // pairs, which are two 32-bit numbers each, and the first of them are pairs.
    unsafe {
        let own = _mm256_set1_epi32(columns.index[one] as i32);
        let others = _mm256_loadu_si256(columns.index.as_ptr().add(at).cast());
        let bits = _mm256_loadu_si256(SET_BITS[mask as usize & 0xff].as_ptr().cast());
        let others = _mm256_permutevar8x32_epi32(others, bits);
        let (a, b) = (_mm256_min_epu32(own, others), _mm256_max_epu32(own, others));
        // Pairs 0, 1, 4 and 5, then 2, 3, 6 and 7.
        let (even, odd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
        let end: *mut __m256i = list.as_mut_ptr().add(list.len()).cast();
        _mm256_storeu_si256(end, _mm256_permute2x128_si256::<0x20>(even, odd));
        _mm256_storeu_si256(end.add(1), _mm256_permute2x128_si256::<0x31>(even, odd));
        list.set_len(list.len() + mask.count_ones() as usize);
    }
}

/// The box that others are compared with.
struct Query {
    low: [f32; 3],
    high: [f32; 3],
    owner: u32,
}

impl Query {
    /// Bit `k` is set if box `at + k` overlaps and has another owner, for up to eight boxes.
    #[inline(always)]
    fn hits(&self, columns: &BoxColumns<'_>, at: usize, count: usize) -> u32 {
        let owner = &columns.owner[at..at + count];
        let low = columns.low.map(|axis| &axis[at..at + count]);
        let high = columns.high.map(|axis| &axis[at..at + count]);
        let mut hits = [0; LANES];
        for k in 0..count {
            let mut hit = owner[k] != self.owner;
            for axis in 0..3 {
                hit &= (low[axis][k] <= self.high[axis]) & (high[axis][k] >= self.low[axis]);
            }
            hits[k] = u32::from(hit) << k;
        }
        hits.iter().fold(0, |mask, hit| mask | hit)
    }

    /// As [`hits`](Self::hits).
    ///
    /// # Safety
    /// The CPU has AVX2, and the columns have eight entries from `at`.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn hits_avx2(&self, columns: &BoxColumns<'_>, at: usize) -> u32 {
        use std::arch::x86_64::*;
        debug_assert!(columns.low.iter().all(|axis| at + LANES <= axis.len()));
        debug_assert!(columns.high.iter().all(|axis| at + LANES <= axis.len()));
        debug_assert!(at + LANES <= columns.owner.len());
        // SAFETY: the caller promises AVX2 and eight entries; loads are unaligned.
        unsafe {
            let owners = _mm256_loadu_si256(columns.owner.as_ptr().add(at).cast());
            let same = _mm256_cmpeq_epi32(owners, _mm256_set1_epi32(self.owner as i32));
            let mut apart = _mm256_castsi256_ps(same);
            for axis in 0..3 {
                let low = _mm256_loadu_ps(columns.low[axis].as_ptr().add(at));
                let high = _mm256_loadu_ps(columns.high[axis].as_ptr().add(at));
                let above = _mm256_cmp_ps::<_CMP_GT_OQ>(low, _mm256_set1_ps(self.high[axis]));
                let below = _mm256_cmp_ps::<_CMP_LT_OQ>(high, _mm256_set1_ps(self.low[axis]));
                apart = _mm256_or_ps(apart, _mm256_or_ps(above, below));
            }
            !_mm256_movemask_ps(apart) as u32 & ((1 << LANES) - 1)
        }
    }
}
