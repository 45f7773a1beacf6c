//! Contacts: overlapping atoms of different molecules.
//!
//! A *contact* is a pair of spheres of different molecules that overlap or nearly do. A *clash*
//! is a pair of atoms of different parts of a structure that are too close, with their names;
//! [`clashes::find_clashes`] reports them. Positions are in nm, in the world frame. Results do
//! not depend on the number of threads.
//!
//! `ContactTable`, for the relaxer, lists each contact once for either molecule, and each
//! molecule sums up its own. It replaces the atomic additions of J. Pauschenwein (2022, section
//! 4.3), which section 6.2 there names as the slow part.

pub mod clashes;
mod closest_distance;
mod contact_table;

pub use closest_distance::closest_distance;
pub(crate) use contact_table::{ContactSide, ContactTable};
