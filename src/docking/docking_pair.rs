//! A moving molecule and another one, and the responses to their collisions.

use thiserror::Error;

use super::docking_group::{DockingGroup, GroupReport};
use super::{AtomPair, CONTACT_TOLERANCE_NM, DockingMolecule, RigidMotion};
use crate::pose::Pose;

/// A moving molecule and another one. Poses are those of the centers of mass in the world, nm.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::docking::{
///     DockingMolecule, DockingPair, ResponseMode, RigidMotion, is_free, overlapping_atoms,
/// };
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let [ligand, receptor] = ["p_xylene.pdb", "popc.pdb"].map(|file| {
///     let template = load(format!("assets/molecules/{file}"), &LoadOptions::default())?;
///     Ok::<_, Box<dyn std::error::Error>>(DockingMolecule::new(Arc::new(template)))
/// });
/// let (ligand, receptor) = (ligand?, receptor?);
/// let start = Pose::from_translation(Vec3::X * 5.0);
/// let pair = DockingPair::new(&ligand, start, &receptor, Pose::IDENTITY);
///
/// // Move until the first contact, at any speed.
/// let swept = pair.sweep(&RigidMotion::translation(Vec3::X * -10.0))?;
/// assert!(swept.fraction < 1.0 && !swept.pairs.is_empty());
/// assert!(is_free(&ligand, &swept.pose, &receptor, &Pose::IDENTITY));
///
/// // Slide along the surface, or pass through and report overlaps.
/// let touching = DockingPair { pose: swept.pose, ..pair };
/// let motion = RigidMotion::translation(Vec3::X * -0.2);
/// let slid = touching.slide(&motion)?;
/// assert!(is_free(&ligand, &slid.pose, &receptor, &Pose::IDENTITY));
/// let inside = touching.respond(ResponseMode::Cue, &motion)?;
/// let overlaps = overlapping_atoms(&ligand, &inside.pose, &receptor, &Pose::IDENTITY);
/// assert_eq!(inside.pairs, overlaps);
/// assert!(!overlaps.is_empty());
///
/// // Resolve the overlap.
/// let free = DockingPair { pose: inside.pose, ..pair }.nearest_free_pose()?;
/// assert!(is_free(&ligand, &free, &receptor, &Pose::IDENTITY));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DockingPair<'a> {
    /// The moving molecule.
    pub moving: &'a DockingMolecule,
    /// Its pose, world frame, nm.
    pub pose: Pose,
    /// The other molecule.
    pub other: &'a DockingMolecule,
    /// Its pose, world frame, nm.
    pub other_pose: Pose,
    /// Gap at which atoms count as touching, nm. Default: [`CONTACT_TOLERANCE_NM`].
    pub tolerance: f32,
}

/// Response to a collision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResponseMode {
    /// Stop at the first contact, as in Turk's system.
    Stop,
    /// Pass through and report overlapping atoms.
    Cue,
    /// Slide along the surface. Default.
    #[default]
    Slide,
    /// Slide along the surface and push the other molecules away. All give way according to
    /// their masses: a light molecule slides along a heavy one, a heavy one pushes a light one.
    Push,
}

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
    /// Atoms of one molecule overlap at the start of a turn about one of its bonds.
    #[error(
        "the molecule overlaps itself at the start of the turn: atom {} is {penetration} nm inside atom {}; set its torsions back, or turn collisions off",
        atoms[0],
        atoms[1]
    )]
    OverlapsItself {
        /// The atom that turns, and the one that stays.
        atoms: [u32; 2],
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

/// Result of a motion.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MoveReport {
    /// Final pose of the moving molecule, world frame, nm.
    pub pose: Pose,
    /// Final pose of the other molecule, world frame, nm. Changed by [`ResponseMode::Push`] only.
    pub other_pose: Pose,
    /// Atoms of the moving and of the other molecule that touch at the end, or overlap with
    /// [`ResponseMode::Cue`].
    pub pairs: Vec<AtomPair>,
    /// Whether the motion ended early.
    pub blocked: bool,
}

impl<'a> DockingPair<'a> {
    /// Two molecules at their poses, with the default tolerance.
    #[must_use]
    pub fn new(
        moving: &'a DockingMolecule,
        pose: Pose,
        other: &'a DockingMolecule,
        other_pose: Pose,
    ) -> Self {
        Self {
            moving,
            pose,
            other,
            other_pose,
            tolerance: CONTACT_TOLERANCE_NM,
        }
    }

    /// Moves the molecule and responds to collisions.
    ///
    /// # Errors
    /// As [`sweep`](Self::sweep). With [`ResponseMode::Cue`] overlaps are no error.
    pub fn respond(
        &self,
        mode: ResponseMode,
        motion: &RigidMotion,
    ) -> Result<MoveReport, DockingError> {
        Ok(self.report(self.group().respond(mode, motion)?))
    }

    /// Moves the molecule and slides along contacts: removes the component of the motion into
    /// the surface, for all contacts at once, and continues. The molecule may rotate according
    /// to its inertia.
    ///
    /// # Errors
    /// As [`sweep`](Self::sweep).
    pub fn slide(&self, motion: &RigidMotion) -> Result<MoveReport, DockingError> {
        self.respond(ResponseMode::Slide, motion)
    }

    /// The nearest pose without overlaps, at the same rotation, that can be reached from
    /// outside. A free pose is returned unchanged.
    ///
    /// Approximate: sweeps the molecule back from outside along 256 directions.
    ///
    /// # Errors
    /// As [`sweep`](Self::sweep), except that the molecules may overlap.
    pub fn nearest_free_pose(&self) -> Result<Pose, DockingError> {
        self.group().nearest_free_pose()
    }

    /// The group of only these two molecules.
    fn group(&self) -> DockingGroup<'a> {
        DockingGroup {
            moving: self.moving,
            pose: self.pose,
            others: vec![(self.other, self.other_pose)],
            tolerance: self.tolerance,
        }
    }

    fn report(&self, report: GroupReport) -> MoveReport {
        MoveReport {
            pose: report.pose,
            other_pose: report
                .other_poses
                .first()
                .copied()
                .unwrap_or(self.other_pose),
            pairs: report
                .contacts
                .iter()
                .map(|contact| contact.atoms)
                .collect(),
            blocked: report.blocked,
        }
    }
}
