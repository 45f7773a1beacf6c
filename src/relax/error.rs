//! Why a relaxation cannot go on.

use thiserror::Error;

use crate::contact::ContactError;
use crate::force::ParameterError;
use crate::proxy::ProxyError;
use crate::search::SearchError;
use crate::spheres::SphereError;

/// Why a relaxation cannot go on.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RelaxError {
    /// The molecules cannot be searched for contacts.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A parameter of the law cannot be.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// There are more contacts than can be handled.
    #[error(transparent)]
    Contacts(#[from] ContactError),
    /// The molecules cannot have proxies.
    #[error(transparent)]
    Proxies(#[from] ProxyError),
    /// The clearance is negative, or not a number.
    #[error("the clearance must not be negative or infinite, and is {clearance} nm")]
    BadClearance {
        /// The clearance that was given, nm.
        clearance: f32,
    },
    /// A step threw a molecule out of the world: step sizes are too large.
    #[error(
        "molecule {molecule} was thrown out of the world in iteration {iteration}: the step sizes are too large"
    )]
    Diverged {
        /// Index of the molecule.
        molecule: usize,
        /// The iteration that did it.
        iteration: u32,
    },
}

impl From<SphereError> for RelaxError {
    fn from(error: SphereError) -> Self {
        Self::Search(error.into())
    }
}
