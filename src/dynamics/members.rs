//! The members of a crowd: their spheres and surfaces, and which of them take part.

use std::collections::HashMap;
use std::sync::Arc;

use glam::Vec3;

use super::{ContactMaterial, InteractionGroups, MemberIndex, MovingBody, OwnerIndex};
use crate::molecule::{BodySpheres, MoleculeTemplate};
use crate::spheres::{SphereError, SphereSet};

/// The collision spheres of a molecule, in its body frame.
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
    /// One sphere per atom.
    #[must_use]
    pub fn atoms(template: &MoleculeTemplate) -> Self {
        Self {
            centers: template.positions().to_vec(),
            radii: template.radii().to_vec(),
        }
    }

    /// One sphere per residue that encloses its atoms.
    #[must_use]
    pub fn residues(template: &MoleculeTemplate) -> Self {
        let mut spheres = Self::default();
        let (mut positions, mut radii) = (template.positions(), template.radii());
        for residue in template.residue_indices().chunk_by(|a, b| a == b) {
            spheres.enclose(
                positions.split_off(..residue.len()).unwrap_or_default(),
                radii.split_off(..residue.len()).unwrap_or_default(),
            );
        }
        spheres
    }

    /// One sphere that encloses the molecule.
    #[must_use]
    pub fn whole(template: &MoleculeTemplate) -> Self {
        let mut spheres = Self::default();
        if template.atom_count() > 0 {
            spheres.centers.push(Vec3::ZERO);
            spheres.radii.push(template.bounding_radius());
        }
        spheres
    }

    /// Adds a sphere about the mean position that encloses the atoms.
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

/// A molecule of the crowd.
#[derive(Clone, Debug, Default)]
pub struct ContactMember {
    /// Identifies the member when the list of members changes, such as the bits of its
    /// entity. Contacts between members that stay are kept.
    pub id: u64,
    /// Its collision spheres, shared by all molecules of its kind.
    pub spheres: Arc<MemberSpheres>,
    /// Its surface.
    pub material: ContactMaterial,
    /// Which other members it collides with.
    pub groups: InteractionGroups,
}

/// Why a member is excluded from contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exclusion {
    /// It has no body at the moment.
    Absent,
    /// Its pose or velocity is not finite.
    NotFinite,
    /// It is in a place with more spheres than a search can handle. Lasts until the members
    /// are set again.
    Crowded,
}

/// The members, the spheres of all that are not excluded, and the collision filter.
#[derive(Default)]
pub(super) struct Members {
    /// All members, excluded or not.
    all: Vec<ContactMember>,
    exclusions: Vec<Option<Exclusion>>,
    /// The member of each owner, ascending.
    owners: Vec<MemberIndex>,
    /// First sphere of each owner, and one entry more.
    first_sphere: Vec<u32>,
    /// The spheres of all owners, where [`place`](Self::place) last put them.
    spheres: SphereSet,
    /// Pairs that never touch, sorted, the smaller index first.
    ignored: Vec<[MemberIndex; 2]>,
    /// The buffer that the next list of ignored pairs is written to.
    next_ignored: Vec<[MemberIndex; 2]>,
}

/// New owner of each previous one, and what is added (modulo 2³²) to the indices of its
/// spheres; none if it is gone or has other spheres.
#[derive(Default)]
pub(super) struct Relabeling(Vec<Option<(OwnerIndex, u32)>>);

impl Relabeling {
    /// The new owner of each previous one.
    pub fn owners(&self) -> impl Iterator<Item = Option<OwnerIndex>> + '_ {
        self.0.iter().map(|new| new.map(|(owner, _)| owner))
    }

    /// The new indices of a previous owner and one of its spheres.
    pub fn get(&self, owner: OwnerIndex, sphere: u32) -> Option<(OwnerIndex, u32)> {
        let (owner, shift) = (*self.0.get(owner.index())?)?;
        Some((owner, sphere.wrapping_add(shift)))
    }
}

