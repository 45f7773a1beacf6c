//! The contact solver: Jacobi over pairs of bodies, Gauss–Seidel over the contacts of a pair.

use super::contact_constraint::SubstepParams;
use super::contact_groups::{ContactGroup, PreviousContacts, contacts_between, for_each_group};
use super::detection::Detection;
use super::device_solver::SavedContacts;
use super::external_contact::BoundContact;
use super::jacobi::JacobiIteration;
use super::members::Members;
use super::{
    BodyIndex, ContactConstraint, ContactSolverConfig, Impulse, MovingBody, OwnerIndex,
    PairResponse, Softness,
};

/// Solves the contacts of a substep on the CPU: see the [module page](super).
///
/// Keeps the contacts for the warm start of the next substep, and its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct ContactSolver {
    /// Contacts of the last substep, active or not, group after group.
    contacts: Vec<ContactConstraint>,
    groups: Vec<ContactGroup>,
    /// Bodies with contacts in the crowd, and external bodies that support them.
    crowded: Vec<bool>,
    /// The bodies, with the velocities that contacts are prepared for.
    bodies: Vec<MovingBody>,
    iteration: JacobiIteration,
    previous: PreviousContacts,
    /// Parameters of the previous substep; none if there was none.
    previous_params: Option<SubstepParams>,
}

/// Input of a substep.
pub(super) struct SolverInput<'a> {
    pub members: &'a Members,
    pub detection: &'a Detection,
    /// Bodies at the start of the substep: those of the owners, then external ones.
    pub bodies: &'a [MovingBody],
    pub external: &'a [BoundContact],
    /// Length of the substep, s.
    pub dt: f32,
}

impl ContactSolver {
    /// Drops the contacts of the previous substep.
    pub fn clear(&mut self) {
        self.contacts.clear();
        self.groups.clear();
        self.previous.clear();
        self.iteration.impulses.clear();
        self.previous_params = None;
    }

    /// Keeps the contacts of owners whose indices have changed: `relabel` returns the new indices
    /// of an owner and its sphere, or none if it is gone. There are `owners` owners instead of
    /// `previous`, and `external` bodies after them.
    pub fn relabel_owners(
        &mut self,
        [previous, owners]: [usize; 2],
        external: usize,
        relabel: impl Fn(OwnerIndex, u32) -> Option<(OwnerIndex, u32)>,
    ) {
        self.contacts.retain_mut(|contact| {
            let owner_and_sphere = |body: BodyIndex, sphere| relabel(OwnerIndex(body.0), sphere);
            if contact.external {
                let body = |body: BodyIndex| match body.index().checked_sub(previous) {
                    Some(external) => Some(BodyIndex((owners + external) as u32)),
                    None => Some(owner_and_sphere(body, 0)?.0.body()),
                };
                let (Some(a), Some(b)) = (body(contact.a), body(contact.b)) else {
                    return false;
                };
                (contact.a, contact.b) = (a, b);
                return true;
            }
            let spheres = contact.spheres;
            let (Some((a, first)), Some((b, second))) = (
                owner_and_sphere(contact.a, spheres.a),
                owner_and_sphere(contact.b, spheres.b),
            ) else {
                return false;
            };
            contact.relabel([a.body(), b.body()], [first, second]);
            true
        });
        self.regroup(owners + external);
    }

    /// Keeps the contacts with external bodies whose indices have changed: `relabel` returns
    /// the new index of a body, or none if it is gone. There are `bodies` bodies.
    pub fn relabel_external(
        &mut self,
        bodies: usize,
        relabel: impl Fn(BodyIndex) -> Option<BodyIndex>,
    ) {
        self.contacts.retain_mut(|contact| {
            let (Some(a), Some(b)) = (relabel(contact.a), relabel(contact.b)) else {
                return false;
            };
            (contact.a, contact.b) = (a, b);
            true
        });
        self.regroup(bodies);
    }

    fn regroup(&mut self, bodies: usize) {
        self.iteration.impulses.clear();
        // The contacts of two bodies stay in their order, in which they are solved.
        self.contacts
            .sort_by_key(|contact| (contact.external, contact.a, contact.b));
        self.groups.clear();
        self.group_contacts(0);
        self.split_masses(bodies);
    }

    /// The contacts that the next substep starts from, and the pairs that touch.
    pub fn save(&self, touching: Vec<[OwnerIndex; 2]>) -> SavedContacts {
        let contacts = self.contacts.iter();
        let needed = contacts.filter(|contact| contact.external || contact.is_active());
        SavedContacts {
            contacts: needed.copied().collect(),
            touching,
            dt: self.previous_params.map(|params| params.dt),
        }
    }

