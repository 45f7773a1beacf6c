//! Two molecules, one of which is moved.

use super::{CONTACT_TOLERANCE_NM, DockingMolecule};
use crate::pose::Pose;

/// One molecule that is moved, and another in its way. Poses are those of the centers of
/// mass in the world, nm.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::docking::{
///     DockingMolecule, DockingPair, RigidMotion, ResponseMode, overlapping_atoms, is_free,
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
/// let home = Pose::IDENTITY;
/// let start = Pose::from_translation(Vec3::X * 5.0);
/// let encounter = DockingPair::new(&ligand, start, &receptor, home);
///
/// // However fast it is moved, it stops where the first atoms touch.
/// let touch = encounter.sweep(&RigidMotion::translation(Vec3::X * -10.0))?;
/// assert!(touch.fraction < 1.0 && !touch.pairs.is_empty());
/// assert!(is_free(&ligand, &touch.pose, &receptor, &home));
///
/// // From there it slides along the surface, or passes and tells what it overlaps.
/// let touching = DockingPair { pose: touch.pose, ..encounter };
/// let further = RigidMotion::translation(Vec3::X * -0.2);
/// let slid = touching.slide(&further)?;
/// assert!(is_free(&ligand, &slid.pose, &receptor, &home));
/// let passed = touching.respond(ResponseMode::Cue, &further)?;
/// assert_eq!(passed.pairs, overlapping_atoms(&ligand, &passed.pose, &receptor, &home));
/// assert!(!passed.pairs.is_empty());
///
/// // Who is inside gets out by about the shortest way.
/// let inside = DockingPair { pose: passed.pose, ..encounter };
/// let free = inside.nearest_free_pose()?;
/// assert!(is_free(&ligand, &free, &receptor, &home));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DockingPair<'a> {
    /// The molecule that is moved.
    pub moving: &'a DockingMolecule,
    /// Where it is, world frame, nm.
    pub pose: Pose,
    /// The other molecule.
    pub other: &'a DockingMolecule,
    /// Where that one is, world frame, nm.
    pub other_pose: Pose,
    /// How close atoms come before they touch, nm. Default: [`CONTACT_TOLERANCE_NM`].
    pub tolerance: f32,
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
}
