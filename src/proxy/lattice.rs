//! Integer coordinates for clustering.
//!
//! Clusters must not depend on the backend. Sums of floats depend on their order and on fused
//! multiply-add; integers do not. With 15 bits per axis a squared distance fits into 32 bits,
//! which every GPU supports. The lattice only determines which atoms form a cluster: a step is
//! 1/32767 of the size of the molecule, and the spheres are computed from the atoms themselves.

use glam::Vec3;

/// Steps of the lattice along an axis; 3 (2¹⁵ − 1)² < 2³².
pub const LATTICE_STEPS: u32 = (1 << 15) - 1;

/// A lattice point with coordinates of at most [`LATTICE_STEPS`].
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

/// Rounds finite `positions` to a lattice over their bounding cube.
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
    fn the_bounding_cube_maps_to_the_corners_of_the_lattice() {
        let points = on_lattice(&[Vec3::new(-3.0, 1.0, 7.0), Vec3::new(1.0, 5.0, 11.0)]);
        let max = LATTICE_STEPS as u16;
        assert_eq!(points, [LatticePoint([0; 3]), LatticePoint([max; 3])]);
        let exact = 3 * u64::from(LATTICE_STEPS) * u64::from(LATTICE_STEPS);
        assert_eq!(u64::from(points[0].squared_distance(points[1])), exact);
    }

    #[test]
    fn coincident_positions_map_to_one_point() {
        let points = on_lattice(&[Vec3::splat(1.0e5); 4]);
        assert_eq!(points, [LatticePoint::default(); 4]);
        assert!(on_lattice(&[]).is_empty());
    }
}
