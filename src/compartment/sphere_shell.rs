//! [`SphereShell`]: the mid-surface of a vesicle.

use std::f32::consts::PI;
use std::sync::Arc;

use glam::Vec3;
use rand::{Rng, RngExt};

use super::{
    CompartmentError, DistanceAndNormal, Surface, checked_pose, direction, sample_unit_sphere,
};
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

    fn as_sphere(&self) -> Option<(Vec3, f32)> {
        Some((self.center, self.radius))
    }

    fn with_pose(&self, pose: &Pose) -> Result<Arc<dyn Surface>, CompartmentError> {
        let center = checked_pose(pose)?.position;
        Ok(Arc::new(Self { center, ..*self }))
    }
}
