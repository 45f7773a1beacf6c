//! Contacts: overlapping pairs, seen from each molecule.

mod table;

pub use table::{ContactSide, ContactTable};
