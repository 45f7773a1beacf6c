//! The library without Bevy and, except for the searches, without a GPU.

#[path = "../common/mod.rs"]
mod common;

#[path = "../../benches/papers/turk/cell_lists.rs"]
mod cell_lists;
mod certificate;
#[path = "../../benches/papers/turk/check.rs"]
mod check;
mod clashes;
mod closest_distance;
mod compartment;
mod crowd_contacts;
mod docking;
mod elements_and_labels;
mod export;
mod fibers;
mod force_laws;
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
mod turks_bump;
mod vesicle_relaxation;
