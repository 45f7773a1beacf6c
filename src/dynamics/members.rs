//! The members of a crowd: their spheres and surfaces, and which of them take part.

use std::sync::Arc;

use glam::{Mat3, Vec3};

use super::detection::DetectionError;
use super::{ContactMaterial, ContactSurface, MemberIndex, MovingBody, OwnerIndex, PairResponse};
use crate::search::RigidSpheres;
use crate::spheres::SphereError;

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
    /// It is in a place with more spheres than a search can handle. Lasts until members are set,
    /// added or removed.
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

/// New indices of members and owners.
#[derive(Default)]
pub(super) struct Relabeling {
    /// New index of each previous member; none if it is gone.
    members: Vec<Option<MemberIndex>>,
    /// New owner of each previous one, and what is added (modulo 2³²) to the indices of its
    /// spheres; none if it is gone or has other spheres.
    owners: Vec<Option<(OwnerIndex, u32)>>,
    /// Previous owner of each new one; none if it is new or had other spheres.
    previous_owners: Vec<Option<OwnerIndex>>,
}

impl Relabeling {
    /// The new index of a previous member.
    pub fn member(&self, member: MemberIndex) -> Option<MemberIndex> {
        *self.members.get(member.index())?
    }

    /// The new owner of each previous one.
    pub fn owners(&self) -> impl Iterator<Item = Option<OwnerIndex>> + '_ {
        self.owners.iter().map(|new| new.map(|(owner, _)| owner))
    }

    /// The previous owner of each new one.
    pub fn previous_owners(&self) -> &[Option<OwnerIndex>] {
        &self.previous_owners
    }

    /// The new indices of a previous owner and one of its spheres.
    pub fn get(&self, owner: OwnerIndex, sphere: u32) -> Option<(OwnerIndex, u32)> {
        let (owner, shift) = (*self.owners.get(owner.index())?)?;
        Some((owner, sphere.wrapping_add(shift)))
    }
}

/// A previous member in a new list.
#[derive(Clone, Copy)]
struct Kept {
    member: MemberIndex,
    same_spheres: bool,
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
        let mut by_id: Vec<(u64, u32)> = self.all.iter().map(|one| one.id).zip(0..).collect();
        by_id.sort_unstable();
        let mut next = 0;
        let kept = previous.iter().map(|member| {
            // Lists in the order of ids are merged.
            let is_next = by_id.get(next).is_some_and(|(id, _)| *id == member.id);
            let at = if is_next {
                next
            } else {
                by_id.partition_point(|(id, _)| *id < member.id)
            };
            let (_, index) = *by_id.get(at).filter(|(id, _)| *id == member.id)?;
            next = at + 1;
            let spheres = &self.all[index as usize].spheres;
            Some(Kept {
                member: MemberIndex(index),
                same_spheres: Arc::ptr_eq(spheres, &member.spheres),
            })
        });
        let kept: Vec<_> = kept.collect();
        self.lay_out_after(&kept)
    }

    /// Removes the members with the ids `removed`, adds `added`, and orders all members by id.
    /// Added members replace those with the same id. Lifts the exclusions of crowded members.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn update(
        &mut self,
        removed: &[u64],
        mut added: Vec<ContactMember>,
    ) -> Result<Relabeling, SphereError> {
        if !self.all.is_sorted_by_key(|member| member.id) {
            return self.set_updated(removed, added);
        }
        let mut removed = removed.to_vec();
        removed.sort_unstable();
        let mut removed = removed.into_iter().peekable();
        added.sort_by_key(|member| member.id);
        let count = self.all.len();
        let mut all = Vec::with_capacity(count + added.len());
        let mut exclusions = Vec::with_capacity(count + added.len());
        let mut kept = Vec::with_capacity(count);
        let mut added = added.into_iter().peekable();
        let previous = std::mem::take(&mut self.all).into_iter();
        for (member, exclusion) in previous.zip(&self.exclusions) {
            while let Some(new) = added.next_if(|new| new.id < member.id) {
                all.push(new);
                exclusions.push(None);
            }
            while removed.next_if(|id| *id < member.id).is_some() {}
            let index = MemberIndex(all.len() as u32);
            if let Some(new) = added.next_if(|new| new.id == member.id) {
                kept.push(Some(Kept {
                    member: index,
                    same_spheres: Arc::ptr_eq(&new.spheres, &member.spheres),
                }));
                all.push(new);
                exclusions.push(None);
            } else if removed.peek() == Some(&member.id) {
                kept.push(None);
            } else {
                kept.push(Some(Kept {
                    member: index,
                    same_spheres: true,
                }));
                all.push(member);
                exclusions.push(exclusion.filter(|reason| *reason != Exclusion::Crowded));
            }
        }
        all.extend(added);
        exclusions.resize(all.len(), None);
        (self.all, self.exclusions) = (all, exclusions);
        self.lay_out_after(&kept)
    }

    /// As [`update`](Self::update), for members that are not in the order of their ids.
    fn set_updated(
        &mut self,
        removed: &[u64],
        added: Vec<ContactMember>,
    ) -> Result<Relabeling, SphereError> {
        let is_gone = |id: u64| removed.contains(&id) || added.iter().any(|one| one.id == id);
        let stay = self.all.iter().filter(|member| !is_gone(member.id));
        let mut all: Vec<_> = stay.chain(&added).cloned().collect();
        all.sort_by_key(|member| member.id);
        self.set(all)
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
        let kept = |member| {
            Some(Kept {
                member,
                same_spheres: true,
            })
        };
        let kept: Vec<_> = (0..self.all.len() as u32)
            .map(|member| kept(MemberIndex(member)))
            .collect();
        self.lay_out_after(&kept)
    }

    /// Lays the spheres out; `kept` are the previous members. There are no members after an error.
    fn lay_out_after(&mut self, kept: &[Option<Kept>]) -> Result<Relabeling, SphereError> {
        let previous_owners = std::mem::take(&mut self.owners);
        let previous_first = std::mem::take(&mut self.first_sphere);
        if let Err(error) = self.lay_out() {
            self.all.clear();
            self.exclusions.clear();
            self.lay_out()?;
            return Err(error);
        }
        let mut owner_of = vec![None; self.all.len()];
        for (member, owner) in self.owners.iter().zip(0..) {
            owner_of[member.index()] = Some(OwnerIndex(owner));
        }
        let mut relabeling = Relabeling {
            members: kept.iter().map(|kept| Some((*kept)?.member)).collect(),
            owners: Vec::with_capacity(previous_owners.len()),
            previous_owners: vec![None; self.owners.len()],
        };
        let previous = previous_owners.iter().zip(previous_first).zip(0..);
        for ((member, first), previous) in previous {
            let kept = kept[member.index()].filter(|kept| kept.same_spheres);
            let owner = kept.and_then(|kept| owner_of[kept.member.index()]);
            relabeling.owners.push(owner.map(|owner: OwnerIndex| {
                relabeling.previous_owners[owner.index()] = Some(OwnerIndex(previous));
                let shift = self.first_sphere[owner.index()].wrapping_sub(first);
                (owner, shift)
            }));
        }
        Ok(relabeling)
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
