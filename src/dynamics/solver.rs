//! The solver: all pairs of molecules at once, the contacts of each pair in turn.

use rayon::prelude::*;

use super::by_bodies::{Carried, Group, for_each_group, for_each_piece};
use super::constraint::{Substep, Surface, Touch};
use super::groups::PairGroups;
use super::rows::{Change, Part, Row};
use super::support::Support;
use super::{ContactConstraint, ContactMaterial, ContactSolverConfig, Impulse, MovingBody};

/// Bodies that one task works on.
const BODIES_PER_TASK: usize = 128;

/// Solves the contacts between molecules. See the [module](super) page.
///
/// Memory is kept from substep to substep; so are the impulses of contacts that last.
#[derive(Clone, Debug, Default)]
pub struct ContactSolver {
    /// Group after group.
    contacts: Vec<ContactConstraint>,
    groups: Vec<Group>,
    /// For each body its first side, and one entry more.
    starts: Vec<u32>,
    /// Groups of each body; the highest bit says that it is the second of the two.
    sides: Vec<u32>,
    /// Bodies that touch others of the crowd, or hold those that do.
    crowded: Vec<bool>,
    velocities: Vec<MovingBody>,
    /// The contacts that take part, and the bodies, while they are iterated on.
    rows: Vec<Row>,
    parts: Vec<Part>,
    impulses: Vec<Impulse>,
    /// Contacts of the substep before, with what they carried.
    before: Carried,
    last: Option<Substep>,
}

/// Marks the second side of a contact.
const SECOND: u32 = 1 << 31;

