//! What contacts and compartments do to a molecule in one iteration.
//!
//! Laws are pure functions: contacts and deviations in, a [`Push`] out. All of a
//! molecule's contacts are summed by one task in a fixed order, so that no atomics
//! are needed and the number of threads does not matter.
//!
//! The relaxer's laws move molecules by so much an iteration. In a world where time
//! passes, [`spring_impulse`] holds molecules in their place instead.

mod body;
mod projection;
mod spring;
mod thesis;

pub use body::Body;
#[cfg(feature = "gpu")]
pub(crate) use body::DIRECTION_HASH;
pub(crate) use body::arbitrary_direction;
pub use projection::{Projection, ProjectionSums};
pub use spring::{
    MAX_SWINGS_PER_STEP, SpringImpulse, SpringLaw, Velocity, spring_impulse, steadying_impulse,
};
#[cfg(feature = "gpu")]
pub(crate) use thesis::MIN_SQUARES_NM2;
pub use thesis::{ThesisSteps, thesis_reaction, thesis_spring_force, thesis_spring_torque};

use glam::{Quat, Vec3};
use thiserror::Error;

use crate::pose::Pose;

/// A parameter of a law that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("the parameter {name} must be {allowed}, and is {value}")]
pub struct ParameterError {
    /// Name of the parameter.
    pub name: &'static str,
    /// What it may be.
    pub allowed: &'static str,
    /// The value that was given.
    pub value: f32,
}

/// Checks that named parameters are finite and not negative.
pub(crate) fn not_negative(parameters: &[(&'static str, f32)]) -> Result<(), ParameterError> {
    match parameters
        .iter()
        .find(|(_, value)| !(value.is_finite() && *value >= 0.0))
    {
        None => Ok(()),
        Some(&(name, value)) => Err(ParameterError {
            name,
            allowed: "a number that is not negative",
            value,
        }),
    }
}

/// How a molecule is moved in one iteration, about its centre of mass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Push {
    /// Shift of the centre of mass, nm.
    pub linear: Vec3,
    /// Rotation vector in the world frame, radian.
    pub angular: Vec3,
}

impl Push {
    /// The pose after the push: shifted, and turned about the centre of mass.
    #[must_use]
    pub fn apply(&self, pose: &Pose) -> Pose {
        Pose::new(
            pose.position + self.linear,
            (Quat::from_scaled_axis(self.angular) * pose.rotation).normalize(),
        )
    }

    /// The push with its shift and its turn shortened to the given lengths
    /// (nm, radian) where they are longer.
    #[must_use]
    pub fn clamped(self, linear: f32, angular: f32) -> Self {
        Self {
            linear: self.linear.clamp_length_max(linear),
            angular: self.angular.clamp_length_max(angular),
        }
    }
}

impl std::ops::AddAssign for Push {
    fn add_assign(&mut self, other: Self) {
        self.linear += other.linear;
        self.angular += other.angular;
    }
}
