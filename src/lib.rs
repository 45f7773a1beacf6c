//! Rigid molecules that collide atom by atom.

pub mod compartment;
pub mod contact;
pub mod export;
mod hybrid36;
pub mod molecule;
pub mod pose;
mod scatter;
pub mod search;
pub mod spheres;
