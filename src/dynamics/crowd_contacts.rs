//! [`CrowdContacts`]: the substep of a crowd.

use glam::Vec3;
use rayon::prelude::*;

use super::contact_constraint::SubstepParams;
use super::contact_solver::{ContactSolver, SolverInput};
use super::continuous_contacts::ContinuousContacts;
use super::detection::{Detection, DetectionError};
use super::device_session::DeviceSession;
use super::device_solver::{DeviceSolver, SavedContacts};
use super::external_contact::ExternalContacts;
use super::group_search::{GroupSearch, PairGrouper};
use super::members::{Members, Relabeling};
use super::{
    BodyIndex, ContactConstraint, ContactMember, ContactSide, ContactSolverConfig, ContactSurface,
    CrowdImpact, CrowdTouch, Exclusion, ExternalBody, ExternalContact, Impulse, MemberIndex,
    MovingBody, OwnerIndex, PairResponse,
};
use crate::backend::{DeviceError, Offload};
use crate::pool::in_pool;
use crate::search::{GridCell, PairSearch, SearchError, SearchTimes, SearchWork};
use crate::spheres::SphereError;

/// Bodies per task of [`CrowdContacts::gather`].
const BODIES_PER_TASK: usize = 1024;

/// Finds and solves the contacts of a crowd, substep by substep: [`gather`](Self::gather),
/// [`detect`](Self::detect), [`respond`](Self::respond). The default is an empty crowd that
/// searches with a [`MoleculeSearch`](crate::search::MoleculeSearch).
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::dynamics::{
///     ContactMember, CrowdContacts, MovingBody,
/// };
/// use bevy_rapier_molecules::force::Body;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::search::RigidSpheres;
/// use glam::Vec3;
///
/// let protein = load("assets/molecules/1ubq.cif", &LoadOptions::default())?;
/// let spheres = Arc::new(RigidSpheres::atoms(&protein));
/// let members = [0, 1].map(|id| ContactMember { id, spheres: spheres.clone(), ..Default::default() });
/// // Two overlapping proteins that approach each other at 3 nm/s each.
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
/// contacts.gather(|member| bodies.get(member.index()).copied())?;
/// contacts.detect()?;
/// contacts.respond(1.0 / 60.0);
/// assert_eq!(contacts.touches().len(), 1);
/// let impulses: Vec<_> = contacts.impulses().map(|(_, impulse)| impulse.linear).collect();
/// assert!(impulses[0].x < 0.0, "the left one is pushed to the left");
/// assert!((impulses[0] + impulses[1]).length() < 1e-3 * impulses[0].length(), "momentum is conserved");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct CrowdContacts {
    /// Parameters of the solver. Not validated here: see [`ContactSolverConfig::check`].
    pub config: ContactSolverConfig,
    pub(super) members: Members,
    /// One body per owner, then the external bodies.
    pub(super) bodies: Vec<MovingBody>,
    external: ExternalContacts,
    detection: Detection,
    continuous: ContinuousContacts,
    solver: ContactSolver,
    device: Offload<DeviceSession>,
    to_wake: Vec<MemberIndex>,
    /// Whether the previous touches were lost with a device that did not report them.
    lost_touches: bool,
}

impl CrowdContacts {
    // Backends

    /// Searches by molecules from now on, as by default, and solves on the CPU. Members and
    /// contacts stay.
    pub fn use_cpu(&mut self) {
        self.stop_device();
        self.take_device_error();
        self.detection.stop_search();
    }

    /// Searches among all spheres with `search` from now on, and solves on the CPU. Members and
    /// contacts stay.
    pub fn set_search(&mut self, search: Box<dyn PairSearch>) {
        self.set_group_search(Box::new(PairGrouper::new(search)));
    }

    /// As [`set_search`](Self::set_search), with a search that groups the pairs itself.
    pub fn set_group_search(&mut self, search: Box<dyn GroupSearch>) {
        self.stop_device();
        self.take_device_error();
        self.detection.start_search(search);
    }

    /// Finds and solves the contacts with `solver` from now on. Members and contacts stay.
    ///
    /// Without `report_touches`, [`touches`](Self::touches) stays empty and less is read back
    /// from the device. If the device fails, the CPU continues: see the
    /// [module page](super#device-solvers).
    pub fn set_device_solver(&mut self, solver: Box<dyn DeviceSolver>, report_touches: bool) {
        self.stop_device();
        // An error of the previous device says nothing about this one.
        self.take_device_error();
        self.device
            .start(DeviceSession::new(solver, report_touches));
    }

