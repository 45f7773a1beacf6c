//! The Jacobi solver: all contacts at once, in a fixed order.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::constraint::Substep;
use super::warm_start::WarmStart;
use super::{ContactConstraint, ContactMaterial, Impulse, MovingBody};
use crate::force::{ParameterError, not_negative};
use crate::search::{Pair, PairBuffer};
use crate::spheres::SphereSet;

/// Contacts that one task works on.
const CONTACTS_PER_TASK: usize = 1024;

/// Bodies that one task works on.
const BODIES_PER_TASK: usize = 256;

/// How contacts are solved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContactSolverConfig {
    /// Jacobi iterations in each substep. Default: 6.
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
            iterations: 6,
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

/// Solves the contacts between molecules. See the [module](super) page.
///
/// Memory is kept from substep to substep; so are the impulses of contacts that last.
#[derive(Clone, Debug, Default)]
pub struct ContactSolver {
    contacts: Vec<ContactConstraint>,
    /// For each body its first side, and one entry more.
    starts: Vec<u32>,
    /// Contacts of each body; the highest bit says that it is the second of the two.
    sides: Vec<u32>,
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
    pub pairs: &'a PairBuffer,
    /// Bodies before the substep.
    pub bodies: &'a [MovingBody],
    /// Material between two bodies; none if they may not touch.
    pub material: M,
    /// Length of the substep, s.
    pub dt: f32,
}

impl ContactSolver {
    /// Forgets the contacts of the last substep: the spheres are others now.
    pub fn forget(&mut self) {
        self.contacts.clear();
        self.memory.clear();
        self.impulses.clear();
        self.last = None;
    }

    /// Keeps the contacts of the last substep though bodies and spheres get other
    /// numbers: `rename` tells the new body and sphere of an old pair, or none if it
    /// is gone. There are `bodies` bodies now.
    pub(super) fn rename(&mut self, bodies: usize, rename: impl Fn(u32, u32) -> Option<[u32; 2]>) {
        self.impulses.clear();
        self.contacts.retain_mut(|contact| {
            let first = rename(contact.a, contact.spheres.a);
            let second = rename(contact.b, contact.spheres.b);
            let (Some([a, first]), Some([b, second])) = (first, second) else {
                return false;
            };
            *contact = contact.renamed([a, b], [first, second]);
            true
        });
        self.share_out(bodies);
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
        self.share_out(problem.bodies.len());
        self.add_up();
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
            .resize(problem.pairs.len(), ContactConstraint::IDLE);
        let (bodies, memory) = (&self.velocities, &self.memory);
        for_each_pair(
            &mut self.contacts,
            problem.pairs.lists(),
            &|contact: &mut ContactConstraint, pair| {
                *contact = ContactConstraint::prepare(
                    pair,
                    problem.spheres,
                    bodies,
                    &problem.material,
                    substep,
                );
                if let Some(carried) = memory.of(pair) {
                    contact.carry_on(carried);
                }
                contact.change = contact.impulse();
            },
        );
    }

    /// Sorts the contacts by body and divides the masses among them.
    fn share_out(&mut self, bodies: usize) {
        self.starts.clear();
        self.starts.resize(bodies + 1, 0);
        for contact in self.contacts.iter().filter(|contact| contact.takes_part()) {
            self.starts[contact.a as usize] += 1;
            self.starts[contact.b as usize] += 1;
        }
        let starts = &self.starts;
        self.contacts
            .par_chunks_mut(CONTACTS_PER_TASK)
            .for_each(|contacts| {
                for contact in contacts.iter_mut().filter(|contact| contact.takes_part()) {
                    let sharing = [contact.a, contact.b].map(|body| starts[body as usize]);
                    contact.split_masses(sharing);
                }
            });
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        // Backwards, so that each body's contacts are in rising order.
        self.sides.clear();
        self.sides.resize(sum as usize, u32::MAX);
        for (index, contact) in self.contacts.iter().enumerate().rev() {
            if !contact.takes_part() {
                continue;
            }
            for (body, mark) in [(contact.b, SECOND), (contact.a, 0)] {
                let at = &mut self.starts[body as usize];
                *at -= 1;
                self.sides[*at as usize] = index as u32 | mark;
            }
        }
    }

    /// Moves the contacts of the last substep along with the bodies.
    fn follow(&mut self) {
        let bodies = &self.velocities;
        self.contacts
            .par_chunks_mut(CONTACTS_PER_TASK)
            .flatten()
            .filter(|contact| contact.takes_part())
            .for_each(|contact| contact.follow(bodies));
    }

    fn iterate(&mut self, substep: &Substep, parting: bool) {
        let bodies = &self.velocities;
        self.contacts
            .par_chunks_mut(CONTACTS_PER_TASK)
            .for_each(|contacts| {
                for contact in contacts {
                    contact.iterate(bodies, substep, parting);
                }
            });
        self.add_up();
    }

    /// Gives each body the sum of its contacts' changes.
    fn add_up(&mut self) {
        let (contacts, starts, sides) = (&self.contacts, &self.starts, &self.sides);
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
                        let contact = &contacts[(side & !SECOND) as usize];
                        let (change, lever) = if side & SECOND == 0 {
                            (-contact.change, contact.lever_a)
                        } else {
                            (contact.change, contact.lever_b)
                        };
                        sum.linear += change;
                        sum.angular += lever.cross(change);
                    }
                    body.velocity += body.inverse_mass * sum.linear;
                    body.angular_velocity += body.inverse_inertia * sum.angular;
                    *impulse += sum;
                }
            });
    }

    /// Deepest overlap of contacts that take part, nm; zero if nothing overlaps.
    #[must_use]
    pub fn deepest_overlap(&self) -> f32 {
        self.contacts
            .par_chunks(CONTACTS_PER_TASK)
            .map(|contacts| {
                let gaps = contacts.iter().map(|contact| -contact.gap);
                gaps.fold(0.0, f32::max)
            })
            .reduce(|| 0.0, f32::max)
    }
}

/// Calls `fill` for each pair and the contact at its place, in parallel.
///
/// Halves the lists until a piece is small: nothing is allocated.
fn for_each_pair<F>(contacts: &mut [ContactConstraint], lists: &[Vec<Pair>], fill: &F)
where
    F: Fn(&mut ContactConstraint, Pair) + Sync,
{
    if contacts.len() > CONTACTS_PER_TASK && lists.len() > 1 {
        let (left, right) = lists.split_at(lists.len() / 2);
        let cut = left.iter().map(Vec::len).sum();
        let (own, others) = contacts.split_at_mut(cut);
        rayon::join(
            || for_each_pair(own, left, fill),
            || for_each_pair(others, right, fill),
        );
        return;
    }
    for (contact, &pair) in contacts.iter_mut().zip(lists.iter().flatten()) {
        fill(contact, pair);
    }
}
