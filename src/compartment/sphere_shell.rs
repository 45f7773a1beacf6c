//! [`SphereShell`]: the mid-surface of a vesicle.

use std::f32::consts::{PI, TAU};
use std::sync::Arc;

use glam::{Quat, Vec3};
use rand::{Rng, RngExt};

use super::{CompartmentError, DistanceAndNormal, Surface, checked_pose, direction};
use crate::fibonacci_sphere::direction_of_many;
use crate::pose::Pose;

/// A spherical surface, such as the mid-surface between two leaflets.
///
/// ```
/// use bevy_rapier_molecules::compartment::{SphereShell, Surface};
/// use glam::Vec3;
///
/// let vesicle = SphereShell::new(Vec3::ZERO, 5.2)?;
/// let head = Vec3::Y * 7.0;
/// assert!((vesicle.signed_distance(head) - 1.8).abs() < 1e-5, "nm outside the mid-surface");
/// assert_eq!(vesicle.normal(head), Vec3::Y);
/// // The outer leaflet has a larger area than the inner one.
/// assert!(vesicle.area_at(1.8) > vesicle.area_at(-1.8), "nm²");
/// # Ok::<(), bevy_rapier_molecules::compartment::CompartmentError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SphereShell {
    center: Vec3,
    radius: f32,
}

impl SphereShell {
    /// A sphere around `center` (nm) with `radius` (nm).
    ///
    /// # Errors
    /// [`CompartmentError`] if the center is not finite or the radius is not positive and
    /// finite.
    pub fn new(center: Vec3, radius: f32) -> Result<Self, CompartmentError> {
        let center = checked_pose(&Pose::from_translation(center))?.position;
        CompartmentError::check_positive(&[("radius", radius)])?;
        Ok(Self { center, radius })
    }
}

impl Surface for SphereShell {
    fn distance_and_normal(&self, point: Vec3) -> DistanceAndNormal {
        let arm = point - self.center;
        DistanceAndNormal {
            distance: arm.length() - self.radius,
            // At the center, all directions are equally good.
            normal: direction(arm).unwrap_or(Vec3::Y),
        }
    }

    fn center(&self) -> Vec3 {
        self.center
    }

    fn area_at(&self, offset: f32) -> f32 {
        4.0 * PI * (self.radius + offset).max(0.0).powi(2)
    }

    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        let direction = sample_unit_sphere(random.random(), random.random());
        self.center + direction * (self.radius + offset).max(0.0)
    }

    fn volume(&self) -> Option<f32> {
        Some(4.0 / 3.0 * PI * self.radius.powi(3))
    }

    /// A spiral that is rotated at random.
    fn even_pattern(&self, offset: f32, count: usize, random: &mut dyn Rng) -> Option<Vec<Vec3>> {
        let pole = sample_unit_sphere(random.random(), random.random());
        let around = Quat::from_axis_angle(Vec3::Z, TAU * random.random::<f32>());
        let rotation = Quat::from_rotation_arc(Vec3::Z, pole) * around;
        let radius = (self.radius + offset).max(0.0);
        let count = u32::try_from(count).ok()?;
        let points =
            (0..count).map(|k| self.center + rotation * direction_of_many(k, count) * radius);
        Some(points.collect())
    }

    fn as_sphere(&self) -> Option<(Vec3, f32)> {
        Some((self.center, self.radius))
    }

    fn pose(&self) -> Option<Pose> {
        Some(Pose::from_translation(self.center))
    }

    fn with_pose(&self, pose: &Pose) -> Result<Arc<dyn Surface>, CompartmentError> {
        let center = checked_pose(pose)?.position;
        Ok(Arc::new(Self { center, ..*self }))
    }
}

/// A uniformly distributed point of the unit sphere from two numbers in `[0, 1)`, by the
/// inversion method (Pauschenwein 2022, Algorithm 4.2).
///
/// The polar angle is the inverse of its distribution function, φ = acos(2 r₂ − 1), which makes
/// every area equally likely.
#[must_use]
pub(crate) fn sample_unit_sphere(r1: f32, r2: f32) -> Vec3 {
    from_angles(TAU * r1, (2.0 * r2 - 1.0).clamp(-1.0, 1.0).acos())
}

fn from_angles(theta: f32, phi: f32) -> Vec3 {
    Vec3::new(phi.sin() * theta.cos(), phi.sin() * theta.sin(), phi.cos())
}

#[cfg(test)]
mod tests {
    use std::f32::consts::{PI, TAU};

    use super::*;
    use rand::SeedableRng;

    const SAMPLES: usize = 100_000;

    /// The wrong way (Algorithm 4.1): with a uniform polar angle, points cluster at the poles.
    fn clustered(r1: f32, r2: f32) -> Vec3 {
        from_angles(TAU * r1, PI * r2)
    }

    /// Pearson's χ² of 50 belts of equal area: about 49 ± 10 if uniform.
    fn chi_squared(sample: fn(f32, f32) -> Vec3) -> f64 {
        const BELTS: usize = 50;
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(1);
        let mut counts = [0_usize; BELTS];
        for _ in 0..SAMPLES {
            let point = sample(random.random(), random.random());
            assert!((point.length() - 1.0).abs() < 1.0e-5);
            // Archimedes: belts of equal height have equal area.
            let belt = ((point.z + 1.0) / 2.0 * BELTS as f32) as usize;
            counts[belt.min(BELTS - 1)] += 1;
        }
        let expected = SAMPLES as f64 / BELTS as f64;
        counts
            .iter()
            .map(|&count| (count as f64 - expected).powi(2) / expected)
            .sum()
    }

    #[test]
    fn inversion_is_uniform_and_simple_sampling_is_not() {
        // 49 degrees of freedom: 85.4 is exceeded once in a thousand.
        assert!(chi_squared(sample_unit_sphere) < 85.4);
        assert!(chi_squared(clustered) > 10_000.0);
    }

    #[test]
    fn corners_of_the_unit_square_map_to_the_poles() {
        assert!((sample_unit_sphere(0.0, 0.0) + Vec3::Z).length() < 1.0e-6);
        assert!((sample_unit_sphere(0.25, 0.5) - Vec3::Y).length() < 1.0e-6);
        assert!((clustered(0.0, 0.0) - Vec3::Z).length() < 1.0e-6);
    }
}
