//! The solver: all pairs of molecules at once, the contacts of each pair in turn.

use glam::Vec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::constraint::Substep;
use super::groups::PairGroups;
use super::support::Support;
use super::warm_start::WarmStart;
use super::{ContactConstraint, ContactMaterial, Impulse, MovingBody};
use crate::force::{ParameterError, not_negative};
use crate::spheres::SphereSet;

/// Groups that one task works on.
const GROUPS_PER_TASK: usize = 256;

/// Bodies that one task works on.
const BODIES_PER_TASK: usize = 2048;

/// How contacts are solved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContactSolverConfig {
    /// Iterations in each substep. Default: 8.
    pub iterations: u32,
    /// Iterations without parting, for the contacts of the substep before. Default: 2.
    pub relax_iterations: u32,
    /// Contacts are foreseen this far ahead, nm. Default: 0.02 nm.
    pub foresight: f32,
    /// Overlap that is left alone, nm: contacts that touch do not flicker.
    /// Default: 0.001 nm.
    pub slop: f32,
    /// Fastest that overlaps are pushed apart, nm/s. Default: 4 nm/s.
    pub max_push_speed: f32,
    /// Approach below which nothing bounces, nm/s. Default: 1 nm/s.
    pub bounce_threshold: f32,
}

impl Default for ContactSolverConfig {
    fn default() -> Self {
        Self {
            iterations: 8,
            relax_iterations: 2,
            foresight: 0.02,
            slop: 0.001,
            max_push_speed: 4.0,
            bounce_threshold: 1.0,
        }
    }
}

impl ContactSolverConfig {
    /// Checks that each number can be.
    ///
    /// # Errors
    /// [`ParameterError`] names the one that cannot.
    pub fn check(&self) -> Result<(), ParameterError> {
        not_negative(&[
            ("foresight", self.foresight),
            ("slop", self.slop),
            ("max_push_speed", self.max_push_speed),
            ("bounce_threshold", self.bounce_threshold),
        ])
    }
}

/// The contacts between two molecules `a` < `b`.
#[derive(Clone, Copy, Debug)]
struct Group {
    a: u32,
    b: u32,
    /// Its contacts, a range.
    start: u32,
    end: u32,
    /// Whether they are contacts with something outside the crowd.
    held: bool,
    /// Whether any of them takes part.
    takes_part: bool,
    /// Change of the impulses in this iteration.
    on_a: Impulse,
    on_b: Impulse,
}