    /// Takes the error after which the CPU replaced a device, if there was one.
    pub fn take_device_error(&mut self) -> Option<DeviceError> {
        let error = self.device.take_error();
        error.or_else(|| self.detection.take_search_error())
    }

    /// Name of the search, or of the device solver.
    #[must_use]
    pub fn search_name(&self) -> &'static str {
        match self.device.as_ref() {
            Some(device) => device.name(),
            None => self.detection.search_name(),
        }
    }

    /// Whether a device solves the contacts.
    #[must_use]
    pub fn uses_device(&self) -> bool {
        self.device.as_ref().is_some()
    }

    /// Whether [`touches`](Self::touches) is filled: always, unless a device solver is
    /// configured not to report them.
    #[must_use]
    pub fn reports_touches(&self) -> bool {
        let device = self.device.as_ref();
        device.is_none_or(DeviceSession::reports_touches)
    }

    // Members

    /// Replaces the members and lifts all exclusions. Contacts between members that stay are kept.
    ///
    /// # Errors
    /// [`SearchError`] if the spheres exceed a 32-bit index; the crowd is empty then.
    pub fn set_members(&mut self, members: Vec<ContactMember>) -> Result<(), SearchError> {
        self.read_back_contacts();
        let relabeling = self.members.set(members);
        self.relabel_or_clear(relabeling)
    }

    /// Removes the members with the ids `removed`, adds `added`, and orders all members by id.
    /// Added members replace those with the same id. Lifts the exclusions of
    /// [crowded](Exclusion::Crowded) members.
    ///
    /// The result is that of [`set_members`](Self::set_members) with the same list, in less
    /// time: what is known of the members that stay is kept, so that the cost is that of the
    /// members that change.
    ///
    /// # Errors
    /// As [`set_members`](Self::set_members).
    pub fn update_members(
        &mut self,
        removed: &[u64],
        added: Vec<ContactMember>,
    ) -> Result<(), SearchError> {
        self.read_back_contacts();
        let relabeling = self.members.update(removed, added);
        self.relabel_or_clear(relabeling)
    }

    fn relabel_or_clear(
        &mut self,
        relabeling: Result<Relabeling, SphereError>,
    ) -> Result<(), SearchError> {
        match relabeling {
            Ok(relabeling) => self.relabel(&relabeling),
            Err(error) => {
                self.relabel(&Relabeling::default());
                self.clear_contacts();
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// The members.
    #[must_use]
    pub fn members(&self) -> &[ContactMember] {
        self.members.all()
    }

    /// Changes the surface of a member, if there is one with this index.
    pub fn set_surface(&mut self, member: MemberIndex, surface: ContactSurface) {
        self.members.set_surface(member, surface);
        if let Some(device) = self.device.as_mut() {
            device.mark_surfaces_changed();
        }
    }

    /// Replaces the pairs of members that never touch, whatever their groups, such as jointed
    /// ones: `list` pushes them to an empty vector, in any order.
    ///
    /// Cheap to call in every substep: nothing is allocated, and nothing is sent to a device
    /// unless the pairs have changed.
    pub fn set_ignored_pairs(&mut self, list: impl FnOnce(&mut Vec<[MemberIndex; 2]>)) {
        if self.members.set_ignored(list)
            && let Some(device) = self.device.as_mut()
        {
            device.mark_surfaces_changed();
        }
    }

    /// Members that are excluded from contacts, and why.
    pub fn excluded(&self) -> impl Iterator<Item = (MemberIndex, Exclusion)> + '_ {
        self.members.excluded()
    }

    /// Lays out the spheres after exclusions have changed.
    fn lay_out_again(&mut self) -> Result<(), SearchError> {
        self.read_back_contacts();
        let relabeling = self.members.lay_out_again();
        self.relabel_or_clear(relabeling)
    }

    /// Moves bodies and contacts to the new indices of their owners.
    fn relabel(&mut self, relabeling: &Relabeling) {
        let owners = self.members.owners().len();
        let previous = std::mem::take(&mut self.bodies);
        self.bodies.resize(owners, MovingBody::default());
        for (body, owner) in previous.into_iter().zip(relabeling.owners()) {
            if let Some(owner) = owner {
                self.bodies[owner.index()] = body;
            }
        }
        self.external.end();
        self.detection.relabel(&self.members, relabeling);
        self.continuous.clear();
        let counts = [relabeling.owners().count(), owners];
        let external = self.external.ids().len();
        self.solver
            .relabel_owners(counts, external, |owner, sphere| {
                relabeling.get(owner, sphere)
            });
        if let Some(device) = self.device.as_mut() {
            device.mark_members_changed();
        }
    }

    // Substep

    /// Reads the body of each member.
    ///
    /// Members without a body, or with one that is not finite, are excluded until they have a
    /// valid one again. Returns whether the exclusions have changed.
    ///
    /// # Errors
    /// As [`set_members`](Self::set_members).
    pub fn gather(
        &mut self,
        body: impl Fn(MemberIndex) -> Option<MovingBody> + Sync,
    ) -> Result<bool, SearchError> {
        let valid_body = |member| {
            let body = body(member).ok_or(Exclusion::Absent)?;
            body.is_valid().then_some(body).ok_or(Exclusion::NotFinite)
        };
        let exclusion = |member| valid_body(member).err();
        let mut changed = self.members.recheck_excluded(exclusion);
        if changed {
            self.lay_out_again()?;
        }
        while !self.read_bodies(valid_body) {
            self.members.exclude_invalid(exclusion);
            self.lay_out_again()?;
            changed = true;
        }
        Ok(changed)
    }

    /// Reads the bodies of all owners; false if one of them is invalid.
    fn read_bodies(
        &mut self,
        valid_body: impl Fn(MemberIndex) -> Result<MovingBody, Exclusion> + Sync,
    ) -> bool {
        let owners = self.members.owners();
        self.bodies.truncate(owners.len());
        self.bodies
            .par_chunks_mut(BODIES_PER_TASK)
            .zip(owners.par_chunks(BODIES_PER_TASK))
            .map(|(bodies, members)| {
                let mut all_valid = true;
                for (target, &member) in bodies.iter_mut().zip(members) {
                    match valid_body(member) {
                        Ok(body) => *target = body,
                        Err(_) => all_valid = false,
                    }
                }
                all_valid
            })
            .reduce(|| true, |a, b| a && b)
    }

    /// Finds the candidate pairs, and which members touch. With a device solver this does nothing:
    /// it finds them in [`respond`](Self::respond).
    ///
    /// Members in a place with more spheres than the search can handle are excluded. If the
    /// device of the search fails, the CPU replaces it within this call, and
    /// [`take_device_error`](Self::take_device_error) returns why.
    ///
    /// # Errors
    /// [`SearchError`] if the spheres are invalid; all contacts are dropped then.
    pub fn detect(&mut self) -> Result<SearchTimes, SearchError> {
        self.members.clear_decisions();
        self.detection.begin();
        if self.uses_device() {
            return Ok(SearchTimes::default());
        }
        self.find_pairs()
    }

    /// Finds the candidate pairs without a device solver. Excludes members in crowded places.
    fn find_pairs(&mut self) -> Result<SearchTimes, SearchError> {
        loop {
            let margin = self.config.prediction_distance;
            let bodies = &self.bodies[..self.members.owners().len()];
            match self.detection.find(&self.members, bodies, margin) {
                Ok(times) => return Ok(times),
                Err(DetectionError::Crowded { center, distance }) => {
                    self.members.exclude_around(center, distance, &self.bodies);
                    self.lay_out_again()?;
                }
                Err(DetectionError::Search(error)) => {
                    self.clear_contacts();
                    return Err(error);
                }
            }
        }
    }

    /// Lets `decide` change the response of the members that touch or are close, in ascending
    /// order, for this substep only. Call it between [`detect`](Self::detect) and
    /// [`respond`](Self::respond). A device solver has its own filter: it ignores the decisions.
    pub fn decide_responses(&mut self, mut decide: impl FnMut(&CrowdTouch) -> PairResponse) {
        if self.uses_device() {
            return;
        }
        let members = &mut self.members;
        self.detection.retain_touches(|touch| {
            let response = decide(touch);
            members.decide([touch.a, touch.b], response);
            touch.pushes = response == PairResponse::Push;
            response != PairResponse::Ignore
        });
    }

    /// Sets the contacts of members with external bodies for the next
    /// [`respond`](Self::respond). Where members touch each other, these contacts are solved
    /// together with theirs. Contacts whose sides do not exist are dropped.
    pub fn set_external_contacts(
        &mut self,
        bodies: &[ExternalBody],
        contacts: impl Iterator<Item = ExternalContact>,
    ) {
        self.bodies.truncate(self.members.owners().len());
        self.bodies
            .extend(bodies.iter().map(|external| external.body));
        self.external.set(bodies, contacts, &self.members);
        let previous = self.external.previous_ids();
        relabel_external(&mut self.solver, &self.members, &self.external, previous);
    }

    /// Solves the contacts for a substep of `dt` s; [`impulses`](Self::impulses) has the
    /// result. If `dt` is not positive and finite, all contacts are dropped instead.
    pub fn respond(&mut self, dt: f32) {
        if !(dt.is_finite() && dt > 0.0) {
            self.continuous.clear();
            self.clear_contacts();
            return;
        }
        if self.bodies.len() != self.members.owners().len() + self.external.ids().len() {
            // No external contacts were set in this substep.
            self.set_external_contacts(&[], std::iter::empty());
        }
        self.add_continuous_contacts(dt);
        if !self.respond_on_device(dt) {
            self.respond_on_cpu(dt);
        }
        self.limit_fast_members(dt);
        if std::mem::take(&mut self.lost_touches) {
            // Any sleeping member may have lost a neighbor.
            self.to_wake.clear();
            self.to_wake.extend_from_slice(self.members.owners());
        }
        self.external.end();
    }

    /// Adds the contacts of fast members, and lets those that they hit react.
    fn add_continuous_contacts(&mut self, dt: f32) {
        let config = self.config;
        let params = SubstepParams { dt, config };
        self.continuous.find(&self.members, &self.bodies, &params);
        self.external.extend(self.continuous.contacts());
        for bound in self.continuous.contacts() {
            for body in bound.bodies {
                self.bodies[body.index()].asleep = false;
            }
        }
    }

    /// Stops fast members at what they would hit after the response, and wakes what they hit.
    fn limit_fast_members(&mut self, dt: f32) {
        let config = self.config;
        let params = SubstepParams { dt, config };
        let impulses = self.solver.impulses_mut();
        self.continuous
            .limit(&self.members, &self.bodies, &params, impulses);
        if self.continuous.contacts().is_empty() {
            return;
        }
        for bound in self.continuous.contacts() {
            for side in [bound.contact.a, bound.contact.b] {
                if let ContactSide::Member(member) = side {
                    self.to_wake.push(member);
                }
            }
        }
        self.to_wake.sort_unstable();
        self.to_wake.dedup();
    }

    fn respond_on_cpu(&mut self, dt: f32) {
        self.detection
            .list_woken(&self.members, &self.bodies, dt, &mut self.to_wake);
        // Woken bodies react within this substep.
        for &member in &self.to_wake {
            if let Some(owner) = self.members.owner(member) {
                self.bodies[owner.index()].asleep = false;
            }
        }
        let input = SolverInput {
            members: &self.members,
            detection: &self.detection,
            bodies: &self.bodies,
            external: self.external.contacts(),
            dt,
        };
        let (solver, config) = (&mut self.solver, &self.config);
        if input.bodies.is_empty() {
            // No work for the thread pool.
            solver.clear();
            return;
        }
        in_pool(|| solver.solve(&input, config));
        let members = &self.members;
        let by_member = |pair: [OwnerIndex; 2]| pair.map(|owner| members.member(owner));
        self.detection
            .mark_pushed(self.solver.pushed().map(by_member));
    }

    /// Drops the contacts of the last substep.
    fn clear_contacts(&mut self) {
        self.solver.clear();
        if let Some(device) = self.device.as_mut() {
            device.clear_contacts();
        }
    }

    // Snapshots

    /// The contacts that the next substep starts from. Those of a device solver are read back.
    pub fn snapshot(&mut self) -> ContactSnapshot {
        self.read_back_contacts();
        let touching = self.detection.current_owners(&self.members);
        ContactSnapshot {
            ids: self.members.included().map(|member| member.id).collect(),
            external_ids: self.external.ids().to_vec(),
            contacts: self.solver.save(touching),
        }
    }

    /// Whether the members that are not excluded are those of a snapshot.
    #[must_use]
    pub fn has_members_of(&self, snapshot: &ContactSnapshot) -> bool {
        let ids = self.members.included().map(|member| &member.id);
        ids.eq(&snapshot.ids)
    }

    /// Continues from the contacts of a snapshot: with the same bodies, the next substeps are the
    /// same bit for bit. Returns false, and drops all contacts, if the members that are not excluded
    /// differ.
    pub fn restore_snapshot(&mut self, snapshot: &ContactSnapshot) -> bool {
        self.clear_contacts();
        if !self.has_members_of(snapshot) {
            return false;
        }
        self.external.restore_ids(&snapshot.external_ids);
        let contacts = &snapshot.contacts;
        self.detection
            .restore_touches(&contacts.touching, &self.members);
        let bodies = self.members.owners().len() + snapshot.external_ids.len();
        self.solver.restore(contacts, &self.config, bodies);
        true
    }

    // Device solver

    /// Finds and solves the contacts on the device; false if the CPU has to solve them.
    fn respond_on_device(&mut self, dt: f32) -> bool {
        let members = &self.members;
        let Some(device) = self.device.as_mut() else {
            return false;
        };
        let (solver, detection) = (&self.solver, &self.detection);
        let save = || solver.save(detection.previous_owners(members));
        let (bodies, external) = (&self.bodies, &self.external);
        match device.step(members, bodies, external, dt, &self.config, save) {
            Ok(Some(response)) => {
                self.solver.set_impulses(&response.impulses);
                self.to_wake.clear();
                let woken = response.woken.iter();
                self.to_wake
                    .extend(woken.map(|owner| members.member(*owner)));
                self.detection
                    .set_found_on_device(response.candidates, &response.touches, members);
                self.detection.list_abandoned(&mut self.to_wake);
                return true;
            }
            Err(SearchError::Device(error)) => self.replace_device(error),
            // Crowded places are left to the CPU, and so is reporting what is invalid.
            Ok(None) | Err(_) => {
                self.take_contacts(Detection::restore_previous_touches);
            }
        }
        self.find_pairs_of_device(dt);
        false
    }

    /// Finds the pairs of a substep that the device could not solve.
    fn find_pairs_of_device(&mut self, dt: f32) {
        let owners = self.members.owners().len();
        let ids = self.external.ids().iter();
        let external: Vec<_> = ids
            .zip(&self.bodies[owners..])
            .map(|(&id, &body)| ExternalBody { id, body })
            .collect();
        // Those of fast members were added at the end.
        let given = self.external.contacts().len() - self.continuous.contacts().len();
        let contacts = self.external.contacts()[..given].iter();
        let contacts: Vec<_> = contacts.map(|bound| bound.contact).collect();
        if self.find_pairs().is_ok() && self.members.owners().len() != owners {
            // Some were excluded, and the others have new indices.
            self.set_external_contacts(&external, contacts.into_iter());
            self.add_continuous_contacts(dt);
        }
    }

    /// Continues on the CPU with the contacts of the device.
    fn stop_device(&mut self) {
        self.read_back_contacts();
        self.device.stop();
    }

    /// Moves the contacts of the last substep from the device to the CPU, between substeps.
    fn read_back_contacts(&mut self) {
        self.take_contacts(Detection::restore_touches);
    }

    /// Moves the contacts of the last substep from the device to the CPU. `restore_touches` takes
    /// the touches that the device did not report.
    fn take_contacts(&mut self, restore_touches: fn(&mut Detection, &[[OwnerIndex; 2]], &Members)) {
        let Some(device) = self.device.as_mut().filter(|device| device.has_contacts()) else {
            return;
        };
        match device.save_contacts() {
            Ok((saved, ids)) => {
                device.clear_contacts();
                if !device.reports_touches() {
                    restore_touches(&mut self.detection, &saved.touching, &self.members);
                }
                self.restore(&saved, &ids);
            }
            Err(error) => self.replace_device(error),
        }
    }

    /// Continues on the CPU after the device has failed: with its contacts if they can still
    /// be read, else with cold ones.
    fn replace_device(&mut self, error: DeviceError) {
        let Some(mut device) = self.device.fail(error) else {
            return;
        };
        self.detection.stop_search();
        if !device.has_contacts() {
            return;
        }
        if let Ok((saved, ids)) = device.save_contacts() {
            if !device.reports_touches() {
                self.detection
                    .restore_previous_touches(&saved.touching, &self.members);
            }
            self.restore(&saved, &ids);
        } else {
            self.solver.clear();
            self.lost_touches = !device.reports_touches();
        }
    }

    /// Continues from the contacts of a device, and of its external bodies with these ids.
    fn restore(&mut self, saved: &SavedContacts, ids: &[u64]) {
        let bodies = self.members.owners().len() + ids.len();
        self.solver.restore(saved, &self.config, bodies);
        relabel_external(&mut self.solver, &self.members, &self.external, ids);
    }

    // Results

    /// Members to wake if they sleep, sorted: something hits them, overlaps them deeply or has
    /// left them.
    #[must_use]
    pub fn to_wake(&self) -> &[MemberIndex] {
        &self.to_wake
    }

    /// The impulse on each member that is not excluded.
    pub fn impulses(&self) -> impl Iterator<Item = (MemberIndex, Impulse)> + '_ {
        let owners = self.members.owners().iter().copied();
        owners.zip(self.solver.impulses().iter().copied())
    }

    /// The impulse on each external body, in their order.
    pub fn external_impulses(&self) -> impl Iterator<Item = Impulse> + '_ {
        let impulses = self.solver.impulses().iter();
        impulses.skip(self.members.owners().len()).copied()
    }

    /// Members that touch or are within the prediction distance, sorted.
    #[must_use]
    pub fn touches(&self) -> &[CrowdTouch] {
        self.detection.touches()
    }

    /// Pairs with a fast member with [`ccd`](MovingBody::ccd) whose spheres would have met within the
    /// last substep and did not touch at its start, sorted. Computed by [`respond`](Self::respond).
    #[must_use]
    pub fn impacts_of_fast_members(&self) -> &[CrowdImpact] {
        self.continuous.impacts()
    }

    /// Number of spheres of all members that are not excluded.
    #[must_use]
    pub fn sphere_count(&self) -> usize {
        self.members.sphere_count()
    }

    /// Counted work of the last detection by the
    /// [`MoleculeSearch`](crate::search::MoleculeSearch); zero with another search or on a device.
    #[must_use]
    pub fn search_work(&self) -> SearchWork {
        self.detection.work()
    }

    /// Number of pairs of spheres that the last detection found within the prediction distance.
    #[must_use]
    pub fn candidate_pairs(&self) -> usize {
        self.detection.found().candidates
    }

    /// The contacts of the last substep, active or not. Those of a device solver are read back,
    /// which is slow; only active ones are returned then.
    #[must_use]
    pub fn contacts(&self) -> &[ContactConstraint] {
        match self.device.as_ref().filter(|device| device.has_contacts()) {
            Some(device) => device.contacts(),
            None => self.solver.contacts(),
        }
    }

    /// Those of the [`contacts`](Self::contacts) that include all between two bodies, `a` < `b`.
    pub(super) fn contacts_of(&self, bodies: [BodyIndex; 2]) -> &[ContactConstraint] {
        match self.device.as_ref().filter(|device| device.has_contacts()) {
            Some(device) => device.contacts(),
            None => self.solver.contacts_between(bodies),
        }
    }

    /// As [`contacts_of`](Self::contacts_of), in the substep before the last one; empty with a
    /// device solver.
    pub(super) fn previous_contacts_of(&self, bodies: [BodyIndex; 2]) -> &[ContactConstraint] {
        self.solver.previous_contacts_between(bodies)
    }

    /// World position of one of the [`contacts`](Self::contacts), nm: the middle between the
    /// surfaces of its spheres at the poses of the last gather. None for external contacts and
    /// if the spheres have changed.
    #[must_use]
    pub fn contact_point(&self, contact: &ContactConstraint) -> Option<Vec3> {
        if contact.external || !contact.gap.is_finite() {
            return None;
        }
        let sphere = contact.spheres.a;
        let owner = self.members.owner_of_sphere(sphere)?;
        let body = self.bodies.get(owner.index())?;
        let sphere = self.members.sphere(owner, sphere, body);
        Some(sphere.center + contact.normal * (sphere.radius + 0.5 * contact.gap))
    }

    /// The grid cell around `point`, nm, in the last search; none if the search has no cells.
    #[must_use]
    pub fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        match self.device.as_ref() {
            Some(device) => device.cell_around(point),
            None => self.detection.cell_around(point),
        }
    }
}

/// The contacts of a crowd between two substeps: see [`CrowdContacts::snapshot`].
#[derive(Clone, Debug, Default)]
pub struct ContactSnapshot {
    /// Ids of the members that are not excluded.
    ids: Vec<u64>,
    external_ids: Vec<u64>,
    contacts: SavedContacts,
}

/// Relabels the contacts with external bodies, which were those with ids `previous`.
fn relabel_external(
    solver: &mut ContactSolver,
    members: &Members,
    external: &ExternalContacts,
    previous: &[u64],
) {
    if external.ids() == previous {
        return;
    }
    let owners = members.owners().len();
    let bodies = owners + external.ids().len();
    solver.relabel_external(bodies, |body: BodyIndex| {
        match previous.get(body.index().wrapping_sub(owners)) {
            None => Some(body),
            Some(id) => external.body_with_id(*id, owners),
        }
    });
}
