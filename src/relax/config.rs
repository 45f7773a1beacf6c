//! Parameters of a relaxation.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{CoarseStart, RelaxError};
use crate::force::{ParameterError, Projection, ThesisSteps};

/// How molecules respond to contacts and to deviations from their placements.
///
/// ```
/// use std::{ops::ControlFlow, sync::Arc};
/// use bevy_rapier_molecules::force::Projection;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::force::ThesisSteps;
/// use bevy_rapier_molecules::relax::ReactionLaw;
/// use bevy_rapier_molecules::scenes::{CrowdedBoxConfig, crowded_box};
///
/// let protein = Arc::new(load("assets/molecules/1ubq.cif", &LoadOptions::default())?);
/// let scene = CrowdedBoxConfig { molecules: 8, ..CrowdedBoxConfig::default() };
/// // Smaller steps than the default.
/// let law = ReactionLaw::Projection(Projection { max_shift: 0.05, ..Projection::default() });
/// let config = RelaxConfig { law, ..RelaxConfig::default() };
/// let mut relaxer = Relaxer::new(crowded_box(&[protein], &scene)?, config)?;
/// assert!(relaxer.run(|_| ControlFlow::Continue(()))?.converged());
///
/// // An error names the invalid parameter.
/// let steps = ThesisSteps { torque: -1.0, ..ThesisSteps::default() };
/// let checked = ReactionLaw::Thesis(steps).check();
/// assert!(checked.is_err_and(|error| error.name == "torque"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ReactionLaw {
    /// The heuristic forces of the thesis, with adjustable step sizes.
    ///
    /// The defaults bring a vesicle of 620 lipids from random positions to rest at the highest
    /// density at which they fit (1.23 nm² per lipid, leeways 0.2 nm and 25°), in several times as
    /// many iterations as the projection law. Other step sizes often do not: `benches/PAPERS.md`
    /// lists those that were tried. In a larger vesicle, the step of the spring force must be
    /// smaller: see [`ThesisSteps`].
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
    /// [`ParameterError`] names the first invalid parameter.
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

    /// Iterations without progress after which the law kicks; 0 for never.
    pub(super) fn kick_after(&self) -> u32 {
        match self {
            Self::Projection(parameters) => parameters.kick_after,
            Self::Thesis(_) => 0,
        }
    }
}

/// Law, clearance and stop criteria of a relaxation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RelaxConfig {
    /// The law. Default: projection.
    pub law: ReactionLaw,
    /// Minimum gap between atoms of different molecules, nm. Default: 0.0005.
    ///
    /// Large enough that rounding to the last digit of a PDB file (10⁻³ Å) creates no overlap.
    pub clearance: f32,
    /// Maximum number of iterations, including those of earlier runs. Default: 5,000.
    pub max_iterations: u32,
    /// Maximum time of a run. Default: none.
    pub max_time: Option<Duration>,
    /// Iterations without progress after which the relaxation stops as stalled; 0 to continue
    /// forever. Default: 600.
    pub stall_window: u32,
    /// Proxies that replace the atoms in the first iterations on the CPU; a GPU does not need
    /// them, and a crowd with joints has none. Default: none.
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
    /// [`RelaxError`] names the first invalid parameter.
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
