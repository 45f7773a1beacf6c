//! Errors of a relaxation.

use thiserror::Error;

use crate::compartment::PlacementError;
use crate::force::ParameterError;
use crate::proxy::ProxyError;
use crate::search::SearchError;
use crate::spheres::SphereError;

/// Why a relaxation cannot continue.
///
/// A failing GPU is not among them: the CPU replaces it.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RelaxError {
    /// The search for contacts failed, or there are too many.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A parameter of the law is invalid.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A molecule has no proxies.
    #[error(transparent)]
    Proxies(#[from] ProxyError),
    /// A placement is invalid.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// The clearance is negative or not finite.
    #[error("the clearance must be finite and at least 0 nm, but is {clearance} nm")]
    BadClearance {
        /// The invalid clearance, nm.
        clearance: f32,
    },
    /// Two fixed molecules overlap, so that the crowd never comes to rest.
    #[error(
        "molecules {} and {} are fixed but overlap by {depth} nm: move or free one of them",
        molecules[0], molecules[1]
    )]
    FixedOverlap {
        /// Indices of the two molecules that overlap most.
        molecules: [usize; 2],
        /// Their penetration, nm.
        depth: f32,
    },
    /// A step moved a molecule out of range: the step sizes are too large.
    #[error(
        "molecule {molecule} moved out of range in iteration {iteration}: use smaller step sizes"
    )]
    Diverged {
        /// Index of the molecule.
        molecule: usize,
        /// Iteration of the step.
        iteration: u32,
    },
}

impl From<SphereError> for RelaxError {
    fn from(error: SphereError) -> Self {
        Self::Search(error.into())
    }
}