impl Group {
    fn contacts(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

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
    impulses: Vec<Impulse>,
    memory: WarmStart,
    last: Option<Substep>,
}

/// Marks the second side of a contact.
const SECOND: u32 = 1 << 31;

/// What a substep is solved for.
pub(super) struct Problem<'a, M> {
    /// Spheres, whose owners are indices of bodies.
    pub spheres: &'a SphereSet,
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
        self.memory.clear();
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
        self.group_contacts();
        self.share_out(bodies);
    }

    /// Makes a group wherever the bodies change.
    fn group_contacts(&mut self) {
        self.groups.clear();
        for (contact, index) in self.contacts.iter().zip(0..) {
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
        if let Some(last) = self.last {
            self.follow();
            for _ in 0..config.relax_iterations {
                self.iterate(&last, false);
            }
            self.memory.remember(&self.contacts, problem.spheres.len());
        }
        for body in &mut self.velocities {
            if !body.asleep {
                body.velocity += body.acceleration * problem.dt;
            }
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
        self.start_warm();
        for _ in 0..config.iterations {
            self.iterate(&substep, true);
        }
        self.last = Some(substep);
    }

    /// Turns pairs into contacts, with the impulses they carried.
    fn prepare<M>(&mut self, problem: &Problem<'_, M>, substep: &Substep)
    where
        M: Fn(u32, u32) -> Option<ContactMaterial> + Sync,
    {
        self.contacts.clear();
        self.contacts
            .resize(problem.pairs.kept().len(), ContactConstraint::IDLE);
        self.groups.clear();
        self.groups
            .extend(problem.pairs.groups().iter().map(|group| Group {
                a: group.a,
                b: group.b,
                start: group.first,
                end: group.first + group.kept,
                held: false,
                takes_part: false,
                on_a: Impulse::default(),
                on_b: Impulse::default(),
            }));
        let (bodies, memory) = (&self.velocities, &self.memory);
        let all_pairs = problem.pairs.kept();
        for_each_group(&mut self.contacts, &mut self.groups, &|group, contacts| {
            let material = (problem.material)(group.a, group.b);
            for (contact, &pair) in contacts.iter_mut().zip(&all_pairs[group.contacts()]) {
                let Some(material) = &material else {
                    continue;
                };
                let spheres = problem.spheres;
                *contact = ContactConstraint::prepare(pair, spheres, bodies, material, substep);
                if let Some(carried) = memory.of(pair) {
                    contact.carry_on(carried);
                }
            }
        });
    }

    /// Adds a contact for each support, with the impulse it carried.
    fn prepare_supports<M>(&mut self, problem: &Problem<'_, M>, substep: &Substep) {
        let bodies = &self.velocities;
        let first = self.contacts.len();
        for (support, sides) in problem.supports {
            let mut contact = support.constraint(*sides, bodies, substep);
            if let Some(carried) = self.memory.of_held(contact.spheres) {
                contact.carry_on(carried);
            }
            self.contacts.push(contact);
        }
        self.contacts[first..]
            .sort_unstable_by_key(|contact| (contact.a, contact.b, contact.spheres));
        for (contact, index) in self.contacts[first..].iter().zip(first as u32..) {
            match self.groups.last_mut() {
                Some(last) if last.held && (last.a, last.b) == (contact.a, contact.b) => {
                    last.end = index + 1;
                }
                _ => self.groups.push(Group::new(contact, index)),
            }
        }
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
        let taking_part = |contact: &ContactConstraint| contact.takes_part();
        for group in &mut self.groups {
            group.takes_part = self.contacts[group.contacts()].iter().any(taking_part);
        }
        self.starts.clear();
        self.starts.resize(bodies + 1, 0);
        for group in self.groups.iter().filter(|group| group.takes_part) {
            self.starts[group.a as usize] += 1;
            self.starts[group.b as usize] += 1;
        }
        let starts = &self.starts;
        let sharing = |body: u32| starts[body as usize];
        for_each_group(&mut self.contacts, &mut self.groups, &|group, contacts| {
            let sharing = [group.a, group.b].map(sharing);
            for contact in contacts.iter_mut().filter(|contact| contact.takes_part()) {
                contact.split_masses(sharing);
            }
        });
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        // Backwards, so that each body's groups are in rising order.
        self.sides.clear();
        self.sides.resize(sum as usize, u32::MAX);
        for (index, group) in self.groups.iter().enumerate().rev() {
            if !group.takes_part {
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
        for_each_group(&mut self.contacts, &mut self.groups, &|_, contacts| {
            for contact in contacts.iter_mut().filter(|contact| contact.takes_part()) {
                contact.follow(bodies);
            }
        });
    }

    /// Gives the bodies the impulses that contacts and supports begin with.
    fn start_warm(&mut self) {
        for_each_group(&mut self.contacts, &mut self.groups, &|group, contacts| {
            (group.on_a, group.on_b) = (Impulse::default(), Impulse::default());
            for contact in contacts.iter().filter(|contact| contact.takes_part()) {
                group.add(contact, contact.impulse());
            }
        });
        self.add_up();
    }

    fn iterate(&mut self, substep: &Substep, parting: bool) {
        let (bodies, starts) = (&self.velocities, &self.starts);
        let shares = |body: u32| {
            let body = body as usize;
            (starts[body + 1] - starts[body]) as f32
        };
        for_each_group(&mut self.contacts, &mut self.groups, &|group, contacts| {
            (group.on_a, group.on_b) = (Impulse::default(), Impulse::default());
            if !group.takes_part {
                return;
            }
            let [mut a, mut b] = [group.a, group.b].map(|index| {
                let mut part = bodies[index as usize];
                // A part of the body, with its share of the mass.
                let share = if part.asleep { 0.0 } else { shares(index) };
                part.inverse_mass *= share;
                part.inverse_inertia *= share;
                part
            });
            for contact in contacts.iter_mut().filter(|contact| contact.takes_part()) {
                let change = contact.solve(&a, &b, substep, parting);
                a.push(-change, contact.lever_a);
                b.push(change, contact.lever_b);
                group.add(contact, change);
            }
        });
        self.add_up();
    }

    /// Gives each body the sum of its groups' changes.
    fn add_up(&mut self) {
        let (groups, starts, sides) = (&self.groups, &self.starts, &self.sides);
        self.velocities
            .par_chunks_mut(BODIES_PER_TASK)
            .zip(self.impulses.par_chunks_mut(BODIES_PER_TASK))
            .enumerate()
            .for_each(|(task, (bodies, impulses))| {
                for (k, (body, impulse)) in bodies.iter_mut().zip(impulses).enumerate() {
                    let index = task * BODIES_PER_TASK + k;
                    let range = starts[index] as usize..starts[index + 1] as usize;
                    if range.is_empty() || body.asleep {
                        continue;
                    }
                    let mut sum = Impulse::default();
                    for &side in &sides[range] {
                        let group = &groups[(side & !SECOND) as usize];
                        sum += if side & SECOND == 0 {
                            group.on_a
                        } else {
                            group.on_b
                        };
                    }
                    body.receive(&sum);
                    *impulse += sum;
                }
            });
    }
}

impl Group {
    /// A group of one contact, the one with this index.
    fn new(contact: &ContactConstraint, index: u32) -> Self {
        Self {
            a: contact.a,
            b: contact.b,
            start: index,
            end: index + 1,
            held: contact.held,
            takes_part: false,
            on_a: Impulse::default(),
            on_b: Impulse::default(),
        }
    }

    fn add(&mut self, contact: &ContactConstraint, change: Vec3) {
        self.on_a.linear -= change;
        self.on_a.angular -= contact.lever_a.cross(change);
        self.on_b.linear += change;
        self.on_b.angular += contact.lever_b.cross(change);
    }
}

/// Calls `work` for each group and its contacts, in parallel.
///
/// Halves the groups until a piece is small: nothing is allocated.
fn for_each_group<F>(contacts: &mut [ContactConstraint], groups: &mut [Group], work: &F)
where
    F: Fn(&mut Group, &mut [ContactConstraint]) + Sync,
{
    if groups.len() > GROUPS_PER_TASK {
        let (left, right) = groups.split_at_mut(groups.len() / 2);
        let cut = (right[0].start - left[0].start) as usize;
        let (own, others) = contacts.split_at_mut(cut);
        rayon::join(
            || for_each_group(own, left, work),
            || for_each_group(others, right, work),
        );
        return;
    }
    let mut rest = contacts;
    for group in groups {
        let (own, others) = rest.split_at_mut(group.contacts().len());
        work(group, own);
        rest = others;
    }
}
