//! Errors of a relaxation.

use thiserror::Error;

use super::CheckpointError;
use crate::compartment::PlacementError;
use crate::crowd::CrowdError;
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
    /// An edit refers to what does not exist, or has an invalid pose.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    /// A molecule was to be moved like a fixed one.
    #[error("molecule {molecule} is not fixed: fix it before you move it")]
    NotFixed {
        /// Index of the molecule.
        molecule: u32,
    },
    /// A checkpoint is of other molecules or another config.
    #[error("the checkpoint cannot be resumed: {0}")]
    Checkpoint(#[from] CheckpointError),
    /// The clearance is negative or not finite.
    #[error("the clearance must be finite and at least 0 nm, but is {clearance} nm")]
    BadClearance {
        /// The invalid clearance, nm.
        clearance: f32,
    },
    /// A molecule could touch itself across the periodic box of the crowd.
    #[error(
        "{name} is up to {diameter} nm wide with the clearance, but the periodic box has an edge of {edge} nm: it could touch itself"
    )]
    LargerThanBox {
        /// Name of the template.
        name: String,
        /// Diameter of its bounding sphere plus the gap to which contacts are pushed apart, nm.
        diameter: f32,
        /// The shortest edge of the box, nm.
        edge: f32,
    },
    /// A search over all atoms was set, but the crowd has a periodic box.
    #[error("the search {search:?} does not support a periodic box; use the default search")]
    PeriodicSearch {
        /// Name of the search.
        search: &'static str,
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
    /// A joint of two fixed molecules exceeds its limits, so that the crowd never comes to rest.
    #[error(
        "molecules {} and {} are fixed but their joint exceeds its limits: move or free one of them",
        molecules[0], molecules[1]
    )]
    FixedJoint {
        /// Indices of the two molecules.
        molecules: [usize; 2],
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
