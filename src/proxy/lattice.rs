//! Atoms on a lattice: where whole numbers are enough.
//!
//! Clusters must not depend on who computes them. Sums of floats depend on their order,
//! and products on whether the next addition is joined with them; whole numbers on
//! neither. With 15 bits an axis a squared distance fits 32 bits, which every GPU has.
//! The lattice only decides which atoms go together: a step is a thirty-thousandth part
//! of the molecule, and the spheres are made from the atoms themselves.

use glam::Vec3;

/// Steps of the lattice along an axis: 3 (2¹⁵ − 1)² is less than 2³².
pub const LATTICE_STEPS: u32 = (1 << 15) - 1;

/// A point of the lattice; no coordinate is more than [`LATTICE_STEPS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatticePoint(pub [u16; 3]);

impl LatticePoint {
    /// Squared distance, in squared steps.
    #[inline]
    #[must_use]
    pub fn squared_distance(self, other: Self) -> u32 {
        let square = |k: usize| {
            let apart = u32::from(self.0[k].abs_diff(other.0[k]));
            apart * apart
        };
        square(0) + square(1) + square(2)
    }
}

/// Puts `positions` on a lattice over their bounding cube. They must be finite.
pub(super) fn on_lattice(positions: &[Vec3]) -> Vec<LatticePoint> {
    let low = positions.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let high = positions
        .iter()
        .copied()
        .fold(Vec3::NEG_INFINITY, Vec3::max);
    let size = (high.as_dvec3() - low.as_dvec3()).max_element();
    let scale = if size > 0.0 {
        f64::from(LATTICE_STEPS) / size
    } else {
        0.0
    };
    let point = |position: &Vec3| {
        let steps = (position.as_dvec3() - low.as_dvec3()) * scale;
        LatticePoint(steps.to_array().map(|x| x.round() as u16))
    };
    positions.iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_of_the_cube_are_corners_of_the_lattice() {
        let points = on_lattice(&[Vec3::new(-3.0, 1.0, 7.0), Vec3::new(1.0, 5.0, 11.0)]);
        let most = LATTICE_STEPS as u16;
        assert_eq!(points, [LatticePoint([0; 3]), LatticePoint([most; 3])]);
        let exact = 3 * u64::from(LATTICE_STEPS) * u64::from(LATTICE_STEPS);
        assert_eq!(u64::from(points[0].squared_distance(points[1])), exact);
    }

    #[test]
    fn one_place_is_one_point() {
        let points = on_lattice(&[Vec3::splat(1.0e5); 4]);
        assert_eq!(points, [LatticePoint::default(); 4]);
        assert!(on_lattice(&[]).is_empty());
    }
}
