//! Search for spheres by their boxes.

use std::time::Instant;

use glam::Vec3;
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
    spheres: Vec<[f32; 4]>,
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

    /// Copies centers and radii.
    fn copy(&mut self, spheres: &SphereSet) {
        self.spheres.resize(spheres.len(), [0.0; 4]);
        let chunks = self.spheres.par_chunks_mut(CHUNK).enumerate();
        chunks.for_each(|(chunk, copies)| {
            for (copy, index) in copies.iter_mut().zip(chunk * CHUNK..) {
                let [x, y, z] = spheres.center(index).to_array();
                *copy = [x, y, z, spheres.radius(index)];
            }
        });
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
        self.copy(spheres);
        let spheres = &self.spheres;
        pairs.retain(|Pair { a, b }| {
            let [a, b] = [spheres[a as usize], spheres[b as usize]];
            are_near(a, b, margin)
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

/// Whether two spheres, given by center and radius, are closer than their radii plus
/// `margin`, nm.
#[inline]
fn are_near([ax, ay, az, a]: [f32; 4], [bx, by, bz, b]: [f32; 4], margin: f32) -> bool {
    let reach = a + b + margin;
    let [one, other] = [Vec3::new(ax, ay, az), Vec3::new(bx, by, bz)];
    one.distance_squared(other) < reach * reach
}
