//! Tests of the plugin in headless Bevy apps.

#[path = "../common/mod.rs"]
mod common;

mod acceleration_bound;
mod asset_labels;
mod assets;
#[cfg(feature = "gpu")]
mod backend;
#[cfg(feature = "gpu")]
mod backend_contacts;
#[cfg(feature = "gpu")]
mod backend_errors;
mod bodies;
mod brownian_motion;
mod ccd;
#[cfg(feature = "recipe")]
mod cell_editor;
mod compartments;
mod contacts;
mod debug_outline;
#[cfg(feature = "draw")]
mod docking_bodies;
mod fibers;
#[cfg(feature = "gamepad")]
mod gamepad;
mod gizmos;
mod ligand;
mod log;
mod member_changes;
mod one_file_examples;
#[cfg(feature = "picking")]
mod pointer_events;
mod queries;
mod query_oracle;
mod rapier_components;
mod reactions;
#[cfg(feature = "recipe")]
mod recipe_files;
#[cfg(feature = "recipe")]
mod recipe_scenes;
mod reflection;
mod removals;
mod render;
mod scene_files;
mod schedules;
mod snapshots;
mod spawn_crowd;
mod state_errors;
mod test_app;
mod timesteps;
mod trajectory;
