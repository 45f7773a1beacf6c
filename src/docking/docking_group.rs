//! A moving molecule among several others.

use glam::Vec3;

use super::conservative_advancement::TOUCHING;
use super::{AtomPair, DockingError, DockingMolecule, DockingPair, ResponseMode, RigidMotion};
use crate::fibonacci_sphere::direction;
use crate::pose::Pose;

/// Number of directions that [`DockingGroup::nearest_free_pose`] tries.
const DIRECTIONS: u32 = 256;

/// A moving molecule and any number of others. Poses are those of the centers of mass in the
/// world, nm.
///
/// With one other molecule, all results are those of [`DockingPair`], bit for bit.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::docking::{
///     DockingGroup, DockingMolecule, ResponseMode, RigidMotion, is_free,
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
/// let at = |x: f32| Pose::from_translation(Vec3::X * x);
/// // The second ligand is between the first one and the receptor.
/// let group = DockingGroup::new(&ligand, at(6.0), vec![(&receptor, at(0.0)), (&ligand, at(4.0))]);
/// let towards = RigidMotion::translation(Vec3::X * -3.0);
/// let stopped = group.respond(ResponseMode::Stop, &towards)?;
/// assert!(stopped.contacts.iter().all(|contact| contact.molecules == [0, 2]));
/// // Pushed, it moves along.
/// let pushed = group.respond(ResponseMode::Push, &towards)?;
/// assert!(pushed.other_poses[1].position.x < 4.0);
/// assert!(is_free(&ligand, &pushed.pose, &ligand, &pushed.other_poses[1]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DockingGroup<'a> {
    /// The moving molecule.
    pub moving: &'a DockingMolecule,
    /// Its pose, world frame, nm.
    pub pose: Pose,
    /// The other molecules with their poses, world frame, nm.
    pub others: Vec<(&'a DockingMolecule, Pose)>,
    /// Gap at which atoms count as touching, nm. Default:
    /// [`CONTACT_TOLERANCE_NM`](super::CONTACT_TOLERANCE_NM).
    pub tolerance: f32,
}

/// Touching or overlapping atoms of two molecules of a [`DockingGroup`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupContact {
    /// The two molecules, in ascending order: 0 is the moving one, 1 the first of the others.
    pub molecules: [usize; 2],
    /// Their atoms, in the same order.
    pub atoms: AtomPair,
}

/// Result of a motion among several molecules.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GroupReport {
    /// Final pose of the moving molecule, world frame, nm.
    pub pose: Pose,
    /// Final poses of the others, world frame, nm. Changed by [`ResponseMode::Push`] only.
    pub other_poses: Vec<Pose>,
    /// Atoms that touch at the end, or overlap with [`ResponseMode::Cue`].
    pub contacts: Vec<GroupContact>,
    /// Whether the motion ended early.
    pub blocked: bool,
}

impl<'a> DockingGroup<'a> {
    /// Molecules at their poses, with the default tolerance.
    #[must_use]
    pub fn new(
        moving: &'a DockingMolecule,
        pose: Pose,
        others: Vec<(&'a DockingMolecule, Pose)>,
    ) -> Self {
        Self {
            moving,
            pose,
            others,
            tolerance: super::CONTACT_TOLERANCE_NM,
        }
    }

    /// Number of molecules.
    pub(super) fn len(&self) -> usize {
        1 + self.others.len()
    }

    /// A molecule and its pose.
    pub(super) fn molecule(&self, index: usize) -> (&'a DockingMolecule, Pose) {
        match index.checked_sub(1) {
            None => (self.moving, self.pose),
            Some(other) => self.others[other],
        }
    }

    /// Two of the molecules.
    pub(super) fn pair(&self, [a, b]: [usize; 2]) -> DockingPair<'a> {
        let ((moving, pose), (other, other_pose)) = (self.molecule(a), self.molecule(b));
        DockingPair {
            moving,
            pose,
            other,
            other_pose,
            tolerance: self.tolerance,
        }
    }

