//! Contacts grouped by molecule, each contact listed once for either side.
//!
//! A response that sums over the contacts of one molecule needs no atomics, and its order does
//! not depend on the number of threads.

use rayon::prelude::*;

use crate::bucket_sort::BucketSort;
use crate::search::{Pair, PairBuffer, SearchError, check_pair_count};
use crate::spheres::SphereSet;

/// Tasks of the sort: fixed, so that the order does not depend on the number of threads.
const TASKS: usize = 16;

/// A contact, seen from one of its molecules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContactSide {
    /// The sphere of that molecule.
    pub own: u32,
    /// The sphere of the other molecule.
    pub other: u32,
}

/// The contacts of each molecule.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactTable {
    molecules: BucketSort,
    sides: Vec<ContactSide>,
}

impl ContactTable {
    /// The contacts of one molecule.
    #[must_use]
    pub fn of(&self, molecule: usize) -> &[ContactSide] {
        let starts = self.molecules.starts();
        &self.sides[starts[molecule] as usize..starts[molecule + 1] as usize]
    }

    /// Sorts `pairs` of `spheres` by molecule.
    ///
    /// # Errors
    /// [`SearchError::TooManyPairs`] if there are too many contacts.
    ///
    /// # Panics
    /// If an owner is not below `molecules`, or a pair names a sphere that does not exist.
    pub fn build(
        &mut self,
        spheres: &SphereSet,
        pairs: &PairBuffer,
        molecules: usize,
    ) -> Result<(), SearchError> {
        // Both sides of all contacts fit 32-bit indices.
        check_pair_count(pairs.len() as u64)?;
        if molecules == 0 {
            return Ok(());
        }
        let owner = |sphere: u32| spheres.owner(sphere as usize) as usize;
        let lists_per_task = pairs.lists().len().div_ceil(TASKS).max(1);
        let tasks = || pairs.lists().par_chunks(lists_per_task);
        self.molecules.count(molecules, tasks(), |lists, counts| {
            for pair in lists.iter().flatten() {
                counts[owner(pair.a)] += 1;
                counts[owner(pair.b)] += 1;
            }
        });
        let total = 2 * pairs.len();
        self.sides.clear();
        if self.sides.capacity() < total {
            // Headroom, so that a few more contacts do not allocate.
            self.sides.reserve_exact(total + total / 8);
        }
        self.sides.resize(total, ContactSide::default());
        // SAFETY: the same tasks push one side for each that they counted.
        unsafe {
            self.molecules
                .scatter(&mut self.sides, tasks(), |lists, writer| {
                    for &Pair { a, b } in lists.iter().flatten() {
                        for (own, other) in [(a, b), (b, a)] {
                            writer.push(owner(own), ContactSide { own, other });
                        }
                    }
                });
        }
        Ok(())
    }
}
