//! [`CutPlane`]: hides a part of the scene.

use bevy::math::Ray3d;
use bevy::prelude::*;

/// A plane beyond which molecules are hidden, by their centers of mass. They are packed all the
/// same.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct CutPlane {
    /// Whether anything is hidden. Default: no.
    pub enabled: bool,
    /// Direction of the hidden side. Default: z.
    pub normal: Dir3,
    /// Distance of the plane from the origin along the normal, nm. Default: 0.
    pub offset: f32,
}

impl Default for CutPlane {
    fn default() -> Self {
        Self {
            enabled: false,
            normal: Dir3::Z,
            offset: 0.0,
        }
    }
}

impl CutPlane {
    /// Whether a molecule with this center of mass, nm, is hidden.
    #[must_use]
    pub fn hides(&self, center: Vec3) -> bool {
        self.enabled && center.dot(*self.normal) > self.offset
    }

    /// The distance along a ray at which it is on the visible side: 0 if it begins there, none if
    /// it never is or nothing is hidden.
    pub(super) fn entry(&self, ray: Ray3d) -> Option<f32> {
        if !self.enabled {
            return None;
        }
        let above = ray.origin.dot(*self.normal) - self.offset;
        if above <= 0.0 {
            return Some(0.0);
        }
        let descent = -ray.direction.dot(*self.normal);
        (descent > 0.0).then(|| above / descent)
    }
}
