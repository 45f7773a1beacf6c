//! The corrections of all contacts, summed over the contacts of two molecules, then by molecule.
//!
//! The sums of a molecule need no atomics, and their order does not depend on the number of
//! threads. They replace the atomic additions of J. Pauschenwein (2022, section 4.3), which section
//! 6.2 there names as the slow part.

use glam::Vec3;
use rayon::prelude::*;

use super::{ReactionLaw, RelaxStatus};
use crate::bucket_sort::BucketSort;
use crate::force::{Body, ProjectionSums, thesis_reaction};
use crate::search::{FoundPairs, keep_headroom};

/// Tasks of the sort: fixed, so that the order does not depend on the number of threads.
const TASKS: usize = 16;

/// Minimum weight of the direction between centers. Negligible, but gives coincident atoms a
/// direction.
pub(crate) const MIN_CENTER_WEIGHT: f32 = 1.0e-6;

/// The corrections of all contacts.
#[derive(Default)]
pub(super) struct ContactSums {
    /// What the tasks of the search have found.
    pub parts: Vec<PartSums>,
    molecules: BucketSort,
    /// The sums of each molecule with each of its neighbors.
    sides: Vec<ProjectionSums>,
}

/// The corrections of the contacts of some molecules.
#[derive(Default)]
pub(super) struct PartSums {
    pairs: Vec<PairSums>,
    overlaps: u64,
    unresolved: u64,
    max_penetration: f32,
}

/// The corrections of the contacts of two molecules.
struct PairSums {
    owners: [u32; 2],
    sides: [ProjectionSums; 2],
    penetration: f32,
    /// Whether a contact of them is unresolved.
    is_unresolved: bool,
}

/// What the sums of contacts depend on, apart from the poses.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct SumsConfig {
    pub law: ReactionLaw,
    pub clearance: f32,
    /// Weight of the direction between centers; none if sums of unmoved molecules may have an
    /// earlier one, since these molecules do not move.
    pub center_weight: Option<f32>,
    /// Whether the contacts were found molecule by molecule.
    pub by_molecules: bool,
}

/// How contacts are responded to.
pub(super) struct ContactResponse<'a> {
    pub bodies: &'a [Body],
    pub law: &'a ReactionLaw,
    /// Weight of the direction between centers, for the projection law.
    pub center_weight: f32,
    /// Gap to which contacts are pushed apart, nm.
    pub gap: f32,
    /// Gap below which a contact is unresolved, nm.
    pub clearance: f32,
}

impl PartSums {
    pub fn clear(&mut self) {
        keep_headroom(&mut self.pairs);
        self.pairs.clear();
        (self.overlaps, self.unresolved, self.max_penetration) = (0, 0, 0.0);
    }

    /// Adds the contacts of two molecules.
    pub fn add(&mut self, found: &FoundPairs<'_>, response: &ContactResponse<'_>) {
        let owners = [found.a, found.b];
        let [own, other] = owners.map(|owner| &response.bodies[owner as usize]);
        let image;
        let other = if found.shift == Vec3::ZERO {
            other
        } else {
            image = Body {
                center: other.center + found.shift,
                ..*other
            };
            &image
        };
        let bodies = [own, other];
        let between = bodies[0].direction_from(bodies[1], owners);
        let mut sides = [ProjectionSums::default(); 2];
        let mut penetration = 0.0_f32;
        let before = self.unresolved;
        let are_fixed = bodies[0].is_fixed() && bodies[1].is_fixed();
        // Nothing separates two fixed molecules further.
        let clearance = if are_fixed { 0.0 } else { response.clearance };
        for (&gap, &centers) in found.gaps.iter().zip(found.centers) {
            self.unresolved += u64::from(gap < clearance);
            self.overlaps += u64::from(gap < 0.0);
            penetration = penetration.max(-gap);
            if are_fixed {
                continue;
            }
            match response.law {
                ReactionLaw::Projection(_) => {
                    let weight = response.center_weight.max(MIN_CENTER_WEIGHT);
                    // The radii of both, and the gap.
                    let reach = centers[0].distance(centers[1]) - gap + response.gap;
                    ProjectionSums::add_both(&mut sides, bodies, centers, reach, between * weight);
                }
                ReactionLaw::Thesis(steps) => {
                    let [own, other] = centers;
                    let levers = [own - bodies[0].center, other - bodies[1].center];
                    let difference = own - other;
                    let [first, second] = &mut sides;
                    first.add_push(thesis_reaction(difference, levers[0], between, steps));
                    second.add_push(thesis_reaction(-difference, levers[1], -between, steps));
                }
            }
        }
        self.max_penetration = self.max_penetration.max(penetration);
        self.pairs.push(PairSums {
            owners,
            sides,
            penetration,
            is_unresolved: self.unresolved > before,
        });
    }
}

impl ContactSums {
    /// Counts the contacts.
    pub fn status(&self) -> RelaxStatus {
        let mut status = RelaxStatus::default();
        for part in &self.parts {
            status.overlaps += part.overlaps;
            status.unresolved += part.unresolved;
            status.max_penetration_nm = status.max_penetration_nm.max(part.max_penetration);
        }
        status
    }

    /// Calls `visit` with the owners of each pair of molecules and their deepest overlap, nm.
    pub fn for_each_pair(&self, mut visit: impl FnMut([u32; 2], f32)) {
        for pair in self.parts.iter().flat_map(|part| &part.pairs) {
            visit(pair.owners, pair.penetration);
        }
    }

    /// Calls `visit` with the owners of each pair of molecules with an unresolved contact.
    pub fn for_each_unresolved(&self, mut visit: impl FnMut([u32; 2])) {
        let pairs = self.parts.iter().flat_map(|part| &part.pairs);
        for pair in pairs.filter(|pair| pair.is_unresolved) {
            visit(pair.owners);
        }
    }

    /// Sorts the sums by molecule.
    pub fn sort(&mut self, molecules: usize) {
        if molecules == 0 {
            return;
        }
        let parts = &self.parts;
        let tasks = || parts.par_chunks(parts.len().div_ceil(TASKS).max(1));
        let pairs =
            |parts: &[PartSums]| -> usize { parts.iter().map(|part| part.pairs.len()).sum() };
        self.molecules.count(molecules, tasks(), |parts, counts| {
            for pair in parts.iter().flat_map(|part| &part.pairs) {
                for owner in pair.owners {
                    counts[owner as usize] += 1;
                }
            }
        });
        let total = 2 * pairs(parts);
        if self.sides.capacity() < total {
            // Headroom, so that a few more neighbors do not allocate.
            self.sides.clear();
            self.sides.reserve_exact(total + total / 8);
        }
        self.sides.resize(total, ProjectionSums::default());
        // SAFETY: the same tasks push one side for each that they counted.
        unsafe {
            self.molecules
                .scatter(&mut self.sides, tasks(), |parts, writer| {
                    for pair in parts.iter().flat_map(|part| &part.pairs) {
                        for (owner, side) in pair.owners.into_iter().zip(pair.sides) {
                            writer.push(owner as usize, side);
                        }
                    }
                });
        }
    }

    /// The sum over the contacts of a molecule; [`sort`](Self::sort) first.
    pub fn of(&self, molecule: usize) -> ProjectionSums {
        let starts = self.molecules.starts();
        let range = starts[molecule] as usize..starts[molecule + 1] as usize;
        let mut sum = ProjectionSums::default();
        for side in &self.sides[range] {
            sum.merge(side);
        }
        sum
    }
}
