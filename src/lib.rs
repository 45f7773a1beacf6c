//! Rigid molecules that collide atom by atom.

pub mod compartment;
pub mod contact;
pub mod crowd;
pub mod export;
pub mod force;
mod hybrid36;
pub mod molecule;
pub mod pose;
pub mod relax;
mod scatter;
pub mod scenes;
pub mod search;
pub mod spheres;
