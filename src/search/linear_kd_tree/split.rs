//! Boxes are cut where the cells of the tree are.
//!
//! A small box across the first cut of space would have the root for its cell. So a box
//! is split by the plane that cuts its cell, once along each axis: eight pieces at most,
//! each of which fills more than half of its cell along one axis at least (section 4.1,
//! property 1). A split that does not make the cells smaller on the whole is undone.

use super::locational_code::{CellBox, Cut};

/// Most pieces of a box: two for each of three axes.
const MOST_PIECES: usize = 8;

/// SplitBox of a box, in leaves. No two of their cells overlap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SplitBox {
    pieces: [CellBox; MOST_PIECES],
    len: usize,
}

impl SplitBox {
    /// A box as a whole.
    pub(super) fn whole(cells: &CellBox) -> Self {
        let mut pieces = Self::default();
        pieces.push(*cells);
        pieces
    }

    /// A box, split where that makes its cells smaller.
    pub(super) fn split(cells: &CellBox) -> Self {
        let mut pieces = Self::default();
        pieces.add(*cells, [true; 3]);
        pieces
    }

    pub(super) fn as_slice(&self) -> &[CellBox] {
        &self.pieces[..self.len]
    }

    #[inline]
    fn push(&mut self, piece: CellBox) {
        self.pieces[self.len] = piece;
        self.len += 1;
    }

    /// Adds a box that may be split along some axes; returns the volume of its cells.
    fn add(&mut self, cells: CellBox, may_split: [bool; 3]) -> u64 {
        let cut = cells.cut();
        let whole = cut.map_or(1, Cut::volume);
        if let Some(Cut { axis, bit }) = cut
            && may_split[axis]
        {
            let before = self.len;
            let mut still = may_split;
            still[axis] = false;
            let [mut below, mut above] = [cells; 2];
            above.low[axis] = cells.high[axis] >> bit << bit;
            below.high[axis] = above.low[axis] - 1;
            let volume = self.add(below, still) + self.add(above, still);
            if volume < whole {
                return volume;
            }
            self.len = before;
        }
        self.push(cells);
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::super::locational_code::{Code, MAX_BITS};
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    const HALF: u32 = 1 << (MAX_BITS - 1);

    fn volume(piece: &CellBox) -> u64 {
        Code::around(piece, MAX_BITS).volume(MAX_BITS)
    }

    #[test]
    fn a_small_box_across_the_middle_has_eight_small_cells() {
        let cells = CellBox {
            low: [HALF - 3; 3],
            high: [HALF + 3; 3],
        };
        let whole = SplitBox::whole(&cells);
        assert_eq!(volume(&whole.as_slice()[0]), 1 << (3 * MAX_BITS));
        let pieces = SplitBox::split(&cells);
        assert_eq!(pieces.as_slice().len(), 8);
        assert_eq!(pieces.as_slice().iter().map(volume).sum::<u64>(), 8 * 64);
    }

    #[test]
    fn a_split_that_gains_nothing_is_undone() {
        let cells = CellBox {
            low: [0; 3],
            high: [2 * HALF - 1; 3],
        };
        assert_eq!(SplitBox::split(&cells).as_slice(), [cells]);
    }

    #[test]
    fn every_leaf_of_a_box_is_in_the_cell_of_exactly_one_piece() {
        let mut random = Pcg64Mcg::seed_from_u64(7);
        for _ in 0..300 {
            let low: [u32; 3] = std::array::from_fn(|_| HALF - 12 + random.random_range(0..20));
            let high = low.map(|low| low + random.random_range(0..9));
            let pieces = SplitBox::split(&CellBox { low, high });
            let codes = pieces.as_slice().iter();
            let codes: Vec<Code> = codes.map(|piece| Code::around(piece, MAX_BITS)).collect();
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    for z in low[2]..=high[2] {
                        let [low, high] = [[x, y, z]; 2];
                        let leaf = Code::around(&CellBox { low, high }, MAX_BITS);
                        let holding = codes
                            .iter()
                            .filter(|code| **code <= leaf && leaf <= code.last(MAX_BITS));
                        assert_eq!(holding.count(), 1);
                    }
                }
            }
        }
    }
}
