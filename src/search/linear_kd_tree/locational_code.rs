//! Locational codes: which cell of the kd-tree, as a path from its root.
//!
//! A coordinate becomes the number of a leaf, whose most significant bit says on which
//! side of the first cut of that axis it is, and so on. The bits of x, y and z in turn
//! are the path of a point (section 5.2 of the paper); the path of a box is what the
//! paths of its two corners have in common at their front (section 5.3).

/// Most bits of a coordinate. A path of all three, and its length, fit 64 bits.
pub(super) const MAX_BITS: u32 = 19;

/// Bits that hold the length of a path.
const LENGTH_BITS: u32 = 6;

/// A box in leaves, both corners inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CellBox {
    pub(super) low: [u32; 3],
    pub(super) high: [u32; 3],
}

impl CellBox {
    /// The first plane of the tree that goes through the box: it cuts the smallest cell
    /// around it. None if the box is in one leaf.
    #[inline]
    pub(super) fn cut(&self) -> Option<Cut> {
        let [x, y, z] = [
            self.low[0] ^ self.high[0],
            self.low[1] ^ self.high[1],
            self.low[2] ^ self.high[2],
        ];
        let highest = x | y | z;
        if highest == 0 {
            return None;
        }
        let bit = highest.ilog2();
        // Of cuts at the same depth that of x comes first.
        let axis = match (x >> bit, y >> bit) {
            (1, _) => 0,
            (0, 1) => 1,
            _ => 2,
        };
        Some(Cut { axis, bit })
    }
}

/// A path from the root, and its length: a cell of the tree.
///
/// The bits of the path are followed by zeros, as many as the longest path has, and then
/// by the length, so that codes sort as section 5.4 wants: a path comes before those that
/// it is the beginning of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Code(u64);

impl Code {
    /// The smallest cell around a box, in a tree of `bits` cuts along each axis.
    #[inline]
    pub(super) fn around(cells: &CellBox, bits: u32) -> Self {
        let rest = cells.cut().map_or(0, |cut| cut.place() + 1);
        let kept = interleave(cells.low) >> rest << rest;
        Self(kept << LENGTH_BITS | u64::from(3 * bits - rest))
    }

    /// Bits of a code in a tree of `bits` cuts along each axis.
    pub(super) fn width(bits: u32) -> u32 {
        3 * bits + LENGTH_BITS
    }

    /// The code as a number that sorts as it does.
    #[inline]
    pub(super) fn key(self) -> u64 {
        self.0
    }

    /// Length of the path.
    #[inline]
    pub(super) fn length(self) -> u32 {
        (self.0 & ((1 << LENGTH_BITS) - 1)) as u32
    }

    /// Size of the cell, in leaves.
    #[inline]
    pub(super) fn volume(self, bits: u32) -> u64 {
        1 << (3 * bits - self.length())
    }

    /// The largest code of a cell inside this one: the sweep ends behind it.
    #[inline]
    pub(super) fn last(self, bits: u32) -> Self {
        let rest = 3 * bits - self.length();
        Self(self.0 | ((1 << (rest + LENGTH_BITS)) - 1))
    }
}

/// The plane that cuts a cell in halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The axis that it is orthogonal to.
    pub(super) axis: usize,
    /// The bit of the coordinate that differs between the halves.
    pub(super) bit: u32,
}

impl Cut {
    /// Place of its bit in a path, counted from the end.
    #[inline]
    fn place(self) -> u32 {
        3 * self.bit + 2 - self.axis as u32
    }

    /// Size of the cell that it cuts, in leaves.
    #[inline]
    pub(super) fn volume(self) -> u64 {
        2 << self.place()
    }
}

/// Bits of x, y and z in turn, the most significant first.
#[inline]
fn interleave([x, y, z]: [u32; 3]) -> u64 {
    spread(x) << 2 | spread(y) << 1 | spread(z)
}

/// Two zeros in front of each of the lower 21 bits.
#[inline]
fn spread(value: u32) -> u64 {
    let mut bits = u64::from(value) & 0x1f_ffff;
    bits = (bits | bits << 32) & 0x001f_0000_0000_ffff;
    bits = (bits | bits << 16) & 0x001f_0000_ff00_00ff;
    bits = (bits | bits << 8) & 0x100f_00f0_0f00_f00f;
    bits = (bits | bits << 4) & 0x10c3_0c30_c30c_30c3;
    (bits | bits << 2) & 0x1249_2492_4924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_interleaved_x_first() {
        assert_eq!(interleave([1, 0, 0]), 0b100);
        assert_eq!(interleave([0, 1, 0]), 0b010);
        assert_eq!(interleave([0b11, 0b01, 0b10]), 0b101_110);
        let most = (1 << MAX_BITS) - 1;
        assert_eq!(interleave([most; 3]), (1 << (3 * MAX_BITS)) - 1);
    }

    #[test]
    fn a_prefix_is_before_all_that_it_is_the_beginning_of() {
        for bits in [1, 4, MAX_BITS] {
            let code = |low, high| Code::around(&CellBox { low, high }, bits);
            let half = 1 << (bits - 1);
            let most = 2 * half - 1;
            let root = code([half - 1; 3], [half; 3]);
            let left = code([0; 3], [half - 1, most, most]);
            let right = code([half, 0, 0], [most; 3]);
            let leaf = code([most; 3], [most; 3]);
            let lengths = [root, left, leaf].map(Code::length);
            assert_eq!(lengths, [0, 1, 3 * bits]);
            assert!(root < left && left < right && right < leaf);
            assert!(left <= left.last(bits) && left.last(bits) < right);
            for inside in [left, right, leaf] {
                assert!(inside <= root.last(bits));
            }
            assert!(leaf <= right.last(bits) && leaf > left.last(bits));
            let volume = |code: Code| code.volume(bits);
            assert_eq!(volume(left) + volume(right), volume(root));
            assert_eq!(volume(leaf), 1);
        }
    }

    #[test]
    fn the_first_of_several_cuts_is_that_of_x() {
        let cut = |high| CellBox { low: [0; 3], high }.cut();
        assert_eq!(cut([0; 3]), None);
        assert_eq!(cut([1; 3]), Some(Cut { axis: 0, bit: 0 }));
        assert_eq!(cut([1, 2, 2]), Some(Cut { axis: 1, bit: 1 }));
        assert_eq!(cut([1, 1, 4]), Some(Cut { axis: 2, bit: 2 }));
    }
}
