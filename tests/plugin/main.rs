//! Molecules in a Bevy app without a window.

mod assets;
#[cfg(feature = "gpu")]
mod backend;
#[cfg(feature = "gpu")]
mod backend_contacts;
#[cfg(feature = "gpu")]
mod backend_faults;
mod bodies;
mod bounds;
mod brownian;
mod common;
mod compartments;
mod contacts;
#[cfg(feature = "draw")]
mod docking_bodies;
mod faults;
#[cfg(feature = "gamepad")]
mod gamepad;
mod gizmos;
#[cfg(feature = "gpu")]
#[path = "../gpu_device/mod.rs"]
mod gpu_device;
mod ligand;
mod log;
mod queries;
mod query_oracle;
mod schedules;
#[path = "../thread_pool/mod.rs"]
mod thread_pool;
mod timesteps;
