//! The spheres that one cell is compared with, copied to one place.
//!
//! The half shell of a cell is five short runs in different places, most of them
//! shorter than a vector. They are copied together once, and every sphere of the cell
//! walks over the same full vectors.

use super::pair_walk::Sink;
use super::simd::{Columns, Comparison, MAX_LANES};

/// Most candidates that are copied; a fuller neighborhood is walked in place.
pub(in crate::search) const MAX_CANDIDATES: usize = 512;

/// Room for the candidates, and for a vector that starts at the last of them.
const ROOM: usize = MAX_CANDIDATES + 2 * MAX_LANES;

/// Copies of the spheres around a cell, its own first.
pub(in crate::search) struct Candidates {
    x: [f32; ROOM],
    y: [f32; ROOM],
    z: [f32; ROOM],
    radius: [f32; ROOM],
    owner: [u32; ROOM],
    index: [u32; ROOM],
    len: usize,
}

impl Candidates {
    pub(in crate::search) fn new() -> Self {
        Self {
            x: [0.0; ROOM],
            y: [0.0; ROOM],
            z: [0.0; ROOM],
            radius: [0.0; ROOM],
            owner: [0; ROOM],
            index: [0; ROOM],
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

    /// Appends the run `from..to` of `columns`; at most [`MAX_CANDIDATES`] in all.
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
        // A vector at a time, and one in any case, since most runs are short. What is
        // copied too much is overwritten by the next run.
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

    /// Makes the lanes behind the last candidate hit nothing.
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
fn copy<C: Comparison, T: Copy>(target: &mut [T; ROOM], into: usize, source: &[T], at: usize) {
    debug_assert!(into + C::LANES <= ROOM && at + C::LANES <= source.len());
    // SAFETY: `append` asserts that the run fits with MAX_LANES entries to spare on both
    // sides, and the two do not overlap, being different objects.
    unsafe {
        let source = source.as_ptr().add(at);
        std::ptr::copy_nonoverlapping(source, target.as_mut_ptr().add(into), C::LANES);
    }
}
