//! Hierarchical grid, for spheres of many sizes.

pub(super) mod level_walk;
mod levels;

pub(crate) use levels::Levels;
pub(super) use levels::SizeHistogram;

use glam::Vec3;

use super::pair_tasks::impl_pair_search;
use super::uniform_grid::simd::Instructions;
use super::uniform_grid::sorted_spheres::SortedSpheres;
use super::uniform_grid::{MAX_COMPARISONS, ReachPlan};
use super::{GridCell, PairSearch, SearchError};
use crate::spheres::SphereSet;
use level_walk::LevelWalks;

/// Counting-sorted grids of several cell widths.
///
/// In a single grid the largest sphere determines the cell width, and small spheres pile up in
/// the cells. Johnson and Whalley (2002, section 5) propose several lattices; Kim, Guibas and
/// Shin (2005, section 3.1) a hierarchy of grids, each with cells twice as wide as the
/// previous one. Here:
///
/// 1. count the spheres of each size;
/// 2. assign each sphere to the level of its size;
/// 3. sort all levels at once, their cells one after the other;
/// 4. compare each sphere with its own level, as in the [uniform grid](super::UniformGrid);
/// 5. compare it with the cells of each coarser level that it overlaps, which are few, since
///    those cells are larger than the sphere. Pairs of two levels are found from the finer one.
#[derive(Clone, Debug, Default)]
pub struct HierarchicalGrid {
    sorted: SortedSpheres,
    levels: Levels,
    instructions: Instructions,
}

impl HierarchicalGrid {
    /// A hierarchy that uses the widest vector instructions of the CPU.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A hierarchy that uses scalar code, the reference of the vector code.
    #[must_use]
    pub fn scalar() -> Self {
        Self {
            instructions: Instructions::Scalar,
            ..Self::default()
        }
    }

    /// Number of levels in the last search; zero if no pair was possible.
    #[must_use]
    pub fn level_count(&self) -> usize {
        self.levels.all().len()
    }

    /// Checks the spheres and sorts them into cells; `None` if no pair is possible.
    fn build(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
    ) -> Result<Option<LevelWalks<'_>>, SearchError> {
        self.levels = Levels::default();
        let Some(plan) = ReachPlan::new(spheres, margin)? else {
            return Ok(None);
        };
        let levels = Levels::of(&SizeHistogram::of(spheres, &plan), &plan);
        self.build_planned(spheres, &plan, levels).map(Some)
    }

    /// Sorts the spheres into the cells of `levels`.
    pub(super) fn build_planned(
        &mut self,
        spheres: &SphereSet,
        plan: &ReachPlan,
        levels: Levels,
    ) -> Result<LevelWalks<'_>, SearchError> {
        self.levels = levels;
        self.sorted
            .sort(spheres, &self.levels, plan.reach.is_mixed());
        let comparisons = self.sorted.check_crowding(MAX_COMPARISONS, plan.longest)?;
        let walks = LevelWalks::new(
            &self.sorted,
            &self.levels,
            plan,
            self.instructions,
            comparisons,
        );
        if walks.is_crowded() {
            return Err(self.sorted.too_crowded(plan.longest));
        }
        Ok(walks)
    }
}

impl PairSearch for HierarchicalGrid {
    fn name(&self) -> &'static str {
        "hierarchical-grid"
    }

    impl_pair_search!();

    /// The cell of the finest level.
    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        let finest = self.levels.all().first()?;
        Some(finest.layout.cell_around(point))
    }
}
