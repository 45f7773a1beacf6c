//! All pairs, compared one by one: the reference that all searches are tested with.

use super::boxes::{BoxSearch, BoxSet};
use super::pair_sink::Sink;
use super::pair_tasks::{PairTasks, impl_pair_search, list};
use super::{Pair, PairBuffer, PairSearch, SearchError, SearchTimes, check_margin};
use crate::spheres::SphereSet;

/// Spheres or boxes per task.
const ITEMS_PER_TASK: usize = 256;

/// Compares every sphere or box with every other, O(n²), spheres in 64 bits. Pairs are sorted by
/// index.
#[derive(Clone, Copy, Debug, Default)]
pub struct BruteForce;

impl BruteForce {
    fn build(
        self,
        spheres: &SphereSet,
        margin: f32,
    ) -> Result<Option<impl PairTasks>, SearchError> {
        check_margin(margin)?;
        spheres.extent()?;
        let is_pair = move |a: usize, b: usize| {
            let reach =
                f64::from(spheres.radius(a)) + f64::from(spheres.radius(b)) + f64::from(margin);
            let [from, to] = [a, b].map(|index| spheres.center(index).as_dvec3());
            spheres.owner(a) != spheres.owner(b) && from.distance_squared(to) < reach * reach
        };
        let gap = |pair: Pair| pair.gap(spheres);
        Ok(Some(AllPairs(spheres.len(), is_pair, gap)))
    }
}

impl PairSearch for BruteForce {
    fn name(&self) -> &'static str {
        "brute-force"
    }

    impl_pair_search!();
}

impl BoxSearch for BruteForce {
    fn name(&self) -> &'static str {
        "brute-force"
    }

    fn find_box_pairs(
        &mut self,
        boxes: &BoxSet,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        list(pairs, || {
            boxes.extent()?;
            let is_pair = |a, b| boxes.overlap(a, b);
            Ok(Some(AllPairs(boxes.len(), is_pair, |_| 0.0)))
        })
    }
}

/// A number of items, whether two of them are a pair, and the gap of a pair, nm.
struct AllPairs<P, G>(usize, P, G);

impl<P, G> PairTasks for AllPairs<P, G>
where
    P: Fn(usize, usize) -> bool + Sync,
    G: Fn(Pair) -> f32 + Sync,
{
    fn tasks(&self) -> usize {
        self.0.div_ceil(ITEMS_PER_TASK)
    }

    fn comparisons(&self) -> u64 {
        0
    }

    fn run<S: Sink>(&self, task: usize, sink: &mut S) {
        let Self(count, is_pair, gap) = self;
        let start = task * ITEMS_PER_TASK;
        for a in start..(start + ITEMS_PER_TASK).min(*count) {
            for b in (a + 1..*count).filter(|&b| is_pair(a, b)) {
                let pair = Pair::new(a as u32, b as u32);
                sink.push_pair(pair, || gap(pair));
            }
        }
    }
}
