//! [`Crowd`]: molecules with shared templates, and the compartments they are placed in.
//!
//! Add templates, compartments and placements first, then the [`CrowdMember`]s that refer to
//! them by index, each with its world pose (nm). Invalid indices and poses are rejected with a
//! [`CrowdError`], so that users of a [`Crowd`] need not check them: a `Relaxer` relaxes it,
//! `export` writes it. Members keep the order in which they are added.
//!
//! A [`CrowdJoint`] connects two members and limits their gap, bend and twist.
//!
//! Molecules that share a template and differ only in their pose follow J. Pauschenwein (2022,
//! section 4.1).

mod joint;

pub use joint::{CrowdJoint, JointError, JointExcess, JointLimits, JointState};

use std::sync::Arc;

use thiserror::Error;

use crate::compartment::{Confinement, PlacementError, Surface};
use crate::molecule::MoleculeTemplate;
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;

/// Why a part of a crowd is invalid.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CrowdError {
    /// An index is out of range.
    #[error("there is no {what} {index} in the crowd: it has {count}; add it first")]
    UnknownIndex {
        /// Kind of the index: template, compartment, placement or molecule.
        what: &'static str,
        /// The given index.
        index: u32,
        /// Number of existing ones.
        count: usize,
    },
    /// A pose is NaN or infinite, or its rotation is not a unit quaternion.
    #[error(
        "molecule {molecule} needs a finite position and a unit rotation, not {} nm and {}",
        pose.position, pose.rotation
    )]
    BadPose {
        /// Index of the molecule.
        molecule: usize,
        /// The given pose.
        pose: Pose,
    },
    /// A placement is invalid.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// A limit of a joint is invalid.
    #[error(transparent)]
    Joint(#[from] JointError),
    /// A joint connects a molecule with itself.
    #[error("a joint connects molecule {molecule} with itself")]
    SelfJoint {
        /// Index of the molecule.
        molecule: u32,
    },
    /// A frame of a joint is NaN or infinite, or its rotation is not a unit quaternion.
    #[error(
        "the frame of a joint in molecule {molecule} needs a finite position and a unit rotation, not {} nm and {}",
        frame.position, frame.rotation
    )]
    BadFrame {
        /// Index of the molecule.
        molecule: u32,
        /// The given frame.
        frame: Pose,
    },
}

/// One molecule of a crowd. Default: free, at the origin, of the first template.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrowdMember {
    /// Index of its template, from [`Crowd::add_template`].
    pub template: u32,
    /// Index of its placement, from [`Crowd::add_placement`]; `None` if it is not confined.
    pub placement: Option<u32>,
    /// World pose, nm.
    pub pose: Pose,
    /// Whether a relaxer never moves it. The others give way, and it counts as in place.
    pub fixed: bool,
}

/// A placement in one of the compartments of a crowd.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrowdPlacement {
    /// Index of the compartment, from [`Crowd::add_compartment`].
    pub compartment: u32,
    /// Where a molecule belongs: in the surface of that compartment, inside or outside.
    pub confinement: Confinement,
}

/// Molecules with shared templates, each optionally placed in a compartment.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// let protein = Arc::new(load("assets/molecules/1ubq.cif", &LoadOptions::default())?);
/// let mut crowd = Crowd::new();
/// let template = crowd.add_template(protein);
/// for k in 0..3 {
///     let pose = Pose::from_translation(Vec3::X * k as f32);
///     crowd.add_member(CrowdMember { template, pose, ..CrowdMember::default() })?;
/// }
/// assert_eq!(crowd.atom_count(), 3 * 602);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Crowd {
    templates: Vec<Arc<MoleculeTemplate>>,
    compartments: Vec<Arc<dyn Surface>>,
    placements: Vec<CrowdPlacement>,
    members: Vec<CrowdMember>,
    joints: Vec<CrowdJoint>,
    periodic_box: Option<PeriodicBox>,
}

impl Crowd {
    /// An empty crowd.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a template and returns its index.
    pub fn add_template(&mut self, template: Arc<MoleculeTemplate>) -> u32 {
        self.templates.push(template);
        self.templates.len() as u32 - 1
    }

    /// The index of a template, which is added if it is new.
    #[cfg(feature = "recipe")]
    pub(crate) fn find_template(&mut self, template: &Arc<MoleculeTemplate>) -> u32 {
        let mut known = self.templates.iter().zip(0..);
        match known.find(|(known, _)| Arc::ptr_eq(known, template)) {
            Some((_, index)) => index,
            None => self.add_template(template.clone()),
        }
    }

    /// Adds a compartment and returns its index.
    pub fn add_compartment(&mut self, compartment: Arc<dyn Surface>) -> u32 {
        self.compartments.push(compartment);
        self.compartments.len() as u32 - 1
    }

