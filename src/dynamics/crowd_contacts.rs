//! One substep of a crowd: gather, detect, respond.

use std::collections::BTreeSet;

use glam::Vec3;
use rayon::prelude::*;
use thiserror::Error;

use super::contact_solver::Problem;
use super::device_session::DeviceSession;
use super::fallback_search::{FallbackSearch, Finder};
use super::group_search::GroupSearch;
use super::pair_grouper::PairGrouper;
use super::wake::Encounters;
use super::{
    ContactMaterial, ContactMember, ContactSide, ContactSolver, ContactSolverConfig, CrowdTouch,
    Exclusion, ExternalBody, ExternalContact, InteractionGroups, MovingBody,
};
use crate::backend::{DeviceError, Offload};
use crate::pool::in_pool;
use crate::search::{AutoGrid, PairSearch, SearchError, SearchTimes};
use crate::spheres::{SphereError, SphereSet};

/// Why contacts could not be found. Molecules that are at fault are set aside first;
/// this is what remains.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CrowdContactsError {
    /// The spheres cannot be searched.
    #[error(transparent)]
    Search(#[from] SearchError),
}

impl From<SphereError> for CrowdContactsError {
    fn from(error: SphereError) -> Self {
        Self::Search(error.into())
    }
}

/// Finds and answers the contacts of a crowd, substep by substep: [`gather`](Self::gather),
/// [`detect`](Self::detect), [`respond`](Self::respond).
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::dynamics::{
///     ContactMember, CrowdContacts, MemberSpheres, MovingBody,
/// };
/// use bevy_rapier_molecules::force::Body;
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// let protein = load("assets/molecules/1ubq.cif", &LoadOptions::default())?;
/// let spheres = Arc::new(MemberSpheres::atoms(&protein));
/// let members = [0, 1].map(|id| ContactMember { id, spheres: spheres.clone(), ..Default::default() });
/// // Two proteins that overlap and fly towards each other, 3 nm/s each.
/// let bodies = [-1.0, 1.0].map(|side| {
///     let pose = Pose::from_translation(Vec3::X * (1.1 * side));
///     let Body { center, inverse_mass, inverse_inertia } = Body::new(&protein, &pose);
///     MovingBody {
///         pose,
///         center,
///         inverse_mass: Vec3::splat(inverse_mass),
///         inverse_inertia,
///         velocity: Vec3::X * (-3.0 * side),
///         ..MovingBody::default()
///     }
/// });
///
/// let mut contacts = CrowdContacts::default();
/// contacts.set_members(members.to_vec())?;
/// contacts.gather(|member| bodies.get(member).copied())?;
/// contacts.detect()?;
/// contacts.respond(1.0 / 60.0);
/// assert_eq!(contacts.touches().len(), 1);
/// let impulses: Vec<_> = contacts.impulses().map(|(_, impulse)| impulse.linear).collect();
/// assert!(impulses[0].x < 0.0, "the left one is pushed back");
/// assert!((impulses[0] + impulses[1]).length() < 1e-3 * impulses[0].length(), "as is the other");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CrowdContacts {
    /// How contacts are solved. Whoever sets it [checks](ContactSolverConfig::check) it.
    pub config: ContactSolverConfig,
    pub(super) search: FallbackSearch,
    /// Who finds and solves contacts in place of us.
    pub(super) offload: Offload<DeviceSession>,
    pub(super) members: Vec<ContactMember>,
    /// Members that do not touch each other, the smaller index first.
    pub(super) exempt: BTreeSet<[u32; 2]>,
    /// Members that were set aside, and why.
    pub(super) aside: Vec<Option<Exclusion>>,
    /// Member of each owner of spheres.
    pub(super) active: Vec<u32>,
    pub(super) first_sphere: Vec<u32>,
    pub(super) spheres: SphereSet,
    pub(super) groups: PairGrouper,
    pub(super) bodies: Vec<MovingBody>,
    /// Contacts that the physics engine answers too, in this substep, with their bodies.
    pub(super) supports: Vec<(ExternalContact, [u32; 2])>,
    /// What is not of the crowd; their bodies follow those of the members.
    pub(super) obstacles: Vec<u64>,
    pub(super) solver: ContactSolver,
    pub(super) touches: Vec<CrowdTouch>,
    /// Those of the substep before.
    pub(super) touches_before: Vec<CrowdTouch>,
    /// Sleeping members that something acts on.
    pub(super) to_wake: Vec<u32>,
}

