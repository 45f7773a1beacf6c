//! Compartments of every shape against brute force, and the springs that hold molecules in them.

mod closed_meshes;
mod concave_cells;
mod confinement;
mod distances_and_normals;
mod even_points;
pub mod fixtures;
mod flat_patches;
mod regions;
mod spring_world;
mod springs;
mod surface_samples;
mod tori;
mod volumes;
mod whole_molecules;
