//! Two molecules, one of which is moved.

use super::{DockingMolecule, TOLERANCE_NM};
use crate::pose::Pose;

/// One molecule that is moved, and another in its way. Poses are those of the centers of
/// mass in the world, nm.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::docking::{
///     DockingMolecule, Encounter, Motion, ResponseMode, interferes, is_free,
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
/// let encounter = Encounter::new(&ligand, start, &receptor, home);
///
/// // However fast it is moved, it stops where the first atoms touch.
/// let touch = encounter.move_to_touch(&Motion::translation(Vec3::X * -10.0))?;
/// assert!(touch.fraction < 1.0 && !touch.pairs.is_empty());
/// assert!(is_free(&ligand, &touch.pose, &receptor, &home));
///
/// // From there it slides along the surface, or passes and tells what it overlaps.
/// let touching = Encounter { pose: touch.pose, ..encounter };
/// let further = Motion::translation(Vec3::X * -0.2);
/// let slid = touching.slide(&further)?;
/// assert!(is_free(&ligand, &slid.pose, &receptor, &home));
/// let passed = touching.respond(ResponseMode::Cue, &further)?;
/// assert_eq!(passed.pairs, interferes(&ligand, &passed.pose, &receptor, &home));
/// assert!(!passed.pairs.is_empty());
///
/// // Who is inside gets out by about the shortest way.
/// let inside = Encounter { pose: passed.pose, ..encounter };
/// let free = inside.nearest_free_pose()?;
/// assert!(is_free(&ligand, &free, &receptor, &home));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Encounter<'a> {
    /// The molecule that is moved.
    pub moving: &'a DockingMolecule,
    /// Where it is, world frame, nm.
    pub pose: Pose,
    /// The other molecule.
    pub other: &'a DockingMolecule,
    /// Where that one is, world frame, nm.
    pub other_pose: Pose,
    /// How close atoms come before they touch, nm. Default: [`TOLERANCE_NM`].
    pub tolerance: f32,
}

impl<'a> Encounter<'a> {
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
            tolerance: TOLERANCE_NM,
        }
    }
}
