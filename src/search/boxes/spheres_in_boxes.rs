//! Spheres, searched by their boxes.

use std::time::Instant;

use super::{BoxSearch, BoxSet};
use crate::search::uniform_grid::plan::ReachPlan;
use crate::search::{Pair, PairBuffer, PairSearch, SearchError, SearchTimes};
use crate::spheres::SphereSet;

/// Makes a [`PairSearch`] of a [`BoxSearch`]: boxes around the spheres, then the spheres
/// of each pair of boxes that overlap are compared themselves.
#[derive(Clone, Debug, Default)]
pub struct SpheresInBoxes<B> {
    search: B,
    boxes: BoxSet,
    /// For those who only count.
    pairs: PairBuffer,
}

impl<B: BoxSearch> SpheresInBoxes<B> {
    /// Searches boxes with `search`.
    pub fn new(search: B) -> Self {
        Self {
            search,
            boxes: BoxSet::new(),
            pairs: PairBuffer::new(),
        }
    }

    /// The search of the boxes.
    pub fn search(&self) -> &B {
        &self.search
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
        pairs.retain(|pair| overlap(spheres, margin, pair));
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

/// Whether two spheres are closer than their radii plus `margin`, nm.
#[inline]
pub(in crate::search) fn overlap(spheres: &SphereSet, margin: f32, pair: Pair) -> bool {
    let [a, b] = [pair.a as usize, pair.b as usize];
    let reach = spheres.radius(a) + spheres.radius(b) + margin;
    spheres.centre(a).distance_squared(spheres.centre(b)) < reach * reach
}
