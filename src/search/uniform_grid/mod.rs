//! FFRNN: fixed-radius nearest neighbors on a counting-sorted uniform grid.

mod candidates;
pub(super) mod cell_walk;
mod layout;
pub(super) mod pair_walk;
mod reach_plan;
pub(super) mod simd;
pub(super) mod sorted_spheres;

#[cfg(feature = "gpu")]
pub(crate) use cell_walk::FOLLOWING_ROWS;
pub(crate) use layout::GridLayout;
#[cfg(feature = "gpu")]
pub(crate) use layout::PLAIN_SHIFT;
pub(super) use layout::WIDENING;
pub(crate) use reach_plan::{Reach, ReachPlan};

use glam::Vec3;

use super::pair_tasks::impl_pair_search;
use super::{GridCell, MAX_REACH_NM, PairSearch, SearchError};
use crate::spheres::SphereSet;
use cell_walk::CellWalk;
use pair_walk::{NoCoarserLevels, PairWalk, SPHERES_PER_TASK};
use simd::Instructions;
use sorted_spheres::SortedSpheres;

/// Largest number of comparisons within cells that a search starts: about a second of work.
///
/// Four million atoms at liquid density need 40 million. Only spheres piled up in one place
/// need more.
pub(crate) const MAX_COMPARISONS: u64 = 1 << 32;

/// Counting-sorted uniform grid: the FFRNN search on the CPU.
///
/// The search of Pauschenwein (2022, chapters 3 and 4), after Hoetzlein (2014):
///
/// 1. bin: compute the cell of each sphere; cells are at least as wide as the longest reach;
/// 2. count the spheres per cell;
/// 3. prefix sum of the counts: the first sphere of each cell;
/// 4. counting sort: spheres of a cell become neighbors in memory;
/// 5. walk: compare each sphere with its own cell and the following half of the 26
///    neighboring cells, which are five runs of contiguous spheres.
///
/// Unlike the original, the grid is fitted to the spheres in every call, so that no sphere is
/// outside. If it would become too large, it is folded: distant cells share their numbers.
/// Radii may differ, and the order of the pairs does not depend on the number of threads.
#[derive(Clone, Debug, Default)]
pub struct UniformGrid {
    sorted: SortedSpheres,
    /// Layout of the last search.
    pub(super) layout: Option<GridLayout>,
    instructions: Instructions,
    /// Minimum cell width, nm.
    min_cell_width: f32,
}

impl UniformGrid {
    /// A grid that uses the widest vector instructions of the CPU.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A grid that uses scalar code, the reference of the vector code.
    #[must_use]
    pub fn scalar() -> Self {
        Self::with_instructions(Instructions::Scalar)
    }

    fn with_instructions(instructions: Instructions) -> Self {
        Self {
            instructions,
            ..Self::default()
        }
    }

    /// A grid whose cells are at least `width` nm wide, and never narrower than the longest
    /// reach. The width affects the speed only, not the pairs.
    ///
    /// # Errors
    /// [`SearchError::BadWidth`] if `width` is not positive and at most [`MAX_REACH_NM`].
    pub fn with_cell_width(width: f32) -> Result<Self, SearchError> {
        if !(width > 0.0 && width <= MAX_REACH_NM) {
            return Err(SearchError::BadWidth { width });
        }
        Ok(Self {
            min_cell_width: width,
            ..Self::default()
        })
    }

    /// Checks the spheres and sorts them into cells; `None` if no pair is possible.
    fn build(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
    ) -> Result<Option<PairWalk<'_>>, SearchError> {
        self.layout = None;
        let Some(plan) = ReachPlan::new(spheres, margin)? else {
            return Ok(None);
        };
        self.build_planned(spheres, &plan).map(Some)
    }

    /// Sorts the spheres into cells.
    pub(in crate::search) fn build_planned(
        &mut self,
        spheres: &SphereSet,
        plan: &ReachPlan,
    ) -> Result<PairWalk<'_>, SearchError> {
        let reach = plan.reach;
        let layout = plan.layout(spheres.len(), self.min_cell_width);
        self.layout = Some(layout);
        self.sorted.sort(spheres, &layout, reach.is_mixed());
        let comparisons = self.sorted.check_crowding(MAX_COMPARISONS, plan.longest)?;
        Ok(PairWalk {
            cells: CellWalk {
                sorted: &self.sorted,
                cell_start: &self.sorted.cell_start,
                layout,
                per_task: SPHERES_PER_TASK,
            },
            coarser: NoCoarserLevels,
            reach,
            largest_radius: plan.extent.largest_radius,
            instructions: self.instructions,
            comparisons,
        })
    }
}

impl PairSearch for UniformGrid {
    fn name(&self) -> &'static str {
        "uniform-grid"
    }

    impl_pair_search!();

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.layout.map(|layout| layout.cell_around(point))
    }
}
