//! The error type of motions.

use thiserror::Error;

/// An invalid motion of a molecule.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DockingError {
    /// The motion, or its end, is not finite.
    #[error("the motion is not finite")]
    NotFinite,
    /// A pose is not finite, or its rotation is not normalized.
    #[error("the {what} needs a finite position and a unit quaternion")]
    BadPose {
        /// Which pose.
        what: &'static str,
    },
    /// The molecules overlap at the start of the motion.
    #[error(
        "the molecules overlap at the start of the motion: atom {moving} of the moving one is {penetration} nm inside atom {fixed} of the other; start from a free pose"
    )]
    StartsOverlapping {
        /// Atom of the moving molecule.
        moving: u32,
        /// Atom of the other molecule.
        fixed: u32,
        /// Overlap, nm.
        penetration: f32,
    },
    /// The tolerance is not a positive number.
    #[error("the tolerance must be a positive length, not {tolerance} nm")]
    BadTolerance {
        /// The invalid tolerance, nm.
        tolerance: f32,
    },
}
