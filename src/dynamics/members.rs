//! The members of a crowd: their spheres and surfaces, and which of them take part.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{Mat3, Vec3};

use super::detection::DetectionError;
use super::{ContactMaterial, ContactSurface, MemberIndex, MovingBody, OwnerIndex, PairResponse};
use crate::search::RigidSpheres;
use crate::spheres::{SphereError, SphereSet};

/// A molecule of the crowd.
#[derive(Clone, Debug, Default)]
pub struct ContactMember {
    /// Identifies the member when the list of members changes, such as the bits of its
    /// entity. Contacts between members that stay are kept.
    pub id: u64,
    /// Its collision spheres, shared by all molecules of its kind.
    pub spheres: Arc<RigidSpheres>,
    /// Its material, and which others it touches and pushes.
    pub surface: ContactSurface,
}

/// A sphere in the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sphere {
    /// Center, nm.
    pub center: Vec3,
    /// Radius, nm.
    pub radius: f32,
}

/// Why a member is excluded from contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exclusion {
    /// It has no body at the moment.
    Absent,
    /// Its pose or velocity is not finite, or its rotation is not a unit quaternion.
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
    /// Pairs that never touch, sorted, the smaller index first.
    ignored: Vec<[MemberIndex; 2]>,
    /// The buffer that the next list of ignored pairs is written to.
    next_ignored: Vec<[MemberIndex; 2]>,
    /// Pairs with another response than that of their surfaces in this substep, sorted, the
    /// smaller index first.
    decided: Vec<([MemberIndex; 2], PairResponse)>,
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

    /// Number of spheres of all owners.
    pub fn sphere_count(&self) -> usize {
        self.first_sphere.last().map_or(0, |count| *count as usize)
    }

    /// Changes the surface of a member, if there is one with this index.
    pub fn set_surface(&mut self, member: MemberIndex, surface: ContactSurface) {
        if let Some(member) = self.all.get_mut(member.index()) {
            member.surface = surface;
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
        let owners: HashMap<u64, (OwnerIndex, *const RigidSpheres)> = owners.collect();
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
        self.first_sphere.clear();
        self.first_sphere.push(0);
        let mut count = 0;
        for member in &self.owners {
            count += self.all[member.index()].spheres.len();
            self.first_sphere.push(count as u32);
        }
        if count >= u32::MAX as usize {
            return Err(SphereError::TooMany { count });
        }
        Ok(())
    }

    /// Sets `spheres` to those of all owners at the poses of `bodies`, the bodies of the owners.
    /// They are either those of the same owners at other poses, or empty.
    pub fn place(&self, bodies: &[MovingBody], spheres: &mut SphereSet) {
        if spheres.len() != self.sphere_count() {
            let radii = self.included().map(|member| member.spheres.radii());
            // There are not too many: that was checked before.
            let _ = spheres.lay_out(radii, &mut Vec::new());
        }
        spheres.place(&self.first_sphere, |owner| {
            let member = &self.all[self.owners[owner].index()];
            (member.spheres.centers(), bodies[owner].pose)
        });
    }

    /// A sphere of an owner at the pose of its body.
    pub fn sphere(&self, owner: OwnerIndex, sphere: u32, body: &MovingBody) -> Sphere {
        let spheres = &self.all[self.member(owner).index()].spheres;
        let local = (sphere - self.first_sphere[owner.index()]) as usize;
        let rotation = Mat3::from_quat(body.pose.rotation);
        Sphere {
            center: rotation * spheres.centers()[local] + body.pose.position,
            radius: spheres.radii()[local],
        }
    }

    /// Index of the first sphere of an owner.
    pub fn first_sphere(&self, owner: OwnerIndex) -> u32 {
        self.first_sphere[owner.index()]
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

    /// The owner of a sphere.
    pub fn owner_of_sphere(&self, sphere: u32) -> Option<OwnerIndex> {
        let after = self.first_sphere.partition_point(|&first| first <= sphere);
        (after < self.first_sphere.len()).then(|| OwnerIndex(after as u32 - 1))
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

    /// The error of a device that found too many spheres around `sphere` within `reach`, nm.
    pub fn crowded_around(&self, sphere: u32, reach: f32, bodies: &[MovingBody]) -> DetectionError {
        let owner = self.owner_of_sphere(sphere).unwrap_or_default();
        let center = match bodies.get(owner.index()) {
            Some(body) => self.sphere(owner, sphere, body).center,
            None => Vec3::ZERO,
        };
        DetectionError::Crowded {
            center,
            distance: 4.0 * reach,
        }
    }

    /// Excludes all members with a sphere within `distance`, nm, of `center`.
    pub fn exclude_around(&mut self, center: Vec3, distance: f32, bodies: &[MovingBody]) {
        for (&member, body) in self.owners.iter().zip(bodies) {
            let local = body.pose.inverse_transform_point(center);
            let spheres = &self.all[member.index()].spheres;
            let is_near = |sphere: &Vec3| sphere.distance(local) <= distance;
            if local.length() <= spheres.bounding_radius() + distance
                && spheres.centers().iter().any(is_near)
            {
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

    /// Removes all decisions of the previous substep.
    pub fn clear_decisions(&mut self) {
        self.decided.clear();
    }

    /// Decides the response of a pair in this substep. Pairs come in ascending order, the smaller
    /// index first.
    pub fn decide(&mut self, pair: [MemberIndex; 2], response: PairResponse) {
        self.decided.push((pair, response));
    }

    /// Ignored pairs whose members are both owners, sorted, the smaller index first.
    pub fn ignored_owners(&self) -> impl Iterator<Item = [OwnerIndex; 2]> + '_ {
        let owner = |member| self.owner(member);
        let pairs = self.ignored.iter();
        pairs.filter_map(move |[a, b]| Some([owner(*a)?, owner(*b)?]))
    }

    /// What happens when two owners `a` < `b` touch.
    pub fn response(&self, a: OwnerIndex, b: OwnerIndex) -> PairResponse {
        let pair = [a, b].map(|owner| self.member(owner));
        if self.ignored.binary_search(&pair).is_ok() {
            return PairResponse::Ignore;
        }
        if let Ok(index) = self.decided.binary_search_by_key(&pair, |(pair, _)| *pair) {
            return self.decided[index].1;
        }
        let [one, other] = pair.map(|member| &self.all[member.index()].surface);
        one.response(other)
    }

    /// The material between two owners.
    pub fn material_between(&self, a: OwnerIndex, b: OwnerIndex) -> ContactMaterial {
        let [one, other] = [a, b].map(|owner| &self.all[self.member(owner).index()].surface);
        one.material.combine(&other.material)
    }
}
