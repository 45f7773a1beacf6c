//! Queries on a `MoleculeShape` agree with brute force.
//!
//! The oracle of every query is a loop over the atoms, each a parry `Ball`, and the convex
//! parts of the other shape, with parry's own dispatcher.

mod dynamics;
mod edge_cases;
mod fixtures;
mod oracle;
mod pairs;
mod rays_and_points;
mod speed;
