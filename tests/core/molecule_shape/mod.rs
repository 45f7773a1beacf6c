//! Molecules as shapes of a Rapier world answer as their atoms would one by one.
//!
//! The oracle of every query is a loop over the atoms, each a parry `Ball`, against
//! every convex part of the other shape by parry's own dispatcher.

mod dynamics;
mod edge_cases;
mod fixtures;
mod oracle;
mod pairs;
mod rays_and_points;
mod speed;
