//! Contacts: overlapping pairs of atoms, seen from each molecule; clashes between parts.
//!
//! Spheres or molecules at their poses go in, in the world frame and nm; who is too close to
//! whom comes out. A *contact* is a pair of spheres of different molecules that overlap or
//! nearly do; a *clash* is a pair of atoms of different parts of a structure that are closer
//! than they should be, with their names.
//!
//! Results are in a fixed order, the same bits on any number of threads. Tolerances and poses
//! that are no numbers are refused with an error.
//!
//! The relaxer's table of contacts takes the place of the atomic additions with which
//! J. Pauschenwein (2022, section 4.3) sums up the contacts of a molecule, and which section
//! 6.2 there names as the slow part: each contact is noted once for either side, and a
//! molecule sums up its own.

pub mod clashes;
mod closest_distance;
mod contact_table;

pub use closest_distance::closest_distance;
pub use contact_table::ContactError;
pub(crate) use contact_table::{ContactSide, ContactTable};
