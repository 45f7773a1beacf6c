//! The state of a rigid body in one substep.

use glam::{Mat3, Vec3};

use crate::pose::Pose;

/// State of a rigid body at the start of a substep, as far as contacts depend on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovingBody {
    /// Pose of the body frame in the world; the spheres follow it.
    pub pose: Pose,
    /// Center of mass in the world, nm.
    pub center: Vec3,
    /// Inverse mass along each world axis, 1/Da; zero along locked axes.
    pub inverse_mass: Vec3,
    /// Inverse inertia in the world frame, 1/(Da·nm²).
    pub inverse_inertia: Mat3,
    /// Velocity of the center of mass, nm/s.
    pub velocity: Vec3,
    /// Angular velocity, radian/s.
    pub angular_velocity: Vec3,
    /// Acceleration by gravity and other forces in this substep, nm/s².
    pub acceleration: Vec3,
    /// Whether the body sleeps. Contacts treat it as immovable until it wakes.
    pub asleep: bool,
    /// In contacts with a body of lower dominance it is immovable.
    pub dominance: i8,
    /// Continuous collision detection: at any speed, the body does not pass through other members
    /// within a substep.
    pub ccd: bool,
}

/// Which of two bodies dominates: it is immovable in their contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dominance {
    /// Neither.
    #[default]
    Neither,
    /// The first.
    First,
    /// The second.
    Second,
}

impl Dominance {
    /// Whether the first and the second body dominate.
    #[inline]
    #[must_use]
    pub fn sides(self) -> [bool; 2] {
        [self == Self::First, self == Self::Second]
    }

    /// The same with the bodies exchanged.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Neither => Self::Neither,
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

impl Default for MovingBody {
    /// An immovable body at the origin.
    fn default() -> Self {
        Self {
            pose: Pose::IDENTITY,
            center: Vec3::ZERO,
            inverse_mass: Vec3::ZERO,
            inverse_inertia: Mat3::ZERO,
            velocity: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
            acceleration: Vec3::ZERO,
            asleep: false,
            dominance: 0,
            ccd: false,
        }
    }
}

impl MovingBody {
    /// Velocity of the body's point at `lever` from its center of mass, nm/s.
    #[inline]
    #[must_use]
    pub fn velocity_at(&self, lever: Vec3) -> Vec3 {
        self.velocity + self.angular_velocity.cross(lever)
    }

    /// Which of two bodies dominates. Immovable bodies have no dominance.
    #[inline]
    #[must_use]
    pub fn relative_dominance(&self, other: &Self) -> Dominance {
        if self.dominance == other.dominance || !self.is_movable() || !other.is_movable() {
            Dominance::Neither
        } else if self.dominance > other.dominance {
            Dominance::First
        } else {
            Dominance::Second
        }
    }

    /// Whether an impulse can move the body.
    #[inline]
    #[must_use]
    pub fn is_movable(&self) -> bool {
        self.inverse_mass != Vec3::ZERO || self.inverse_inertia != Mat3::ZERO
    }

    /// Whether every number is finite and the rotation a unit quaternion.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.pose.is_rigid()
            && self.center.is_finite()
            && self.inverse_mass.is_finite()
            && self.inverse_inertia.is_finite()
            && self.velocity.is_finite()
            && self.angular_velocity.is_finite()
            && self.acceleration.is_finite()
    }
}
