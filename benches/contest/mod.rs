//! The job, and those who do it.

pub mod contestants;
pub mod scene;

/// Atoms of different molecules closer than this are counted, nm: twice a carbon's
/// van der Waals radius.
pub const TOLERANCE_NM: f32 = 0.34;
