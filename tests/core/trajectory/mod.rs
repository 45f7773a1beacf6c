//! Trajectories in files.

mod errors;
mod fixtures;
mod simularium_files;
#[cfg(feature = "xtc")]
mod xtc_files;
