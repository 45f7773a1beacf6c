//! Molecules in a Bevy app without a window.

mod bodies;
mod common;
mod queries;
