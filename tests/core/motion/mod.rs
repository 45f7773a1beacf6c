//! Collisions in time: none is missed, nothing is lost.

mod brownian;
mod conservation;
mod errors;
mod molecule_collisions;
mod molecules;
mod reference;
mod unknown_trajectories;
mod walls;
