//! How contacts are solved, in numbers.

use serde::{Deserialize, Serialize};

use crate::force::{ParameterError, not_negative};

/// How contacts are solved.
///
/// ```
/// use bevy_rapier_molecules::prelude::ContactSolverConfig;
///
/// // A high pile needs more iterations to stand.
/// let pile = ContactSolverConfig { iterations: 32, ..ContactSolverConfig::default() };
/// assert!(pile.check().is_ok());
/// let blind = ContactSolverConfig { prediction_distance: f32::NAN, ..pile };
/// assert!(blind.check().is_err_and(|error| error.name == "prediction_distance"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContactSolverConfig {
    /// Iterations in each substep. Default: 8.
    pub iterations: u32,
    /// Iterations without parting, for the contacts of the substep before. Default: 2.
    pub relax_iterations: u32,
    /// Contacts are foreseen this far ahead, nm. Default: 0.02 nm.
    pub prediction_distance: f32,
    /// Overlap that is left alone, nm: contacts that touch do not flicker.
    /// Default: 0.001 nm.
    pub slop: f32,
    /// Fastest that overlaps are pushed apart, nm/s. Default: 4 nm/s.
    pub max_push_speed: f32,
    /// Approach below which nothing bounces, nm/s. Default: 1 nm/s.
    pub restitution_threshold: f32,
}

impl Default for ContactSolverConfig {
    fn default() -> Self {
        Self {
            iterations: 8,
            relax_iterations: 2,
            prediction_distance: 0.02,
            slop: 0.001,
            max_push_speed: 4.0,
            restitution_threshold: 1.0,
        }
    }
}

impl ContactSolverConfig {
    /// Checks that each number can be.
    ///
    /// # Errors
    /// [`ParameterError`] names the one that cannot.
    pub fn check(&self) -> Result<(), ParameterError> {
        not_negative(&[
            ("prediction_distance", self.prediction_distance),
            ("slop", self.slop),
            ("max_push_speed", self.max_push_speed),
            ("restitution_threshold", self.restitution_threshold),
        ])
    }
}
