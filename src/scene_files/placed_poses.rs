//! [`PlacedPoses`]: poses as they are written, checked and inside the periodic box.

use glam::{DVec3, Quat};

use super::{Scene, SceneKind};
use crate::export::{ExportError, ExportOptions};
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;

/// Checks poses, and moves molecules by edges of the periodic box until their centers of mass are
/// inside.
pub(super) struct PlacedPoses {
    periodic_box: Option<PeriodicBox>,
    /// Lowest corner of the periodic box, nm.
    low: DVec3,
}

impl PlacedPoses {
    /// The box is that of the options, else that of the scene.
    pub fn new(scene: &Scene, options: &ExportOptions) -> Self {
        let periodic_box = options.periodic_box.or(scene.periodic_box);
        Self {
            periodic_box: periodic_box.filter(|_| options.wrap),
            low: scene.bounds.map_or(DVec3::ZERO, |[low, _]| low.as_dvec3()),
        }
    }

    /// Position (nm) and rotation of molecule `index`.
    pub fn place(
        &self,
        index: usize,
        kind: &SceneKind,
        pose: Pose,
    ) -> Result<(DVec3, Quat), ExportError> {
        if !pose.is_rigid() {
            return Err(ExportError::InvalidPose {
                molecule: index,
                name: kind.name.clone(),
            });
        }
        let mut position = pose.position.as_dvec3();
        if let Some(periodic) = &self.periodic_box {
            let image = periodic.image_of(position - self.low);
            position -= periodic.exact_shift(image);
        }
        Ok((position, pose.normalized_once().rotation))
    }
}
