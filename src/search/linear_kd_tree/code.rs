//! Locational codes: which cell of the kd-tree, as a path from its root.
//!
//! A coordinate becomes an integer of [`BITS`] bits, whose most significant bit says on
//! which side of the first cut of that axis it is, and so on. The bits of x, y and z in
//! turn are the path of a point (section 5.2 of the paper); the path of a box is what the
//! paths of its two corners have in common at their front (section 5.3).

use glam::DVec3;

/// Bits of a coordinate. A path of all three, and its length, fit 64 bits.
pub(super) const BITS: u32 = 19;

/// Bits of the longest path.
pub(super) const DEPTH: u32 = 3 * BITS;

/// Bits that hold the length of a path.
const LENGTH_BITS: u32 = 6;

/// A box in integers, both corners inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellBox {
    pub(super) low: [u32; 3],
    pub(super) high: [u32; 3],
}

impl CellBox {
    /// The first plane of the tree that goes through the box: it cuts the smallest cell
    /// around it. None if the box is one smallest cell.
    #[inline]
    pub(super) fn cut(&self) -> Option<Cut> {
        let mut first: Option<Cut> = None;
        for axis in 0..3 {
            let differing = self.low[axis] ^ self.high[axis];
            if differing != 0 {
                let cut = Cut {
                    axis,
                    bit: differing.ilog2(),
                };
                if first.is_none_or(|first| cut.place() > first.place()) {
                    first = Some(cut);
                }
            }
        }
        first
    }
}

/// A path from the root, and its length: a cell of the tree.
///
/// The bits of the path are followed by zeros and then by the length, so that codes sort
/// as section 5.4 wants: a path comes before those that it is the beginning of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Code(u64);

impl Code {
    /// The first `length` bits of `path`.
    fn new(path: u64, length: u32) -> Self {
        let kept = path >> (DEPTH - length) << (DEPTH - length);
        Self(kept << LENGTH_BITS | u64::from(length))
    }

    /// The smallest cell around a box.
    pub(super) fn around(cells: &CellBox) -> Self {
        let length = cells.cut().map_or(DEPTH, |cut| DEPTH - 1 - cut.place());
        Self::new(interleave(cells.low), length)
    }

    /// The first bits of the path, as many as tell `parts` parts of space apart, a power of
    /// two.
    #[inline]
    pub(super) fn part(self, parts: usize) -> usize {
        (self.0 >> (DEPTH + LENGTH_BITS - parts.ilog2())) as usize
    }

    pub(super) fn length(self) -> u32 {
        (self.0 & ((1 << LENGTH_BITS) - 1)) as u32
    }

    /// Size of the cell, in smallest cells.
    pub(super) fn volume(self) -> u64 {
        1 << (DEPTH - self.length())
    }

    /// Whether `other` is this cell or inside it.
    #[inline]
    pub(super) fn is_prefix_of(self, other: Self) -> bool {
        let rest = DEPTH + LENGTH_BITS - self.length();
        self.length() <= other.length() && (self.0 ^ other.0) >> rest == 0
    }

    /// Whether a point is in this cell.
    #[inline]
    pub(super) fn holds(self, point: [u32; 3]) -> bool {
        let path = interleave(point) << LENGTH_BITS;
        (self.0 ^ path) >> (DEPTH + LENGTH_BITS - self.length()) == 0
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

    /// Size of the cell that it cuts, in smallest cells.
    #[inline]
    pub(super) fn volume(self) -> u64 {
        2 << self.place()
    }
}

/// Bits of x, y and z in turn, the most significant first.
#[inline]
pub(super) fn interleave([x, y, z]: [u32; 3]) -> u64 {
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

/// Maps coordinates to integers of [`BITS`] bits.
///
/// A step function that never falls: boxes that overlap still overlap in integers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Raster {
    low: DVec3,
    /// Smallest cells for each nm.
    per_nm: f64,
    /// Edge of the root cell, a cube, nm.
    pub(super) edge: f64,
}

impl Raster {
    /// A root cell from `low` that holds everything up to `high`, nm.
    pub(super) fn new(low: DVec3, high: DVec3) -> Self {
        let edge = (high - low).max_element().max(0.0);
        let cells = f64::from(1_u32 << BITS);
        // Nothing to tell apart where all is in one point.
        let per_nm = if edge > 0.0 { cells / edge } else { 0.0 };
        Self { low, per_nm, edge }
    }

    #[inline]
    pub(super) fn cell(&self, point: DVec3) -> [u32; 3] {
        let cell = (point - self.low) * self.per_nm;
        // Casts saturate, and take a NaN for zero.
        [cell.x, cell.y, cell.z].map(|value| (value as u32).min((1 << BITS) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_interleaved_x_first() {
        assert_eq!(interleave([1, 0, 0]), 0b100);
        assert_eq!(interleave([0, 1, 0]), 0b010);
        assert_eq!(interleave([0b11, 0b01, 0b10]), 0b101_110);
        let most = (1 << BITS) - 1;
        assert_eq!(interleave([most; 3]), (1 << DEPTH) - 1);
    }

    #[test]
    fn a_prefix_is_before_all_that_it_is_the_beginning_of() {
        let code = |low, high| Code::around(&CellBox { low, high });
        let half = 1 << (BITS - 1);
        let root = code([half - 1; 3], [half; 3]);
        let left = code([0; 3], [half - 1, 2 * half - 1, 2 * half - 1]);
        let right = code([half, 0, 0], [2 * half - 1; 3]);
        let point = code([half + 5; 3], [half + 5; 3]);
        assert_eq!(
            (root.length(), left.length(), point.length()),
            (0, 1, DEPTH)
        );
        assert!(root < left && left < right && right < point);
        assert!(root.is_prefix_of(left) && root.is_prefix_of(point) && right.is_prefix_of(point));
        assert!(!left.is_prefix_of(point) && !left.is_prefix_of(root));
        assert!(right.holds([half + 5; 3]) && !left.holds([half + 5; 3]) && root.holds([0; 3]));
        assert_eq!(left.volume() + right.volume(), root.volume());
    }
}
