//! Contacts by molecule: each contact once from either side.
//!
//! A response that sums over the contacts of one molecule needs no atomics, and
//! runs in the same order whatever the number of threads. This is the counting
//! sort that brings the pairs of a search into that form:
//!
//! 1. each group of pair lists counts the sides of each molecule;
//! 2. a prefix sum over molecules and groups says where each group writes;
//! 3. each group scatters its sides.

use rayon::prelude::*;
use thiserror::Error;

use crate::scatter::ScatterTarget;
use crate::search::{Pair, PairBuffer};
use crate::spheres::SphereSet;

/// Groups of pair lists that are sorted side by side: fixed, so that the order does
/// not depend on the number of threads.
const GROUPS: usize = 16;

/// Why contacts cannot be sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ContactError {
    /// More contacts than can be counted.
    #[error(
        "{contacts} contacts at once are too many: their sides are counted in 32 bits; spread the molecules out, or take fewer"
    )]
    TooMany {
        /// How many there are.
        contacts: usize,
    },
}

/// One side of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContactSide {
    /// The sphere of the molecule itself.
    pub own: u32,
    /// The sphere of the other molecule.
    pub other: u32,
}

/// The contacts of each molecule.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactTable {
    /// For each molecule its first side, and one entry more.
    starts: Vec<u32>,
    sides: Vec<ContactSide>,
    offsets: Vec<u32>,
}

impl ContactTable {
    /// The contacts of one molecule, seen from its side.
    #[must_use]
    pub fn of(&self, molecule: usize) -> &[ContactSide] {
        &self.sides[self.starts[molecule] as usize..self.starts[molecule + 1] as usize]
    }

    /// Sorts `pairs` of `spheres` by molecule.
    ///
    /// # Errors
    /// [`ContactError::TooMany`] if the sides of the contacts cannot be counted in 32
    /// bits; the table is empty then.
    ///
    /// # Panics
    /// If an owner is not below `molecules`, or a pair names a sphere that does not
    /// exist.
    pub fn build(
        &mut self,
        spheres: &SphereSet,
        pairs: &PairBuffer,
        molecules: usize,
    ) -> Result<(), ContactError> {
        let lists = pairs.lists();
        self.starts.clear();
        self.starts.resize(molecules + 1, 0);
        self.sides.clear();
        // Both sides of every contact are counted in 32 bits.
        let contacts = pairs.len();
        if contacts > u32::MAX as usize / 2 {
            return Err(ContactError::TooMany { contacts });
        }
        let per_group = lists.len().div_ceil(GROUPS).max(1);
        let groups = lists.len().div_ceil(per_group);
        self.offsets.clear();
        self.offsets.resize(groups * molecules, 0);
        if molecules == 0 {
            return Ok(());
        }
        self.offsets
            .par_chunks_mut(molecules)
            .zip(lists.par_chunks(per_group))
            .for_each(|(counts, lists)| {
                for pair in lists.iter().flatten() {
                    counts[spheres.owner(pair.a as usize) as usize] += 1;
                    counts[spheres.owner(pair.b as usize) as usize] += 1;
                }
            });
        let total = self.sum_up(groups, molecules);
        self.scatter(spheres, lists, per_group, total);
        Ok(())
    }

    /// Turns counts into places, and returns the number of sides.
    fn sum_up(&mut self, groups: usize, molecules: usize) -> usize {
        let mut sum = 0;
        for molecule in 0..molecules {
            self.starts[molecule] = sum;
            for group in 0..groups {
                let entry = &mut self.offsets[group * molecules + molecule];
                sum += std::mem::replace(entry, sum);
            }
        }
        self.starts[molecules] = sum;
        sum as usize
    }

    fn scatter(
        &mut self,
        spheres: &SphereSet,
        lists: &[Vec<Pair>],
        per_group: usize,
        total: usize,
    ) {
        let molecules = self.starts.len() - 1;
        if self.sides.capacity() < total {
            // Headroom, so that a few contacts more do not allocate.
            self.sides.reserve_exact(total + total / 8);
        }
        self.sides.resize(total, ContactSide::default());
        let target = ScatterTarget::new(&mut self.sides);
        self.offsets
            .par_chunks_mut(molecules)
            .zip(lists.par_chunks(per_group))
            .for_each(|(offsets, lists)| {
                for &Pair { a, b } in lists.iter().flatten() {
                    for (own, other) in [(a, b), (b, a)] {
                        let at = &mut offsets[spheres.owner(own as usize) as usize];
                        // SAFETY: the prefix sum gave each (molecule, group) a range
                        // of its own.
                        unsafe { target.write(*at as usize, ContactSide { own, other }) };
                        *at += 1;
                    }
                }
            });
    }
}
