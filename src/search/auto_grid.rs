//! The grid that fits the spheres.

use glam::Vec3;

use super::hierarchical_grid::HierarchicalGrid;
use super::hierarchical_grid::levels::{Levels, Sizes};
use super::tasks::{Tasks, count, list, list_gaps};
use super::uniform_grid::UniformGrid;
use super::uniform_grid::plan::ReachPlan;
use super::{GridCell, Pair, PairBuffer, PairSearch, SearchError, SearchTimes};
use crate::spheres::SphereSet;

/// How many octaves smaller than the largest sphere the median one must be for a hierarchy
/// of grids to pay.
///
/// `cargo bench --bench proxies -- sizes` compares both on sizes that are spread evenly over
/// more and more octaves.
pub const MIXED_OCTAVES: usize = 2;

/// Takes a [`UniformGrid`] where spheres are of about one size, and a [`HierarchicalGrid`]
/// where most are much smaller than the largest.
#[derive(Clone, Debug, Default)]
pub struct AutoGrid {
    uniform: UniformGrid,
    hierarchical: HierarchicalGrid,
    mixed: bool,
}

impl AutoGrid {
    /// A grid that has seen no spheres yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the last search took the hierarchy.
    #[must_use]
    pub fn is_hierarchical(&self) -> bool {
        self.mixed
    }

    /// Checks, chooses, and sorts the spheres; `None` if no pair is possible.
    fn build(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
    ) -> Result<Option<Box<dyn Tasks + '_>>, SearchError> {
        self.mixed = false;
        let Some(plan) = ReachPlan::new(spheres, margin)? else {
            return Ok(None);
        };
        // What extremes do not spread the median does not either.
        let octaves = 1 << MIXED_OCTAVES;
        let shortest = 2.0 * plan.extent.smallest_radius + margin;
        if shortest * (octaves / 2) as f32 <= plan.longest {
            let sizes = Sizes::of(spheres, &plan);
            if sizes.spread() >= MIXED_OCTAVES {
                self.mixed = true;
                let levels = Levels::of(&sizes, &plan);
                let walks = self.hierarchical.build_planned(spheres, &plan, levels)?;
                return Ok(Some(Box::new(walks)));
            }
        }
        let walk = self.uniform.build_planned(spheres, &plan)?;
        Ok(Some(Box::new(walk)))
    }
}

impl PairSearch for AutoGrid {
    fn name(&self) -> &'static str {
        "auto-grid"
    }

    fn find_pairs(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        list(pairs, || self.build(spheres, margin))
    }

    fn find_gaps(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
        each: &(dyn Fn(usize, &[Pair], &[f32]) + Sync),
    ) -> Result<SearchTimes, SearchError> {
        list_gaps(pairs, each, || self.build(spheres, margin))
    }

    fn count_pairs(&mut self, spheres: &SphereSet, margin: f32) -> Result<u64, SearchError> {
        Ok(self.build(spheres, margin)?.map_or(0, |walk| count(&walk)))
    }

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        if self.mixed {
            self.hierarchical.cell_around(point)
        } else {
            self.uniform.cell_around(point)
        }
    }
}
