//! Rigid motions, in the world and relative to another molecule.

use glam::{DQuat, DVec3, Vec3};

use super::DockingError;
use crate::pose::Pose;

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
    pub(super) fn max_displacement(&self, radius: f32) -> f32 {
        self.translation.length() + self.rotation.length() * radius
    }

    /// Whether all components are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite()
    }
}

/// A motion in the frame of another molecule, which is fixed.
pub(super) struct RelativeMotion {
    /// Center at the start, nm.
    pub start: DVec3,
    /// Rotation at the start.
    pub rotation: DQuat,
    /// Translation of the center, nm.
    pub velocity: DVec3,
    /// Rotation vector, radian.
    pub spin: DVec3,
}

impl RelativeMotion {
    /// The `motion` of a molecule at `moving` in the frame of a molecule at `fixed`.
    pub(super) fn new(
        moving: &Pose,
        fixed: &Pose,
        motion: &RigidMotion,
    ) -> Result<Self, DockingError> {
        for (what, pose) in [
            ("pose of the moving molecule", moving),
            ("pose of the other molecule", fixed),
        ] {
            if !pose.is_rigid() {
                return Err(DockingError::BadPose { what });
            }
        }
        if !motion.is_finite() {
            return Err(DockingError::NotFinite);
        }
        let to_frame = fixed.rotation.as_dquat().normalize().inverse();
        Ok(Self {
            start: to_frame * (moving.position.as_dvec3() - fixed.position.as_dvec3()),
            rotation: to_frame * moving.rotation.as_dquat().normalize(),
            velocity: to_frame * motion.translation.as_dvec3(),
            spin: to_frame * motion.rotation.as_dvec3(),
        })
    }
}
