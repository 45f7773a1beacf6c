//! Molecules in a Bevy app without a window.

mod assets;
mod bodies;
mod common;
mod compartments;
mod contacts;
mod faults;
mod gizmos;
mod ligand;
mod queries;
mod schedules;
mod timesteps;
