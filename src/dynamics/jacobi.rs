//! Jacobi iteration over groups of contacts.
//!
//! Active contacts are packed four groups side by side, one per SIMD lane. An iteration solves
//! all groups independently, the contacts of each in turn, and then each body adds the impulse
//! changes of its groups in ascending order.

use std::ops::Range;

use rayon::prelude::*;

use super::contact_constraint::SubstepParams;
use super::contact_groups::{ContactGroup, for_each_group};
use super::contact_reduction::MAX_CONTACTS_PER_PAIR;
use super::simd::LANES;
use super::wide_constraint::{ImpulseChange, SolverBody, WideConstraint, WideSolverBody};
use super::{BodyIndex, ContactConstraint, Impulse, MovingBody};

const BODIES_PER_TASK: usize = 512;

/// Groups of similar length are packed together within blocks of this many: threads then mostly
/// iterate on the contacts that they have prepared, which are in their caches.
const GROUPS_PER_BLOCK: usize = 256;

/// Where a group is in the batches: [`LANES`] times the batch, plus the lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LaneIndex(u32);

impl LaneIndex {
    fn batch(self) -> usize {
        self.0 as usize / LANES
    }

    fn lane(self) -> usize {
        self.0 as usize % LANES
    }
}

/// One side of a group: its [`LaneIndex`], and in the highest bit whether it is side `b`.
#[derive(Clone, Copy, Debug)]
struct Side(u32);

impl Side {
    const IS_B: u32 = 1 << 31;

    fn group(self) -> LaneIndex {
        LaneIndex(self.0 & !Self::IS_B)
    }

    fn is_b(self) -> bool {
        self.0 & Self::IS_B != 0
    }
}

/// Four groups side by side, each padded to the length of the longest.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    /// Index of each group; the last batch may have fewer than four.
    groups: [Option<u32>; LANES],
    /// Bodies `a` and `b` of each group.
    bodies: [[BodyIndex; LANES]; 2],
    /// Whether they are immovable in the contacts of the group.
    dominates: [[bool; LANES]; 2],
    /// Range of its constraints.
    start: u32,
    end: u32,
    /// Impulse changes of each group in this iteration.
    changes: [ImpulseChange; LANES],
}

impl Batch {
    fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Contacts and bodies in the layout of the iterations.
#[derive(Clone, Debug, Default)]
pub(super) struct JacobiIteration {
    /// All bodies, with their current velocities.
    pub bodies: Vec<SolverBody>,
    /// Accumulated impulse on each body.
    pub impulses: Vec<Impulse>,
    /// First side of each body, and one entry more.
    side_starts: Vec<u32>,
    /// The sides of each body, by ascending group.
    sides: Vec<Side>,
    /// Active groups, sorted by the number of their contacts within each block.
    order: Vec<u32>,
    batches: Vec<Batch>,
    constraints: Vec<WideConstraint>,
}

impl JacobiIteration {
    /// Starts from the velocities of `bodies`.
    pub fn begin(&mut self, bodies: &[MovingBody]) {
        self.impulses.clear();
        self.impulses.resize(bodies.len(), Impulse::default());
        self.bodies.clear();
        self.bodies.extend(bodies.iter().map(SolverBody::new));
    }

    /// Packs the active groups, those of similar length together, and lists them by body.
    pub fn arrange(&mut self, groups: &mut [ContactGroup], bodies: usize) {
        self.sort(groups);
        self.batches.clear();
        let mut constraints = 0;
        for indices in self.order.chunks(LANES) {
            // Lanes without a group have the bodies of the first, and no contacts.
            let group = |lane: usize| &groups[*indices.get(lane).unwrap_or(&indices[0]) as usize];
            let longest = (0..LANES).map(|lane| group(lane).active).max().unwrap_or(0);
            let batch = Batch {
                groups: std::array::from_fn(|lane| indices.get(lane).copied()),
                bodies: [
                    std::array::from_fn(|lane| group(lane).a),
                    std::array::from_fn(|lane| group(lane).b),
                ],
                dominates: [0, 1]
                    .map(|side| std::array::from_fn(|lane| group(lane).dominance.sides()[side])),
                start: constraints,
                end: constraints + longest,
                ..Batch::default()
            };
            for (lane, index) in (self.batches.len() * LANES..).zip(indices) {
                groups[*index as usize].lane = LaneIndex(lane as u32);
            }
            self.batches.push(batch);
            constraints += longest;
        }
        self.constraints
            .resize(constraints as usize, WideConstraint::default());
        self.list_sides(groups, bodies);
    }

    /// Sorts the active groups of each block by their number of active contacts.
    fn sort(&mut self, groups: &[ContactGroup]) {
        // External groups may be longer; all of those share the last bin.
        let length = |group: &ContactGroup| (group.active as usize).min(MAX_CONTACTS_PER_PAIR + 1);
        self.order.clear();
        for (block, first) in groups
            .chunks(GROUPS_PER_BLOCK)
            .zip((0..).step_by(GROUPS_PER_BLOCK))
        {
            let mut next = [0; MAX_CONTACTS_PER_PAIR + 2];
            for group in block {
                next[length(group)] += 1;
            }
            // Inactive groups are left out.
            next[0] = 0;
            let mut sum = self.order.len();
            for count in &mut next {
                sum += std::mem::replace(count, sum);
            }
            self.order.resize(sum, 0);
            let active = block
                .iter()
                .zip(first..)
                .filter(|(group, _)| group.active > 0);
            for (group, index) in active {
                let next = &mut next[length(group)];
                self.order[*next] = index;
                *next += 1;
            }
        }
    }

