//! The solver: all pairs of molecules at once, the contacts of each pair in turn.

use super::contact_constraint::{ContactSurface, Substep, Touch};
use super::contact_groups::{Carried, Group, for_each_group};
use super::device_solver::SavedContacts;
use super::external_contact::ExternalContact;
use super::jacobi::Iteration;
use super::pair_grouper::PairGrouper;
use super::{ContactConstraint, ContactMaterial, ContactSolverConfig, Impulse, MovingBody};

/// Solves the contacts between molecules. See the [module](super) page.
///
/// Memory is kept from substep to substep; so are the impulses of contacts that last.
#[derive(Clone, Debug, Default)]
pub(super) struct ContactSolver {
    /// Group after group.
    contacts: Vec<ContactConstraint>,
    groups: Vec<Group>,
    /// Bodies that touch others of the crowd, or hold those that do.
    crowded: Vec<bool>,
    velocities: Vec<MovingBody>,
    iteration: Iteration,
    /// Contacts of the substep before, with what they carried.
    before: Carried,
    last: Option<Substep>,
}

/// What a substep is solved for.
pub(super) struct Problem<'a, M> {
    /// Pairs that overlap or nearly do.
    pub pairs: &'a PairGrouper,
    /// Bodies before the substep: those of the spheres, then obstacles.
    pub bodies: &'a [MovingBody],
    /// What the physics engine holds bodies by, with their two bodies.
    pub supports: &'a [(ExternalContact, [u32; 2])],
    /// Material between two bodies; none if they may not touch.
    pub material: M,
    /// Length of the substep, s.
    pub dt: f32,
}

impl ContactSolver {
    /// Forgets the contacts of the last substep: the spheres are others now.
    pub fn forget(&mut self) {
        self.contacts.clear();
        self.groups.clear();
        self.before.clear();
        self.iteration.impulses.clear();
        self.last = None;
    }

    /// Keeps the contacts of the last substep though bodies and spheres get other
    /// numbers: `rename` tells the new body and sphere of an old one, or none if it is
    /// gone. There are `bodies` bodies now.
    pub(super) fn rename(
        &mut self,
        bodies: usize,
        rename: impl Fn(u32, Option<u32>) -> Option<[u32; 2]>,
    ) {
        self.iteration.impulses.clear();
        self.contacts.retain_mut(|contact| {
            // A held contact has no spheres to rename.
            let spheres = if contact.held {
                [None; 2]
            } else {
                [Some(contact.spheres.a), Some(contact.spheres.b)]
            };
            let first = rename(contact.a, spheres[0]);
            let second = rename(contact.b, spheres[1]);
            let (Some([a, first]), Some([b, second])) = (first, second) else {
                return false;
            };
            *contact = contact.renamed([a, b], [first, second]);
            true
        });
        self.contacts
            .sort_unstable_by_key(|contact| (contact.held, contact.a, contact.b, contact.spheres));
        self.groups.clear();
        self.group_contacts(0);
        self.share_out(bodies);
    }

    /// What the next substep needs of the last one, in which these owners were `touching`.
    pub(super) fn carried(&self, touching: Vec<[u32; 2]>) -> SavedContacts {
        let contacts = self.contacts.iter();
        let needed = contacts.filter(|contact| contact.held || contact.is_active());
        SavedContacts {
            contacts: needed.copied().collect(),
            touching,
            dt: self.last.map(|last| last.dt),
        }
    }

    /// Goes on from contacts that somebody else solved. There are `bodies` bodies.
    pub(super) fn restore(
        &mut self,
        carried: &SavedContacts,
        config: &ContactSolverConfig,
        bodies: usize,
    ) {
        self.forget();
        self.contacts.extend_from_slice(&carried.contacts);
        self.group_contacts(0);
        self.share_out(bodies);
        self.last = carried.dt.map(|dt| Substep::new(dt, config));
    }

    /// What bodies receive from somebody else who solved the substep.
    pub(super) fn set_impulses(&mut self, impulses: &[Impulse]) {
        self.iteration.impulses.clear();
        self.iteration.impulses.extend_from_slice(impulses);
    }

    /// Makes a group wherever the bodies change, for the contacts from `first` on.
    fn group_contacts(&mut self, first: usize) {
        for (contact, index) in self.contacts[first..].iter().zip(first as u32..) {
            match self.groups.last_mut() {
                Some(last)
                    if (last.a, last.b, last.held) == (contact.a, contact.b, contact.held) =>
                {
                    last.add(contact);
                }
                _ => self.groups.push(Group::new(contact, index)),
            }
        }
    }

    /// Contacts of the last substep; not all of them take part.
    #[must_use]
    pub fn contacts(&self) -> &[ContactConstraint] {
        &self.contacts
    }

    /// Impulses that the last substep asks for, one for each body.
    #[must_use]
    pub fn impulses(&self) -> &[Impulse] {
        &self.iteration.impulses
    }

