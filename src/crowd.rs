//! A scene without motion: shared templates, molecules, and where each belongs.
//!
//! Templates, compartments and placements are added first, then the members that name them by
//! index, each with its pose in the world (nm). What names something that is not there, or is
//! at an impossible pose, is refused with a [`CrowdError`], so that whoever takes a [`Crowd`]
//! need not ask: a `Relaxer` that relaxes it,
//! `export` that writes it. Order is kept: member `m` is the `m`-th
//! that was added.
//!
//! Molecules that share what they are made of and have but a pose of their own are those of
//! J. Pauschenwein (2022, section 4.1).

use std::sync::Arc;

use thiserror::Error;

use crate::compartment::{Placement, PlacementError, Surface};
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// Why molecules do not make a crowd.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CrowdError {
    /// An index points to nothing.
    #[error("{what} {index} does not exist: there are {count}, counted from 0; add it first")]
    NoSuch {
        /// What was looked for: template, compartment or placement.
        what: &'static str,
        /// The index that was given.
        index: u32,
        /// How many there are.
        count: usize,
    },
    /// A pose is NaN or infinite, or its rotation is not a rotation.
    #[error(
        "molecule {molecule} needs a finite position and a unit rotation, not {} nm and {}",
        pose.position, pose.rotation
    )]
    BadPose {
        /// Index of the molecule.
        molecule: usize,
        /// The pose that was given.
        pose: Pose,
    },
    /// A placement is impossible.
    #[error(transparent)]
    Placement(#[from] PlacementError),
}

/// One molecule of a crowd.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrowdMember {
    /// Its template: an index that [`Crowd::add_template`] returned.
    pub template: u32,
    /// Its placement: an index that [`Crowd::add_placement`] returned; `None` if it may be
    /// anywhere.
    pub placement: Option<u32>,
    /// Where it is in the world, nm.
    pub pose: Pose,
}

/// A placement relative to one of the compartments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrowdPlacement {
    /// The compartment: an index that [`Crowd::add_compartment`] returned.
    pub compartment: u32,
    /// Where in it.
    pub placement: Placement,
}

/// Molecules with shared templates, and where each belongs.
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
///     crowd.add_member(CrowdMember { template, pose, placement: None })?;
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

    /// Adds a compartment and returns its index.
    pub fn add_compartment(&mut self, compartment: Arc<dyn Surface>) -> u32 {
        self.compartments.push(compartment);
        self.compartments.len() as u32 - 1
    }

    /// Adds a way to sit in a compartment and returns its index.
    ///
    /// # Errors
    /// [`CrowdError`] if the compartment does not exist or the placement is impossible.
    pub fn add_placement(
        &mut self,
        compartment: u32,
        placement: Placement,
    ) -> Result<u32, CrowdError> {
        check_index("compartment", compartment, self.compartments.len())?;
        self.placements.push(CrowdPlacement {
            compartment,
            placement: placement.checked()?,
        });
        Ok(self.placements.len() as u32 - 1)
    }

    /// Adds a molecule. Its rotation is made a unit quaternion to the last digit.
    ///
    /// # Errors
    /// [`CrowdError`] if its template or placement does not exist, or its pose is not
    /// finite or its rotation none.
    pub fn add_member(&mut self, mut member: CrowdMember) -> Result<(), CrowdError> {
        check_index("template", member.template, self.templates.len())?;
        if let Some(placement) = member.placement {
            check_index("placement", placement, self.placements.len())?;
        }
        if !member.pose.is_rigid() {
            return Err(CrowdError::BadPose {
                molecule: self.members.len(),
                pose: member.pose,
            });
        }
        member.pose.rotation = member.pose.rotation.normalize();
        self.members.push(member);
        Ok(())
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

    /// The molecules, to be moved. Whoever moves them keeps their poses finite.
    pub(crate) fn members_mut(&mut self) -> &mut [CrowdMember] {
        &mut self.members
    }

    /// Template of one molecule.
    ///
    /// # Panics
    /// If the member is one of another crowd, and this one has no such template.
    #[must_use]
    pub fn template_of(&self, member: &CrowdMember) -> &MoleculeTemplate {
        &self.templates[member.template as usize]
    }

    /// Compartment and placement of one molecule, if it has one.
    ///
    /// # Panics
    /// If the member is one of another crowd, and this one has no such placement.
    #[must_use]
    pub fn placement_of(&self, member: &CrowdMember) -> Option<(&dyn Surface, &Placement)> {
        let place = &self.placements[member.placement? as usize];
        Some((
            &*self.compartments[place.compartment as usize],
            &place.placement,
        ))
    }

    /// Each molecule's template and pose in the world, as the writers of structure files want
    /// them.
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
        Err(CrowdError::NoSuch { what, index, count })
    }
}
