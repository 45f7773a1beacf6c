//! Mass and inertia of a molecule as the laws need them: inverted, in the world.

use glam::{Mat3, Vec3};

use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// Inverse mass and inverse world inertia of a molecule at its pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Centre of mass in the world, nm.
    pub centre: Vec3,
    /// Inverse mass, 1/Da.
    pub inverse_mass: f32,
    /// Inverse inertia tensor in the world frame, 1/(Da·nm²).
    pub inverse_inertia: Mat3,
}

impl Body {
    /// The body of `template` at `pose`.
    #[must_use]
    pub fn new(template: &MoleculeTemplate, pose: &Pose) -> Self {
        let axes = Mat3::from_quat(pose.rotation * template.principal_axes());
        let inverse = Mat3::from_diagonal(template.principal_inertia().recip());
        Self {
            centre: pose.position,
            inverse_mass: template.mass().recip(),
            inverse_inertia: axes * inverse * axes.transpose(),
        }
    }

    /// How far a unit push along `normal` at `lever` (from the centre of mass, nm)
    /// moves that point along `normal`: 1/m + (r × n)ᵀ I⁻¹ (r × n), in 1/Da.
    #[inline]
    #[must_use]
    pub fn mobility(&self, lever: Vec3, normal: Vec3) -> f32 {
        let turn = lever.cross(normal);
        self.inverse_mass + turn.dot(self.inverse_inertia * turn)
    }
}

impl Default for Body {
    /// A body that nothing moves.
    fn default() -> Self {
        Self {
            centre: Vec3::ZERO,
            inverse_mass: 0.0,
            inverse_inertia: Mat3::ZERO,
        }
    }
}
