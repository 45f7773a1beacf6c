//! How much room there is around a molecule: a coarse map of distances.
//!
//! Most atoms of a molecule that is moved about are near nothing. The map tells so at the
//! price of one look: each voxel has a lower bound of the distance from any point in it to
//! the surface of any atom.

use glam::{IVec3, Vec3};

use super::molecule::corners;

/// Width of a voxel, nm, as long as there are not too many: about an atom's radius.
const VOXEL_NM: f32 = 0.1;

/// Longest distance that the map knows, nm: about an atom's diameter.
const LONGEST_NM: f32 = 0.35;

/// Most voxels: 16 MB.
const MOST_VOXELS: f64 = 16.0 * 1024.0 * 1024.0;

/// Steps that [`LONGEST_NM`] is divided into.
const STEPS: f32 = 255.0;

/// Lower bounds of the distance to the nearest surface.
#[derive(Clone, Debug)]
pub(super) struct DistanceField {
    low: Vec3,
    high: Vec3,
    voxel: f32,
    /// One over the width of a voxel, 1/nm.
    inverse_voxel: f32,
    counts: IVec3,
    /// In steps, rounded down.
    steps: Vec<u8>,
}

impl DistanceField {
    /// Measures the room around atoms with `positions` and `radii`, nm.
    pub fn new(positions: &[Vec3], radii: &[f32]) -> Self {
        let largest = radii.iter().copied().fold(0.0, f32::max);
        let edge = largest + LONGEST_NM;
        let [low, high] = corners(positions);
        let (low, high) = (low - edge, high + edge);
        let mut voxel = VOXEL_NM;
        let counts = |voxel: f32| {
            ((high - low) / voxel)
                .ceil()
                .as_dvec3()
                .max(glam::DVec3::ONE)
        };
        if positions.is_empty() {
            // Far from everything, everywhere.
            return Self {
                low: Vec3::ZERO,
                high: Vec3::ZERO,
                voxel,
                inverse_voxel: 1.0 / voxel,
                counts: IVec3::ZERO,
                steps: Vec::new(),
            };
        }
        while counts(voxel).element_product() > MOST_VOXELS {
            voxel *= 1.25;
        }
        let counts = counts(voxel).as_ivec3();
        let voxels = counts.to_array().map(|n| n as usize).iter().product();
        let mut map = Self {
            low,
            high,
            voxel,
            inverse_voxel: 1.0 / voxel,
            counts,
            steps: vec![STEPS as u8; voxels],
        };
        for (position, radius) in positions.iter().zip(radii) {
            map.come_near(*position, *radius);
        }
        map
    }

    /// Lowers the bounds around an atom.
    fn come_near(&mut self, center: Vec3, radius: f32) {
        // From the middle of a voxel to its corners, and a little for rounding.
        let diagonal = 0.5 * 3.0_f32.sqrt() * self.voxel * 1.001;
        let reach = radius + LONGEST_NM + diagonal;
        let first = self.voxel_at(center - reach).max(IVec3::ZERO);
        let last = self.voxel_at(center + reach).min(self.counts - 1);
        for z in first.z..=last.z {
            for y in first.y..=last.y {
                for x in first.x..=last.x {
                    let voxel = IVec3::new(x, y, z);
                    let middle = self.low + (voxel.as_vec3() + 0.5) * self.voxel;
                    let room = middle.distance(center) - diagonal - radius;
                    let steps = (room.max(0.0) * (STEPS / LONGEST_NM)).min(STEPS) as u8;
                    let number = self.number(voxel);
                    let known = &mut self.steps[number];
                    *known = (*known).min(steps);
                }
            }
        }
    }

    /// No surface is nearer to `point` than this, nm.
    #[inline]
    pub fn at(&self, point: Vec3) -> f32 {
        let voxel = self.voxel_at(point);
        let inside = voxel.cmpge(IVec3::ZERO).all() && voxel.cmplt(self.counts).all();
        if inside {
            f32::from(self.steps[self.number(voxel)]) * (LONGEST_NM / STEPS)
        } else if self.steps.is_empty() {
            f32::INFINITY
        } else {
            LONGEST_NM + point.distance(point.clamp(self.low, self.high))
        }
    }

    /// The voxel of a point. Rounds towards zero: what lies less than a voxel before the
    /// first one is taken for part of it, and has at least as much room.
    #[inline]
    fn voxel_at(&self, point: Vec3) -> IVec3 {
        ((point - self.low) * self.inverse_voxel).as_ivec3()
    }

    /// Number of a voxel of the map, x fastest.
    #[inline]
    fn number(&self, voxel: IVec3) -> usize {
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
    fn no_surface_is_nearer_than_the_map_says_and_the_map_is_not_far_off() {
        let mut random = Pcg64::seed_from_u64(1);
        let mut point =
            |side: f32| Vec3::from_array([(); 3].map(|()| random.random_range(-side..side)));
        let positions: Vec<Vec3> = (0..200).map(|_| point(1.0)).collect();
        let radii: Vec<f32> = (0..200).map(|k| 0.05 + 0.01 * (k % 15) as f32).collect();
        let map = DistanceField::new(&positions, &radii);
        for _ in 0..20_000 {
            let point = point(2.5);
            let nearest = positions
                .iter()
                .zip(&radii)
                .map(|(position, radius)| point.distance(*position) - radius)
                .fold(f32::INFINITY, f32::min);
            let known = map.at(point);
            assert!(known <= nearest.max(0.0), "{known} {nearest}");
            assert!(known >= nearest.min(LONGEST_NM) - 0.18, "{known} {nearest}");
        }
    }

    #[test]
    fn nothing_is_far_from_everything_and_odd_points_do_no_harm() {
        let nothing = DistanceField::new(&[], &[]);
        assert_eq!(nothing.at(Vec3::ONE), f32::INFINITY);
        let one = DistanceField::new(&[Vec3::ZERO], &[0.1]);
        assert_eq!(one.at(Vec3::ZERO), 0.0);
        assert!(one.at(Vec3::X * 1000.0) > 900.0);
        assert!(one.at(Vec3::INFINITY) > 0.0);
        let far = DistanceField::new(&[Vec3::splat(-1.0e5), Vec3::splat(1.0e5)], &[0.1, 0.1]);
        assert!(far.at(Vec3::splat(1.0e5)) == 0.0 && far.steps.len() <= MOST_VOXELS as usize);
    }
}
