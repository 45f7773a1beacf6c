//! Where a rigid molecule is: position and rotation of its body frame in the world.
//!
//! Positions are nm, rotations unit quaternions. A [`Pose`] is plain data and holds whatever it
//! is given; rooms that take one refuse it with an error unless it
//! [is rigid](Pose::is_rigid).

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

/// How far the squared length of a rotation quaternion may be from one.
const UNIT_TOLERANCE: f32 = 1.0e-3;

/// Position (nm) and rotation of a body frame in the world frame.
///
/// The body frame of a molecule has its center of mass at the origin, so
/// `position` is also the center of mass.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
/// use glam::{Quat, Vec3};
///
/// let pose = Pose::new(Vec3::X, Quat::from_rotation_z(std::f32::consts::FRAC_PI_2));
/// let there = pose.transform_point(Vec3::X);
/// assert!(there.abs_diff_eq(Vec3::new(1.0, 1.0, 0.0), 1e-6));
/// assert!(pose.inverse_transform_point(there).abs_diff_eq(Vec3::X, 1e-6));
///
/// // Poses are chained like matrices: the right one is applied first.
/// let twice = pose * pose;
/// assert!(twice.position.abs_diff_eq(Vec3::new(1.0, 1.0, 0.0), 1e-6));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Origin of the body frame in the world, nm.
    pub position: Vec3,
    /// Rotation from the body frame to the world frame.
    pub rotation: Quat,
}

impl Pose {
    /// The body frame coincides with the world frame.
    pub const IDENTITY: Self = Self {
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
    };

    /// A pose from its two parts.
    #[must_use]
    pub const fn new(position: Vec3, rotation: Quat) -> Self {
        Self { position, rotation }
    }

    /// A pose that only shifts, by `position` nm.
    #[must_use]
    pub const fn from_translation(position: Vec3) -> Self {
        Self::new(position, Quat::IDENTITY)
    }

    /// World position (nm) of a body-frame point (nm).
    #[inline]
    #[must_use]
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        self.rotation * point + self.position
    }

    /// Body-frame position (nm) of a world point (nm).
    #[inline]
    #[must_use]
    pub fn inverse_transform_point(&self, point: Vec3) -> Vec3 {
        self.rotation.inverse() * (point - self.position)
    }

    /// Whether every component is a finite number.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.rotation.is_finite()
    }

    /// Whether it is finite, and its rotation is one: a unit quaternion, give or take what
    /// some steps of a simulation round.
    #[must_use]
    pub fn is_rigid(&self) -> bool {
        let off_unit = (self.rotation.length_squared() - 1.0).abs();
        self.is_finite() && off_unit < UNIT_TOLERANCE
    }
}

impl std::ops::Mul for Pose {
    type Output = Self;

    /// The pose that applies `inner` first and `self` second.
    fn mul(self, inner: Self) -> Self {
        Self::new(
            self.transform_point(inner.position),
            (self.rotation * inner.rotation).normalize(),
        )
    }
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}
