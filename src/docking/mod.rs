//! Interactive docking: a molecule moves around others without overlapping them.
//!
//! Based on G. Turk, *Interactive Collision Detection for Molecular Graphics*, 1989 (chapters
//! 4 and 5), with the extensions that its users asked for (chapters 6 and 7). Turk's system
//! stops at a collision and searches the contact only among atoms that overlap at the end of
//! the motion, so fast motion can tunnel. Here:
//!
//! | task | function |
//! |---|---|
//! | find all overlapping pairs of atoms | [`overlapping_atoms`], [`is_free`] |
//! | move until the first contact, at any speed | [`DockingPair::sweep`], by conservative advancement |
//! | move and slide along the surface | [`DockingPair::slide`] |
//! | move with a choice of collision responses | [`DockingPair::respond`] |
//! | the same among several molecules | [`DockingGroup`] |
//! | turn a bond of a ligand until the first contact | [`SessionInput::Turn`] |
//! | resolve an overlap | [`DockingPair::nearest_free_pose`] |
//! | compute energy, force and torque | [`energy`] |
//! | search the pose of lowest energy | [`search`] |
//! | turn keyboard, mouse and gamepad input into motions | [`controls`] |
//! | keep the state of an interactive session | [`Session`] |
//! | record and replay sessions | [`log`] |
//!
//! # Units and frames
//!
//! Lengths are in nm (except [`energy`]'s solvation volumes, in Å³ as in their source), angles
//! in radian, energies in kJ/mol. Poses and motions are in the world frame. Atoms and grids are
//! in the body frame, relative to the center of mass. Molecules are rigid.
//!
//! # Guarantees
//!
//! - *No overlap*: a motion that starts free of overlaps stays free of them, at any speed. Only
//!   [`ResponseMode::Cue`], [`SessionInput::Place`], [`SessionInput::Torsions`] and
//!   [`SessionInput::BodyPoses`] may produce overlaps.
//! - *No drift*: a conformation is computed from that of the file and the angles of all bonds, so
//!   bond lengths and angles stay those of the file, however often bonds are turned.
//! - *Determinism*: the same inputs give bitwise identical poses and torsions on any number of
//!   threads. A [`Session`] can be replayed from its [`log`].
//!
//! # Errors
//!
//! Values that are not finite, motions that start with an overlap, and logs of other molecules
//! are errors and change nothing.

mod conservative_advancement;
pub mod controls;
mod distance_field;
mod docking_group;
mod docking_pair;
pub mod energy;
mod flexible_molecule;
pub mod log;
mod molecule;
mod overlap;
mod rigid_motion;
mod role;
pub mod search;
mod session;
mod session_input;
mod slide;
mod turn;

pub use conservative_advancement::{CONTACT_TOLERANCE_NM, SweepReport};
pub use docking_group::{DockingGroup, GroupContact, GroupReport};
pub use docking_pair::{DockingError, DockingPair, MoveReport, ResponseMode};
pub use molecule::DockingMolecule;
pub use overlap::{AtomPair, is_free, overlapping_atoms};
pub use role::Role;
pub use session::Session;
pub use session_input::{Contact, InputReport, SessionConfig, SessionError, SessionInput};

pub use crate::pose::RigidMotion;