    /// Adds a placement and returns its index: in the surface of a compartment (a
    /// [`Placement`](crate::compartment::Placement)), inside or outside.
    ///
    /// # Errors
    /// [`CrowdError`] if the compartment does not exist or the placement is invalid.
    pub fn add_placement(
        &mut self,
        compartment: u32,
        confinement: impl Into<Confinement>,
    ) -> Result<u32, CrowdError> {
        check_index("compartment", compartment, self.compartments.len())?;
        self.placements.push(CrowdPlacement {
            compartment,
            confinement: confinement.into().checked()?,
        });
        Ok(self.placements.len() as u32 - 1)
    }

    /// Changes all placements, or none if one of the new ones is invalid. Returns whether
    /// they differ.
    pub(crate) fn update_placements(
        &mut self,
        mut update: impl FnMut(&mut Confinement),
    ) -> Result<bool, PlacementError> {
        let mut placements = self.placements.clone();
        for CrowdPlacement { confinement, .. } in &mut placements {
            update(confinement);
            *confinement = confinement.checked()?;
        }
        let changed = placements != self.placements;
        self.placements = placements;
        Ok(changed)
    }

    /// Adds a molecule and normalizes its rotation.
    ///
    /// # Errors
    /// [`CrowdError`] if its template or placement does not exist, or its pose is invalid.
    pub fn add_member(&mut self, mut member: CrowdMember) -> Result<(), CrowdError> {
        self.check_member(self.members.len(), &member)?;
        member.pose.rotation = member.pose.rotation.normalize();
        self.members.push(member);
        Ok(())
    }

    /// Connects two members and normalizes the rotations of the frames.
    ///
    /// # Errors
    /// [`CrowdError`] if a member does not exist, both are the same, or a frame or limit is
    /// invalid.
    pub fn add_joint(&mut self, mut joint: CrowdJoint) -> Result<(), CrowdError> {
        self.check_joint(&joint)?;
        for frame in &mut joint.frames {
            frame.rotation = frame.rotation.normalize();
        }
        self.joints.push(joint);
        Ok(())
    }

    /// As [`add_joint`](Self::add_joint), but keeps the bits of rotations that are normalized.
    pub(crate) fn add_exact_joint(&mut self, mut joint: CrowdJoint) -> Result<(), CrowdError> {
        self.check_joint(&joint)?;
        joint.frames = joint.frames.map(Pose::normalized_once);
        self.joints.push(joint);
        Ok(())
    }

    fn check_joint(&self, joint: &CrowdJoint) -> Result<(), CrowdError> {
        joint.limits.check()?;
        for (member, frame) in joint.members.into_iter().zip(joint.frames) {
            check_index("molecule", member, self.members.len())?;
            if !frame.is_rigid() {
                return Err(CrowdError::BadFrame {
                    molecule: member,
                    frame,
                });
            }
        }
        let [first, second] = joint.members;
        if first == second {
            return Err(CrowdError::SelfJoint { molecule: first });
        }
        Ok(())
    }

    /// Checks a molecule that has or gets this index.
    pub(crate) fn check_member(
        &self,
        index: usize,
        member: &CrowdMember,
    ) -> Result<(), CrowdError> {
        check_index("template", member.template, self.templates.len())?;
        if let Some(placement) = member.placement {
            check_index("placement", placement, self.placements.len())?;
        }
        if member.pose.is_rigid() {
            return Ok(());
        }
        Err(CrowdError::BadPose {
            molecule: index,
            pose: member.pose,
        })
    }

    /// The molecule with an index.
    pub(crate) fn member(&self, index: u32) -> Result<&CrowdMember, CrowdError> {
        check_index("molecule", index, self.members.len())?;
        Ok(&self.members[index as usize])
    }

    /// Replaces a molecule. Keeps the bits of a rotation that is normalized.
    pub(crate) fn set_member(&mut self, index: u32, member: CrowdMember) -> Result<(), CrowdError> {
        check_index("molecule", index, self.members.len())?;
        self.check_member(index as usize, &member)?;
        let pose = member.pose.normalized_once();
        self.members[index as usize] = CrowdMember { pose, ..member };
        Ok(())
    }

    /// Removes molecules and their joints; the others keep their order. Returns the new index of each
    /// molecule, none if it is removed.
    pub(crate) fn remove_members(
        &mut self,
        removed: &[u32],
    ) -> Result<Vec<Option<u32>>, CrowdError> {
        let mut stays = vec![true; self.members.len()];
        for &index in removed {
            check_index("molecule", index, self.members.len())?;
            stays[index as usize] = false;
        }
        let mut count = 0;
        let indices = stays.iter().map(|&stays| {
            let index = stays.then_some(count);
            count += u32::from(stays);
            index
        });
        let indices: Vec<Option<u32>> = indices.collect();
        let mut stays = stays.into_iter();
        self.members.retain(|_| stays.next().unwrap_or(true));
        self.joints.retain_mut(|joint| {
            let [Some(first), Some(second)] = joint.members.map(|member| indices[member as usize])
            else {
                return false;
            };
            joint.members = [first, second];
            true
        });
        Ok(indices)
    }