    /// Solves one substep; [`impulses`](Self::impulses) has the answer.
    pub(super) fn solve<M>(&mut self, problem: &Problem<'_, M>, config: &ContactSolverConfig)
    where
        M: Fn(u32, u32) -> Option<ContactMaterial> + Sync,
    {
        self.velocities.clear();
        self.velocities.extend_from_slice(problem.bodies);
        self.iteration.begin(problem.bodies);
        if let Some(last) = self.last {
            self.follow();
            self.lay_rows(&last, false);
            for _ in 0..config.relax_iterations {
                self.iteration.iterate();
            }
            self.write_back();
        }
        self.before.take(&mut self.contacts, &mut self.groups);
        let parts = &mut self.iteration.parts;
        for (body, part) in self.velocities.iter_mut().zip(parts) {
            if !body.asleep {
                part.velocity += (body.acceleration * problem.dt).to_vec3a();
            }
            body.velocity = part.velocity.into();
            body.angular_velocity = part.angular_velocity.into();
        }
        let substep = Substep::new(problem.dt, config);
        self.prepare(problem, &substep);
        self.prepare_supports(problem, &substep);
        self.share_out(problem.bodies.len());
        self.lay_rows(&substep, true);
        self.iteration.start_warm();
        for _ in 0..config.iterations {
            self.iteration.iterate();
        }
        self.write_back();
        self.last = Some(substep);
    }

    /// Turns pairs into contacts, with the impulses they carried.
    fn prepare<M>(&mut self, problem: &Problem<'_, M>, substep: &Substep)
    where
        M: Fn(u32, u32) -> Option<ContactMaterial> + Sync,
    {
        self.contacts
            .resize(problem.pairs.kept().len(), ContactConstraint::IDLE);
        self.groups
            .extend(problem.pairs.groups().iter().map(|group| Group {
                a: group.a,
                b: group.b,
                start: group.first,
                end: group.first + group.kept,
                ..Group::default()
            }));
        let (bodies, before) = (&self.velocities, &self.before);
        let all_pairs = problem.pairs.kept();
        for_each_group(
            &mut self.contacts,
            &mut self.groups,
            Group::contacts,
            &|group, contacts| {
                let Some(material) = (problem.material)(group.a, group.b) else {
                    contacts.fill(ContactConstraint::IDLE);
                    group.rows = 0;
                    return;
                };
                let surface = ContactSurface::new(&material, substep);
                let pairs = &all_pairs[group.contacts()];
                let before = before.between(group.a, group.b, false);
                for (contact, &pair) in contacts.iter_mut().zip(pairs) {
                    let spheres = [pair.a, pair.b].map(|sphere| problem.pairs.sphere(sphere));
                    let touch = Touch {
                        pair,
                        spheres,
                        molecules: [group.a, group.b],
                    };
                    *contact = ContactConstraint::prepare(&touch, bodies, &surface, substep);
                    let same = |other: &&ContactConstraint| other.spheres == pair;
                    if let Some(before) = before.iter().find(same)
                        && before.normal_impulse > 0.0
                    {
                        contact.carry_on(before);
                    }
                }
                group.count_rows(contacts);
            },
        );
    }

    /// Adds a contact for each support, with the impulse it carried.
    fn prepare_supports<M>(&mut self, problem: &Problem<'_, M>, substep: &Substep) {
        let bodies = &self.velocities;
        let first = self.contacts.len();
        for (support, sides) in problem.supports {
            let mut contact = support.constraint(*sides, bodies, substep);
            let before = self.before.between(contact.a, contact.b, true);
            let same = |other: &&ContactConstraint| other.spheres == contact.spheres;
            if let Some(before) = before.iter().find(same) {
                contact.carry_on(before);
            }
            self.contacts.push(contact);
        }
        self.contacts[first..]
            .sort_unstable_by_key(|contact| (contact.a, contact.b, contact.spheres));
        self.group_contacts(first);
        self.leave_lone_supports();
    }

    /// Leaves supports to the physics engine where no two molecules of the crowd touch.
    fn leave_lone_supports(&mut self) {
        self.crowded.clear();
        self.crowded.resize(self.velocities.len(), false);
        // Bodies that touch in the crowd, and then what these lean on.
        for held in [false, true] {
            for group in self.groups.iter().filter(|group| group.held == held) {
                let [a, b] = [group.a as usize, group.b as usize];
                if group.rows > 0 && (!held || self.crowded[a] || self.crowded[b]) {
                    for body in [a, b] {
                        self.crowded[body] |= self.velocities[body].is_movable();
                    }
                }
            }
        }
        for group in self.groups.iter_mut().filter(|group| group.held) {
            if !(self.crowded[group.a as usize] || self.crowded[group.b as usize]) {
                for contact in &mut self.contacts[group.contacts()] {
                    contact.leave();
                }
                group.rows = 0;
            }
        }
    }

    /// Arranges the groups for the iterations, and divides the masses of the bodies among
    /// them.
    fn share_out(&mut self, bodies: usize) {
        self.iteration.arrange(&mut self.groups, bodies);
        let iteration = &self.iteration;
        for_each_group(
            &mut self.contacts,
            &mut self.groups,
            Group::contacts,
            &|group, contacts| {
                let sharing = [group.a, group.b].map(|body| iteration.sharing(body));
                for contact in contacts.iter_mut().filter(|contact| contact.is_active()) {
                    contact.split_masses(sharing);
                }
            },
        );
    }

    /// Moves the contacts of the last substep along with the bodies.
    fn follow(&mut self) {
        let (bodies, iteration) = (&self.velocities, &self.iteration);
        for_each_group(
            &mut self.contacts,
            &mut self.groups,
            Group::contacts,
            &|group, contacts| {
                let sharing = [group.a, group.b].map(|body| iteration.sharing(body));
                for contact in contacts.iter_mut().filter(|contact| contact.is_active()) {
                    contact.follow(bodies, sharing);
                }
            },
        );
    }

    /// Lays out what is iterated on, with or without the term that parts overlaps.
    fn lay_rows(&mut self, substep: &Substep, parting: bool) {
        self.iteration
            .lay_rows(&self.contacts, &self.groups, substep, parting);
    }

    /// Brings the impulses of the iterations back to the contacts.
    fn write_back(&mut self) {
        self.iteration
            .write_back(&mut self.contacts, &mut self.groups);
    }
}
