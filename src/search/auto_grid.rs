//! The grid that fits the spheres.

use glam::{DVec3, Vec3};

use super::hierarchical_grid::HierarchicalGrid;
use super::hierarchical_grid::level_walk::LevelWalks;
use super::hierarchical_grid::{Levels, Sizes};
use super::pair_tasks::{PairTasks, Visitor, impl_pair_search};
use super::two_level_grid::TwoLevelGrid;
use super::uniform_grid::ReachPlan;
use super::uniform_grid::pair_walk::PairWalk;
use super::{GridCell, Pair, PairSearch, SearchError};
use crate::spheres::SphereSet;

/// How many octaves smaller than the largest sphere the median one must be for a hierarchy
/// of grids to pay: otherwise most spheres are on the coarsest levels anyway.
const MIXED_OCTAVES: usize = 1;

/// How many spheres a cell of one grid must have on average for a hierarchy to pay: with
/// fewer, looking into each coarser level costs more than it saves.
///
/// `cargo bench --bench proxies -- sizes` compares both at more and more spread sizes.
const MIXED_OCCUPANCY: f32 = 64.0;

/// Takes a [`TwoLevelGrid`] where spheres are of about one size, and a [`HierarchicalGrid`]
/// where most are much smaller than the largest and heap up in its cells.
///
/// ```
/// use bevy_rapier_molecules::search::{AutoGrid, PairSearch};
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// let mut spheres = SphereSet::new();
/// for k in 0..2000 {
///     let place = Vec3::new((k % 20) as f32, (k / 20 % 10) as f32, (k / 200) as f32);
///     spheres.push(0.3 * place, 0.17, k)?;
/// }
/// let mut grid = AutoGrid::new();
/// grid.count_pairs(&spheres, 0.0)?;
/// assert!(!grid.is_hierarchical());
/// // One giant would put all of them into a few cells.
/// spheres.push(Vec3::splat(3.0), 4.0, 2000)?;
/// grid.count_pairs(&spheres, 0.0)?;
/// assert!(grid.is_hierarchical());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct AutoGrid {
    uniform: TwoLevelGrid,
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
    ) -> Result<Option<Chosen<'_>>, SearchError> {
        self.mixed = false;
        let Some(plan) = ReachPlan::new(spheres, margin)? else {
            return Ok(None);
        };
        if plan.reach.is_mixed() && occupancy(spheres, &plan) >= MIXED_OCCUPANCY {
            let sizes = Sizes::of(spheres, &plan);
            if sizes.spread() >= MIXED_OCTAVES {
                self.mixed = true;
                let levels = Levels::of(&sizes, &plan);
                let walks = self.hierarchical.build_planned(spheres, &plan, levels)?;
                return Ok(Some(Chosen::Several(walks)));
            }
        }
        let walk = self.uniform.build_planned(spheres, &plan, margin)?;
        Ok(walk.map(Chosen::One))
    }
}

/// The walk over the grid that was chosen.
enum Chosen<'a> {
    One(PairWalk<'a>),
    Several(LevelWalks<'a>),
}

impl PairTasks for Chosen<'_> {
    fn tasks(&self) -> usize {
        match self {
            Self::One(walk) => walk.tasks(),
            Self::Several(walks) => walks.tasks(),
        }
    }

    fn comparisons(&self) -> u64 {
        match self {
            Self::One(walk) => walk.comparisons(),
            Self::Several(walks) => walks.comparisons(),
        }
    }

    fn list(&self, task: usize, list: &mut Vec<Pair>) {
        match self {
            Self::One(walk) => walk.list(task, list),
            Self::Several(walks) => walks.list(task, list),
        }
    }

    fn list_gaps(&self, task: usize, list: &mut Vec<Pair>, gaps: &mut Vec<f32>) {
        match self {
            Self::One(walk) => walk.list_gaps(task, list, gaps),
            Self::Several(walks) => walks.list_gaps(task, list, gaps),
        }
    }

    fn count(&self, task: usize) -> u64 {
        match self {
            Self::One(walk) => walk.count(task),
            Self::Several(walks) => walks.count(task),
        }
    }

    fn visit(&self, task: usize, list: &mut Vec<Pair>, gaps: &mut Vec<f32>, visit: Visitor<'_>) {
        match self {
            Self::One(walk) => walk.visit(task, list, gaps, visit),
            Self::Several(walks) => walks.visit(task, list, gaps, visit),
        }
    }
}

/// Mean number of spheres in a cell as wide as the longest reach, if they were spread evenly
/// over their bounding box.
fn occupancy(spheres: &SphereSet, plan: &ReachPlan) -> f32 {
    let size = plan.extent.high.as_dvec3() - plan.extent.low.as_dvec3();
    let cells = (size / f64::from(plan.longest)).max(DVec3::ONE);
    (spheres.len() as f64 / cells.element_product()) as f32
}

impl PairSearch for AutoGrid {
    fn name(&self) -> &'static str {
        "auto-grid"
    }

    impl_pair_search!();

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        if self.mixed {
            self.hierarchical.cell_around(point)
        } else {
            self.uniform.cell_around(point)
        }
    }
}
