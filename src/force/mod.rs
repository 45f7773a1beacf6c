//! What contacts and compartments do to a molecule in one iteration.
//!
//! Laws are pure functions: contacts and deviations in, a [`Push`] or an [`Impulse`] out. All
//! is in the world frame about the center of mass; lengths are nm, angles radian, masses Da,
//! times s. All of a molecule's contacts are summed by one task in a fixed order, so that no
//! atomics are needed and the number of threads does not matter. Parameters that cannot be are
//! refused by the `check` of each law, with a [`ParameterError`] that names the first.
//!
//! | law | what it does | where it is from |
//! |---|---|---|
//! | [`thesis_reaction`] | pushes one atom of a contact | Pauschenwein (2022), section 4.3, Algorithm 4.4 |
//! | [`thesis_spring_force`], [`thesis_spring_torque`] | pull a molecule back to its place | the same, Algorithm 4.5 |
//! | [`Projection`] | parts contacts by real mass and inertia; its springs take back a part of the excess | ours; the relaxer's default |
//! | [`spring_impulse`], [`precession_damping_impulse`] | hold a molecule in its place where time passes | Algorithm 4.5 as a force, or a damped spring as in `Box2D` v3 |

mod body;
mod impulse;
mod projection;
mod spring;
mod thesis;

pub use body::Body;
#[cfg(feature = "gpu")]
pub(crate) use body::DIRECTION_HASH;
pub(crate) use body::arbitrary_direction;
pub use impulse::{Impulse, Velocity};
pub use projection::{Projection, ProjectionSums};
pub use spring::{
    MAX_OSCILLATIONS_PER_SUBSTEP, SpringLaw, precession_damping_impulse, spring_impulse,
};
#[cfg(feature = "gpu")]
pub(crate) use thesis::MIN_SQUARES_NM2;
pub use thesis::{ThesisSteps, thesis_reaction, thesis_spring_force, thesis_spring_torque};

use glam::{Quat, Vec3};
use thiserror::Error;

use crate::pose::Pose;

/// A parameter of a law that cannot be.
///
/// ```
/// use bevy_rapier_molecules::force::Projection;
///
/// let restless = Projection { momentum: 1.0, ..Projection::default() };
/// let said = restless.check().map_err(|error| error.to_string());
/// assert_eq!(said, Err("the parameter momentum must be less than one, and is 1".to_owned()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("the parameter {name} must be {allowed}, and is {value}")]
#[non_exhaustive]
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

/// How a molecule is moved in one iteration, about its center of mass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Push {
    /// Shift of the center of mass, nm.
    pub linear: Vec3,
    /// Rotation vector in the world frame, radian.
    pub angular: Vec3,
}

impl Push {
    /// The pose after the push: shifted, and turned about the center of mass.
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
    pub(crate) fn clamped(self, linear: f32, angular: f32) -> Self {
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
