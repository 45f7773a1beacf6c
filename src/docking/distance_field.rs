//! A coarse distance field around a molecule.
//!
//! Most atoms of a moving molecule are far from the other one. The field shows this with one
//! lookup: each voxel has a lower bound on the distance from any point in it to the surface of
//! any atom.

use glam::{DVec3, IVec3, Vec3};

use super::molecule::bounding_box;

/// Voxel size, nm: about the radius of an atom. Large molecules get larger voxels.
const VOXEL_NM: f32 = 0.1;

/// Largest stored distance, nm: about the diameter of an atom.
const MAX_DISTANCE_NM: f32 = 0.35;

/// Maximum number of voxels: 16 MB.
const MAX_VOXELS: f64 = 16.0 * 1024.0 * 1024.0;

/// Number of quantization steps of [`MAX_DISTANCE_NM`].
const STEPS: f32 = 255.0;

/// Lower bounds on the distance to the nearest atom surface. Default: no atoms.
#[derive(Clone, Debug, Default)]
pub(super) struct DistanceField {
    low: Vec3,
    high: Vec3,
    voxel: f32,
    /// 1 / voxel size, 1/nm.
    inverse_voxel: f32,
    counts: IVec3,
    /// Quantized distances, rounded down.
    steps: Vec<u8>,
}

impl DistanceField {
    /// The field of atoms with `positions` and `radii`, nm.
    pub(super) fn new(positions: &[Vec3], radii: &[f32]) -> Self {
        let mut voxel = VOXEL_NM;
        if positions.is_empty() {
            return Self::default();
        }
        let max_radius = radii.iter().copied().fold(0.0, f32::max);
        let margin = max_radius + MAX_DISTANCE_NM;
        let [low, high] = bounding_box(positions);
        let (low, high) = (low - margin, high + margin);
        let counts = |voxel: f32| ((high - low) / voxel).ceil().as_dvec3().max(DVec3::ONE);
        while counts(voxel).element_product() > MAX_VOXELS {
            voxel *= 1.25;
        }
        let counts = counts(voxel).as_ivec3();
        let voxels = counts.to_array().map(|n| n as usize).iter().product();
        let mut field = Self {
            low,
            high,
            voxel,
            inverse_voxel: 1.0 / voxel,
            counts,
            steps: vec![STEPS as u8; voxels],
        };
        for (position, radius) in positions.iter().zip(radii) {
            field.add_atom(*position, *radius);
        }
        field
    }

    /// Lowers the bounds around an atom.
    fn add_atom(&mut self, center: Vec3, radius: f32) {
        // From the center of a voxel to its corners, with a margin for rounding.
        let diagonal = 0.5 * 3.0_f32.sqrt() * self.voxel * 1.001;
        let reach = radius + MAX_DISTANCE_NM + diagonal;
        let first = self.voxel_at(center - reach).max(IVec3::ZERO);
        let last = self.voxel_at(center + reach).min(self.counts - 1);
        for z in first.z..=last.z {
            for y in first.y..=last.y {
                for x in first.x..=last.x {
                    let voxel = IVec3::new(x, y, z);
                    let middle = self.low + (voxel.as_vec3() + 0.5) * self.voxel;
                    let distance = middle.distance(center) - diagonal - radius;
                    let steps = (distance.max(0.0) * (STEPS / MAX_DISTANCE_NM)).min(STEPS) as u8;
                    let index = self.index(voxel);
                    let bound = &mut self.steps[index];
                    *bound = (*bound).min(steps);
                }
            }
        }
    }

    /// Lower bound on the distance from a point to the nearest surface, nm.
    #[inline]
    pub(super) fn at(&self, point: Vec3) -> f32 {
        let voxel = self.voxel_at(point);
        let is_inside = voxel.cmpge(IVec3::ZERO).all() && voxel.cmplt(self.counts).all();
        if is_inside {
            f32::from(self.steps[self.index(voxel)]) * (MAX_DISTANCE_NM / STEPS)
        } else if self.steps.is_empty() {
            f32::INFINITY
        } else {
            MAX_DISTANCE_NM + point.distance(point.clamp(self.low, self.high))
        }
    }

    /// The voxel of a point. Truncation maps points less than a voxel below the field to its
    /// first voxel; their distance is at least as large.
    #[inline]
    fn voxel_at(&self, point: Vec3) -> IVec3 {
        ((point - self.low) * self.inverse_voxel).as_ivec3()
    }

    /// Index of a voxel, x fastest.
    #[inline]
    fn index(&self, voxel: IVec3) -> usize {
        let [x, y, z] = voxel.to_array().map(|k| k as usize);
        let [nx, ny] = [self.counts.x, self.counts.y].map(|k| k as usize);
        (z * ny + y) * nx + x
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    #[test]
    fn field_is_a_tight_lower_bound() {
        let mut random = Pcg64::seed_from_u64(1);
        let mut point =
            |side: f32| Vec3::from_array([(); 3].map(|()| random.random_range(-side..side)));
        let positions: Vec<Vec3> = (0..200).map(|_| point(1.0)).collect();
        let radii: Vec<f32> = (0..200).map(|k| 0.05 + 0.01 * (k % 15) as f32).collect();
        let field = DistanceField::new(&positions, &radii);
        for _ in 0..20_000 {
            let point = point(2.5);
            let nearest = positions
                .iter()
                .zip(&radii)
                .map(|(position, radius)| point.distance(*position) - radius)
                .fold(f32::INFINITY, f32::min);
            let bound = field.at(point);
            assert!(bound <= nearest.max(0.0), "{bound} {nearest}");
            assert!(
                bound >= nearest.min(MAX_DISTANCE_NM) - 0.18,
                "{bound} {nearest}"
            );
        }
    }

    #[test]
    fn empty_fields_and_extreme_points_work() {
        let empty = DistanceField::new(&[], &[]);
        assert_eq!(empty.at(Vec3::ONE), f32::INFINITY);
        let one = DistanceField::new(&[Vec3::ZERO], &[0.1]);
        assert_eq!(one.at(Vec3::ZERO), 0.0);
        assert!(one.at(Vec3::X * 1000.0) > 900.0);
        assert!(one.at(Vec3::INFINITY) > 0.0);
        let far = DistanceField::new(&[Vec3::splat(-1.0e5), Vec3::splat(1.0e5)], &[0.1, 0.1]);
        assert!(far.at(Vec3::splat(1.0e5)) == 0.0 && far.steps.len() <= MAX_VOXELS as usize);
    }
}