impl Default for CrowdContacts {
    fn default() -> Self {
        Self::new(Box::new(AutoGrid::new()))
    }
}

impl CrowdContacts {
    /// An empty crowd that is searched by `search`.
    #[must_use]
    pub fn new(search: Box<dyn PairSearch>) -> Self {
        Self {
            config: ContactSolverConfig::default(),
            search: FallbackSearch::new(Finder::Pairs(search)),
            offload: Offload::none(),
            members: Vec::new(),
            exempt: BTreeSet::new(),
            aside: Vec::new(),
            active: Vec::new(),
            first_sphere: Vec::new(),
            spheres: SphereSet::new(),
            groups: PairGrouper::default(),
            bodies: Vec::new(),
            supports: Vec::new(),
            obstacles: Vec::new(),
            solver: ContactSolver::default(),
            touches: Vec::new(),
            touches_before: Vec::new(),
            to_wake: Vec::new(),
        }
    }

    /// Searches with `search` from now on, and solves on the processor. Members and
    /// contacts stay.
    pub fn set_search(&mut self, search: Box<dyn PairSearch>) {
        self.stop_engine();
        self.offload.take_error();
        self.search = FallbackSearch::new(Finder::Pairs(search));
    }

    /// As [`set_search`](Self::set_search), with one that groups pairs by itself.
    pub fn set_group_search(&mut self, search: Box<dyn GroupSearch>) {
        self.stop_engine();
        self.offload.take_error();
        self.search = FallbackSearch::new(Finder::Groups(search));
    }

    /// Takes the error after which the CPU replaced a device, if there was one.
    pub fn take_device_error(&mut self) -> Option<DeviceError> {
        let error = self.offload.take_error();
        error.or_else(|| self.search.take_error())
    }

    /// The members.
    #[must_use]
    pub fn members(&self) -> &[ContactMember] {
        &self.members
    }

    /// Changes the surface of one member, by its index; nothing if there is no such member.
    pub fn set_surface(
        &mut self,
        member: usize,
        material: ContactMaterial,
        groups: InteractionGroups,
    ) {
        if let Some(member) = self.members.get_mut(member) {
            member.material = material;
            member.groups = groups;
        }
        if let Some(offload) = self.offload.as_mut() {
            offload.forget_surfaces();
        }
    }

    /// Lets all members touch each other again, as far as their groups allow it.
    pub fn clear_exempt(&mut self) {
        self.exempt.clear();
    }

    /// Keeps two members from touching each other, whatever their groups: a joint may
    /// ask for it.
    pub fn exempt(&mut self, one: u32, other: u32) {
        self.exempt.insert([one.min(other), one.max(other)]);
    }

    /// Whether two members may touch, the smaller index first.
    fn may_touch(&self, a: u32, b: u32) -> bool {
        let [one, other] = [a, b].map(|member| self.members[member as usize].groups);
        one.may_touch(other) && !self.exempt.contains(&[a, b])
    }

