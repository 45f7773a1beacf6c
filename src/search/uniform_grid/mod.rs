//! FFRNN: fixed-radius nearest neighbours on a counting-sorted uniform grid.
//!
//! The search of Pauschenwein (2022, chapters 3 and 4), after Hoetzlein (2014):
//!
//! 1. bin: the cell of each sphere, cells at least as wide as the longest reach;
//! 2. count the spheres of each cell;
//! 3. prefix sum of the counts: where each cell starts;
//! 4. counting sort: the spheres of a cell become neighbours in memory;
//! 5. walk: each sphere against its own and the following half of the 26
//!    neighbouring cells, which are five runs of contiguous spheres.
//!
//! Unlike there, the grid is fitted to the spheres in every call, so nothing is
//! ever outside it; where it would grow too large it is [folded](layout::GridLayout);
//! radii may differ; and the order of the pairs does not depend on the threads.

mod candidates;
pub(crate) mod layout;
pub(crate) mod plan;
mod scan;
mod sort;
pub(crate) mod walk;

use std::time::Instant;

use glam::Vec3;
use rayon::prelude::*;

use super::{GridCell, MAX_REACH_NM, Pair, PairBuffer, PairSearch, SearchError, SearchTimes};
use crate::spheres::SphereSet;
use layout::GridLayout;
use plan::ReachPlan;
use sort::SortedSpheres;
use walk::Walk;

use scan::Instructions;

/// Most comparisons within cells that a search begins: about a second of them.
///
/// Four million atoms at liquid density make 40 million. Only spheres heaped up in
/// one place make more, and they would make pairs until the memory is full.
pub(crate) const MAX_COMPARISONS: u64 = 1 << 32;

/// Counting-sorted uniform grid: the FFRNN search on the CPU.
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
        Self {
            instructions: Instructions::Scalar,
            ..Self::default()
        }
    }

    /// A grid whose cells are at least `width` nm wide. They are never narrower than the
    /// longest reach, and so no pair is missed, whatever the width; one that is not a
    /// positive number up to [`MAX_REACH_NM`] asks for nothing.
    #[must_use]
    pub fn with_cells(width: f32) -> Self {
        let usable = width > 0.0 && width <= MAX_REACH_NM;
        Self {
            least_cell: if usable { width } else { 0.0 },
            ..Self::default()
        }
    }

    /// Sorts the spheres into cells; `None` if no pair is possible.
    fn build(&mut self, spheres: &SphereSet, margin: f32) -> Result<Option<Walk<'_>>, SearchError> {
        self.layout = None;
        let Some(plan) = ReachPlan::new(spheres, margin)? else {
            return Ok(None);
        };
        let layout = plan.layout(spheres.len(), self.least_cell);
        let reach = plan.reach;
        self.layout = Some(layout);
        self.sorted.sort(spheres, &layout, reach.is_mixed());
        let (comparisons, fullest) = self.sorted.crowding();
        if comparisons > MAX_COMPARISONS {
            let cell = &self.sorted.cell_start[fullest..fullest + 2];
            return Err(SearchError::TooCrowded {
                sphere: self.sorted.index[cell[0] as usize],
                spheres: cell[1] - cell[0],
                reach: plan.longest,
            });
        }
        Ok(Some(Walk {
            sorted: &self.sorted,
            layout,
            reach,
            largest_radius: plan.extent.largest_radius,
            instructions: self.instructions,
        }))
    }
}

impl PairSearch for UniformGrid {
    fn name(&self) -> &'static str {
        "uniform-grid"
    }

    fn find_pairs(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        pairs.clear();
        let start = Instant::now();
        let Some(walk) = self.build(spheres, margin)? else {
            return Ok(SearchTimes::default());
        };
        let built = Instant::now();
        pairs
            .start(walk.tasks())
            .par_iter_mut()
            .enumerate()
            .for_each(|(task, list)| walk.list(task, list));
        Ok(SearchTimes {
            build: built - start,
            walk: built.elapsed(),
        })
    }

    fn find_gaps(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
        each: &(dyn Fn(usize, &[Pair], &[f32]) + Sync),
    ) -> Result<SearchTimes, SearchError> {
        pairs.clear();
        let start = Instant::now();
        let Some(walk) = self.build(spheres, margin)? else {
            return Ok(SearchTimes::default());
        };
        let built = Instant::now();
        let (lists, gaps) = pairs.start_with_gaps(walk.tasks());
        let lists = lists.par_iter_mut().zip(gaps).enumerate();
        lists.for_each(|(task, (list, gaps))| {
            walk.list_gaps(task, list, gaps);
            each(task, list, gaps);
        });
        Ok(SearchTimes {
            build: built - start,
            walk: built.elapsed(),
        })
    }

    fn count_pairs(&mut self, spheres: &SphereSet, margin: f32) -> Result<u64, SearchError> {
        let Some(walk) = self.build(spheres, margin)? else {
            return Ok(0);
        };
        Ok((0..walk.tasks())
            .into_par_iter()
            .map(|task| walk.count(task))
            .sum())
    }

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.layout.map(|layout| layout.cell_around(point))
    }
}
