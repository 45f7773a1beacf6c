//! Docking by hand: one molecule is moved about another, and never into it.
//!
//! The system of Turk (*Interactive Collision Detection for Molecular Graphics*, 1989),
//! and what its users asked for. There, motion simply stopped at a collision, and the
//! pairs of atoms that stopped it were found among those that were close before; fast
//! motion could jump over others. Here:
//!
//! - [`interferes`] finds all pairs of atoms that overlap: each atom of the smaller
//!   molecule looks into the [cells](crate::molecule::LocalGrid) of the larger one, unless
//!   a coarse map of the room around that one says that nothing is near;
//! - [`move_to_touch`] moves as far as possible, whatever the speed, by conservative
//!   advancement of each atom along its own path;
//! - [`slide`] stops the motion only into the surface and goes on along it;
//! - [`nearest_free_pose`] frees a molecule that begins inside another;
//! - [`Encounter::respond`] answers a collision in any of four [ways](ResponseMode);
//! - [`energy`] tells what two molecules do to each other before they touch, and
//!   [`search`] where that is lowest;
//! - [`hand`] makes motions of what keys, mouse and gamepads do;
//! - [`Session`] is all of that for a user at a window, and [`log`] records it and plays it
//!   back.

mod clearance;
pub mod energy;
mod error;
mod free;
mod guidance;
pub mod hand;
mod interference;
pub mod log;
mod molecule;
mod motion;
mod path;
mod response;
pub mod search;
mod session;
mod slide;
mod touch;

pub use error::DockingError;
pub use free::nearest_free_pose;
pub use interference::{AtomPair, interferes, is_free};
pub use molecule::DockingMolecule;
pub use motion::Motion;
pub use response::{Encounter, Response, ResponseMode};
pub use session::{Input, Part, Session, SessionError, Settings, StepReport};
pub use slide::{SlideReport, slide};
pub use touch::{TOLERANCE_NM, TouchReport, move_to_touch};
