//! What the solver iterates on: contacts that take part, four pairs of molecules side by
//! side, and the bodies between them.

use std::ops::Range;

use rayon::prelude::*;

use super::contact_constraint::Substep;
use super::contact_groups::{Group, for_each_group};
use super::contact_reduction::MAX_CONTACTS_PER_PAIR;
use super::simd::LANES;
use super::wide_constraint::{Change, Part, PartLanes, Rows};
use super::{ContactConstraint, Impulse, MovingBody};

/// Bodies that one task works on.
const BODIES_PER_TASK: usize = 128;

/// Marks the second side of a group.
const SECOND: u32 = 1 << 31;

/// Four groups of contacts side by side, as many contacts each as the longest has.
#[derive(Clone, Copy, Debug, Default)]
struct Pack {
    /// Its groups; the last pack may have fewer than four.
    groups: [Option<u32>; LANES],
    /// Bodies `a` and `b` of each group.
    bodies: [[u32; LANES]; 2],
    /// Its rows, a range.
    start: u32,
    end: u32,
    /// Change of the impulses of each group in this iteration.
    changes: [Change; LANES],
}

impl Pack {
    fn rows(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Contacts and bodies while they are iterated on.
#[derive(Clone, Debug, Default)]
pub(super) struct Iteration {
    /// All bodies, as they move.
    pub parts: Vec<Part>,
    /// What all iterations have given each body.
    pub impulses: Vec<Impulse>,
    /// For each body its first side, and one entry more.
    starts: Vec<u32>,
    /// Places of each body's groups; the highest bit says that it is the second of the
    /// two.
    sides: Vec<u32>,
    /// Groups that take part, by the number of their contacts.
    order: Vec<u32>,
    packs: Vec<Pack>,
    rows: Vec<Rows>,
}

impl Iteration {
    /// Takes bodies as they are.
    pub fn begin(&mut self, bodies: &[MovingBody]) {
        self.impulses.clear();
        self.impulses.resize(bodies.len(), Impulse::default());
        self.parts.clear();
        self.parts.extend(bodies.iter().map(Part::new));
    }

    /// Packs the groups that take part, those of about the same length together, and
    /// lists them by their bodies.
    pub fn arrange(&mut self, groups: &mut [Group], bodies: usize) {
        self.sort(groups);
        self.packs.clear();
        let mut rows = 0;
        for four in self.order.chunks(LANES) {
            // Lanes without a group have its bodies, and no contacts.
            let group = |lane: usize| &groups[*four.get(lane).unwrap_or(&four[0]) as usize];
            let longest = (0..LANES).map(|lane| group(lane).rows).max().unwrap_or(0);
            let pack = Pack {
                groups: std::array::from_fn(|lane| four.get(lane).copied()),
                bodies: [
                    std::array::from_fn(|lane| group(lane).a),
                    std::array::from_fn(|lane| group(lane).b),
                ],
                start: rows,
                end: rows + longest,
                ..Pack::default()
            };
            for (place, index) in (self.packs.len() * LANES..).zip(four) {
                groups[*index as usize].place = place as u32;
            }
            self.packs.push(pack);
            rows += longest;
        }
        self.rows.resize(rows as usize, Rows::default());
        self.list_sides(groups, bodies);
    }

    /// Puts the groups that take part in the order of their numbers of contacts.
    fn sort(&mut self, groups: &[Group]) {
        // What is longer than pairs of molecules can be comes last.
        let length = |group: &Group| (group.rows as usize).min(MAX_CONTACTS_PER_PAIR + 1);
        let mut next = [0; MAX_CONTACTS_PER_PAIR + 2];
        for group in groups {
            next[length(group)] += 1;
        }
        let mut sum = 0;
        for (count, length) in next.iter_mut().zip(0..) {
            let before = sum;
            // Groups without contacts have no place.
            sum += if length == 0 { 0 } else { *count };
            *count = before;
        }
        self.order.clear();
        self.order.resize(sum, 0);
        let taking_part = groups.iter().zip(0..).filter(|(group, _)| group.rows > 0);
        for (group, index) in taking_part {
            let next = &mut next[length(group)];
            self.order[*next] = index;
            *next += 1;
        }
    }

    /// Lists the groups of each body in rising order.
    fn list_sides(&mut self, groups: &[Group], bodies: usize) {
        self.starts.clear();
        self.starts.resize(bodies + 1, 0);
        for group in groups.iter().filter(|group| group.rows > 0) {
            self.starts[group.a as usize] += 1;
            self.starts[group.b as usize] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.sides.clear();
        self.sides.resize(sum as usize, u32::MAX);
        // Backwards, from the end of each body's range.
        for group in groups.iter().rev() {
            if group.rows == 0 {
                continue;
            }
            for (body, mark) in [(group.b, SECOND), (group.a, 0)] {
                let at = &mut self.starts[body as usize];
                *at -= 1;
                self.sides[*at as usize] = group.place | mark;
            }
        }
    }

    /// Among how many groups a body is divided.
    pub fn sharing(&self, body: u32) -> u32 {
        self.starts[body as usize + 1] - self.starts[body as usize]
    }

    /// Lays out the contacts, with or without the term that parts overlaps.
    pub fn lay_rows(
        &mut self,
        contacts: &[ContactConstraint],
        groups: &[Group],
        substep: &Substep,
        parting: bool,
    ) {
        for_each_group(
            &mut self.rows,
            &mut self.packs,
            Pack::rows,
            &|pack, rows| {
                rows.fill(Rows::default());
                for (lane, group) in pack.groups.iter().enumerate() {
                    let Some(group) = group else { continue };
                    let contacts = contacts[groups[*group as usize].contacts()].iter();
                    let taking_part = contacts.filter(|contact| contact.is_active());
                    for (row, contact) in rows.iter_mut().zip(taking_part) {
                        row.set(lane, contact, substep, parting);
                    }
                }
            },
        );
    }

    /// Brings the impulses back to the contacts.
    pub fn write_back(&self, contacts: &mut [ContactConstraint], groups: &mut [Group]) {
        let (packs, rows) = (&self.packs, &self.rows);
        for_each_group(contacts, groups, Group::contacts, &|group, contacts| {
            if group.rows == 0 {
                return;
            }
            let (pack, lane) = (group.place as usize / LANES, group.place as usize % LANES);
            let rows = &rows[packs[pack].rows()];
            let taking_part = contacts.iter_mut().filter(|contact| contact.is_active());
            for (contact, row) in taking_part.zip(rows) {
                (contact.normal_impulse, contact.friction_impulse) = row.impulses(lane);
            }
        });
    }

    /// Gives the bodies the impulses that contacts and supports begin with.
    pub fn start_warm(&mut self) {
        for_each_group(
            &mut self.rows,
            &mut self.packs,
            Pack::rows,
            &|pack, rows| pack.changes = Rows::start_warm(rows),
        );
        self.add_up();
    }

    /// Solves all contacts once.
    pub fn iterate(&mut self) {
        let (parts, starts) = (&self.parts, &self.starts);
        let part = |body: u32| {
            let body = body as usize;
            (&parts[body], starts[body + 1] - starts[body])
        };
        for_each_group(
            &mut self.rows,
            &mut self.packs,
            Pack::rows,
            &|pack, rows| {
                let sides = pack.bodies.map(|bodies| PartLanes::new(bodies.map(part)));
                pack.changes = Rows::solve_all(rows, sides);
            },
        );
        self.add_up();
    }

    /// Gives each body the sum of its groups' changes.
    fn add_up(&mut self) {
        let (packs, starts, sides) = (&self.packs, &self.starts, &self.sides);
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
                        let place = (side & !SECOND) as usize;
                        let change = &packs[place / LANES].changes[place % LANES];
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
