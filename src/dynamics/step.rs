//! One substep of a crowd: gather, detect, respond.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use glam::Vec3;
use rayon::prelude::*;
use thiserror::Error;

use super::found::GroupSearch;
use super::groups::PairGroups;
use super::solver::Problem;
use super::steady::{Finder, SearchFault, SteadySearch};
use super::waking::Encounters;
use super::{
    ContactConstraint, ContactGroups, ContactMaterial, ContactMember, ContactSolver,
    ContactSolverConfig, CrowdTouch, Impulse, MemberSpheres, MovingBody, Obstacle, SetAside,
    Support, SupportSide,
};
use crate::pool::in_pool;
use crate::search::{AutoGrid, GridCell, PairSearch, SearchError, SearchTimes};
use crate::spheres::{SphereError, SphereSet};

/// Why contacts could not be found. Molecules that are at fault are set aside first;
/// this is what remains.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
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

/// Finds and answers the contacts of a crowd, substep by substep.
pub struct CrowdContacts {
    /// How contacts are solved.
    pub config: ContactSolverConfig,
    search: SteadySearch,
    members: Vec<ContactMember>,
    /// Members that do not touch each other, the smaller index first.
    exempt: BTreeSet<[u32; 2]>,
    /// Members that were set aside, and why.
    aside: Vec<Option<SetAside>>,
    /// Member of each owner of spheres.
    active: Vec<u32>,
    first_sphere: Vec<u32>,
    spheres: SphereSet,
    groups: PairGroups,
    bodies: Vec<MovingBody>,
    /// Contacts that the engine answers, in this substep, with their bodies.
    supports: Vec<(Support, [u32; 2])>,
    /// What is not of the crowd; their bodies follow those of the members.
    obstacles: Vec<u64>,
    solver: ContactSolver,
    touches: Vec<CrowdTouch>,
    /// Those of the substep before.
    touches_before: Vec<CrowdTouch>,
    /// Sleeping members that something acts on.
    to_wake: Vec<u32>,
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
            search: SteadySearch::new(Finder::Pairs(search)),
            members: Vec::new(),
            exempt: BTreeSet::new(),
            aside: Vec::new(),
            active: Vec::new(),
            first_sphere: Vec::new(),
            spheres: SphereSet::new(),
            groups: PairGroups::default(),
            bodies: Vec::new(),
            supports: Vec::new(),
            obstacles: Vec::new(),
            solver: ContactSolver::default(),
            touches: Vec::new(),
            touches_before: Vec::new(),
            to_wake: Vec::new(),
        }
    }

    /// Searches with `search` from now on. Members and contacts stay.
    pub fn set_search(&mut self, search: Box<dyn PairSearch>) {
        self.search = SteadySearch::new(Finder::Pairs(search));
    }

    /// As [`set_search`](Self::set_search), with one that groups pairs by itself.
    pub fn set_group_search(&mut self, search: Box<dyn GroupSearch>) {
        self.search = SteadySearch::new(Finder::Groups(search));
    }

    /// Why the search was given up in a detection since this was last asked.
    pub fn take_search_fault(&mut self) -> Option<SearchFault> {
        self.search.take_fault()
    }

    /// Replaces the members. Contacts between those that stay go on; members that
    /// were set aside get another chance.
    ///
    /// # Errors
    /// [`SearchError`] if there are more spheres than can be numbered; the crowd is
    /// empty then.
    pub fn set_members(&mut self, members: Vec<ContactMember>) -> Result<(), CrowdContactsError> {
        let before = std::mem::replace(&mut self.members, members);
        self.aside.clear();
        self.aside.resize(self.members.len(), None);
        let laid_out = self.lay_out_after(Some(&before));
        if laid_out.is_err() {
            self.members.clear();
            self.aside.clear();
            self.solver.forget();
            self.lay_out()?;
        }
        laid_out
    }

    /// The members.
    #[must_use]
    pub fn members(&self) -> &[ContactMember] {
        &self.members
    }

    /// Changes the surface of one member.
    pub fn set_surface(&mut self, member: usize, material: ContactMaterial, groups: ContactGroups) {
        if let Some(member) = self.members.get_mut(member) {
            member.material = material;
            member.groups = groups;
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
    pub fn set_aside(&self) -> impl Iterator<Item = (usize, SetAside)> + '_ {
        let aside = self.aside.iter().enumerate();
        aside.filter_map(|(member, reason)| reason.map(|reason| (member, reason)))
    }

    /// Lays out the spheres of all members that are not set aside, and lets contacts
    /// between them go on. `before` are the members until now, if they were others.
    fn lay_out_after(
        &mut self,
        before: Option<&[ContactMember]>,
    ) -> Result<(), CrowdContactsError> {
        let owners = std::mem::take(&mut self.active);
        let starts = std::mem::take(&mut self.first_sphere);
        self.lay_out()?;
        let places = self.active.iter().zip(0..).map(|(member, owner)| {
            let member = &self.members[*member as usize];
            (member.id, (owner, Arc::as_ptr(&member.spheres)))
        });
        let places: HashMap<u64, (u32, *const MemberSpheres)> = places.collect();
        let before = before.unwrap_or(&self.members);
        let now: Vec<Option<u32>> = owners
            .iter()
            .map(|member| {
                let member = &before[*member as usize];
                let (owner, spheres) = places.get(&member.id)?;
                (*spheres == Arc::as_ptr(&member.spheres)).then_some(*owner)
            })
            .collect();
        let first_sphere = &self.first_sphere;
        self.obstacles.clear();
        self.solver.rename(self.active.len(), |owner, sphere| {
            // Contacts with obstacles are told anew in each substep.
            let (place, sphere) = ((*now.get(owner as usize)?)?, sphere?);
            let offset = sphere - starts[owner as usize];
            Some([place, first_sphere[place as usize] + offset])
        });
        Ok(())
    }

    fn lay_out(&mut self) -> Result<(), CrowdContactsError> {
        self.groups.clear();
        self.touches.clear();
        self.touches_before.clear();
        self.active.clear();
        let present = self
            .aside
            .iter()
            .zip(0..)
            .filter(|(reason, _)| reason.is_none());
        self.active.extend(present.map(|(_, member)| member));
        self.bodies.clear();
        self.bodies.resize(self.active.len(), MovingBody::default());
        let spheres = |member: &u32| &*self.members[*member as usize].spheres;
        self.first_sphere.clear();
        self.first_sphere.push(0);
        self.spheres.clear();
        let radii = self.active.iter().map(|member| &spheres(member).radii[..]);
        self.spheres.lay_out(radii)?;
        let mut sum = 0;
        for member in &self.active {
            sum += spheres(member).len() as u32;
            self.first_sphere.push(sum);
        }
        Ok(())
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
        let sound = |member| body(member).ok_or(SetAside::Absent).and_then(checked);
        let mut changed = false;
        for (member, aside) in self.aside.iter_mut().enumerate() {
            if aside.is_some_and(|reason| reason != SetAside::Crowded) {
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
        self.place();
        Ok(changed)
    }

    /// Reads the bodies of all active members; false if one of them is not sound.
    fn read_bodies<F>(&mut self, sound: &F) -> bool
    where
        F: Fn(usize) -> Result<MovingBody, SetAside> + Sync,
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

    fn place(&mut self) {
        let (members, active, bodies) = (&self.members, &self.active, &self.bodies);
        self.spheres.place(&self.first_sphere, |owner| {
            let spheres = &members[active[owner] as usize].spheres;
            (&spheres.centres[..], bodies[owner].pose)
        });
    }

    /// Finds the pairs that touch or nearly do.
    ///
    /// Members that lie where too many others lie are set aside. If the search runs on a
    /// device that fails, an [`AutoGrid`] takes its place at once and for good, and
    /// [`take_search_fault`](Self::take_search_fault) tells why.
    ///
    /// # Errors
    /// [`SearchError`] if the spheres cannot be searched; there are no contacts then.
    pub fn detect(&mut self) -> Result<SearchTimes, CrowdContactsError> {
        std::mem::swap(&mut self.touches, &mut self.touches_before);
        self.touches.clear();
        loop {
            let foresight = self.config.foresight;
            let (search, groups) = (&mut self.search, &mut self.groups);
            match in_pool(|| search.find(&self.spheres, foresight, groups)) {
                Ok(times) => {
                    self.collect_touches();
                    return Ok(times);
                }
                Err(SearchError::TooCrowded { sphere, reach, .. }) => {
                    self.set_crowd_aside(self.spheres.centre(sphere as usize), reach)?;
                }
                Err(error) => {
                    self.solver.forget();
                    return Err(error.into());
                }
            }
        }
    }

    /// Sets aside all members with a sphere around `centre`.
    fn set_crowd_aside(&mut self, centre: Vec3, reach: f32) -> Result<(), CrowdContactsError> {
        // Twice the width of a cell covers the crowded cell from any place in it.
        let limit = 4.0 * reach;
        for index in 0..self.spheres.len() {
            if self.spheres.centre(index).distance(centre) <= limit {
                let member = self.active[self.spheres.owner(index) as usize];
                self.aside[member as usize] = Some(SetAside::Crowded);
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
    fn collect_touches(&mut self) {
        for group in self.groups.groups() {
            let [a, b] = [group.a, group.b].map(|owner| self.active[owner as usize]);
            if self.may_touch(a, b) {
                self.touches.push(CrowdTouch {
                    a,
                    b,
                    contacts: group.overlaps,
                    deepest: group.deepest,
                });
            }
        }
    }

    /// Tells what members touch outside the crowd, for the next
    /// [`respond`](Self::respond) only: where molecules touch each other, these
    /// contacts are solved with theirs. Supports that name no one are dropped.
    pub fn set_supports(
        &mut self,
        obstacles: &[Obstacle],
        supports: impl Iterator<Item = Support>,
    ) {
        let members = self.active.len();
        self.bodies.truncate(members);
        self.bodies
            .extend(obstacles.iter().map(|obstacle| obstacle.body));
        let before = std::mem::take(&mut self.obstacles);
        self.obstacles
            .extend(obstacles.iter().map(|obstacle| obstacle.id));
        if self.obstacles != before {
            self.solver.rename(self.bodies.len(), |body, sphere| {
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
        self.supports.clear();
        let body_of = |side: SupportSide| match side {
            SupportSide::Member(member) => {
                let owner = self.active.binary_search(&member).ok()?;
                Some(owner as u32)
            }
            SupportSide::Obstacle(index) => {
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

    /// Solves the contacts for a substep of `dt` s; [`impulses`](Self::impulses) has
    /// the answer.
    pub fn respond(&mut self, dt: f32) {
        if !(dt.is_finite() && dt > 0.0) {
            self.solver.forget();
            return;
        }
        if self.bodies.len() != self.active.len() + self.obstacles.len() {
            // No one told of obstacles in this substep.
            self.set_supports(&[], std::iter::empty());
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
        self.supports.clear();
    }

    /// Members to be woken if they sleep: something hit them, or left them.
    #[must_use]
    pub fn to_wake(&self) -> &[u32] {
        &self.to_wake
    }

    /// Members that take part and the impulse that each is to receive.
    pub fn impulses(&self) -> impl Iterator<Item = (usize, Impulse)> + '_ {
        let active = self.active.iter().map(|member| *member as usize);
        active.zip(self.solver.impulses().iter().copied())
    }

    /// The impulse that each obstacle is to receive, in their order.
    pub fn obstacle_impulses(&self) -> impl Iterator<Item = Impulse> + '_ {
        let impulses = self.solver.impulses();
        impulses.iter().skip(self.active.len()).copied()
    }

    /// Pairs of molecules that overlap or nearly do at the gathered poses, sorted.
    #[must_use]
    pub fn touches(&self) -> &[CrowdTouch] {
        &self.touches
    }

    /// The spheres where the last gather put them.
    #[must_use]
    pub fn spheres(&self) -> &SphereSet {
        &self.spheres
    }

    /// Pairs of spheres that the last detection found within the foresight.
    #[must_use]
    pub fn candidate_pairs(&self) -> usize {
        self.groups.candidates()
    }

    /// The solver with its contacts.
    #[must_use]
    pub fn solver(&self) -> &ContactSolver {
        &self.solver
    }

    /// Where a contact of the [`solver`](Self::solver) is in the world, nm: between the
    /// surfaces of its spheres where the last gather put them. None if the spheres are
    /// others by now, or it is a contact with something outside the crowd.
    #[must_use]
    pub fn contact_point(&self, contact: &ContactConstraint) -> Option<Vec3> {
        let sphere = contact.spheres.a as usize;
        let known = sphere < self.spheres.len() && contact.gap.is_finite() && !contact.held;
        known.then(|| {
            let way = self.spheres.radius(sphere) + 0.5 * contact.gap;
            self.spheres.centre(sphere) + contact.normal * way
        })
    }

    /// The cell of the search around `point`, nm; none before the first search and if
    /// the search has no cells.
    #[must_use]
    pub fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.search.cell_around(point)
    }

    /// Name of the search.
    #[must_use]
    pub fn search_name(&self) -> &'static str {
        self.search.name()
    }

    /// Member of an owner of spheres.
    #[must_use]
    pub fn member_of(&self, owner: u32) -> Option<usize> {
        self.active
            .get(owner as usize)
            .map(|member| *member as usize)
    }
}

/// Bodies that one task gathers.
const BODIES_PER_TASK: usize = 1024;

fn checked(body: MovingBody) -> Result<MovingBody, SetAside> {
    body.is_finite().then_some(body).ok_or(SetAside::NotFinite)
}