    /// As [`add_member`](Self::add_member), but keeps the bits of a rotation that is normalized.
    pub(crate) fn add_exact_member(&mut self, member: CrowdMember) -> Result<(), CrowdError> {
        self.add_member(member)?;
        if let Some(added) = self.members.last_mut() {
            added.pose = member.pose.normalized_once();
        }
        Ok(())
    }

    /// The same templates, compartments and placements without molecules and joints.
    #[cfg(all(feature = "plugin", feature = "recipe"))]
    pub(crate) fn without_members(&self) -> Self {
        Self {
            templates: self.templates.clone(),
            compartments: self.compartments.clone(),
            placements: self.placements.clone(),
            members: Vec::new(),
            joints: Vec::new(),
            periodic_box: self.periodic_box,
        }
    }

    /// The index of a placement, which is added if there is none. Keeps the bits of its values if
    /// they are valid.
    #[cfg(any(feature = "plugin", feature = "recipe"))]
    pub(crate) fn find_placement(&mut self, placement: CrowdPlacement) -> Result<u32, CrowdError> {
        let mut known = self.placements.iter().zip(0..);
        if let Some((_, index)) = known.find(|(known, _)| **known == placement) {
            return Ok(index);
        }
        let index = self.add_placement(placement.compartment, placement.confinement)?;
        let added = &mut self.placements[index as usize].confinement;
        if let (Confinement::Surface(added), Confinement::Surface(given)) =
            (added, placement.confinement)
            && added.up.abs_diff_eq(given.up, 4.0 * f32::EPSILON)
        {
            added.up = given.up;
        }
        Ok(index)
    }

    /// Sets the box that repeats in space; `None` for open space. Poses are not wrapped.
    pub fn set_periodic_box(&mut self, periodic_box: Option<PeriodicBox>) {
        self.periodic_box = periodic_box;
    }

    /// The box that repeats in space.
    #[must_use]
    pub fn periodic_box(&self) -> Option<PeriodicBox> {
        self.periodic_box
    }

    /// The templates.
    #[must_use]
    pub fn templates(&self) -> &[Arc<MoleculeTemplate>] {
        &self.templates
    }

    /// The compartments.
    #[must_use]
    pub fn compartments(&self) -> &[Arc<dyn Surface>] {
        &self.compartments
    }

    /// The placements.
    #[must_use]
    pub fn placements(&self) -> &[CrowdPlacement] {
        &self.placements
    }

    /// The molecules.
    #[must_use]
    pub fn members(&self) -> &[CrowdMember] {
        &self.members
    }

    /// The joints.
    #[must_use]
    pub fn joints(&self) -> &[CrowdJoint] {
        &self.joints
    }

    /// Gap, bend and twist of a joint at the current poses.
    ///
    /// # Panics
    /// If the joint belongs to another crowd and an index of a member is out of range.
    #[must_use]
    pub fn state_of(&self, joint: &CrowdJoint) -> JointState {
        let poses = joint
            .members
            .map(|member| &self.members[member as usize].pose);
        joint.state(poses, self.periodic_box.as_ref())
    }

    /// The molecules, mutable. The caller keeps their poses finite.
    pub(crate) fn members_mut(&mut self) -> &mut [CrowdMember] {
        &mut self.members
    }

    /// Template of one molecule.
    ///
    /// # Panics
    /// If the member belongs to another crowd and its template index is out of range.
    #[must_use]
    pub fn template_of(&self, member: &CrowdMember) -> &MoleculeTemplate {
        &self.templates[member.template as usize]
    }

    /// Compartment of one molecule and where it belongs there; none if it is free.
    ///
    /// # Panics
    /// If the member belongs to another crowd and its placement index is out of range.
    #[must_use]
    pub fn confinement_of(&self, member: &CrowdMember) -> Option<(&dyn Surface, &Confinement)> {
        let place = &self.placements[member.placement? as usize];
        Some((
            &*self.compartments[place.compartment as usize],
            &place.confinement,
        ))
    }

    /// Template and world pose of each molecule, for the writers of structure files.
    pub fn instances(&self) -> impl Iterator<Item = (&MoleculeTemplate, Pose)> + Clone + '_ {
        self.members
            .iter()
            .map(|member| (self.template_of(member), member.pose))
    }

    /// Number of atoms of all molecules.
    #[must_use]
    pub fn atom_count(&self) -> usize {
        self.instances()
            .map(|(template, _)| template.atom_count())
            .sum()
    }
}

fn check_index(what: &'static str, index: u32, count: usize) -> Result<(), CrowdError> {
    if (index as usize) < count {
        Ok(())
    } else {
        Err(CrowdError::UnknownIndex { what, index, count })
    }
}
