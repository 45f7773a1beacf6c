//! Search for spheres by their boxes.

use std::time::Instant;

use glam::Vec4;
use rayon::prelude::*;

use super::{BoxSearch, BoxSet};
use crate::search::uniform_grid::ReachPlan;
use crate::search::{Pair, PairBuffer, PairSearch, SearchError, SearchTimes};
use crate::spheres::{CHUNK, SphereSet};

/// Turns a [`BoxSearch`] into a [`PairSearch`]: finds the overlapping boxes of the spheres, then
/// compares the spheres.
#[derive(Clone, Debug, Default)]
pub struct SpheresInBoxes<B> {
    search: B,
    boxes: BoxSet,
    /// Center and radius of each sphere in one place, since they are accessed in random order.
    spheres: Vec<Vec4>,
    /// Buffer for counting.
    pairs: PairBuffer,
}

impl<B: BoxSearch> SpheresInBoxes<B> {
    /// Searches boxes with `search`.
    #[must_use]
    pub fn new(search: B) -> Self {
        Self {
            search,
            boxes: BoxSet::new(),
            spheres: Vec::new(),
            pairs: PairBuffer::new(),
        }
    }
}

impl<B: BoxSearch> PairSearch for SpheresInBoxes<B> {
    fn name(&self) -> &'static str {
        self.search.name()
    }

    fn find_pairs(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        pairs.clear();
        let start = Instant::now();
        if ReachPlan::new(spheres, margin)?.is_none() {
            return Ok(SearchTimes::default());
        }
        self.boxes.set_around_spheres(spheres, margin)?;
        let boxed = start.elapsed();
        let mut times = self.search.find_box_pairs(&self.boxes, pairs)?;
        let found = Instant::now();
        let copies = (0..spheres.len()).into_par_iter().with_min_len(CHUNK);
        copies
            .map(|index| spheres.center(index).extend(spheres.radius(index)))
            .collect_into_vec(&mut self.spheres);
        pairs.retain(|Pair { a, b }| {
            let [a, b] = [a, b].map(|index| self.spheres[index as usize]);
            let reach = a.w + b.w + margin;
            a.truncate().distance_squared(b.truncate()) < reach * reach
        });
        times.build += boxed;
        times.walk += found.elapsed();
        Ok(times)
    }

    fn count_pairs(&mut self, spheres: &SphereSet, margin: f32) -> Result<u64, SearchError> {
        let mut pairs = std::mem::take(&mut self.pairs);
        let found = self.find_pairs(spheres, margin, &mut pairs);
        let count = pairs.len() as u64;
        self.pairs = pairs;
        found.map(|_| count)
    }
}
