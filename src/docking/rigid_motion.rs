//! A motion of a rigid molecule, and where it is on the way.

use glam::{DQuat, DVec3, Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::DockingError;
use crate::pose::Pose;

/// A motion along a straight line with a rotation at constant speed about the molecule's
/// center of mass, both in the world frame. Default: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RigidMotion {
    /// How far the center moves, nm.
    pub translation: Vec3,
    /// Axis of the rotation times its angle in radian.
    pub rotation: Vec3,
}

impl RigidMotion {
    /// A motion without a rotation, nm.
    #[must_use]
    pub const fn translation(translation: Vec3) -> Self {
        Self {
            translation,
            rotation: Vec3::ZERO,
        }
    }

    /// A rotation about the center: its axis times its angle in radian.
    #[must_use]
    pub const fn rotation(rotation: Vec3) -> Self {
        Self {
            translation: Vec3::ZERO,
            rotation,
        }
    }

    /// Where a molecule that began at `start` is after a `fraction` of the motion.
    #[must_use]
    pub fn pose_at(&self, start: &Pose, fraction: f64) -> Pose {
        let turned = DQuat::from_scaled_axis(self.rotation.as_dvec3() * fraction);
        let rotation = (turned * start.rotation.as_dquat()).normalize();
        let moved = self.translation.as_dvec3() * fraction;
        Pose::new(
            (start.position.as_dvec3() + moved).as_vec3(),
            rotation.as_quat(),
        )
    }

    /// A part of it.
    #[must_use]
    pub fn scaled(&self, factor: f32) -> Self {
        Self {
            translation: self.translation * factor,
            rotation: self.rotation * factor,
        }
    }

    /// Whether every number is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite()
    }
}

/// A molecule that moves while another stands still, in the frame of the latter.
pub(super) struct RelativeMotion {
    /// Where its center begins, nm.
    pub start: DVec3,
    /// How it is turned there.
    pub rotation: DQuat,
    /// How far the center moves, nm.
    pub velocity: DVec3,
    /// Axis of the rotation times its angle in radian.
    pub spin: DVec3,
}

impl RelativeMotion {
    /// The `motion` of a molecule at `moving` as one at `fixed` sees it.
    pub fn new(moving: &Pose, fixed: &Pose, motion: &RigidMotion) -> Result<Self, DockingError> {
        let poses = [
            ("pose of the moved molecule", moving),
            ("pose of the other molecule", fixed),
        ];
        if let Some((what, _)) = poses.into_iter().find(|(_, pose)| !pose.is_rigid()) {
            return Err(DockingError::BadPose { what });
        }
        if !motion.is_finite() {
            return Err(DockingError::NotFinite { what: "motion" });
        }
        let to_frame = unit(fixed.rotation).inverse();
        Ok(Self {
            start: to_frame * (moving.position.as_dvec3() - fixed.position.as_dvec3()),
            rotation: to_frame * unit(moving.rotation),
            velocity: to_frame * motion.translation.as_dvec3(),
            spin: to_frame * motion.rotation.as_dvec3(),
        })
    }
}

fn unit(rotation: Quat) -> DQuat {
    rotation.as_dquat().normalize()
}
