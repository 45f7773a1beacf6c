//! Why a molecule cannot be moved.

use thiserror::Error;

/// Why a molecule cannot be moved.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DockingError {
    /// A motion has a number that is not finite.
    #[error("the {what} has a number that is not finite")]
    NotFinite {
        /// What it is.
        what: &'static str,
    },
    /// A pose is not finite, or its rotation is not a rotation.
    #[error("the {what} needs a finite position and a unit rotation")]
    BadPose {
        /// Whose pose it is.
        what: &'static str,
    },
    /// The two molecules overlap where the motion begins.
    #[error(
        "the molecules overlap where the motion begins: atom {} of the moved one is {} nm inside atom {} of the other; begin from a free pose",
        moving,
        penetration,
        fixed
    )]
    StartsOverlapping {
        /// Atom of the molecule that is moved, counted from zero.
        moving: u32,
        /// Atom of the other molecule, counted from zero.
        fixed: u32,
        /// How deep they overlap, nm.
        penetration: f32,
    },
    /// The tolerance is not a positive number.
    #[error("the tolerance has to be a positive length, and is {tolerance} nm")]
    BadTolerance {
        /// What was given, nm.
        tolerance: f32,
    },
}
