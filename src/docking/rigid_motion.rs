//! Rigid motions relative to another molecule.

use glam::{DQuat, DVec3};

use super::DockingError;
use crate::pose::{Pose, RigidMotion};

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
