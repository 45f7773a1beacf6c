//! Where space is cut: leaves of the tree as a lattice.
//!
//! The paper leaves open how large a leaf should be, and thinks of the scale of the scene
//! (section 7.3). Leaves a little wider than the boxes are best: narrower ones make more
//! pieces of boxes, wider ones more pairs that are not near.
//!
//! The edge of a leaf is a power of two, and planes are at its multiples. So the number of
//! a leaf is exact, and so is the coordinate of a plane: that a box is on one side of it
//! can be told from numbers of 32 bits, as they are.

use glam::DVec3;

use super::code::MOST_BITS;
use crate::search::boxes::BoxExtent;

/// Edge of a leaf, in mean sides of a box, before it becomes a power of two.
const SIDES_PER_LEAF: f64 = 1.5;

/// The leaves of a tree.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lattice {
    /// Edge of a leaf, nm; a power of two.
    pub(super) edge: f64,
    per_nm: f64,
    /// The leaf with the smallest coordinates, in leaves from the origin of the world.
    first: DVec3,
    /// Cuts along each axis.
    pub(super) bits: u32,
}

impl Lattice {
    /// Leaves for boxes within `extent` whose mean side is `side` nm; the smallest that
    /// codes can tell apart if that is zero.
    pub(super) fn new(extent: &BoxExtent, side: f64) -> Self {
        let (low, high) = (extent.low.as_dvec3(), extent.high.as_dvec3());
        let longest = (high - low).max_element();
        let furthest = low.abs().max(high.abs()).max_element();
        // Between the two there may be one leaf more than the length says.
        let least = longest / f64::from((1_u32 << MOST_BITS) - 1);
        // Numbers of leaves are exact in 64 bits.
        let exact = (furthest * f64::EPSILON).max(f64::from(f32::MIN_POSITIVE));
        let mut edge = power_of_two(least.max(exact).max(SIDES_PER_LEAF * side));
        loop {
            let lattice = Self {
                edge,
                per_nm: edge.recip(),
                first: (low * edge.recip()).floor(),
                bits: 0,
            };
            let last = ((high * lattice.per_nm).floor() - lattice.first).max_element();
            let bits = (last as u64).checked_ilog2().map_or(0, |bit| bit + 1);
            if bits <= MOST_BITS {
                return Self { bits, ..lattice };
            }
            edge *= 2.0;
        }
    }

    /// The leaf that a coordinate is in.
    ///
    /// Exact: multiples of powers of two are, and so is the difference of numbers this
    /// close.
    #[inline]
    pub(super) fn leaf(&self, axis: usize, coordinate: f32) -> u32 {
        ((f64::from(coordinate) * self.per_nm).floor() - self.first[axis]) as u32
    }

    /// The smallest coordinate of a leaf, nm.
    #[inline]
    pub(super) fn low(&self, axis: usize, leaf: u32) -> f32 {
        let plane = (self.first[axis] + f64::from(leaf)) * self.edge;
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

/// The power of two next to a positive length from above.
fn power_of_two(length: f64) -> f64 {
    /// Bits of the fraction of a number.
    const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
    let exponent = length.to_bits() >> FRACTION;
    let below = f64::from_bits(exponent << FRACTION);
    if below < length { 2.0 * below } else { below }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::boxes::BoxSet;
    use glam::Vec3;

    fn extent(low: Vec3, high: Vec3) -> BoxExtent {
        let mut boxes = BoxSet::new();
        boxes.push(low, high, 0).unwrap();
        boxes.extent().unwrap()
    }

    #[test]
    fn powers_of_two_are_next_from_above() {
        for (length, power) in [(1.0, 1.0), (1.1, 2.0), (0.3, 0.5), (4.0, 4.0), (5.0, 8.0)] {
            assert_eq!(power_of_two(length), power);
        }
    }

    #[test]
    fn a_coordinate_is_between_the_ends_of_its_leaf_wherever_it_is() {
        for offset in [0.0_f32, -3.3, 1.0e3, -1.0e6, 1.0e12, -1.0e30] {
            for (size, side) in [(10.0_f32, 1.0), (1.0e5, 0.01), (0.0, 0.0), (1.0, 0.0)] {
                let (low, high) = (Vec3::splat(offset), Vec3::splat(offset + size));
                let lattice = Lattice::new(&extent(low, high), side);
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
    fn leaves_are_as_wide_as_boxes_unless_there_would_be_too_many() {
        let scene = extent(Vec3::ZERO, Vec3::splat(100.0));
        let lattice = Lattice::new(&scene, 1.0);
        assert_eq!((lattice.edge, lattice.bits), (2.0, 6));
        assert_eq!(Lattice::new(&scene, 0.0).bits, MOST_BITS);
        assert_eq!(Lattice::new(&scene, 1.0e9).bits, 0);
    }
}
