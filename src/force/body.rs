//! Mass and inertia of a molecule as the laws need them: inverted, in the world.

use glam::{Mat3, Vec3};

use crate::compartment::sample_unit_sphere;
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// Inverse mass and inverse world inertia of a molecule at its pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Center of mass in the world, nm.
    pub center: Vec3,
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
            center: pose.position,
            inverse_mass: template.mass().recip(),
            inverse_inertia: axes * inverse * axes.transpose(),
        }
    }

    /// Unit vector from the center of `other` to the own center.
    ///
    /// Molecules with one and the same center have no such direction; theirs follows
    /// from their numbers, the same for both but for the sign.
    #[inline]
    #[must_use]
    pub fn direction_from(&self, other: &Self, [own, others]: [u32; 2]) -> Vec3 {
        (self.center - other.center)
            .try_normalize()
            .unwrap_or_else(|| arbitrary_direction(own, others))
    }

    /// How far a unit push along `normal` at `lever` (from the center of mass, nm)
    /// moves that point along `normal`: 1/m + (r × n)ᵀ I⁻¹ (r × n), in 1/Da.
    #[inline]
    #[must_use]
    pub fn mobility(&self, lever: Vec3, normal: Vec3) -> f32 {
        let turn = lever.cross(normal);
        self.inverse_mass + turn.dot(self.inverse_inertia * turn)
    }
}

/// Multipliers of the hash behind [`arbitrary_direction`]: odd numbers with well mixed bits.
pub(crate) const DIRECTION_HASH: [u32; 3] = [0x9e37_79b9, 0x85eb_ca6b, 0xc2b2_ae35];

/// A direction for two molecules that nothing tells apart: spread over the sphere by
/// their numbers, and opposite from the other side.
pub(crate) fn arbitrary_direction(own: u32, other: u32) -> Vec3 {
    let (low, high) = (own.min(other), own.max(other));
    // Two rounds of Knuth's multiplicative hash; the upper bits are the good ones.
    let [a, b, c] = DIRECTION_HASH;
    let first = (low.wrapping_mul(a) ^ high).wrapping_mul(b);
    let second = (first ^ first >> 15).wrapping_mul(c);
    let fraction = |bits: u32| (bits >> 8) as f32 / (1 << 24) as f32;
    let direction = sample_unit_sphere(fraction(first), fraction(second));
    if own < other { direction } else { -direction }
}

impl Default for Body {
    /// A body that nothing moves.
    fn default() -> Self {
        Self {
            center: Vec3::ZERO,
            inverse_mass: 0.0,
            inverse_inertia: Mat3::ZERO,
        }
    }
}
