//! Splits boxes at the planes of the tree.
//!
//! The cell of a small box across the first plane would be the root. Each box is therefore split
//! by the plane that divides its cell, once along each axis: into at most eight sub-boxes, each
//! of which fills more than half of its cell along at least one axis (section 4.1, property 1).
//! A split that does not reduce the total volume of the cells is undone.

use super::locational_code::{CellBox, Plane};

/// Largest number of sub-boxes: two for each of three axes.
const MAX_SUB_BOXES: usize = 8;

/// The sub-boxes of a box, in leaves. Their cells do not overlap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SplitBox {
    sub_boxes: [CellBox; MAX_SUB_BOXES],
    len: usize,
}

impl SplitBox {
    /// Splits a box where that makes its cells smaller, if it may be split.
    pub(super) fn new(cells: CellBox, may_split: bool) -> Self {
        let mut sub_boxes = Self::default();
        sub_boxes.add(cells, [may_split; 3]);
        sub_boxes
    }

    pub(super) fn as_slice(&self) -> &[CellBox] {
        &self.sub_boxes[..self.len]
    }

    /// Adds a box that may be split along some axes; returns the total volume of its cells.
    fn add(&mut self, cells: CellBox, may_split: [bool; 3]) -> u64 {
        let plane = cells.plane();
        let whole = plane.map_or(1, Plane::volume);
        if let Some(Plane { axis, bit }) = plane
            && may_split[axis]
        {
            let previous = self.len;
            let mut remaining = may_split;
            remaining[axis] = false;
            let [mut below, mut above] = [cells; 2];
            above.low[axis] = cells.high[axis] >> bit << bit;
            below.high[axis] = above.low[axis] - 1;
            let volume = self.add(below, remaining) + self.add(above, remaining);
            if volume < whole {
                return volume;
            }
            self.len = previous;
        }
        self.sub_boxes[self.len] = cells;
        self.len += 1;
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

    fn volume(sub_box: &CellBox) -> u64 {
        Code::around(sub_box, MAX_BITS).volume(MAX_BITS)
    }

    #[test]
    fn a_small_box_across_the_middle_has_eight_small_cells() {
        let cells = CellBox {
            low: [HALF - 3; 3],
            high: [HALF + 3; 3],
        };
        let whole = SplitBox::new(cells, false);
        assert_eq!(volume(&whole.as_slice()[0]), 1 << (3 * MAX_BITS));
        let sub_boxes = SplitBox::new(cells, true);
        assert_eq!(sub_boxes.as_slice().len(), 8);
        assert_eq!(sub_boxes.as_slice().iter().map(volume).sum::<u64>(), 8 * 64);
    }

    #[test]
    fn a_split_without_benefit_is_undone() {
        let cells = CellBox {
            low: [0; 3],
            high: [2 * HALF - 1; 3],
        };
        assert_eq!(SplitBox::new(cells, true).as_slice(), [cells]);
    }

    #[test]
    fn every_leaf_of_a_box_is_in_the_cell_of_exactly_one_sub_box() {
        let mut random = Pcg64Mcg::seed_from_u64(7);
        for _ in 0..300 {
            let low: [u32; 3] = std::array::from_fn(|_| HALF - 12 + random.random_range(0..20));
            let high = low.map(|low| low + random.random_range(0..9));
            let sub_boxes = SplitBox::new(CellBox { low, high }, true);
            let codes = sub_boxes.as_slice().iter();
            let codes: Vec<Code> = codes
                .map(|sub_box| Code::around(sub_box, MAX_BITS))
                .collect();
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    for z in low[2]..=high[2] {
                        let [low, high] = [[x, y, z]; 2];
                        let leaf = Code::around(&CellBox { low, high }, MAX_BITS);
                        let containing = codes
                            .iter()
                            .filter(|code| **code <= leaf && leaf <= code.last(MAX_BITS));
                        assert_eq!(containing.count(), 1);
                    }
                }
            }
        }
    }
}