/// What a substep is solved for.
pub(super) struct Problem<'a, M> {
    /// Pairs that overlap or nearly do.
    pub pairs: &'a PairGroups,
    /// Bodies before the substep: those of the spheres, then obstacles.
    pub bodies: &'a [MovingBody],
    /// What the engine holds bodies by, with their two bodies.
    pub supports: &'a [(Support, [u32; 2])],
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
        self.impulses.clear();
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
        self.impulses.clear();
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

    /// Makes a group wherever the bodies change, for the contacts from `first` on.
    fn group_contacts(&mut self, first: usize) {
        for (contact, index) in self.contacts[first..].iter().zip(first as u32..) {
            match self.groups.last_mut() {
                Some(last)
                    if (last.a, last.b, last.held) == (contact.a, contact.b, contact.held) =>
                {
                    last.end = index + 1;
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
        &self.impulses
    }

    /// Solves one substep; [`impulses`](Self::impulses) has the answer.
    pub(super) fn solve<M>(&mut self, problem: &Problem<'_, M>, config: &ContactSolverConfig)
    where
        M: Fn(u32, u32) -> Option<ContactMaterial> + Sync,
    {
        self.velocities.clear();
        self.velocities.extend_from_slice(problem.bodies);
        self.impulses.clear();
        self.impulses
            .resize(problem.bodies.len(), Impulse::default());
        self.parts.clear();
        self.parts.extend(problem.bodies.iter().map(Part::new));
        if let Some(last) = self.last {
            self.follow();
            self.lay_rows(&last, false);
            for _ in 0..config.relax_iterations {
                self.iterate();
            }
            self.write_back();
        }
        self.before.take(&mut self.contacts, &mut self.groups);
        for (body, part) in self.velocities.iter_mut().zip(&mut self.parts) {
            if !body.asleep {
                part.velocity += (body.acceleration * problem.dt).to_vec3a();
            }
            body.velocity = part.velocity.into();
            body.angular_velocity = part.angular_velocity.into();
        }
        let substep = Substep {
            dt: problem.dt,
            slop: config.slop,
            max_push_speed: config.max_push_speed,
            bounce_threshold: config.bounce_threshold,
        };
        self.prepare(problem, &substep);
        self.prepare_supports(problem, &substep);
        self.share_out(problem.bodies.len());
        self.lay_rows(&substep, true);
        self.start_warm();
        for _ in 0..config.iterations {
            self.iterate();
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
                    return;
                };
                let surface = Surface::new(&material, substep);
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
        self.leave_to_engine();
    }

    /// Leaves supports to the engine where no two molecules of the crowd touch.
    fn leave_to_engine(&mut self) {
        self.crowded.clear();
        self.crowded.resize(self.velocities.len(), false);
        // Bodies that touch in the crowd, and then what these lean on.
        for held in [false, true] {
            for group in self.groups.iter().filter(|group| group.held == held) {
                let [a, b] = [group.a as usize, group.b as usize];
                let contacts = &self.contacts[group.contacts()];
                let touches = contacts.iter().any(ContactConstraint::takes_part);
                if touches && (!held || self.crowded[a] || self.crowded[b]) {
                    for body in [a, b] {
                        self.crowded[body] |= self.velocities[body].is_movable();
                    }
                }
            }
        }
        for group in self.groups.iter().filter(|group| group.held) {
            if !(self.crowded[group.a as usize] || self.crowded[group.b as usize]) {
                for contact in &mut self.contacts[group.contacts()] {
                    contact.leave();
                }
            }
        }
    }

    /// Sorts the groups by body and divides the masses among them.
    fn share_out(&mut self, bodies: usize) {
        let mut rows = 0;
        for group in &mut self.groups {
            group.first_row = rows;
            let contacts = self.contacts[group.contacts()].iter();
            rows += contacts.filter(|contact| contact.takes_part()).count() as u32;
            group.last_row = rows;
        }
        self.starts.clear();
        self.starts.resize(bodies + 1, 0);
        for group in self.groups.iter().filter(|group| group.takes_part()) {
            self.starts[group.a as usize] += 1;
            self.starts[group.b as usize] += 1;
        }
        let starts = &self.starts;
        let sharing = |body: u32| starts[body as usize];
        for_each_group(
            &mut self.contacts,
            &mut self.groups,
            Group::contacts,
            &|group, contacts| {
                let sharing = [group.a, group.b].map(sharing);
                for contact in contacts.iter_mut().filter(|contact| contact.takes_part()) {
                    contact.split_masses(sharing);
                }
            },
        );
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        // Backwards, so that each body's groups are in rising order.
        self.sides.clear();
        self.sides.resize(sum as usize, u32::MAX);
        for (index, group) in self.groups.iter().enumerate().rev() {
            if !group.takes_part() {
                continue;
            }
            for (body, mark) in [(group.b, SECOND), (group.a, 0)] {
                let at = &mut self.starts[body as usize];
                *at -= 1;
                self.sides[*at as usize] = index as u32 | mark;
            }
        }
    }

    /// Moves the contacts of the last substep along with the bodies.
    fn follow(&mut self) {
        let bodies = &self.velocities;
        for_each_group(
            &mut self.contacts,
            &mut self.groups,
            Group::contacts,
            &|_, contacts| {
                for contact in contacts.iter_mut().filter(|contact| contact.takes_part()) {
                    contact.follow(bodies);
                }
            },
        );
    }

    /// Lays out what is iterated on, with or without the term that parts overlaps.
    fn lay_rows(&mut self, substep: &Substep, parting: bool) {
        let rows = self.groups.last().map_or(0, |group| group.last_row);
        self.rows.resize(rows as usize, Row::default());
        let contacts = &self.contacts;
        for_each_group(
            &mut self.rows,
            &mut self.groups,
            Group::rows,
            &|group, rows| {
                let contacts = contacts[group.contacts()].iter();
                let taking_part = contacts.filter(|contact| contact.takes_part());
                for (row, contact) in rows.iter_mut().zip(taking_part) {
                    *row = Row::new(contact, substep, parting);
                }
            },
        );
    }

    /// Brings the impulses of the rows back to their contacts.
    fn write_back(&mut self) {
        let rows = &self.rows;
        for_each_group(
            &mut self.contacts,
            &mut self.groups,
            Group::contacts,
            &|group, contacts| {
                let contacts = contacts.iter_mut();
                let taking_part = contacts.filter(|contact| contact.takes_part());
                for (contact, row) in taking_part.zip(&rows[group.rows()]) {
                    (contact.normal_impulse, contact.friction_impulse) = row.impulses();
                }
            },
        );
    }

    /// Gives the bodies the impulses that contacts and supports begin with.
    fn start_warm(&mut self) {
        for_each_group(
            &mut self.rows,
            &mut self.groups,
            Group::rows,
            &|group, rows| {
                group.change = Change::default();
                for row in rows.iter() {
                    group.change.add(row, row.impulse());
                }
            },
        );
        self.add_up();
    }

    fn iterate(&mut self) {
        let (parts, starts) = (&self.parts, &self.starts);
        let part = |body: u32| {
            let body = body as usize;
            // A part of the body, with its share of the mass.
            parts[body].shared(starts[body + 1] - starts[body])
        };
        for_each_piece(
            &mut self.rows,
            &mut self.groups,
            Group::rows,
            &|groups, mut rest| {
                // Each contact waits for the one before it: two pairs of molecules at a
                // time keep the processor busy.
                for two in groups.chunks_mut(2) {
                    let mut rows = two.iter().map(|group| {
                        let (own, others) =
                            std::mem::take(&mut rest).split_at_mut(group.rows().len());
                        rest = others;
                        own
                    });
                    let first = rows.next().unwrap_or_default();
                    let second = rows.next().unwrap_or_default();
                    let parts = |k: usize| {
                        let group = two.get(k).unwrap_or(&two[0]);
                        [part(group.a), part(group.b)]
                    };
                    let changes = Row::solve_both([first, second], [parts(0), parts(1)]);
                    for (group, change) in two.iter_mut().zip(changes) {
                        group.change = change;
                    }
                }
            },
        );
        self.add_up();
    }

    /// Gives each body the sum of its groups' changes.
    fn add_up(&mut self) {
        let (groups, starts, sides) = (&self.groups, &self.starts, &self.sides);
        self.parts
            .par_chunks_mut(BODIES_PER_TASK)
            .zip(self.impulses.par_chunks_mut(BODIES_PER_TASK))
            .enumerate()
            .for_each(|(task, (parts, impulses))| {
                for (k, (part, impulse)) in parts.iter_mut().zip(impulses).enumerate() {
                    let index = task * BODIES_PER_TASK + k;
                    let range = starts[index] as usize..starts[index + 1] as usize;
                    if range.is_empty() || part.asleep {
                        continue;
                    }
                    let mut sum = Impulse::default();
                    for &side in &sides[range] {
                        let change = &groups[(side & !SECOND) as usize].change;
                        sum += if side & SECOND == 0 {
                            change.on_a()
                        } else {
                            change.on_b()
                        };
                    }
                    part.receive(&sum);
                    *impulse += sum;
                }
            });
    }
}
