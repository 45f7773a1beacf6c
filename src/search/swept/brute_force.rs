//! All pairs of moving spheres, compared one by one.

use rayon::prelude::*;

use super::{Collision, SweptError, SweptSearch, SweptWork, check, collision};
use crate::spheres::SphereSet;

/// Compares every sphere with every other: the naive algorithm of the paper, and the reference
/// of the tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct SweptBruteForce {
    sequential: bool,
}

impl SweptBruteForce {
    /// Uses all threads.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses a single thread, like the algorithms that it is compared with.
    #[must_use]
    pub fn sequential() -> Self {
        Self { sequential: true }
    }
}

impl SweptSearch for SweptBruteForce {
    fn name(&self) -> &'static str {
        "naive"
    }

    fn find_collisions(
        &mut self,
        start: &SphereSet,
        end: &SphereSet,
        collisions: &mut Vec<Collision>,
    ) -> Result<SweptWork, SweptError> {
        collisions.clear();
        check(start, end)?;
        let count = start.len();
        let of = |a: usize| (a + 1..count).filter_map(move |b| collision(start, end, a, b));
        if self.sequential {
            collisions.extend((0..count).flat_map(of));
        } else {
            collisions.par_extend((0..count).into_par_iter().flat_map_iter(of));
        }
        Ok(SweptWork::default())
    }
}