impl Members {
    /// Replaces the members and lifts all exclusions.
    ///
    /// # Errors
    /// [`SphereError::TooMany`] if the spheres exceed a 32-bit index; there are no members then.
    pub fn set(&mut self, members: Vec<ContactMember>) -> Result<Relabeling, SphereError> {
        let previous = std::mem::replace(&mut self.all, members);
        self.exclusions.clear();
        self.exclusions.resize(self.all.len(), None);
        let relabeling = self.lay_out_after(Some(&previous));
        if relabeling.is_err() {
            self.all.clear();
            self.exclusions.clear();
            self.lay_out()?;
        }
        relabeling
    }

    /// All members, excluded or not.
    pub fn all(&self) -> &[ContactMember] {
        &self.all
    }

    /// The member of each owner, ascending.
    pub fn owners(&self) -> &[MemberIndex] {
        &self.owners
    }

    /// The members that are not excluded, in the order of their owners.
    pub fn included(&self) -> impl Iterator<Item = &ContactMember> + Clone {
        let owners = self.owners.iter();
        owners.map(|member| &self.all[member.index()])
    }

    /// Members that are excluded, and why.
    pub fn excluded(&self) -> impl Iterator<Item = (MemberIndex, Exclusion)> + '_ {
        let exclusions = self.exclusions.iter().zip(0..);
        exclusions.filter_map(|(reason, member)| Some((MemberIndex(member), (*reason)?)))
    }

    /// The spheres of all owners, where [`place`](Self::place) last put them.
    pub fn spheres(&self) -> &SphereSet {
        &self.spheres
    }

    /// Changes the surface of a member, if there is one with this index.
    pub fn set_surface(
        &mut self,
        member: MemberIndex,
        material: ContactMaterial,
        groups: InteractionGroups,
    ) {
        if let Some(member) = self.all.get_mut(member.index()) {
            (member.material, member.groups) = (material, groups);
        }
    }

    /// Lays the spheres out again after exclusions have changed.
    pub fn lay_out_again(&mut self) -> Result<Relabeling, SphereError> {
        self.lay_out_after(None)
    }

    /// Lays the spheres out; `previous` are the previous members if they were replaced.
    fn lay_out_after(
        &mut self,
        previous: Option<&[ContactMember]>,
    ) -> Result<Relabeling, SphereError> {
        let previous_owners = std::mem::take(&mut self.owners);
        let previous_first = std::mem::take(&mut self.first_sphere);
        self.lay_out()?;
        let owners = self.owners.iter().zip(0..).map(|(member, owner)| {
            let member = &self.all[member.index()];
            (member.id, (OwnerIndex(owner), Arc::as_ptr(&member.spheres)))
        });
        let owners: HashMap<u64, (OwnerIndex, *const MemberSpheres)> = owners.collect();
        let previous = previous.unwrap_or(&self.all);
        let relabeled = previous_owners
            .iter()
            .zip(previous_first)
            .map(|(member, first)| {
                let member = &previous[member.index()];
                let (owner, spheres) = owners.get(&member.id)?;
                let shift = self.first_sphere[owner.index()].wrapping_sub(first);
                (*spheres == Arc::as_ptr(&member.spheres)).then_some((*owner, shift))
            });
        Ok(Relabeling(relabeled.collect()))
    }

    fn lay_out(&mut self) -> Result<(), SphereError> {
        self.owners.clear();
        let exclusions = self.exclusions.iter().zip(0..);
        let included = exclusions.filter(|(exclusion, _)| exclusion.is_none());
        self.owners
            .extend(included.map(|(_, member)| MemberIndex(member)));
        let (members, owners) = (&self.all, self.owners.iter());
        let radii = owners.map(|member| &members[member.index()].spheres.radii[..]);
        self.spheres.lay_out(radii, &mut self.first_sphere)
    }

    /// Moves the spheres to the poses of `bodies`, the bodies of the owners.
    pub fn place(&mut self, bodies: &[MovingBody]) {
        let (members, owners) = (&self.all, &self.owners);
        self.spheres.place(&self.first_sphere, |owner| {
            let spheres = &members[owners[owner].index()].spheres;
            (&spheres.centers[..], bodies[owner].pose)
        });
    }

    /// The owner that a member is; none if it is excluded.
    pub fn owner(&self, member: MemberIndex) -> Option<OwnerIndex> {
        let owner = self.owners.binary_search(&member).ok()?;
        Some(OwnerIndex(owner as u32))
    }

    /// The member of an owner.
    pub fn member(&self, owner: OwnerIndex) -> MemberIndex {
        self.owners[owner.index()]
    }

    /// The owner of a sphere and the sphere's center in the body frame, nm.
    pub fn local_center(&self, sphere: usize) -> Option<(OwnerIndex, Vec3)> {
        let owner = OwnerIndex(*self.spheres.owner.get(sphere)?);
        let member = &self.all[self.owners.get(owner.index())?.index()];
        let local = sphere - self.first_sphere[owner.index()] as usize;
        Some((owner, *member.spheres.centers.get(local)?))
    }

    /// Updates the exclusions of members without a valid body, and returns whether any
    /// changed. `check` returns why a member's body is invalid.
    pub fn recheck_excluded(&mut self, check: impl Fn(MemberIndex) -> Option<Exclusion>) -> bool {
        let mut changed = false;
        for (exclusion, member) in self.exclusions.iter_mut().zip(0..) {
            if exclusion.is_some_and(|reason| reason != Exclusion::Crowded) {
                let current = check(MemberIndex(member));
                changed |= *exclusion != current;
                *exclusion = current;
            }
        }
        changed
    }

    /// Excludes the owners with an invalid body.
    pub fn exclude_invalid(&mut self, check: impl Fn(MemberIndex) -> Option<Exclusion>) {
        for &member in &self.owners {
            self.exclusions[member.index()] = check(member);
        }
    }

    /// Excludes all members with a sphere within `distance`, nm, of the center of `sphere`.
    pub fn exclude_around(&mut self, sphere: usize, distance: f32) {
        let center = self.spheres.center(sphere);
        for index in 0..self.spheres.len() {
            if self.spheres.center(index).distance(center) <= distance {
                let member = self.owners[self.spheres.owner(index) as usize];
                self.exclusions[member.index()] = Some(Exclusion::Crowded);
            }
        }
    }

    /// Replaces the ignored pairs by what `list` pushes, and returns whether they changed.
    pub fn set_ignored(&mut self, list: impl FnOnce(&mut Vec<[MemberIndex; 2]>)) -> bool {
        self.next_ignored.clear();
        list(&mut self.next_ignored);
        for pair in &mut self.next_ignored {
            pair.sort_unstable();
        }
        self.next_ignored.sort_unstable();
        self.next_ignored.dedup();
        std::mem::swap(&mut self.ignored, &mut self.next_ignored);
        self.ignored != self.next_ignored
    }

    /// Ignored pairs whose members are both owners, sorted, the smaller index first.
    pub fn ignored_owners(&self) -> impl Iterator<Item = [OwnerIndex; 2]> + '_ {
        let owner = |member| self.owner(member);
        let pairs = self.ignored.iter();
        pairs.filter_map(move |[a, b]| Some([owner(*a)?, owner(*b)?]))
    }

    /// Whether the collision filter lets two owners `a` < `b` touch.
    pub fn may_touch(&self, a: OwnerIndex, b: OwnerIndex) -> bool {
        let pair = [a, b].map(|owner| self.member(owner));
        let [one, other] = pair.map(|member| self.all[member.index()].groups);
        one.may_touch(other) && self.ignored.binary_search(&pair).is_err()
    }

    /// The material between two owners `a` < `b`; none if they may not touch.
    pub fn material_between(&self, a: OwnerIndex, b: OwnerIndex) -> Option<ContactMaterial> {
        let [one, other] = [a, b].map(|owner| &self.all[self.member(owner).index()].material);
        self.may_touch(a, b).then(|| one.combine(other))
    }
}