    /// Members that take no part, and why.
    pub fn excluded(&self) -> impl Iterator<Item = (usize, Exclusion)> + '_ {
        let aside = self.aside.iter().enumerate();
        aside.filter_map(|(member, reason)| reason.map(|reason| (member, reason)))
    }

    /// Takes the bodies as they are now and moves the spheres with them.
    ///
    /// Members that have no body, or one that is not finite, are set aside, and return
    /// when they have. Returns whether the set of those set aside has changed.
    ///
    /// # Errors
    /// None beyond those of [`set_members`](Self::set_members).
    pub fn gather(
        &mut self,
        body: impl Fn(usize) -> Option<MovingBody> + Sync,
    ) -> Result<bool, CrowdContactsError> {
        let sound = |member| body(member).ok_or(Exclusion::Absent).and_then(checked);
        let mut changed = false;
        for (member, aside) in self.aside.iter_mut().enumerate() {
            if aside.is_some_and(|reason| reason != Exclusion::Crowded) {
                let now = sound(member).err();
                changed |= *aside != now;
                *aside = now;
            }
        }
        if changed {
            self.lay_out_after(None)?;
        }
        while !self.read_bodies(&sound) {
            for &member in &self.active {
                self.aside[member as usize] = sound(member as usize).err();
            }
            self.lay_out_after(None)?;
            changed = true;
        }
        // An engine moves them by itself.
        if self.offload.as_ref().is_none() {
            self.place();
        }
        Ok(changed)
    }

    /// Reads the bodies of all active members; false if one of them is not sound.
    fn read_bodies<F>(&mut self, sound: &F) -> bool
    where
        F: Fn(usize) -> Result<MovingBody, Exclusion> + Sync,
    {
        self.bodies.truncate(self.active.len());
        self.bodies
            .par_chunks_mut(BODIES_PER_TASK)
            .zip(self.active.par_chunks(BODIES_PER_TASK))
            .map(|(bodies, members)| {
                let mut all = true;
                for (target, &member) in bodies.iter_mut().zip(members) {
                    match sound(member as usize) {
                        Ok(body) => *target = body,
                        Err(_) => all = false,
                    }
                }
                all
            })
            .reduce(|| true, |a, b| a && b)
    }

    pub(super) fn place(&mut self) {
        let (members, active, bodies) = (&self.members, &self.active, &self.bodies);
        self.spheres.place(&self.first_sphere, |owner| {
            let spheres = &members[active[owner] as usize].spheres;
            (&spheres.centers[..], bodies[owner].pose)
        });
    }

    /// Finds the pairs that touch or nearly do.
    ///
    /// Members that lie where too many others lie are set aside. If the search runs on a
    /// device that fails, an [`AutoGrid`] takes its place at once and for good, and
    /// [`take_device_error`](Self::take_device_error) tells why.
    ///
    /// # Errors
    /// [`SearchError`] if the spheres cannot be searched; there are no contacts then.
    pub fn detect(&mut self) -> Result<SearchTimes, CrowdContactsError> {
        std::mem::swap(&mut self.touches, &mut self.touches_before);
        self.touches.clear();
        if let Some(detected) = self.detect_on_device() {
            return detected;
        }
        loop {
            let prediction_distance = self.config.prediction_distance;
            let (search, groups) = (&mut self.search, &mut self.groups);
            match in_pool(|| search.find(&self.spheres, prediction_distance, groups)) {
                Ok(times) => {
                    self.collect_touches();
                    return Ok(times);
                }
                Err(SearchError::TooCrowded { sphere, reach, .. }) => {
                    self.set_crowd_aside(self.spheres.center(sphere as usize), reach)?;
                }
                Err(error) => {
                    self.forget_contacts();
                    return Err(error.into());
                }
            }
        }
    }

    /// Forgets the contacts of the last substep.
    pub(super) fn forget_contacts(&mut self) {
        self.solver.forget();
        if let Some(offload) = self.offload.as_mut() {
            offload.forget();
        }
    }

    /// Sets aside all members with a sphere around `center`.
    pub(super) fn set_crowd_aside(
        &mut self,
        center: Vec3,
        reach: f32,
    ) -> Result<(), CrowdContactsError> {
        // Twice the width of a cell covers the crowded cell from any place in it.
        let limit = 4.0 * reach;
        for index in 0..self.spheres.len() {
            if self.spheres.center(index).distance(center) <= limit {
                let member = self.active[self.spheres.owner(index) as usize];
                self.aside[member as usize] = Some(Exclusion::Crowded);
            }
        }
        let kept: Vec<MovingBody> = self
            .bodies
            .iter()
            .zip(&self.active)
            .filter(|(_, member)| self.aside[**member as usize].is_none())
            .map(|(body, _)| *body)
            .collect();
        self.lay_out_after(None)?;
        self.bodies = kept;
        self.place();
        Ok(())
    }

    /// Tells which members touch.
    pub(super) fn collect_touches(&mut self) {
        for group in self.groups.groups() {
            let [a, b] = [group.a, group.b].map(|owner| self.active[owner as usize]);
            if self.may_touch(a, b) {
                self.touches.push(CrowdTouch {
                    a,
                    b,
                    overlaps: group.overlaps,
                    penetration: group.penetration,
                });
            }
        }
    }

    /// Tells what members touch outside the crowd, for the next
    /// [`respond`](Self::respond) only: where molecules touch each other, these
    /// contacts are solved with theirs. Supports that name no one are dropped.
    pub fn set_external_contacts(
        &mut self,
        obstacles: &[ExternalBody],
        supports: impl Iterator<Item = ExternalContact>,
    ) {
        let members = self.active.len();
        self.bodies.truncate(members);
        self.bodies
            .extend(obstacles.iter().map(|obstacle| obstacle.body));
        let before = std::mem::take(&mut self.obstacles);
        self.obstacles
            .extend(obstacles.iter().map(|obstacle| obstacle.id));
        self.rename_obstacles(&before);
        self.supports.clear();
        let body_of = |side: ContactSide| match side {
            ContactSide::Member(member) => {
                let owner = self.active.binary_search(&member).ok()?;
                Some(owner as u32)
            }
            ContactSide::External(index) => {
                let known = (index as usize) < obstacles.len();
                known.then_some(members as u32 + index)
            }
        };
        for support in supports {
            if let (Some(a), Some(b)) = (body_of(support.a), body_of(support.b)) {
                self.supports.push((support, [a, b]));
            }
        }
    }

    /// Lets contacts with obstacles go on that were these in the substep before.
    pub(super) fn rename_obstacles(&mut self, before: &[u64]) {
        if self.obstacles == before {
            return;
        }
        let members = self.active.len();
        let bodies = members + self.obstacles.len();
        self.solver.rename(bodies, |body, sphere| {
            let place = match before.get((body as usize).wrapping_sub(members)) {
                None => body,
                Some(id) => {
                    let now = self.obstacles.iter().position(|other| other == id)?;
                    (members + now) as u32
                }
            };
            Some([place, sphere.unwrap_or(0)])
        });
    }

    /// Solves the contacts for a substep of `dt` s; [`impulses`](Self::impulses) has
    /// the answer. If no time passes, contacts are forgotten, and nobody receives anything.
    pub fn respond(&mut self, dt: f32) {
        if !(dt.is_finite() && dt > 0.0) {
            self.forget_contacts();
            return;
        }
        if self.bodies.len() != self.active.len() + self.obstacles.len() {
            // No one told of obstacles in this substep.
            self.set_external_contacts(&[], std::iter::empty());
        }
        if self.respond_on_device(dt) {
            return;
        }
        let encounters = Encounters {
            groups: &self.groups,
            bodies: &self.bodies,
            active: &self.active,
            touches: &self.touches,
            touches_before: &self.touches_before,
        };
        encounters.wake(dt, &mut self.to_wake);
        // They answer what woke them in this very substep.
        for member in &self.to_wake {
            if let Ok(owner) = self.active.binary_search(member) {
                self.bodies[owner].asleep = false;
            }
        }
        self.solve(dt);
        self.supports.clear();
    }

    /// Solves the contacts between bodies of which all that must be awake are.
    pub(super) fn solve(&mut self, dt: f32) {
        let (members, active, exempt) = (&self.members, &self.active, &self.exempt);
        let material = |a: u32, b: u32| {
            let numbers = [a, b].map(|owner| active[owner as usize]);
            let [a, b] = numbers.map(|member| &members[member as usize]);
            let touch = a.groups.may_touch(b.groups) && !exempt.contains(&numbers);
            touch.then(|| a.material.combine(&b.material))
        };
        let problem = Problem {
            pairs: &self.groups,
            bodies: &self.bodies,
            supports: &self.supports,
            material,
            dt,
        };
        let (solver, config) = (&mut self.solver, &self.config);
        in_pool(|| solver.solve(&problem, config));
    }
}

/// Bodies that one task gathers.
const BODIES_PER_TASK: usize = 1024;

fn checked(body: MovingBody) -> Result<MovingBody, Exclusion> {
    body.is_finite().then_some(body).ok_or(Exclusion::NotFinite)
}
