//! Docking by hand: one molecule is moved about another, and never into it.
//!
//! The system of G. Turk (*Interactive Collision Detection for Molecular Graphics*, 1989,
//! chapters 4 and 5), and what its users asked for (chapters 6 and 7). There, motion simply
//! stopped at a collision, and the place of touch was searched only for the pairs of atoms
//! that overlap at the end of the way; fast motion could jump over others. Here:
//!
//! - [`overlapping_atoms`] finds all pairs of atoms that overlap: each atom of the smaller
//!   molecule looks into the [cells](crate::molecule::LocalGrid) of the larger one, unless
//!   a coarse map of the room around that one says that nothing is near;
//! - [`DockingPair::sweep`] moves as far as possible, whatever the speed, by
//!   conservative advancement of each atom along its own path;
//! - [`DockingPair::slide`] stops the motion only into the surface and goes on along it;
//! - [`DockingPair::nearest_free_pose`] frees a molecule that begins inside another;
//! - [`DockingPair::respond`] answers a collision in any of four [ways](ResponseMode);
//! - [`energy`] tells what two molecules do to each other before they touch, and
//!   [`search`] where that is lowest;
//! - [`controls`] makes motions of what keys, mouse and gamepads do;
//! - [`Session`] is all of that for a user at a window, and [`log`] records it and plays it
//!   back.
//!
//! # Contract
//!
//! - *In*: two [`DockingMolecule`]s, which are rigid, with their poses, and a [`RigidMotion`] of
//!   one of them. Lengths are nm (but for [`energy::Solvation`], which has Å³ as its
//!   source), angles radian, energies kJ/mol. Poses and motions are in the world frame;
//!   atoms and lattices in the body frame, about the center of mass.
//! - *Out*: a pose in which no two atoms overlap, and the pairs of atoms that stopped the
//!   motion. Of a free start no motion ends, nor passes, inside; only with
//!   [`ResponseMode::Cue`], [`SessionInput::Place`] and [`SessionInput::BodyPoses`] molecules may overlap,
//!   and the pairs that do are told.
//! - *Determinism*: the same inputs lead to the same poses, bit for bit, on any number of
//!   threads; a [`Session`] is played back from its [`log`].
//! - *Bad input*: numbers that are not finite, motions that begin inside and logs of other
//!   molecules are errors that say what to do, and change nothing.
//!
//! No Bevy is needed, and no physics: what a physics engine does to molecules that are
//! pushed comes in as [`SessionInput::BodyPoses`].

mod conservative_advancement;
pub mod controls;
mod distance_field;
mod docking_pair;
pub mod energy;
mod error;
mod free;
mod guidance;
pub mod log;
mod molecule;
mod overlap;
mod path;
mod response;
mod rigid_motion;
pub mod search;
mod session;
mod slide;

pub use conservative_advancement::{CONTACT_TOLERANCE_NM, SweepReport};
pub use docking_pair::DockingPair;
pub use error::DockingError;
pub use molecule::DockingMolecule;
pub use overlap::{AtomPair, is_free, overlapping_atoms};
pub use response::{Response, ResponseMode};
pub use rigid_motion::RigidMotion;
pub use session::{InputReport, Role, Session, SessionConfig, SessionError, SessionInput};
pub use slide::SlideReport;
