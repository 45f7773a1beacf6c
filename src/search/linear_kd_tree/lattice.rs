//! The leaves of the tree as a lattice.
//!
//! The paper leaves the size of a leaf open and suggests the scale of the scene (section 7.3).
//! Leaves slightly wider than the boxes are best: narrower ones produce more sub-boxes, wider
//! ones more candidate pairs.
//!
//! The edge of a leaf is a power of two, and planes are at its multiples. Leaf numbers and plane
//! coordinates are exact then, so that 32-bit coordinates tell the side of a plane exactly.

use super::locational_code::{CellBox, MAX_BITS};
use glam::Vec3;

/// Edge of a leaf in median box sides, before rounding to a power of two.
const SIDES_PER_LEAF: f64 = 1.5;

/// The leaves of a tree.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lattice {
    /// Edge of a leaf, nm; a power of two.
    pub(super) edge: f64,
    per_nm: f64,
    /// The leaf with the smallest coordinates, in leaves from the world origin.
    first: [i64; 3],
    /// Number of subdivisions along each axis.
    pub(super) bits: u32,
}

impl Lattice {
    /// Leaves for boxes between two corners (nm) whose median side is `side` nm; the smallest
    /// leaves that codes can represent if that is zero.
    pub(super) fn new(corners: [Vec3; 2], side: f64) -> Self {
        let [low, high] = corners.map(Vec3::as_dvec3);
        let longest = (high - low).max_element();
        let furthest = low.abs().max(high.abs()).max_element();
        // There may be one more leaf than the length suggests.
        let min_edge = longest / f64::from((1_u32 << MAX_BITS) - 1);
        // Leaf numbers are exact in 64 bits.
        let exact = (furthest * f64::EPSILON).max(f64::from(f32::MIN_POSITIVE));
        let mut edge = power_of_two(min_edge.max(exact).max(SIDES_PER_LEAF * side));
        loop {
            let per_nm = edge.recip();
            let first = low.to_array().map(|low| floor(low * per_nm));
            let last = high.to_array().map(|high| floor(high * per_nm));
            let leaves = (0..3).map(|axis| last[axis] - first[axis]).max();
            let leaves = leaves.unwrap_or(0) as u64;
            let bits = leaves.checked_ilog2().map_or(0, |bit| bit + 1);
            if bits <= MAX_BITS {
                return Self {
                    edge,
                    per_nm,
                    first,
                    bits,
                };
            }
            edge *= 2.0;
        }
    }

    /// The leaves that a box overlaps.
    #[inline]
    pub(super) fn cells(&self, low: [f32; 3], high: [f32; 3]) -> CellBox {
        let mut cells = CellBox::default();
        for axis in 0..3 {
            cells.low[axis] = self.leaf(axis, low[axis]);
            cells.high[axis] = self.leaf(axis, high[axis]);
        }
        cells
    }

    /// The leaf of a coordinate.
    ///
    /// Exact, since multiples of powers of two are.
    #[inline]
    pub(super) fn leaf(&self, axis: usize, coordinate: f32) -> u32 {
        (floor(f64::from(coordinate) * self.per_nm) - self.first[axis]) as u32
    }

    /// The smallest coordinate of a leaf, nm.
    #[inline]
    pub(super) fn low(&self, axis: usize, leaf: u32) -> f32 {
        let plane = (self.first[axis] + i64::from(leaf)) as f64 * self.edge;
        let rounded = plane as f32;
        if f64::from(rounded) < plane {
            rounded.next_up()
        } else {
            rounded
        }
    }

    /// The largest coordinate of a leaf, nm.
    #[inline]
    pub(super) fn high(&self, axis: usize, leaf: u32) -> f32 {
        self.low(axis, leaf + 1).next_down()
    }
}

/// Floor of a number of less than 63 bits.
#[inline]
fn floor(number: f64) -> i64 {
    // Truncate, and step down if that rounded up.
    let towards_zero = number as i64;
    towards_zero - i64::from(towards_zero as f64 > number)
}

/// The smallest power of two that is not less than a positive length.
fn power_of_two(length: f64) -> f64 {
    /// Bits of the fraction.
    const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
    let exponent = length.to_bits() >> FRACTION;
    let below = f64::from_bits(exponent << FRACTION);
    if below < length { 2.0 * below } else { below }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_rounded_up_to_powers_of_two() {
        for (length, power) in [(1.0, 1.0), (1.1, 2.0), (0.3, 0.5), (4.0, 4.0), (5.0, 8.0)] {
            assert_eq!(power_of_two(length), power);
        }
    }

    #[test]
    fn a_coordinate_is_inside_its_leaf_at_any_offset() {
        for offset in [0.0_f32, -3.3, 1.0e3, -1.0e6, 1.0e12, -1.0e30] {
            for (size, side) in [(10.0_f32, 1.0), (1.0e5, 0.01), (0.0, 0.0), (1.0, 0.0)] {
                let (low, high) = (Vec3::splat(offset), Vec3::splat(offset + size));
                let lattice = Lattice::new([low, high], side);
                for k in 0..=100 {
                    let x = (low.x + size * 0.01 * k as f32).min(high.x);
                    let leaf = lattice.leaf(1, x);
                    assert!(leaf < 1 << lattice.bits, "{offset} {size} {x}");
                    assert!(lattice.low(1, leaf) <= x && x <= lattice.high(1, leaf));
                }
            }
        }
    }

    #[test]
    fn leaves_are_as_wide_as_boxes_up_to_the_maximum_depth() {
        let scene = [Vec3::ZERO, Vec3::splat(100.0)];
        let lattice = Lattice::new(scene, 1.0);
        assert_eq!((lattice.edge, lattice.bits), (2.0, 6));
        assert_eq!(Lattice::new(scene, 0.0).bits, MAX_BITS);
        assert_eq!(Lattice::new(scene, 1.0e9).bits, 0);
    }
}
