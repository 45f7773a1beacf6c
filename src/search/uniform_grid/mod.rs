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

/// Most comparisons within cells that a search begins: about a second of them.
///
/// Four million atoms at liquid density make 40 million. Only spheres heaped up in
/// one place make more, and they would make pairs until the memory is full.
pub(crate) const MAX_COMPARISONS: u64 = 1 << 32;

/// Counting-sorted uniform grid: the FFRNN search on the processor.
///
/// The search of Pauschenwein (2022, chapters 3 and 4), after Hoetzlein (2014):
///
/// 1. bin: the cell of each sphere, cells at least as wide as the longest reach;
/// 2. count the spheres of each cell;
/// 3. prefix sum of the counts: where each cell starts;
/// 4. counting sort: the spheres of a cell become neighbors in memory;
/// 5. walk: each sphere against its own and the following half of the 26
///    neighboring cells, which are five runs of contiguous spheres.
///
/// Unlike there, the grid is fitted to the spheres in every call, so nothing is ever
/// outside it; where it would grow too large it is folded, so that distant cells share their
/// numbers; radii may differ; and the order of the pairs does not depend on the threads.
///
/// ```
/// use bevy_rapier_molecules::search::{PairBuffer, PairSearch, UniformGrid};
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// // Three atoms of 0.17 nm, of which the first two belong to one molecule.
/// let mut spheres = SphereSet::new();
/// spheres.push(Vec3::ZERO, 0.17, 0)?;
/// spheres.push(Vec3::X * 0.15, 0.17, 0)?;
/// spheres.push(Vec3::X * 0.40, 0.17, 1)?;
///
/// let mut grid = UniformGrid::new();
/// let mut pairs = PairBuffer::new();
/// let times = grid.find_pairs(&spheres, 0.0, &mut pairs)?;
/// let pair = pairs.iter().next().expect("two atoms overlap");
/// assert_eq!((pair.a, pair.b), (1, 2));
/// assert!((pair.gap(&spheres) - (0.25 - 0.34)).abs() < 1.0e-6);
/// println!("sorted in {:?}, walked in {:?}", times.build, times.walk);
/// // With a margin of 0.1 nm the first atom is in reach, too.
/// assert_eq!(grid.count_pairs(&spheres, 0.1)?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct UniformGrid {
    sorted: SortedSpheres,
    /// How space was cut in the last search.
    layout: Option<GridLayout>,
    instructions: Instructions,
    /// Cells are at least this wide, nm.
    least_cell: f32,
}

impl UniformGrid {
    /// A grid that uses the widest instructions of this processor.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A grid that uses plain scalar code, the twin that the vector code is tested with.
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

    /// A grid whose cells are at least `width` nm wide. They are never narrower than the
    /// longest reach, and so no pair is missed, whatever the width.
    ///
    /// # Errors
    /// [`SearchError::BadWidth`] if it is not a positive number up to [`MAX_REACH_NM`].
    pub fn with_cell_width(width: f32) -> Result<Self, SearchError> {
        if !(width > 0.0 && width <= MAX_REACH_NM) {
            return Err(SearchError::BadWidth { width });
        }
        Ok(Self {
            least_cell: width,
            ..Self::default()
        })
    }

    /// Checks, and sorts the spheres into cells; `None` if no pair is possible.
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
    pub(super) fn build_planned(
        &mut self,
        spheres: &SphereSet,
        plan: &ReachPlan,
    ) -> Result<PairWalk<'_>, SearchError> {
        let layout = plan.layout(spheres.len(), self.least_cell);
        self.sort(spheres, plan, layout, None)
    }

    /// Sorts spheres into the cells of `layout`. They may be some of a larger set that it
    /// was planned for: `indices` are their places there then.
    pub(in crate::search) fn sort(
        &mut self,
        spheres: &SphereSet,
        plan: &ReachPlan,
        layout: GridLayout,
        indices: Option<&[u32]>,
    ) -> Result<PairWalk<'_>, SearchError> {
        let reach = plan.reach;
        self.layout = Some(layout);
        self.sorted.sort(spheres, &layout, reach.is_mixed());
        if let Some(indices) = indices {
            self.sorted.rename(indices);
        }
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

    /// Forgets how space was cut: there was nothing to search.
    pub(in crate::search) fn forget_layout(&mut self) {
        self.layout = None;
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
