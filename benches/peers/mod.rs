//! Pair counting with this crate and with other crates.

pub mod pair_counters;
pub mod scene;

/// Atoms of different molecules closer than this are counted, nm: twice the van der Waals
/// radius of carbon.
pub const TOLERANCE_NM: f32 = 0.34;
