//! What a relaxation is told.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{CoarseStart, RelaxError};
use crate::force::{ParameterError, Projection, ThesisSteps};

/// How molecules answer to contacts and deviations.
///
/// ```
/// use std::{ops::ControlFlow, sync::Arc};
/// use bevy_rapier_molecules::force::Projection;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::scenes::{CrowdedBoxConfig, crowded_box};
///
/// let protein = Arc::new(load("assets/molecules/1ubq.cif", &LoadOptions::default())?);
/// let scene = CrowdedBoxConfig { molecules: 8, ..CrowdedBoxConfig::default() };
/// // Shorter steps than the default.
/// let law = ReactionLaw::Projection(Projection { max_shift: 0.05, ..Projection::default() });
/// let config = RelaxConfig { law, ..RelaxConfig::default() };
/// let mut relaxer = Relaxer::new(crowded_box(&[protein], &scene)?, config)?;
/// assert!(relaxer.run(|_| ControlFlow::Continue(()))?.converged());
///
/// // Parameters that cannot be are named.
/// let steps = ThesisSteps { torque: -1.0, ..ThesisSteps::default() };
/// let refused = ReactionLaw::Thesis(steps).check();
/// assert!(refused.is_err_and(|error| error.name == "torque"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ReactionLaw {
    /// The thesis's heuristic forces, with adjustable step sizes.
    Thesis(ThesisSteps),
    /// Rigid position-based projection.
    Projection(Projection),
}

impl Default for ReactionLaw {
    fn default() -> Self {
        Self::Projection(Projection::default())
    }
}

impl ReactionLaw {
    /// Checks the parameters of the law.
    ///
    /// # Errors
    /// [`ParameterError`] names the first that cannot be.
    pub fn check(&self) -> Result<(), ParameterError> {
        match self {
            Self::Thesis(steps) => steps.check(),
            Self::Projection(parameters) => parameters.check(),
        }
    }

    /// Name for command lines and reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Thesis(_) => "thesis",
            Self::Projection(_) => "projection",
        }
    }
}

/// Law, clearance and stop criteria of a relaxation.
///
/// ```
/// use std::time::Duration;
/// use bevy_rapier_molecules::prelude::*;
///
/// let config = RelaxConfig {
///     clearance: 0.01,
///     max_time: Some(Duration::from_secs(30)),
///     ..RelaxConfig::default()
/// };
/// assert!(config.check().is_ok());
/// let refused = RelaxConfig { clearance: -0.1, ..config };
/// assert!(refused.check().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RelaxConfig {
    /// How molecules answer. Default: projection.
    pub law: ReactionLaw,
    /// Gap that must be left between atoms of different molecules, nm. Default: 0.0005.
    ///
    /// Enough that rounding to the last digit of a PDB file (10⁻³ Å) brings no
    /// overlap back.
    pub clearance: f32,
    /// Most iterations, those of runs before included. Default: 5,000.
    pub max_iterations: u32,
    /// Longest time of a run. Default: none.
    pub max_time: Option<Duration>,
    /// Iterations without progress after which the crowd counts as stalled;
    /// 0 to go on for ever. Default: 600.
    pub stall_window: u32,
    /// Proxies that stand for the molecules in the first iterations, on the processor; a
    /// GPU does not need them. Default: none.
    pub coarse: Option<CoarseStart>,
}

impl Default for RelaxConfig {
    fn default() -> Self {
        Self {
            law: ReactionLaw::default(),
            clearance: 5.0e-4,
            max_iterations: 5_000,
            max_time: None,
            stall_window: 600,
            coarse: None,
        }
    }
}

impl RelaxConfig {
    /// Checks the clearance and the parameters of the law.
    ///
    /// # Errors
    /// [`RelaxError`] names the first that cannot be.
    pub fn check(&self) -> Result<(), RelaxError> {
        if !(self.clearance.is_finite() && self.clearance >= 0.0) {
            return Err(RelaxError::BadClearance {
                clearance: self.clearance,
            });
        }
        self.law.check()?;
        if let Some(coarse) = &self.coarse {
            coarse.check()?;
        }
        Ok(())
    }
}
