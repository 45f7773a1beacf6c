//! Parameters of the contact solver.

use serde::{Deserialize, Serialize};

use crate::force::{ParameterError, not_negative};

/// Parameters of the contact solver.
///
/// ```
/// use bevy_rapier_molecules::dynamics::ContactSolverConfig;
///
/// // A high pile needs more iterations to stand.
/// let pile = ContactSolverConfig { iterations: 32, ..ContactSolverConfig::default() };
/// assert!(pile.check().is_ok());
/// let invalid = ContactSolverConfig { prediction_distance: f32::NAN, ..pile };
/// assert!(invalid.check().is_err_and(|error| error.name == "prediction_distance"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContactSolverConfig {
    /// Solver iterations per substep. Default: 8.
    pub iterations: u32,
    /// Iterations per substep on the previous contacts without push-out. Default: 2.
    pub relax_iterations: u32,
    /// Spheres closer than this become contacts before they touch, nm. Default: 0.02 nm.
    pub prediction_distance: f32,
    /// Overlap that is not pushed out, nm: keeps resting contacts alive. Default: 0.001 nm.
    pub slop: f32,
    /// Maximum speed at which overlaps are pushed out, nm/s. Default: 4 nm/s.
    pub max_push_speed: f32,
    /// Approach speed below which restitution is ignored, nm/s. Default: 1 nm/s.
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
    /// Validates the parameters.
    ///
    /// # Errors
    /// [`ParameterError`] names the first that is negative or not finite.
    pub fn check(&self) -> Result<(), ParameterError> {
        not_negative(&[
            ("prediction_distance", self.prediction_distance),
            ("slop", self.slop),
            ("max_push_speed", self.max_push_speed),
            ("restitution_threshold", self.restitution_threshold),
        ])
    }
}
