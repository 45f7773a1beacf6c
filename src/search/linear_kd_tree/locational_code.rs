//! Locational codes: cells of the kd-tree as paths from the root.
//!
//! A coordinate is converted to a leaf number, whose most significant bit gives the side of the
//! first plane of that axis, and so on. The interleaved bits of x, y and z are the path of a
//! point (section 5.2 of the paper); the path of a box is the common prefix of the paths of its
//! two corners (section 5.3).

/// Largest number of bits per coordinate. A path of three coordinates and its length fit 64 bits.
pub(super) const MAX_BITS: u32 = 19;

/// Number of bits of the length of a path.
const LENGTH_BITS: u32 = 6;

/// A box in units of leaves, both corners included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CellBox {
    pub(super) low: [u32; 3],
    pub(super) high: [u32; 3],
}

impl CellBox {
    /// The first plane of the tree that intersects the box: it divides the smallest cell around it.
    /// `None` if the box is in a single leaf.
    #[inline]
    pub(super) fn plane(&self) -> Option<Plane> {
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
        // At the same depth, the plane of x comes first.
        let axis = match (x >> bit, y >> bit) {
            (1, _) => 0,
            (0, 1) => 1,
            _ => 2,
        };
        Some(Plane { axis, bit })
    }
}

/// A path from the root, and its length: a cell of the tree.
///
/// The bits of the path are padded with zeros to the maximum length and followed by the length,
/// so that codes sort as in section 5.4: a prefix comes before its extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Code(u64);

impl Code {
    /// The smallest cell around a box, in a tree with `bits` subdivisions along each axis.
    #[inline]
    pub(super) fn around(cells: &CellBox, bits: u32) -> Self {
        let rest = cells.plane().map_or(0, |plane| plane.position() + 1);
        let kept = interleave(cells.low) >> rest << rest;
        Self(kept << LENGTH_BITS | u64::from(3 * bits - rest))
    }

    /// Number of bits of a code in a tree with `bits` subdivisions along each axis.
    pub(super) fn width(bits: u32) -> u32 {
        3 * bits + LENGTH_BITS
    }

    /// The code as a number with the same order.
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

    /// The largest code of a cell inside this one, where the sweep ends.
    #[inline]
    pub(super) fn last(self, bits: u32) -> Self {
        let rest = 3 * bits - self.length();
        Self(self.0 | ((1 << (rest + LENGTH_BITS)) - 1))
    }
}

/// The plane that divides a cell in halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plane {
    /// The axis that the plane is orthogonal to.
    pub(super) axis: usize,
    /// The bit of the coordinate that differs between the halves.
    pub(super) bit: u32,
}

impl Plane {
    /// Position of its bit in a path, counted from the end.
    #[inline]
    fn position(self) -> u32 {
        3 * self.bit + 2 - self.axis as u32
    }

    /// Size of the cell that it divides, in leaves.
    #[inline]
    pub(super) fn volume(self) -> u64 {
        2 << self.position()
    }
}

/// Interleaved bits of x, y and z, most significant first.
#[inline]
fn interleave([x, y, z]: [u32; 3]) -> u64 {
    spread(x) << 2 | spread(y) << 1 | spread(z)
}

/// Inserts two zeros before each of the lower 21 bits.
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
        let max = (1 << MAX_BITS) - 1;
        assert_eq!(interleave([max; 3]), (1 << (3 * MAX_BITS)) - 1);
    }

    #[test]
    fn a_prefix_sorts_before_its_extensions() {
        for bits in [1, 4, MAX_BITS] {
            let code = |low, high| Code::around(&CellBox { low, high }, bits);
            let half = 1 << (bits - 1);
            let max = 2 * half - 1;
            let root = code([half - 1; 3], [half; 3]);
            let left = code([0; 3], [half - 1, max, max]);
            let right = code([half, 0, 0], [max; 3]);
            let leaf = code([max; 3], [max; 3]);
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
    fn the_plane_of_x_comes_first() {
        let plane = |high| CellBox { low: [0; 3], high }.plane();
        assert_eq!(plane([0; 3]), None);
        assert_eq!(plane([1; 3]), Some(Plane { axis: 0, bit: 0 }));
        assert_eq!(plane([1, 2, 2]), Some(Plane { axis: 1, bit: 1 }));
        assert_eq!(plane([1, 1, 4]), Some(Plane { axis: 2, bit: 2 }));
    }
}
