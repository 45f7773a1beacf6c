//! Relaxation: molecules push one another apart and spring back to their places,
//! iteration by iteration, until nothing overlaps and everyone is in place.
//!
//! A [`Crowd`](crate::crowd::Crowd) goes into a [`Relaxer`] with a [`RelaxConfig`]; the same
//! molecules at other poses come out, with a [`RelaxReport`] that says why it ended. Lengths
//! are nm, in the world frame. On the processor the same crowd and config give the same bits
//! on any number of threads; a GPU gives the same from run to run. What cannot be relaxed is a
//! [`RelaxError`]; a device that fails is not, since the processor goes on in its place.
//!
//! An *overlap* is a pair of atoms of different molecules whose spheres overlap, its
//! *penetration* how deep; a pair is *unresolved* until it leaves the *clearance* of the config
//! between the two.
//!
//! One iteration (J. Pauschenwein 2022, section 3.2 and figure 4.1):
//!
//! 1. gather: atom positions from templates and poses;
//! 2. grid and search: overlapping pairs of atoms of different molecules;
//! 3. respond: per molecule, the sum over its contacts and its springs;
//! 4. apply: move and turn the molecules.
//!
//! Unlike there, parameters that cannot work are recognized: beforehand by the
//! [footprint](capacity) of the molecules, underway by a stall. The laws are those of
//! [`force`](crate::force); [`CoarseStart`] uses the proxies that section 6.1 there proposes.

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
pub(crate) use response::LEAST_CENTER_WEIGHT;
