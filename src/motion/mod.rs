//! Collisions in time: spheres that move, and meet.
//!
//! | room | what it does |
//! |---|---|
//! | [`swept`] | when two moving, growing spheres touch, or a sphere and a wall |
//! | [`time_varying`] | spheres whose ways nobody knows, but for a bound on their acceleration: event after event, no collision missed (Kim, Guibas and Shin) |
//! | [`brownian`] | particles and molecules that diffuse, collide, and may stick together (Johnson and Whalley) |
//! | [`watch`] | molecules that an engine moves step by step: when their atoms meet |
//!
//! Lengths are nm, times s, in 64 bits.

pub mod brownian;
mod error;
mod shape;
pub mod swept;
pub mod time_varying;
pub mod watch;

pub use error::{MotionError, Obstacle};
