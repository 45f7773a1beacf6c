//! Contacts: overlapping atoms of different molecules.
//!
//! A *contact* is a pair of spheres of different molecules that overlap or nearly do. A *clash*
//! is a pair of atoms of different parts of a structure that are too close, with their names;
//! [`clashes::find_clashes`] reports them. Positions are in nm, in the world frame. Results do
//! not depend on the number of threads.

pub mod clashes;
mod closest_distance;

pub use closest_distance::{closest_distance, closest_periodic_distance};
