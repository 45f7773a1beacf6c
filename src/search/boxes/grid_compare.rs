//! Compares one box with many, eight at a time.
//!
//! Plain code, compiled twice: for any processor, and for the vectors of this one. As
//! numbers are only compared, both give the same.

use crate::search::Pair;
use crate::search::uniform_grid::scan::{Instructions, LANES};

/// Boxes in columns, with [`LANES`] readable entries beyond the last.
#[derive(Clone, Copy)]
pub(super) struct BoxColumns<'a> {
    pub(super) low: [&'a [f32]; 3],
    pub(super) high: [&'a [f32]; 3],
    pub(super) owner: &'a [u32],
    /// Index of each box in its set.
    pub(super) index: &'a [u32],
}

/// Appends the pairs of the boxes `own` with those that follow them in the first of the
/// `runs`, and with all of the other runs.
pub(super) fn compare_cell(
    instructions: Instructions,
    columns: &BoxColumns<'_>,
    own: std::ops::Range<usize>,
    runs: impl Iterator<Item = (usize, usize)> + Clone,
    list: &mut Vec<Pair>,
) {
    match instructions {
        Instructions::Scalar => compare(columns, own, runs, list),
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => {
            // SAFETY: `Instructions::Avx2` exists only where it was detected.
            unsafe { compare_avx2(columns, own, runs, list) };
        }
    }
}

/// # Safety
/// The processor has AVX2, BMI1 and POPCNT.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,popcnt")]
unsafe fn compare_avx2(
    columns: &BoxColumns<'_>,
    own: std::ops::Range<usize>,
    runs: impl Iterator<Item = (usize, usize)> + Clone,
    list: &mut Vec<Pair>,
) {
    compare(columns, own, runs, list);
}

#[inline(always)]
fn compare(
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
                let mut mask = query.hits(columns, at);
                if to - at < LANES {
                    mask &= (1 << (to - at)) - 1;
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

/// The box that others are compared with.
struct Query {
    low: [f32; 3],
    high: [f32; 3],
    owner: u32,
}

impl Query {
    /// Bit `k` is set if box `at + k` overlaps and has another owner.
    #[inline(always)]
    fn hits(&self, columns: &BoxColumns<'_>, at: usize) -> u32 {
        let owner = &columns.owner[at..at + LANES];
        let low = columns.low.map(|axis| &axis[at..at + LANES]);
        let high = columns.high.map(|axis| &axis[at..at + LANES]);
        let mut hits = [0; LANES];
        for k in 0..LANES {
            let mut hit = owner[k] != self.owner;
            for axis in 0..3 {
                hit &= (low[axis][k] <= self.high[axis]) & (high[axis][k] >= self.low[axis]);
            }
            hits[k] = u32::from(hit) << k;
        }
        hits.iter().fold(0, |mask, hit| mask | hit)
    }
}
