//! Contacts: overlapping pairs, seen from each molecule.

pub mod clashes;
mod closest;
mod table;

pub use closest::closest_distance;
pub use table::{ContactError, ContactSide, ContactTable};
