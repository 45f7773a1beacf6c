//! Docking by hand: one molecule is moved about another, and never into it.
//!
//! The system of G. Turk (*Interactive Collision Detection for Molecular Graphics*, 1989,
//! chapters 4 and 5), and what its users asked for (chapters 6 and 7). There, motion simply
//! stopped at a collision, and the place of touch was searched only for the pairs of atoms
//! that overlap at the end of the way; fast motion could jump over others. Here:
//!
//! - [`interferes`] finds all pairs of atoms that overlap: each atom of the smaller
//!   molecule looks into the [cells](crate::molecule::LocalGrid) of the larger one, unless
//!   a coarse map of the room around that one says that nothing is near;
//! - [`Encounter::move_to_touch`] moves as far as possible, whatever the speed, by
//!   conservative advancement of each atom along its own path;
//! - [`Encounter::slide`] stops the motion only into the surface and goes on along it;
//! - [`Encounter::nearest_free_pose`] frees a molecule that begins inside another;
//! - [`Encounter::respond`] answers a collision in any of four [ways](ResponseMode);
//! - [`energy`] tells what two molecules do to each other before they touch, and
//!   [`search`] where that is lowest;
//! - [`hand`] makes motions of what keys, mouse and gamepads do;
//! - [`Session`] is all of that for a user at a window, and [`log`] records it and plays it
//!   back.
//!
//! # Contract
//!
//! - *In*: two [`DockingMolecule`]s, which are rigid, with their poses, and a [`Motion`] of
//!   one of them. Lengths are nm (but for [`energy::Solvation`], which has Å³ as its
//!   source), angles radian, energies kJ/mol. Poses and motions are in the world frame;
//!   atoms and lattices in the body frame, about the center of mass.
//! - *Out*: a pose in which no two atoms overlap, and the pairs of atoms that stopped the
//!   motion. Of a free start no motion ends, nor passes, inside; only with
//!   [`ResponseMode::Cue`], [`Input::Place`] and [`Input::Carried`] molecules may overlap,
//!   and the pairs that do are told.
//! - *Determinism*: the same inputs lead to the same poses, bit for bit, on any number of
//!   threads; a [`Session`] is played back from its [`log`].
//! - *Bad input*: numbers that are not finite, motions that begin inside and logs of other
//!   molecules are errors that say what to do, and change nothing.
//!
//! No Bevy is needed, and no physics: what a physics engine does to molecules that are
//! pushed comes in as [`Input::Carried`].

mod clearance;
mod encounter;
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

pub use encounter::Encounter;
pub use error::DockingError;
pub use interference::{AtomPair, interferes, is_free};
pub use molecule::DockingMolecule;
pub use motion::Motion;
pub use response::{Response, ResponseMode};
pub use session::{Input, Part, Session, SessionConfig, SessionError, StepReport};
pub use slide::SlideReport;
pub use touch::{TOLERANCE_NM, TouchReport};
