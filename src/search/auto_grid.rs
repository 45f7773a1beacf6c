//! Automatic choice of the grid.

use glam::{DVec3, Vec3};

use super::hierarchical_grid::HierarchicalGrid;
use super::hierarchical_grid::level_walk::LevelWalks;
use super::hierarchical_grid::{Levels, SizeHistogram};
use super::pair_sink::Sink;
use super::pair_tasks::{PairTasks, impl_pair_search};
use super::uniform_grid::ReachPlan;
use super::uniform_grid::pair_walk::PairWalk;
use super::{GridCell, PairSearch, SearchError, UniformGrid};
use crate::spheres::SphereSet;

/// A hierarchy pays off if the median sphere is at least this many octaves smaller than the
/// largest one: otherwise most spheres are on the coarsest levels anyway.
const MIXED_OCTAVES: usize = 1;

/// A hierarchy pays off if the cells of a single grid have at least this many spheres on
/// average: with fewer, visiting the coarser levels costs more than it saves.
///
/// Measured by `cargo bench --bench proxies -- sizes`.
const MIXED_OCCUPANCY: f32 = 64.0;

/// Uses a [`UniformGrid`] if the spheres have about the same size, and a [`HierarchicalGrid`]
/// if most spheres are much smaller than the largest and would pile up in its cells.
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
/// // In a uniform grid, one giant would put all spheres into a few cells.
/// spheres.push(Vec3::splat(3.0), 4.0, 2000)?;
/// grid.count_pairs(&spheres, 0.0)?;
/// assert!(grid.is_hierarchical());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct AutoGrid {
    uniform: UniformGrid,
    hierarchical: HierarchicalGrid,
    is_hierarchical: bool,
}

impl AutoGrid {
    /// An empty grid.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the last search used the hierarchy.
    #[must_use]
    pub fn is_hierarchical(&self) -> bool {
        self.is_hierarchical
    }

    /// Checks the spheres, chooses a grid and sorts them; `None` if no pair is possible.
    fn build(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
    ) -> Result<Option<Chosen<'_>>, SearchError> {
        self.is_hierarchical = false;
        let Some(plan) = ReachPlan::new(spheres, margin)? else {
            return Ok(None);
        };
        if plan.reach.is_mixed() && occupancy(spheres, &plan) >= MIXED_OCCUPANCY {
            let histogram = SizeHistogram::of(spheres, &plan);
            if histogram.median_octave() >= MIXED_OCTAVES {
                self.is_hierarchical = true;
                let levels = Levels::of(&histogram, &plan);
                let walks = self.hierarchical.build_planned(spheres, &plan, levels)?;
                return Ok(Some(Chosen::Hierarchical(walks)));
            }
        }
        let walk = self.uniform.build_planned(spheres, &plan)?;
        Ok(Some(Chosen::Uniform(walk)))
    }
}

/// The walk over the chosen grid.
enum Chosen<'a> {
    Uniform(PairWalk<'a>),
    Hierarchical(LevelWalks<'a>),
}

impl PairTasks for Chosen<'_> {
    fn tasks(&self) -> usize {
        match self {
            Self::Uniform(walk) => walk.tasks(),
            Self::Hierarchical(walks) => walks.tasks(),
        }
    }

    fn comparisons(&self) -> u64 {
        match self {
            Self::Uniform(walk) => walk.comparisons(),
            Self::Hierarchical(walks) => walks.comparisons(),
        }
    }

    fn run<S: Sink>(&self, task: usize, sink: &mut S) {
        match self {
            Self::Uniform(walk) => walk.run(task, sink),
            Self::Hierarchical(walks) => walks.run(task, sink),
        }
    }
}

/// Mean number of spheres per cell, if cells are as wide as the longest reach and the spheres
/// fill their bounding box evenly.
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
        if self.is_hierarchical {
            self.hierarchical.cell_around(point)
        } else {
            self.uniform.cell_around(point)
        }
    }
}
