//! Molecules in a Bevy app without a window.

mod bodies;
mod common;
#[cfg(feature = "gizmos")]
mod gizmos;
mod queries;
