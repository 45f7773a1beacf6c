//! Response laws: how contacts and compartments move a molecule.
//!
//! Laws are pure functions from contacts and deviations to a [`Push`] or an [`Impulse`], in the
//! world frame about the center of mass. Lengths are nm, angles radian, masses Da, times s. The
//! contacts of a molecule are summed by one task in a fixed order, so that results do not
//! depend on the number of threads. Each law validates its parameters in `check`, which returns
//! a [`ParameterError`] naming the first invalid one.
//!
//! | law | effect | source |
//! |---|---|---|
//! | [`thesis_reaction`] | pushes one atom of a contact | Pauschenwein (2022), section 4.3, Algorithm 4.4 |
//! | [`thesis_spring`] | pulls a molecule back into its compartment | Pauschenwein (2022), Algorithm 4.5 |
//! | [`Projection`] | separates contacts, weighted by mass and inertia; its springs remove a fraction of the excess | ours; default of the relaxer |
//! | joints | bring gap, bend and twist of two connected molecules within their limits, weighted by mass and inertia | ours |
//! | [`spring_impulse`], [`precession_damping_impulse`] | hold a molecule in its compartment in a simulation with velocities | Algorithm 4.5 as a force, or a damped spring as in `Box2D` v3 |

mod body;
mod joint;
mod projection;
mod spring;
mod thesis;

#[cfg(feature = "gpu")]
pub(crate) use body::DIRECTION_HASH;
pub(crate) use body::arbitrary_direction;
pub use body::{Body, Impulse, Velocity};
pub(crate) use joint::joint_corrections;
pub use projection::{Projection, ProjectionSums};
pub use spring::{SpringLaw, precession_damping_impulse, spring_impulse};
#[cfg(feature = "gpu")]
pub(crate) use thesis::MIN_SQUARES_NM2;
pub use thesis::{ThesisSteps, thesis_reaction, thesis_spring};

use glam::{Quat, Vec3};
use thiserror::Error;

use crate::pose::Pose;

/// Maximum length of a push, nm: a millimeter. A longer push means that the iteration has
/// diverged.
pub(crate) const MAX_PUSH_NM: f32 = 1.0e6;

/// Maximum angle of a push, radian: a hundred revolutions.
pub(crate) const MAX_TURN: f32 = 628.0;

/// An invalid parameter of a law.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("the parameter {name} must be {allowed}, but is {value}")]
#[non_exhaustive]
pub struct ParameterError {
    /// Name of the parameter.
    pub name: &'static str,
    /// The allowed range.
    pub allowed: &'static str,
    /// The given value.
    pub value: f32,
}

/// Checks that named parameters are finite and not negative.
pub(crate) fn not_negative(parameters: &[(&'static str, f32)]) -> Result<(), ParameterError> {
    let mut parameters = parameters.iter();
    match parameters.find(|(_, value)| !(value.is_finite() && *value >= 0.0)) {
        None => Ok(()),
        Some(&(name, value)) => Err(ParameterError {
            name,
            allowed: "finite and not negative",
            value,
        }),
    }
}

/// Displacement of a molecule in one iteration of the relaxer, about its center of mass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Push {
    /// Translation of the center of mass, nm.
    pub linear: Vec3,
    /// Rotation vector in the world frame, radian.
    pub angular: Vec3,
}

impl Push {
    /// The pose after the push; the same bits after no push.
    #[must_use]
    pub fn apply(&self, pose: &Pose) -> Pose {
        if self.is_zero() {
            return *pose;
        }
        Pose::new(
            pose.position + self.linear,
            (Quat::from_scaled_axis(self.angular) * pose.rotation).normalize(),
        )
    }

    /// Whether the push moves nothing.
    #[must_use]
    pub(crate) fn is_zero(&self) -> bool {
        self.linear == Vec3::ZERO && self.angular == Vec3::ZERO
    }

    /// The push times a factor.
    #[must_use]
    pub(crate) fn scaled(self, factor: f32) -> Self {
        Self {
            linear: self.linear * factor,
            angular: self.angular * factor,
        }
    }

    /// Limits the lengths of the translation (nm) and of the rotation (radian).
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
