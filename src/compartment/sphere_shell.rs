//! The sphere: mid-surface of a vesicle.

use std::f32::consts::PI;
use std::sync::Arc;

use glam::Vec3;
use rand::{Rng, RngExt};

use super::{CompartmentError, Surface, SurfacePoint, checked_pose, direction, sample_unit_sphere};
use crate::pose::Pose;

/// A spherical surface, such as the mid-surface between two leaflets.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// let vesicle = SphereShell::new(Vec3::ZERO, 5.2)?;
/// let head = Vec3::Y * 7.0;
/// assert!((vesicle.signed_distance(head) - 1.8).abs() < 1e-5, "outside of it, nm");
/// assert_eq!(vesicle.normal(head), Vec3::Y);
/// // The outer leaflet has more room than the inner one.
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
    /// [`CompartmentError`] if the radius is not positive or something is not finite.
    pub fn new(center: Vec3, radius: f32) -> Result<Self, CompartmentError> {
        if !center.is_finite() {
            return Err(CompartmentError::BadCenter { center });
        }
        if !(radius.is_finite() && radius > 0.0) {
            return Err(CompartmentError::BadRadius { radius });
        }
        Ok(Self { center, radius })
    }

    /// Radius, nm.
    #[must_use]
    pub fn radius(&self) -> f32 {
        self.radius
    }
}

impl Surface for SphereShell {
    fn signed_distance(&self, point: Vec3) -> f32 {
        point.distance(self.center) - self.radius
    }

    fn normal(&self, point: Vec3) -> Vec3 {
        // At the very center every direction is as good as another.
        direction(point - self.center).unwrap_or(Vec3::Y)
    }

    fn surface(&self, point: Vec3) -> SurfacePoint {
        let arm = point - self.center;
        let length = arm.length();
        SurfacePoint {
            distance: length - self.radius,
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

    fn at(&self, pose: &Pose) -> Result<Arc<dyn Surface>, CompartmentError> {
        let pose = checked_pose(pose)?;
        Ok(Arc::new(Self {
            center: pose.position,
            radius: self.radius,
        }))
    }
}
