//! All pairs of spheres, compared one by one: the reference that all searches are tested with.

use super::pair_sink::Sink;
use super::pair_tasks::{PairTasks, impl_pair_search};
use super::{Pair, PairSearch, SearchError, check_margin};
use crate::spheres::SphereSet;

/// Spheres per task.
const SPHERES_PER_TASK: usize = 256;

/// Compares every sphere with every other in 64 bits, O(n²). Pairs are sorted by index.
#[derive(Clone, Copy, Debug, Default)]
pub struct BruteForce;

impl BruteForce {
    fn build<'a>(
        self,
        spheres: &'a SphereSet,
        margin: f32,
    ) -> Result<Option<AllPairs<'a>>, SearchError> {
        check_margin(margin)?;
        spheres.extent()?;
        Ok(Some(AllPairs { spheres, margin }))
    }
}

impl PairSearch for BruteForce {
    fn name(&self) -> &'static str {
        "brute-force"
    }

    impl_pair_search!();
}

/// All pairs of a set of spheres.
struct AllPairs<'a> {
    spheres: &'a SphereSet,
    margin: f32,
}

impl PairTasks for AllPairs<'_> {
    fn tasks(&self) -> usize {
        self.spheres.len().div_ceil(SPHERES_PER_TASK)
    }

    fn comparisons(&self) -> u64 {
        0
    }

    fn run<S: Sink>(&self, task: usize, sink: &mut S) {
        let Self { spheres, margin } = *self;
        let start = task * SPHERES_PER_TASK;
        for a in start..(start + SPHERES_PER_TASK).min(spheres.len()) {
            let center = spheres.center(a).as_dvec3();
            for b in a + 1..spheres.len() {
                if spheres.owner(a) == spheres.owner(b) {
                    continue;
                }
                let reach =
                    f64::from(spheres.radius(a)) + f64::from(spheres.radius(b)) + f64::from(margin);
                if center.distance_squared(spheres.center(b).as_dvec3()) < reach * reach {
                    let pair = Pair::new(a as u32, b as u32);
                    sink.push_pair(pair, || pair.gap(spheres));
                }
            }
        }
    }
}
