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
    /// Continuous collision detection: at any speed, the body does not pass through other members
    /// within a substep.
    pub ccd: bool,
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
