//! The library without Bevy and, except for the searches, without a GPU.

#[path = "../common/mod.rs"]
mod common;

mod certificate;
mod clashes;
mod closest_distance;
mod compartment;
mod crowd_contacts;
mod docking;
mod elements_and_labels;
mod export;
mod fibers;
mod force_laws;
#[path = "../../benches/docking/hashed_grid.rs"]
mod hashed_grid;
mod hashed_grid_queries;
mod local_grid;
mod membrane_proteins;
mod membranes;
mod mesh_files;
mod molecule_shape;
mod motion;
mod names;
mod occupied_volume;
mod proxy;
mod readers;
mod readers_never_panic;
#[cfg(feature = "recipe")]
mod recipes;
mod relaxation;
mod relaxer;
mod relaxer_periodic;
#[cfg(feature = "recipe")]
mod scene_files;
mod scenes;
mod search;
mod trajectory;
mod vesicle_relaxation;
