//! [`Torus`]: the surface of a ring.

use std::f32::consts::{PI, TAU};
use std::sync::Arc;

use glam::{Vec2, Vec3};
use rand::{Rng, RngExt};

use super::{CompartmentError, DistanceAndNormal, Surface, checked_pose};
use crate::pose::Pose;

/// The surface of a ring: all points at the minor radius from a circle with the major radius,
/// which lies in the xy plane of its own frame.
///
/// Exact: distances, normals, areas and samples at all offsets. Where the minor radius plus the
/// offset exceeds the major radius, the ring has no hole: what remains is the outer part of a
/// self-intersecting torus, without the spindle inside. The center is in the hole, outside the
/// volume.
///
/// ```
/// use bevy_rapier_molecules::compartment::{Surface, Torus};
/// use bevy_rapier_molecules::pose::Pose;
/// use glam::Vec3;
///
/// let ring = Torus::new(10.0, 4.0, Pose::IDENTITY)?;
/// assert_eq!(ring.signed_distance(Vec3::ZERO), 6.0, "nm: the hole is outside");
/// assert_eq!(ring.normal(Vec3::X * 5.0), Vec3::NEG_X);
/// assert_eq!(ring.normal(Vec3::X * 15.0), Vec3::X);
/// # Ok::<(), bevy_rapier_molecules::compartment::CompartmentError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Torus {
    major: f32,
    minor: f32,
    pose: Pose,
}

impl Torus {
    /// A torus about the z axis of `pose`, with the radius `major` (nm) of its central circle and
    /// the radius `minor` (nm) of its tube.
    ///
    /// # Errors
    /// [`CompartmentError`] if a radius is not positive and finite, the minor one is not smaller
    /// than the major one, or the pose is invalid.
    pub fn new(major: f32, minor: f32, pose: Pose) -> Result<Self, CompartmentError> {
        CompartmentError::check_positive(&[("major radius", major), ("minor radius", minor)])?;
        if minor >= major {
            return Err(CompartmentError::BadExtent {
                what: "minor radius",
                allowed: "smaller than the major radius",
                value: minor,
            });
        }
        let pose = checked_pose(&pose)?;
        Ok(Self { major, minor, pose })
    }

    /// Radius of the central circle, nm.
    #[must_use]
    pub fn major_radius(&self) -> f32 {
        self.major
    }

    /// Radius of the tube, nm.
    #[must_use]
    pub fn minor_radius(&self) -> f32 {
        self.minor
    }
}

impl Surface for Torus {
    fn distance_and_normal(&self, point: Vec3) -> DistanceAndNormal {
        let local = self.pose.inverse_transform_point(point);
        let across = super::direction(Vec3::new(local.x, local.y, 0.0));
        // On the axis, all points of the circle are equally close.
        let across = across.unwrap_or(Vec3::X);
        let arm = across * (local.dot(across) - self.major) + Vec3::Z * local.z;
        // On the circle, all directions of its tube are equally good.
        let normal = super::direction(arm).unwrap_or(Vec3::Z);
        DistanceAndNormal {
            distance: arm.length() - self.minor,
            normal: self.pose.rotation * normal,
        }
    }

    fn center(&self) -> Vec3 {
        self.pose.position
    }

    fn area_at(&self, offset: f32) -> f32 {
        let tube = (self.minor + offset).max(0.0);
        if tube <= self.major {
            return 2.0 * TAU * PI * self.major * tube;
        }
        // Only the part of the tube on its own side of the axis: R + ρ cos φ > 0.
        let widest = (-self.major / tube).acos();
        2.0 * TAU * tube * (self.major * widest + tube * widest.sin())
    }

    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        let tube = (self.minor + offset).max(0.0);
        // The area is proportional to the distance from the axis. At least 1/π of
        // the tries are accepted.
        let arm = loop {
            let arm = Vec2::from_angle(TAU * random.random::<f32>()) * tube;
            let accepted = random.random::<f32>() * (self.major + tube) < self.major + arm.x;
            if accepted || !tube.is_finite() {
                break arm;
            }
        };
        let around = Vec2::from_angle(TAU * random.random::<f32>());
        let local = (around * (self.major + arm.x)).extend(arm.y);
        self.pose.transform_point(local)
    }

    /// 2π² R r² (Pappus).
    fn volume(&self) -> Option<f32> {
        Some(2.0 * PI * PI * self.major * self.minor * self.minor)
    }

    fn pose(&self) -> Option<Pose> {
        Some(self.pose)
    }

    fn with_pose(&self, pose: &Pose) -> Result<Arc<dyn Surface>, CompartmentError> {
        let pose = checked_pose(pose)?;
        Ok(Arc::new(Self { pose, ..*self }))
    }
}
