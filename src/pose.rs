//! Position, rotation and motion of a rigid molecule.
//!
//! A [`Pose`] is plain data and not validated; functions that use one return an error unless it
//! [is rigid](Pose::is_rigid).

use std::f32::consts::TAU;

use glam::{DQuat, Quat, Vec3};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Tolerance of the squared length of a rotation quaternion.
const UNIT_TOLERANCE: f32 = 1.0e-3;

/// Position (nm) and rotation of a body frame in the world frame.
///
/// The origin of the body frame of a molecule is its center of mass, so `position` is also the
/// center of mass.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
/// use glam::{DQuat, Quat, Vec3};
///
/// let pose = Pose::new(Vec3::X, Quat::from_rotation_z(std::f32::consts::FRAC_PI_2));
/// let world = pose.transform_point(Vec3::X);
/// assert!(world.abs_diff_eq(Vec3::new(1.0, 1.0, 0.0), 1e-6));
/// assert!(pose.inverse_transform_point(world).abs_diff_eq(Vec3::X, 1e-6));
///
/// // The right factor is applied first, as with matrices.
/// let twice = pose * pose;
/// assert!(twice.position.abs_diff_eq(Vec3::new(1.0, 1.0, 0.0), 1e-6));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "plugin", derive(bevy::prelude::Reflect))]
pub struct Pose {
    /// Origin of the body frame in the world, nm.
    pub position: Vec3,
    /// Rotation from the body frame to the world frame.
    pub rotation: Quat,
}

impl Pose {
    /// The body frame is the world frame.
    pub const IDENTITY: Self = Self {
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
    };

    /// A pose with this position (nm) and rotation.
    #[must_use]
    pub const fn new(position: Vec3, rotation: Quat) -> Self {
        Self { position, rotation }
    }

    /// A pose without rotation.
    #[must_use]
    pub const fn from_translation(position: Vec3) -> Self {
        Self::new(position, Quat::IDENTITY)
    }

    /// The pose with a normalized rotation. One that is normalized already stays the same bit for
    /// bit.
    pub(crate) fn normalized_once(self) -> Self {
        // Bound on the error of a squared length after normalization: five roundings.
        let is_normalized = (self.rotation.length_squared() - 1.0).abs() <= 5.0 * f32::EPSILON;
        if is_normalized {
            return self;
        }
        Self::new(self.position, self.rotation.normalize())
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

    /// Whether all components are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.rotation.is_finite()
    }

    /// Whether the pose is finite and its rotation a unit quaternion, up to the rounding errors
    /// of a few simulation steps.
    #[must_use]
    pub fn is_rigid(&self) -> bool {
        let error = (self.rotation.length_squared() - 1.0).abs();
        self.is_finite() && error < UNIT_TOLERANCE
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

/// A translation along a straight line with a rotation at constant rate about the center of
/// mass, world frame. Default: none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RigidMotion {
    /// Translation of the center of mass, nm.
    pub translation: Vec3,
    /// Rotation vector: axis times angle in radian.
    pub rotation: Vec3,
}

impl RigidMotion {
    /// A pure translation, nm.
    #[must_use]
    pub const fn translation(translation: Vec3) -> Self {
        Self {
            translation,
            rotation: Vec3::ZERO,
        }
    }

    /// A pure rotation: axis times angle in radian.
    #[must_use]
    pub const fn rotation(rotation: Vec3) -> Self {
        Self {
            translation: Vec3::ZERO,
            rotation,
        }
    }

    /// The motion from one pose to another, by the shorter rotation.
    #[must_use]
    pub fn between(from: &Pose, to: &Pose) -> Self {
        let mut rotation: DQuat = to.rotation.as_dquat() * from.rotation.as_dquat().inverse();
        if rotation.w < 0.0 {
            rotation = -rotation;
        }
        Self {
            translation: to.position - from.position,
            rotation: rotation.normalize().to_scaled_axis().as_vec3(),
        }
    }

    /// The pose after a `fraction` of the motion from `start`.
    #[must_use]
    pub fn pose_at(&self, start: &Pose, fraction: f64) -> Pose {
        let turn = DQuat::from_scaled_axis(self.rotation.as_dvec3() * fraction);
        let rotation = (turn * start.rotation.as_dquat()).normalize();
        let offset = self.translation.as_dvec3() * fraction;
        Pose::new(
            (start.position.as_dvec3() + offset).as_vec3(),
            rotation.as_quat(),
        )
    }

    /// The motion times a factor.
    #[must_use]
    pub fn scaled(&self, factor: f32) -> Self {
        Self {
            translation: self.translation * factor,
            rotation: self.rotation * factor,
        }
    }

    /// Upper bound on the displacement of any point within `radius` nm of the center, nm.
    pub(crate) fn max_displacement(&self, radius: f32) -> f32 {
        self.translation.length() + self.rotation.length() * radius
    }

    /// Whether all components are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite()
    }
}

/// A uniformly distributed rotation (Shoemake 1992).
pub(crate) fn random_rotation(random: &mut impl Rng) -> Quat {
    let [u, v, w] = [(); 3].map(|()| random.random::<f32>());
    let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
    let (v, w) = (TAU * v, TAU * w);
    Quat::from_xyzw(a * v.sin(), a * v.cos(), b * w.sin(), b * w.cos()).normalize()
}
