//! Relaxation: molecules push one another apart and spring back to their places,
//! iteration by iteration, until nothing overlaps and everyone is in place.
//!
//! One iteration (Pauschenwein 2022, figure 4.1):
//!
//! 1. gather: atom positions from templates and poses;
//! 2. grid and search: overlapping pairs of atoms of different molecules;
//! 3. respond: per molecule, the sum over its contacts and its springs;
//! 4. apply: move and turn the molecules.
//!
//! Unlike there, parameters that cannot work are recognised: beforehand by the
//! [footprint](capacity) of the molecules, underway by a stall.

mod adjust;
pub mod capacity;
mod coarse;
mod config;
pub mod engine;
mod error;
mod iteration;
mod offload;
mod order;
#[cfg(not(feature = "gpu"))]
mod processor_only;
mod relaxer;
mod report;
mod response;
mod stall;

pub use coarse::CoarseStart;
pub use config::{ReactionLaw, RelaxConfig};
pub use error::RelaxError;
#[cfg(feature = "gpu")]
pub(crate) use iteration::{MAX_PUSH_NM, MAX_TURN};
pub use relaxer::Relaxer;
pub use report::{RelaxReport, RelaxStatus, StageTimes, StopReason};
#[cfg(feature = "gpu")]
pub(crate) use response::LEAST_CENTRE_WEIGHT;
