//! The members of a crowd, and what is said of them.

use std::sync::Arc;

use glam::Vec3;

use super::{ContactMaterial, InteractionGroups};
use crate::molecule::{BodySpheres, MoleculeTemplate};

/// The spheres that stand for a molecule in the search, in its body frame.
///
/// ```
/// use bevy_rapier_molecules::dynamics::MemberSpheres;
/// use bevy_rapier_molecules::prelude::*;
///
/// let protein = load("assets/molecules/1ubq.cif", &LoadOptions::default())?;
/// assert_eq!(MemberSpheres::atoms(&protein).len(), 602);
/// assert_eq!(MemberSpheres::residues(&protein).len(), 76);
/// assert_eq!(MemberSpheres::whole(&protein).radii, [protein.bounding_radius()]);
/// # Ok::<(), bevy_rapier_molecules::molecule::MoleculeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemberSpheres {
    /// Centers, nm.
    pub centers: Vec<Vec3>,
    /// Radii, nm.
    pub radii: Vec<f32>,
}

impl MemberSpheres {
    /// One sphere for each atom.
    #[must_use]
    pub fn atoms(template: &MoleculeTemplate) -> Self {
        Self {
            centers: template.positions().to_vec(),
            radii: template.radii().to_vec(),
        }
    }

    /// One sphere for each residue, around all its atoms.
    #[must_use]
    pub fn residues(template: &MoleculeTemplate) -> Self {
        let mut spheres = Self::default();
        let residues = template.residue_indices();
        let mut first = 0;
        while first < residues.len() {
            let same = residues[first..]
                .iter()
                .take_while(|r| **r == residues[first]);
            let last = first + same.count();
            spheres.enclose(
                &template.positions()[first..last],
                &template.radii()[first..last],
            );
            first = last;
        }
        spheres
    }

    /// One sphere around the whole molecule.
    #[must_use]
    pub fn whole(template: &MoleculeTemplate) -> Self {
        let mut spheres = Self::default();
        if template.atom_count() > 0 {
            spheres.centers.push(Vec3::ZERO);
            spheres.radii.push(template.bounding_radius());
        }
        spheres
    }

    /// Adds a sphere around some atoms, about their mean.
    fn enclose(&mut self, positions: &[Vec3], radii: &[f32]) {
        let center = positions.iter().sum::<Vec3>() / positions.len() as f32;
        let reaches = positions
            .iter()
            .zip(radii)
            .map(|(position, radius)| position.distance(center) + radius);
        self.centers.push(center);
        self.radii.push(reaches.fold(0.0, f32::max));
    }

    /// Number of spheres.
    #[must_use]
    pub fn len(&self) -> usize {
        self.centers.len()
    }

    /// Whether there are no spheres.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.centers.is_empty()
    }
}

impl<'a> From<&'a MemberSpheres> for BodySpheres<'a> {
    fn from(spheres: &'a MemberSpheres) -> Self {
        Self {
            centers: &spheres.centers,
            radii: &spheres.radii,
        }
    }
}

/// A molecule of the crowd: its spheres and its surface.
#[derive(Clone, Debug, Default)]
pub struct ContactMember {
    /// What tells it from others, such as the bits of its entity: contacts last when
    /// members come and go.
    pub id: u64,
    /// What stands for it in the search; shared by all of its kind.
    pub spheres: Arc<MemberSpheres>,
    /// Its surface.
    pub material: ContactMaterial,
    /// Which others it touches.
    pub groups: InteractionGroups,
}

/// Two molecules that touch, or are within the prediction_distance: members `a` < `b`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CrowdTouch {
    /// The member with the smaller index.
    pub a: u32,
    /// The member with the larger index.
    pub b: u32,
    /// Pairs of spheres that overlap; zero if the molecules are merely near.
    pub overlaps: u32,
    /// Deepest overlap, nm; negative is a gap.
    pub penetration: f32,
}

/// Why a member is set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exclusion {
    /// It has no body at the moment.
    Absent,
    /// Its pose or velocity is not finite.
    NotFinite,
    /// It lies where too many others lie.
    Crowded,
}
