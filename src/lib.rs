//! Rigid molecules that collide atom by atom.

pub mod molecule;
pub mod pose;