    /// Continues from contacts that a device solved. There are `bodies` bodies.
    pub fn restore(&mut self, saved: &SavedContacts, config: &ContactSolverConfig, bodies: usize) {
        self.clear();
        self.contacts.extend_from_slice(&saved.contacts);
        self.group_contacts(0);
        self.split_masses(bodies);
        let config = *config;
        self.previous_params = saved.dt.map(|dt| SubstepParams { dt, config });
    }

    /// Takes over the result of a device, which keeps the contacts.
    pub fn set_impulses(&mut self, impulses: &[Impulse]) {
        self.clear();
        self.iteration.impulses.extend_from_slice(impulses);
    }

    /// Starts a group wherever the bodies change, from contact `first` on.
    fn group_contacts(&mut self, first: usize) {
        for (contact, index) in self.contacts[first..].iter().zip(first as u32..) {
            let ContactConstraint {
                a,
                b,
                external,
                dominance,
                ..
            } = *contact;
            let same =
                |group: &mut ContactGroup| (group.a, group.b, group.external) == (a, b, external);
            if !self.groups.last_mut().is_some_and(same) {
                self.groups.push(ContactGroup {
                    a,
                    b,
                    start: index,
                    end: index,
                    external,
                    dominance,
                    ..ContactGroup::default()
                });
            }
            if let Some(group) = self.groups.last_mut() {
                group.end += 1;
                group.active += u32::from(contact.is_active());
            }
        }
    }

    /// Contacts of the last substep, active or not, group after group.
    pub fn contacts(&self) -> &[ContactConstraint] {
        &self.contacts
    }

    /// Contacts of the last substep between two owners `a` < `b`, active or not.
    pub fn contacts_between(&self, [a, b]: [BodyIndex; 2]) -> &[ContactConstraint] {
        contacts_between(&self.contacts, &self.groups, (false, a, b))
    }

    /// Contacts of the substep before the last one between two owners `a` < `b`, active or not.
    pub fn previous_contacts_between(&self, [a, b]: [BodyIndex; 2]) -> &[ContactConstraint] {
        self.previous.between(a, b, false)
    }

