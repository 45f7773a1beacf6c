//! Inputs of a session, its settings, and the results.

use thiserror::Error;

use super::{AtomPair, DockingError, ResponseMode, RigidMotion, Role};
use crate::molecule::TemplateError;
use crate::pose::Pose;

/// Valid factors on the radii.
pub(super) const RADIUS_SCALES: std::ops::RangeInclusive<f32> = 0.1..=4.0;

/// An input of a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionInput {
    /// Move the active molecule.
    Move(RigidMotion),
    /// Turn a rotatable bond of the active ligand by an angle, radian, until a contact.
    ///
    /// The smaller side turns, counterclockwise when looking against the direction to it. It
    /// collides with all other molecules, and with atoms of the rest of the ligand that are more
    /// than three bonds away, except those that it touches in the file. A torsion has one degree of
    /// freedom, so with [`ResponseMode::Slide`] and [`ResponseMode::Push`] it stops at the contact,
    /// as with [`ResponseMode::Stop`]; with [`ResponseMode::Cue`] it passes through.
    Turn {
        /// Index in [`Session::bonds`](super::Session::bonds).
        bond: u32,
        /// The angle, radian.
        angle: f32,
    },
    /// Make the next molecule the active one: the ligands in order, then the receptor.
    SwitchMoved,
    /// Turn collisions on or off.
    Collisions(bool),
    /// Set the collision response.
    Response(ResponseMode),
    /// Scale the original radii of all atoms by a factor from 0.1 to 4.
    Radii(f32),
    /// Turn guidance by the energy on or off.
    Guidance(bool),
    /// Move the active molecule to [`Session::free_pose`](super::Session::free_pose).
    MoveToFreePose,
    /// Set the pose of a molecule (world frame, nm), regardless of overlaps.
    Place(Role, Pose),
    /// Turn all bonds of a ligand to these angles from the conformation of the file, radian,
    /// regardless of overlaps.
    Torsions(Role, Vec<f32>),
    /// Set the poses of all molecules, the receptor first, to those of rigid bodies in a physics
    /// engine. Replaying a log then needs no physics.
    BodyPoses(Vec<Pose>),
}

/// Settings of a session, changed by [`SessionInput`]s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionConfig {
    /// The active molecule, which inputs move. Default: the first ligand.
    pub moved: Role,
    /// Whether the molecules collide. Default: true.
    pub collisions: bool,
    /// Collision response. Default: [`ResponseMode::Slide`].
    pub response: ResponseMode,
    /// Factor on the radii, from 0.1 to 4. Default: 1.
    pub radius_scale: f32,
    /// Whether each motion is followed by a small step down the energy. Default: false.
    pub guidance: bool,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            moved: Role::LIGAND,
            collisions: true,
            response: ResponseMode::default(),
            radius_scale: 1.0,
            guidance: false,
        }
    }
}

/// A rejected input.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// Molecules overlap and cannot move.
    #[error(
        "'{moved}' and '{other}' overlap and cannot move: free the first one (its nearest free pose is {distance} nm away), or turn collisions off"
    )]
    Overlapping {
        /// Name of the active molecule.
        moved: String,
        /// Name of the other molecule.
        other: String,
        /// The nearest free pose, for [`SessionInput::MoveToFreePose`].
        free: Pose,
        /// Distance to it, nm.
        distance: f32,
    },
    /// A motion or a pose is invalid.
    #[error(transparent)]
    Docking(DockingError),
    /// The factor on the radii is out of range.
    #[error(
        "the factor on the radii must be from {} to {}, not {factor}",
        RADIUS_SCALES.start(),
        RADIUS_SCALES.end()
    )]
    BadRadiusScale {
        /// The invalid factor.
        factor: f32,
    },
    /// The scaled radii are invalid.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// Guidance needs an energy.
    #[error("guidance needs an energy: create the session with `with_energy`")]
    NoEnergy,
    /// The session has no such molecule.
    #[error("the session has no {role}, only {molecules} molecules")]
    NoSuchMolecule {
        /// The role.
        role: Role,
        /// Number of molecules.
        molecules: usize,
    },
    /// The number of poses differs from the number of molecules.
    #[error("the session has {molecules} molecules, but {poses} poses were given")]
    PoseCount {
        /// Number of molecules.
        molecules: usize,
        /// Number of poses.
        poses: usize,
    },
    /// The molecule has no such rotatable bond.
    #[error("the {role} '{name}' has {bonds} rotatable bonds, so none with index {bond}{}",
        if *role == Role::Receptor { ": only ligands have torsions" } else { "" })]
    NoSuchBond {
        /// The molecule.
        role: Role,
        /// Its name.
        name: String,
        /// Number of its rotatable bonds.
        bonds: usize,
        /// The given index.
        bond: u32,
    },
    /// The number of angles differs from the number of rotatable bonds.
    #[error("the {role} '{name}' has {bonds} rotatable bonds, but {angles} angles were given")]
    AngleCount {
        /// The molecule.
        role: Role,
        /// Its name.
        name: String,
        /// Number of its rotatable bonds.
        bonds: usize,
        /// Number of angles.
        angles: usize,
    },
}

impl From<DockingError> for SessionError {
    fn from(error: DockingError) -> Self {
        Self::Docking(error)
    }
}

/// Touching or overlapping atoms of two molecules of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The two molecules in ascending order; twice the same one for atoms of one molecule.
    pub molecules: [Role; 2],
    /// Their atoms, in the same order.
    pub atoms: AtomPair,
}

/// Result of an input.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct InputReport {
    /// Atoms that touch or overlap.
    pub contacts: Vec<Contact>,
    /// Whether a motion ended early.
    pub blocked: bool,
}