    /// The pairs of the moving molecule with each other one.
    fn moving_pairs(&self) -> impl Iterator<Item = DockingPair<'a>> {
        (1..self.len()).map(|other| self.pair([0, other]))
    }

    /// Moves the molecule and responds to collisions with all others.
    ///
    /// # Errors
    /// As [`DockingPair::sweep`]. With [`ResponseMode::Cue`] overlaps are no error.
    pub fn respond(
        &self,
        mode: ResponseMode,
        motion: &RigidMotion,
    ) -> Result<GroupReport, DockingError> {
        match mode {
            ResponseMode::Stop => {
                let contact = self.first_contact(motion)?;
                let pose = motion.pose_at(&self.pose, contact.unwrap_or(1.0));
                let mut report = self.report(pose);
                if contact.is_some() {
                    let end = Self {
                        pose,
                        ..self.clone()
                    };
                    report.contacts = end.contacts(TOUCHING * self.tolerance);
                    report.blocked = !report.contacts.is_empty();
                }
                Ok(report)
            }
            ResponseMode::Cue => {
                let mut report = self.pass_through(motion)?;
                let pose = report.pose;
                let end = Self {
                    pose,
                    ..self.clone()
                };
                report.contacts = end.contacts(0.0);
                Ok(report)
            }
            ResponseMode::Slide => self.slide_and_push(motion, |_| 0.0),
            ResponseMode::Push => {
                self.slide_and_push(motion, |other| other.template().mass().recip())
            }
        }
    }

    /// Moves the molecule without collisions.
    pub(super) fn pass_through(&self, motion: &RigidMotion) -> Result<GroupReport, DockingError> {
        let pose = motion.pose_at(&self.pose, 1.0);
        if !pose.is_finite() {
            return Err(DockingError::NotFinite);
        }
        Ok(self.report(pose))
    }

    /// A motion to `pose` without contacts.
    pub(super) fn report(&self, pose: Pose) -> GroupReport {
        GroupReport {
            pose,
            other_poses: self.others.iter().map(|(_, pose)| *pose).collect(),
            contacts: Vec::new(),
            blocked: false,
        }
    }

    /// The fraction of the motion at the first contact with any of the others, if there is one.
    fn first_contact(&self, motion: &RigidMotion) -> Result<Option<f64>, DockingError> {
        let mut first = None;
        for pair in self.moving_pairs() {
            let contact = pair.first_contact(motion, first.unwrap_or(1.0))?;
            first = contact.or(first);
        }
        Ok(first)
    }

    /// Atoms of the moving molecule and of another one at most `margin` nm apart.
    pub(super) fn contacts(&self, margin: f32) -> Vec<GroupContact> {
        self.contacts_of((1..self.len()).map(|other| [0, other]), margin)
    }

    /// Atoms of pairs of molecules at most `margin` nm apart.
    pub(super) fn contacts_of(
        &self,
        pairs: impl Iterator<Item = [usize; 2]>,
        margin: f32,
    ) -> Vec<GroupContact> {
        let contacts = pairs.flat_map(|molecules| {
            let contact = move |atoms| GroupContact { molecules, atoms };
            let atoms = self.pair(molecules).atoms_within(margin);
            atoms.into_iter().map(contact)
        });
        contacts.collect()
    }

    fn is_free(&self) -> bool {
        self.moving_pairs().all(|pair| pair.is_free())
    }

    /// The nearest pose without overlaps, at the same rotation, that can be reached from
    /// outside. A free pose is returned unchanged.
    ///
    /// Approximate: sweeps the molecule back from outside along 256 directions.
    ///
    /// # Errors
    /// As [`DockingPair::sweep`], except that the molecules may overlap.
    pub fn nearest_free_pose(&self) -> Result<Pose, DockingError> {
        let pose = self.pose;
        // Validates the input.
        for pair in self.moving_pairs() {
            match pair.first_contact(&RigidMotion::default(), 1.0) {
                Ok(_) | Err(DockingError::StartsOverlapping { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if self.is_free() {
            return Ok(pose);
        }
        // Outside of all others in every direction.
        let distances = self.others.iter().map(|(other, other_pose)| {
            let radii =
                self.moving.template().bounding_radius() + other.template().bounding_radius();
            let offset = (pose.position - other_pose.position).length();
            2.0 * (radii + offset + self.tolerance)
        });
        let start_distance = distances.fold(0.0, f32::max);
        let mut best = Pose::new(pose.position + Vec3::X * start_distance, pose.rotation);
        let mut min_distance = start_distance;
        for index in 0..DIRECTIONS {
            let path = direction(index, DIRECTIONS) * start_distance;
            let outside = Self {
                pose: Pose::new(pose.position + path, pose.rotation),
                ..self.clone()
            };
            let back = RigidMotion::translation(-path);
            let contact = outside.first_contact(&back)?;
            let end = back.pose_at(&outside.pose, contact.unwrap_or(1.0));
            let distance = end.position.distance(pose.position);
            if distance < min_distance {
                min_distance = distance;
                best = end;
            }
        }
        Ok(best)
    }
}
