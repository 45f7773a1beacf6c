//! Comparison of spheres in scalar code.

use super::{Columns, Comparison, LANES, Query};
use crate::search::Pair;

/// Scalar code.
pub(in crate::search) struct Scalar;

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
    const LANES: usize = LANES;

    #[inline(always)]
    unsafe fn hits<const MIXED: bool>(columns: &Columns<'_>, query: &Query, at: usize) -> u32 {
        let mut mask = 0;
        for k in 0..LANES {
            let squared = Self::squared(columns, query, at + k);
            let reach = if MIXED {
                // The sum is the same bit for bit, whichever of the two spheres is the query.
                let sum = (columns.radius[at + k] + query.radius) + query.reach;
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
    unsafe fn write_pairs(own: u32, others: *const u32, mask: u32, target: *mut Pair) {
        let hits = (0..LANES).filter(|k| mask >> k & 1 != 0);
        for (into, k) in hits.enumerate() {
            // SAFETY: the caller promises LANES others and space for as many pairs.
            unsafe { target.add(into).write(Pair::new(own, *others.add(k))) };
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
