//! Neighbor lists with a skin.

use std::time::Instant;

use rayon::prelude::*;

use super::{
    GridCell, Pair, PairBuffer, PairSearch, SearchError, SearchTimes, UniformGrid, check_margin,
};
use crate::spheres::{CHUNK, SphereSet};

/// The *skin*, nm: about a tenth of the reach of two atoms.
const SKIN_NM: f32 = 0.04;

/// Fraction of half the skin that may be used; the rest covers rounding, about 10⁻⁶ of a distance.
const USABLE: f32 = 0.999;

/// Longest reach in units of the skin: the unused part of the skin must exceed the rounding of a
/// distance.
const MAX_REACH_SKINS: f32 = 500.0;

/// Pairs per task.
const PAIRS_PER_TASK: usize = 16 * 1024;

/// Uniform grid that is only searched after enough motion. Pairs are sorted by index.
///
/// Verlet lists (1967) on a uniform grid:
///
/// 1. search with a margin that is longer by the *skin*, and store the pairs and the centers;
/// 2. as long as no sphere has moved more than half the skin, the stored pairs include all
///    pairs in reach, since two spheres approach each other by at most the skin;
/// 3. compare the stored pairs at their current distance;
/// 4. if a sphere has moved further, or the spheres are different, go to 1.
///
/// Exact in every step. Pays off if many steps pass between two searches; costs memory for the
/// stored pairs, which are more than those in reach.
#[derive(Clone, Debug, Default)]
pub struct VerletGrid {
    grid: UniformGrid,
    /// Spheres of the last search of the grid; empty if no pairs are stored.
    previous: SphereSet,
    /// Margin of the stored pairs, nm.
    margin: f32,
    found: PairBuffer,
    /// Stored pairs, sorted.
    stored: Vec<Pair>,
}

impl VerletGrid {
    /// An empty grid.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes sure that the stored pairs include all pairs in reach.
    fn refresh(&mut self, spheres: &SphereSet, margin: f32) -> Result<(), SearchError> {
        check_margin(margin)?;
        let extent = spheres.extent()?;
        // If spheres are too large for the skin, search in every step.
        let longest = 2.0 * extent.largest_radius + margin;
        let fits = longest <= SKIN_NM * MAX_REACH_SKINS;
        if fits && margin == self.margin && self.is_within_skin(spheres) {
            return Ok(());
        }
        self.previous.clear();
        let skin = if fits { SKIN_NM } else { 0.0 };
        self.grid
            .find_pairs(spheres, margin + skin, &mut self.found)?;
        self.stored.clear();
        self.stored.extend(self.found.iter());
        // By index, so that the order does not depend on the time of the search.
        self.stored.par_sort_unstable();
        self.previous.clone_from(spheres);
        self.margin = margin;
        Ok(())
    }

    /// Whether these are the spheres of the last search, all within the skin of their previous
    /// centers.
    fn is_within_skin(&self, spheres: &SphereSet) -> bool {
        let limit = 0.5 * SKIN_NM * USABLE;
        spheres.owner == self.previous.owner
            && spheres.radius == self.previous.radius
            && (0..spheres.len())
                .into_par_iter()
                .with_min_len(CHUNK)
                .all(|index| {
                    let [new, old] = [spheres, &self.previous].map(|set| set.center(index));
                    new.distance_squared(old) <= limit * limit
                })
    }
}

impl PairSearch for VerletGrid {
    fn name(&self) -> &'static str {
        "verlet-grid"
    }

    fn find_pairs(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        pairs.clear();
        let start = Instant::now();
        self.refresh(spheres, margin)?;
        let built = Instant::now();
        pairs
            .start(self.stored.len().div_ceil(PAIRS_PER_TASK))
            .par_iter_mut()
            .zip(self.stored.par_chunks(PAIRS_PER_TASK))
            .for_each(|(list, stored)| {
                let near = stored.iter().filter(|pair| pair.overlaps(spheres, margin));
                list.extend(near);
            });
        Ok(SearchTimes::of(start, built))
    }

    fn count_pairs(&mut self, spheres: &SphereSet, margin: f32) -> Result<u64, SearchError> {
        self.refresh(spheres, margin)?;
        let near = |pair: &&Pair| pair.overlaps(spheres, margin);
        let stored = self.stored.par_chunks(PAIRS_PER_TASK);
        Ok(stored
            .map(|stored| stored.iter().filter(near).count() as u64)
            .sum())
    }

    fn cell_around(&self, point: glam::Vec3) -> Option<GridCell> {
        self.grid.cell_around(point)
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;

    #[test]
    fn the_grid_is_searched_only_after_motion_beyond_the_skin() {
        let spheres = |x: f32| {
            let mut spheres = SphereSet::new();
            spheres.push(Vec3::ZERO, 0.17, 0).unwrap();
            spheres.push(Vec3::X * x, 0.17, 1).unwrap();
            spheres
        };
        let mut grid = VerletGrid::new();
        for (x, searched_at) in [(0.36, 0.36), (0.345, 0.36), (0.335, 0.335), (0.33, 0.335)] {
            let count = grid.count_pairs(&spheres(x), 0.0).unwrap();
            assert_eq!(count, u64::from(x < 0.34));
            assert_eq!(grid.previous.center(1).x, searched_at);
        }
    }
}
