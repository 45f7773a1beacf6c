//! [`Body`]: inverse mass and inertia of a molecule, with its [`Velocity`] and the [`Impulse`]s
//! that change it.

use glam::{Mat3, Vec3};

use crate::compartment::sample_unit_sphere;
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// Inverse mass and inverse world inertia of a molecule at its pose.
///
/// The default has infinite mass and inertia: nothing moves it.
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
    /// If the centers coincide, the direction is derived from the indices of the two molecules,
    /// and is opposite for the other molecule.
    #[inline]
    #[must_use]
    pub fn direction_from(&self, other: &Self, [own_index, other_index]: [u32; 2]) -> Vec3 {
        (self.center - other.center)
            .try_normalize()
            .unwrap_or_else(|| arbitrary_direction(own_index, other_index))
    }

    /// Whether nothing moves it.
    #[inline]
    pub(crate) fn is_fixed(&self) -> bool {
        self.inverse_mass == 0.0
    }

    /// Displacement along `normal` of the point at `lever` (from the center of mass, nm) per
    /// unit push along `normal` there: 1/m + (r × n)ᵀ I⁻¹ (r × n), in 1/Da.
    #[inline]
    #[must_use]
    pub fn mobility(&self, lever: Vec3, normal: Vec3) -> f32 {
        let angular = lever.cross(normal);
        self.inverse_mass + angular.dot(self.inverse_inertia * angular)
    }
}

impl Default for Body {
    fn default() -> Self {
        Self {
            center: Vec3::ZERO,
            inverse_mass: 0.0,
            inverse_inertia: Mat3::ZERO,
        }
    }
}

/// Multipliers of the hash in [`arbitrary_direction`]: odd numbers with well mixed bits.
pub(crate) const DIRECTION_HASH: [u32; 3] = [0x9e37_79b9, 0x85eb_ca6b, 0xc2b2_ae35];

/// A direction for two molecules with coincident centers: a hash of their indices, spread over
/// the sphere, and opposite if the indices are swapped.
pub(crate) fn arbitrary_direction(own: u32, other: u32) -> Vec3 {
    let (low, high) = (own.min(other), own.max(other));
    // Two rounds of Knuth's multiplicative hash; the upper bits are the well mixed ones.
    let [a, b, c] = DIRECTION_HASH;
    let first = (low.wrapping_mul(a) ^ high).wrapping_mul(b);
    let second = (first ^ first >> 15).wrapping_mul(c);
    let fraction = |bits: u32| (bits >> 8) as f32 / (1 << 24) as f32;
    let direction = sample_unit_sphere(fraction(first), fraction(second));
    if own < other { direction } else { -direction }
}

/// Velocity of a molecule about its center of mass, world frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Velocity {
    /// Velocity of the center of mass, nm/s.
    pub linear: Vec3,
    /// Angular velocity, radian/s.
    pub angular: Vec3,
}

/// Impulse on a body about its center of mass, world frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impulse {
    /// Linear impulse, Da·nm/s.
    pub linear: Vec3,
    /// Angular impulse, Da·nm²/s.
    pub angular: Vec3,
}

impl Impulse {
    /// Whether the impulse is exactly zero and need not wake a sleeping body.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// The velocity of `body` after the impulse.
    #[must_use]
    pub fn apply(&self, body: &Body, velocity: &Velocity) -> Velocity {
        Velocity {
            linear: velocity.linear + self.linear * body.inverse_mass,
            angular: velocity.angular + body.inverse_inertia * self.angular,
        }
    }
}

impl std::ops::AddAssign for Impulse {
    fn add_assign(&mut self, other: Self) {
        self.linear += other.linear;
        self.angular += other.angular;
    }
}
