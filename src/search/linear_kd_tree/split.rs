//! Boxes are cut where the cells of the tree are.
//!
//! A small box across the first cut of space would have the root for its cell. So a box
//! is split by the plane that cuts its cell, once along each axis: eight pieces at most,
//! each of which fills more than half of its cell along one axis at least (section 4.1,
//! property 1). A split that does not make the cells smaller on the whole is undone.

use super::code::{CellBox, Code, Cut};

/// Most pieces of a box: two for each of three axes.
pub(super) const MOST_PIECES: usize = 8;

/// Cells of the pieces of a box. No two of them overlap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pieces {
    codes: [Code; MOST_PIECES],
    len: usize,
}

impl Pieces {
    /// A box as a whole.
    pub(super) fn whole(cells: &CellBox) -> Self {
        let mut pieces = Self::default();
        pieces.push(Code::around(cells));
        pieces
    }

    /// A box, split where that makes its cells smaller.
    pub(super) fn split(cells: &CellBox) -> Self {
        let mut pieces = Self::default();
        pieces.add(*cells, [true; 3]);
        pieces
    }

    pub(super) fn codes(&self) -> &[Code] {
        &self.codes[..self.len]
    }

    fn push(&mut self, code: Code) {
        self.codes[self.len] = code;
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
        self.push(Code::around(&cells));
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::super::code::BITS;
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    const HALF: u32 = 1 << (BITS - 1);

    #[test]
    fn a_small_box_across_the_middle_has_eight_small_cells() {
        let cells = CellBox {
            low: [HALF - 3; 3],
            high: [HALF + 3; 3],
        };
        assert_eq!(Pieces::whole(&cells).codes()[0].length(), 0);
        let pieces = Pieces::split(&cells);
        assert_eq!(pieces.codes().len(), 8);
        let volume: u64 = pieces.codes().iter().map(|code| code.volume()).sum();
        assert_eq!(volume, 8 * 64);
    }

    #[test]
    fn a_split_that_gains_nothing_is_undone() {
        let cells = CellBox {
            low: [0; 3],
            high: [2 * HALF - 1; 3],
        };
        assert_eq!(Pieces::split(&cells).codes().len(), 1);
    }

    #[test]
    fn every_cell_of_a_box_is_in_exactly_one_piece() {
        let mut random = Pcg64Mcg::seed_from_u64(7);
        for _ in 0..300 {
            let low: [u32; 3] = std::array::from_fn(|_| HALF - 12 + random.random_range(0..20));
            let high = low.map(|low| low + random.random_range(0..9));
            let pieces = Pieces::split(&CellBox { low, high });
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    for z in low[2]..=high[2] {
                        let holding = pieces.codes().iter().filter(|code| code.holds([x, y, z]));
                        assert_eq!(holding.count(), 1);
                    }
                }
            }
        }
    }
}
