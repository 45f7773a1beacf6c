//! Copies of the spheres that the spheres of one cell are compared with.
//!
//! The half shell of a cell is five short runs, most of them shorter than a vector. They are
//! copied together once, and every sphere of the cell is compared with the same full vectors.

use super::simd::{Columns, Comparison, MAX_LANES};
use crate::search::pair_sink::Sink;

/// Largest number of candidates that are copied. Fuller neighborhoods are compared in place.
pub(in crate::search) const MAX_CANDIDATES: usize = 512;

/// Capacity for the candidates, and for a vector that starts at the last of them.
const CAPACITY: usize = MAX_CANDIDATES + 2 * MAX_LANES;

/// Copies of the spheres around a cell, its own first.
pub(in crate::search) struct Candidates {
    x: [f32; CAPACITY],
    y: [f32; CAPACITY],
    z: [f32; CAPACITY],
    radius: [f32; CAPACITY],
    owner: [u32; CAPACITY],
    index: [u32; CAPACITY],
    len: usize,
}

impl Candidates {
    pub(in crate::search) fn new() -> Self {
        Self {
            x: [0.0; CAPACITY],
            y: [0.0; CAPACITY],
            z: [0.0; CAPACITY],
            radius: [0.0; CAPACITY],
            owner: [0; CAPACITY],
            index: [0; CAPACITY],
            len: 0,
        }
    }

    /// Number of candidates.
    #[inline(always)]
    pub(in crate::search) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(in crate::search) fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends the run `from..to` of `columns`; at most [`MAX_CANDIDATES`] in total.
    #[inline(always)]
    pub(in crate::search) fn append<C: Comparison, const MIXED: bool, S: Sink>(
        &mut self,
        columns: &Columns<'_>,
        from: usize,
        to: usize,
    ) {
        assert!(self.len + (to - from) <= MAX_CANDIDATES && to + MAX_LANES <= columns.x.len());
        let mut at = from;
        let mut into = self.len;
        // One vector at a time, and at least one, since most runs are short. Entries copied beyond
        // the run are overwritten by the next one.
        loop {
            copy::<C, _>(&mut self.x, into, columns.x, at);
            copy::<C, _>(&mut self.y, into, columns.y, at);
            copy::<C, _>(&mut self.z, into, columns.z, at);
            copy::<C, _>(&mut self.owner, into, columns.owner, at);
            if S::WANTS_INDICES {
                copy::<C, _>(&mut self.index, into, columns.index, at);
            }
            if MIXED {
                copy::<C, _>(&mut self.radius, into, columns.radius, at);
            }
            at += C::LANES;
            into += C::LANES;
            if at >= to {
                break;
            }
        }
        self.len += to - from;
    }

    /// Fills the lanes after the last candidate so that they never hit.
    #[inline(always)]
    pub(in crate::search) fn finish(&mut self) {
        self.x[self.len..self.len + MAX_LANES].fill(f32::INFINITY);
    }

    #[inline(always)]
    pub(in crate::search) fn columns(&self) -> Columns<'_> {
        Columns {
            x: &self.x,
            y: &self.y,
            z: &self.z,
            radius: &self.radius,
            owner: &self.owner,
            index: &self.index,
        }
    }
}

#[inline(always)]
fn copy<C: Comparison, T: Copy>(target: &mut [T; CAPACITY], into: usize, source: &[T], at: usize) {
    debug_assert!(into + C::LANES <= CAPACITY && at + C::LANES <= source.len());
    // SAFETY: `append` asserts that the run fits with MAX_LANES spare entries on both sides; the
    // two are different objects and do not overlap.
    unsafe {
        let source = source.as_ptr().add(at);
        std::ptr::copy_nonoverlapping(source, target.as_mut_ptr().add(into), C::LANES);
    }
}