    /// Lists the sides of each body by ascending group, except those that the body dominates.
    fn list_sides(&mut self, groups: &[ContactGroup], bodies: usize) {
        self.side_starts.clear();
        self.side_starts.resize(bodies + 1, 0);
        let active = groups.iter().filter(|group| group.active > 0);
        for group in active.clone() {
            let [dominates_a, dominates_b] = group.dominance.sides();
            self.side_starts[group.a.index()] += u32::from(!dominates_a);
            self.side_starts[group.b.index()] += u32::from(!dominates_b);
        }
        let mut sum = 0;
        for start in &mut self.side_starts {
            sum += *start;
            *start = sum;
        }
        self.sides.clear();
        self.sides.resize(sum as usize, Side(u32::MAX));
        // Each body is filled from the end of its range, so that its start remains.
        for group in active.rev() {
            let [dominates_a, dominates_b] = group.dominance.sides();
            for (body, is_b, dominates) in [
                (group.b, Side::IS_B, dominates_b),
                (group.a, 0, dominates_a),
            ] {
                if dominates {
                    continue;
                }
                let start = &mut self.side_starts[body.index()];
                *start -= 1;
                self.sides[*start as usize] = Side(group.lane.0 | is_b);
            }
        }
    }

    /// Number of groups that the mass of a body is split among.
    pub fn shares(&self, body: BodyIndex) -> u32 {
        self.side_starts[body.index() + 1] - self.side_starts[body.index()]
    }

    /// Packs the active contacts. Overlaps are pushed out only with `push_out`.
    pub fn load_constraints(
        &mut self,
        contacts: &[ContactConstraint],
        groups: &[ContactGroup],
        params: &SubstepParams,
        push_out: bool,
    ) {
        for_each_group(
            &mut self.constraints,
            &mut self.batches,
            Batch::range,
            &|batch, constraints| {
                constraints.fill(WideConstraint::default());
                for (lane, group) in batch.groups.iter().enumerate() {
                    let Some(group) = group else { continue };
                    let contacts = contacts[groups[*group as usize].range()].iter();
                    let active = contacts.filter(|contact| contact.is_active());
                    for (constraint, contact) in constraints.iter_mut().zip(active) {
                        constraint.set(lane, contact, params, push_out);
                    }
                }
            },
        );
    }

    /// Copies the accumulated impulses back to the contacts.
    pub fn store_impulses(&self, contacts: &mut [ContactConstraint], groups: &mut [ContactGroup]) {
        let (batches, constraints) = (&self.batches, &self.constraints);
        for_each_group(contacts, groups, ContactGroup::range, &|group, contacts| {
            group.pushed = false;
            if group.active == 0 {
                return;
            }
            let constraints = &constraints[batches[group.lane.batch()].range()];
            let active = contacts.iter_mut().filter(|contact| contact.is_active());
            for (contact, constraint) in active.zip(constraints) {
                (contact.normal_impulse, contact.friction_impulse) =
                    constraint.impulses(group.lane.lane());
                group.pushed |= contact.normal_impulse > 0.0;
            }
        });
    }

    /// Applies the impulses that the contacts start with.
    pub fn warm_start(&mut self) {
        for_each_group(
            &mut self.constraints,
            &mut self.batches,
            Batch::range,
            &|batch, constraints| batch.changes = WideConstraint::warm_start(constraints),
        );
        self.update_bodies();
    }

    /// Solves all contacts once.
    pub fn iterate(&mut self) {
        let (bodies, starts) = (&self.bodies, &self.side_starts);
        let share = |batch: &Batch, side: usize| {
            WideSolverBody::new(std::array::from_fn(|lane| {
                let body = batch.bodies[side][lane].index();
                let shares = starts[body + 1] - starts[body];
                let dominates = batch.dominates[side][lane];
                (&bodies[body], if dominates { 0 } else { shares })
            }))
        };
        for_each_group(
            &mut self.constraints,
            &mut self.batches,
            Batch::range,
            &|batch, constraints| {
                let sides = [share(batch, 0), share(batch, 1)];
                batch.changes = WideConstraint::solve_all(constraints, sides);
            },
        );
        self.update_bodies();
    }

    /// Applies to each body the sum of its groups' changes.
    fn update_bodies(&mut self) {
        let (batches, starts, sides) = (&self.batches, &self.side_starts, &self.sides);
        self.bodies
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
                        let group = side.group();
                        let change = &batches[group.batch()].changes[group.lane()];
                        sum += change[usize::from(side.is_b())];
                    }
                    body.apply(&sum);
                    *impulse += sum;
                }
            });
    }
}
