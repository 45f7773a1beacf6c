//! Velocities of a rigid body, and what changes them.

use glam::Vec3;

use super::Body;

/// How a molecule moves, about its center of mass in the world frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Velocity {
    /// Velocity of the center of mass, nm/s.
    pub linear: Vec3,
    /// Angular velocity, radian/s.
    pub angular: Vec3,
}

/// An impulse on a body, about its center of mass in the world frame: what a spring or the
/// contacts of one substep give it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impulse {
    /// Linear impulse, Da·nm/s.
    pub linear: Vec3,
    /// Angular impulse, Da·nm²/s.
    pub angular: Vec3,
}

impl Impulse {
    /// Whether it does nothing, so that a sleeping molecule may sleep on.
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
