//! Tests of the plugin in headless Bevy apps.

#[path = "../common/mod.rs"]
mod common;

mod acceleration_bound;
mod assets;
#[cfg(feature = "gpu")]
mod backend;
#[cfg(feature = "gpu")]
mod backend_contacts;
#[cfg(feature = "gpu")]
mod backend_errors;
mod bodies;
mod brownian_motion;
mod compartments;
mod contacts;
#[cfg(feature = "draw")]
mod docking_bodies;
#[cfg(feature = "gamepad")]
mod gamepad;
mod gizmos;
mod ligand;
mod log;
mod member_changes;
mod queries;
mod query_oracle;
mod render;
mod schedules;
mod spawn_crowd;
mod state_errors;
mod test_app;
mod timesteps;