    /// Owners that pushed each other in the last substep, sorted.
    pub fn pushed(&self) -> impl Iterator<Item = [OwnerIndex; 2]> + '_ {
        let groups = self.groups.iter();
        let pushed = groups.filter(|group| group.pushed && !group.external);
        pushed.map(|group| [group.a, group.b].map(|body| OwnerIndex(body.0)))
    }

    /// The impulse of the last substep on each body.
    pub fn impulses(&self) -> &[Impulse] {
        &self.iteration.impulses
    }

    /// The same, to change it.
    pub fn impulses_mut(&mut self) -> &mut [Impulse] {
        &mut self.iteration.impulses
    }

    /// Solves one substep; [`impulses`](Self::impulses) has the result.
    pub fn solve(&mut self, input: &SolverInput<'_>, config: &ContactSolverConfig) {
        self.bodies.clear();
        self.bodies.extend_from_slice(input.bodies);
        self.iteration.begin(input.bodies);
        if let Some(params) = self.previous_params {
            let (bodies, iteration) = (&self.bodies, &self.iteration);
            for_each_active(
                &mut self.contacts,
                &mut self.groups,
                iteration,
                |contact, shares| {
                    contact.follow_bodies(bodies, shares);
                },
            );
            self.iterate(&params, false, config.relax_iterations);
        }
        self.previous.take(&mut self.contacts, &mut self.groups);
        let solved = &mut self.iteration.bodies;
        for (body, solved) in self.bodies.iter_mut().zip(solved) {
            if !body.asleep {
                solved.velocity += (body.acceleration * input.dt).to_vec3a();
            }
            body.velocity = solved.velocity.into();
            body.angular_velocity = solved.angular_velocity.into();
        }
        let params = SubstepParams {
            dt: input.dt,
            config: *config,
        };
        self.prepare(input, &params);
        self.prepare_external(input, &params);
        self.split_masses(input.bodies.len());
        self.iterate(&params, true, config.iterations);
        self.previous_params = Some(params);
    }

    /// Makes contacts of the candidate pairs, with the impulses of the previous substep.
    fn prepare(&mut self, input: &SolverInput<'_>, params: &SubstepParams) {
        let found = input.detection.found();
        self.contacts
            .resize(found.kept.len(), ContactConstraint::INACTIVE);
        self.groups
            .extend(found.groups.iter().map(|group| ContactGroup {
                a: group.a.body(),
                b: group.b.body(),
                start: group.first,
                end: group.first + group.kept,
                ..ContactGroup::default()
            }));
        let (bodies, previous) = (&self.bodies, &self.previous);
        for_each_group(
            &mut self.contacts,
            &mut self.groups,
            ContactGroup::range,
            &|group, contacts| {
                let [a, b] = [group.a, group.b].map(|body| OwnerIndex(body.0));
                if input.members.response(a, b) != PairResponse::Push {
                    contacts.fill(ContactConstraint::INACTIVE);
                    group.active = 0;
                    return;
                }
                let material = input.members.material_between(a, b);
                let placed = [a, b].map(|owner| &input.bodies[owner.index()]);
                group.dominance = placed[0].relative_dominance(placed[1]);
                let inactive = ContactConstraint {
                    a: group.a,
                    b: group.b,
                    dominance: group.dominance,
                    softness: Softness::new(&material, params.dt),
                    friction: material.friction,
                    ..ContactConstraint::INACTIVE
                };
                let pairs = &found.kept[group.range()];
                let previous = previous.between(group.a, group.b, false);
                for (contact, &pair) in contacts.iter_mut().zip(pairs) {
                    let spheres = [
                        input.members.sphere(a, pair.a, placed[0]),
                        input.members.sphere(b, pair.b, placed[1]),
                    ];
                    *contact = ContactConstraint {
                        spheres: pair,
                        ..inactive
                    };
                    contact.place_between(spheres, bodies);
                    contact.set_up(bodies, material.restitution, params);
                    let same = |other: &&ContactConstraint| other.spheres == pair;
                    if let Some(previous) = previous.iter().find(same)
                        && previous.normal_impulse > 0.0
                    {
                        contact.warm_start(previous);
                    }
                }
                let active = contacts.iter().filter(|contact| contact.is_active());
                group.active = active.count() as u32;
            },
        );
    }

    /// Adds the external contacts, with the impulses of the previous substep.
    fn prepare_external(&mut self, input: &SolverInput<'_>, params: &SubstepParams) {
        let first = self.contacts.len();
        for bound in input.external {
            let mut contact = bound.constraint(&self.bodies, params);
            let previous = self.previous.between(contact.a, contact.b, true);
            let same = |other: &&ContactConstraint| other.spheres == contact.spheres;
            if let Some(previous) = previous.iter().find(same) {
                contact.warm_start(previous);
            }
            self.contacts.push(contact);
        }
        self.contacts[first..]
            .sort_unstable_by_key(|contact| (contact.a, contact.b, contact.spheres));
        self.group_contacts(first);
        self.skip_isolated_external(input.members.owners().len());
    }

    /// Leaves external contacts to the physics engine where no members touch each other.
    fn skip_isolated_external(&mut self, owners: usize) {
        let is_external =
            |group: &ContactGroup| group.external && group.a.index().max(group.b.index()) >= owners;
        self.crowded.clear();
        self.crowded.resize(self.bodies.len(), false);
        // Members that touch each other first, then the external bodies that support them.
        for external in [false, true] {
            let groups = self.groups.iter();
            for group in groups.filter(|group| is_external(group) == external) {
                let [a, b] = [group.a.index(), group.b.index()];
                if group.active > 0 && (!external || self.crowded[a] || self.crowded[b]) {
                    for body in [a, b] {
                        self.crowded[body] |= self.bodies[body].is_movable();
                    }
                }
            }
        }
        for group in self.groups.iter_mut().filter(|group| is_external(group)) {
            if !(self.crowded[group.a.index()] || self.crowded[group.b.index()]) {
                for contact in &mut self.contacts[group.range()] {
                    contact.deactivate();
                }
                group.active = 0;
            }
        }
    }

    /// Arranges the groups for the iterations, and splits the masses of the bodies among them.
    fn split_masses(&mut self, bodies: usize) {
        self.iteration.arrange(&mut self.groups, bodies);
        for_each_active(
            &mut self.contacts,
            &mut self.groups,
            &self.iteration,
            ContactConstraint::split_masses,
        );
    }

    /// Iterates `count` times. With `push_out`, overlaps are pushed out, and contacts start from
    /// their accumulated impulses; else the bodies have received these already.
    fn iterate(&mut self, params: &SubstepParams, push_out: bool, count: u32) {
        let iteration = &mut self.iteration;
        iteration.load_constraints(&self.contacts, &self.groups, params, push_out);
        if push_out {
            iteration.warm_start();
        }
        for _ in 0..count {
            iteration.iterate();
        }
        iteration.store_impulses(&mut self.contacts, &mut self.groups);
    }
}

/// Calls `work` in parallel for each active contact, with the number of groups that its bodies
/// are split among.
fn for_each_active(
    contacts: &mut [ContactConstraint],
    groups: &mut [ContactGroup],
    iteration: &JacobiIteration,
    work: impl Fn(&mut ContactConstraint, [u32; 2]) + Sync,
) {
    for_each_group(contacts, groups, ContactGroup::range, &|group, contacts| {
        let shares = [group.a, group.b].map(|body| iteration.shares(body));
        for contact in contacts.iter_mut().filter(|contact| contact.is_active()) {
            work(contact, shares);
        }
    });
}
