//! Compartments of every shape against brute force, and the springs that hold
//! molecules in them.

mod fixtures;
mod meshes;
mod samples;
mod shapes;
mod springs;
mod world;
