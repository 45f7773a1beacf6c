//! Continuous collision detection, against brute force and conservation laws.

mod brownian_molecules;
mod brownian_particles;
mod conservation;
mod errors;
mod fine_molecule_steps;
mod fine_step_reference;
mod molecule_collisions;
mod reactions;
mod time_of_impact;
mod unknown_trajectories;
mod walls;
