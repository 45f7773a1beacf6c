//! [`Edit`]: changes of a [`LivePacking`](super::LivePacking), and what they did.

use glam::Vec3;
use thiserror::Error;

use crate::pose::Pose;
use crate::recipe::RecipeWarning;

/// Identifies a molecule of a [`LivePacking`](super::LivePacking) for as long as that exists. A
/// molecule that is removed and comes back by [`undo`](super::LivePacking::undo) keeps its id; no
/// other molecule ever gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoleculeId(pub(super) u64);

impl MoleculeId {
    /// A number that no other molecule of the packing has.
    #[must_use]
    pub fn to_bits(self) -> u64 {
        self.0
    }
}

impl std::fmt::Display for MoleculeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A change of a [`LivePacking`](super::LivePacking). Each is one step of its history.
///
/// An `entry` is an index of [`entries`](super::LivePacking::entries).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Edit {
    /// Sets the number of molecules of an entry, unless they are links of fibers or placed by a rule
    /// ([`can_set_count`](super::EntryState::can_set_count)).
    ///
    /// Added molecules are placed as by [`populate`](crate::recipe::populate()), around those that
    /// are there; a lipid gets a random conformer, and the emptiest of some random places of its
    /// leaflet; a sphere with a distribution of sizes has one of the sizes of the population. If
    /// there are too many, the molecules that were added last are removed, frozen ones
    /// after all others.
    SetCount {
        /// The entry.
        entry: usize,
        /// Number of its molecules.
        count: u32,
    },
    /// Adds molecules within a ball: inside of their region, or on the part of their surface that
    /// is in the ball or up to 2.5 nm above or below it. Gradients and partners of the entry are
    /// ignored. Not for entries whose number cannot be set.
    Paint {
        /// The entry.
        entry: usize,
        /// Center of the ball, nm.
        center: Vec3,
        /// Radius of the ball, nm.
        radius: f32,
        /// Number of molecules.
        count: u32,
    },
    /// Removes molecules. With the link of a fiber, all its links are removed. Molecules that a rule
    /// has bound to others stay, and are free.
    Remove(Vec<MoleculeId>),
    /// Freezes or frees molecules. Frozen ones never move; the others give way.
    Freeze {
        /// The molecules.
        ids: Vec<MoleculeId>,
        /// Whether they are frozen afterwards.
        frozen: bool,
    },
    /// Moves a molecule to a pose at once. [`start_drag`](super::LivePacking::start_drag) moves it
    /// step by step.
    Move {
        /// The molecule.
        id: MoleculeId,
        /// Its pose, nm.
        pose: Pose,
    },
}

/// What an [`Edit`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EditReport {
    /// Molecules that are new.
    pub added: Vec<MoleculeId>,
    /// Molecules that are gone.
    pub removed: Vec<MoleculeId>,
    /// Molecules that were frozen, freed or moved.
    pub changed: Vec<MoleculeId>,
}

/// What a new recipe changed in a [`LivePacking`](super::LivePacking).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecipeChange {
    /// Molecules that are new.
    pub added: Vec<MoleculeId>,
    /// Molecules that are gone.
    pub removed: Vec<MoleculeId>,
    /// Number of molecules that stayed at their poses.
    pub kept: usize,
    /// Whether all molecules were placed again, because the box, the tolerance or a compartment
    /// changed.
    pub repopulated: bool,
    /// What may surprise in the new recipe.
    pub warnings: Vec<RecipeWarning>,
}

/// Why a [`LivePacking`](super::LivePacking) cannot be edited or saved.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum EditError {
    /// There is no such entry.
    #[error("there is no entry {entry}: the recipe has {count}")]
    UnknownEntry {
        /// The given index.
        entry: usize,
        /// Number of entries.
        count: usize,
    },
    /// Molecules of fibers and of rules are not added or removed one by one.
    #[error(
        "the number of '{name}' in {region} cannot be changed here, because {reason}; edit the recipe file, which is then read again"
    )]
    FixedCount {
        /// Compartment and region of the entry.
        region: String,
        /// Name of the entry.
        name: String,
        /// What determines the number.
        reason: &'static str,
    },
    /// There is no such molecule, or no longer.
    #[error("there is no molecule {id}; it may have been removed")]
    UnknownMolecule {
        /// The given id.
        id: MoleculeId,
    },
    /// The ball to paint in is invalid.
    #[error(
        "the brush must have a finite center and a positive radius, not {center} and {radius} nm"
    )]
    BadBrush {
        /// The given center, nm.
        center: Vec3,
        /// The given radius, nm.
        radius: f32,
    },
    /// The ball to paint in has no part of the region.
    #[error("no part of {region} is within {radius} nm of {center}; move or enlarge the brush")]
    BrushOutside {
        /// Compartment and region of the entry.
        region: String,
        /// Center of the ball, nm.
        center: Vec3,
        /// Radius of the ball, nm.
        radius: f32,
    },
    /// The point to drag to is not finite.
    #[error("a molecule can be dragged to finite points only, not to {point}")]
    BadPoint {
        /// The given point, nm.
        point: Vec3,
    },
    /// The recipe is not one of cellPACK.
    #[error("only recipes of cellPACK (.json) can be saved with their molecules")]
    NotCellpack,
}
