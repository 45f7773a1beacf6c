//! Compartments of every shape against brute force, and the springs that hold molecules in them.

mod closed_meshes;
mod confinement;
mod distances_and_normals;
mod fixtures;
mod spring_world;
mod springs;
mod surface_samples;
