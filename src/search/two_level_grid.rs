//! Uniform grid over the spheres near other molecules.

use std::ops::Range;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::boxes::{BoxGrid, BoxSearch, BoxSet};
use super::pair_tasks::impl_pair_search;
use super::uniform_grid::ReachPlan;
use super::uniform_grid::pair_walk::PairWalk;
use super::uniform_grid::sorted_spheres::gather_spheres;
use super::{GridCell, PairBuffer, PairSearch, SearchError, UniformGrid};
use crate::spheres::SphereSet;

/// Minimum number of spheres per molecule, on average, to use boxes.
const MIN_SPHERES_PER_MOLECULE: usize = 8;

/// Maximum fraction of spheres near other molecules for the boxes to pay off.
///
/// An estimate: boxes cost a few percent of a search, and copying the spheres some more.
const MAX_INCLUDED: f64 = 0.75;

/// Number of searches without boxes after one in which they did not pay off. Affects the time
/// only, not the pairs or their order.
const PAUSE_SEARCHES: u32 = 15;

/// Molecules per task.
const MOLECULES_PER_TASK: usize = 64;

/// A box around all places where a molecule can overlap others, nm.
#[derive(Clone, Copy, Debug)]
struct Region {
    low: Vec3,
    high: Vec3,
}

impl Region {
    const EMPTY: Self = Self {
        low: Vec3::INFINITY,
        high: Vec3::NEG_INFINITY,
    };

    fn add(&mut self, low: Vec3, high: Vec3) {
        self.low = self.low.min(low);
        self.high = self.high.max(high);
    }

    /// The box around the centers of all spheres that overlap this one.
    fn widened(self, reach: f64) -> Self {
        let outwards = |corner: Vec3, by: f64| (corner.as_dvec3() + DVec3::splat(by)).as_vec3();
        Self {
            low: outwards(self.low, -reach).map(f32::next_down),
            high: outwards(self.high, reach).map(f32::next_up),
        }
    }

    #[inline]
    fn contains(&self, x: f32, y: f32, z: f32) -> bool {
        (x >= self.low.x)
            & (x <= self.high.x)
            & (y >= self.low.y)
            & (y <= self.high.y)
            & (z >= self.low.z)
            & (z <= self.high.z)
    }

    /// Fraction of the volume of a box that is inside; 1 along axes where the box has no extent.
    fn fraction_of(&self, low: Vec3, high: Vec3) -> f64 {
        let fraction = |k: usize| {
            let side = f64::from(high[k]) - f64::from(low[k]);
            let own = f64::from(self.high[k].min(high[k])) - f64::from(self.low[k].max(low[k]));
            if side > 0.0 {
                (own / side).clamp(0.0, 1.0)
            } else {
                1.0
            }
        };
        fraction(0) * fraction(1) * fraction(2)
    }
}

/// Uniform grid that first finds the molecules near each other.
///
/// 1. make a box around the spheres of each molecule;
/// 2. find the overlapping boxes with a [`BoxGrid`];
/// 3. two molecules can only overlap in the intersection of their boxes: the *region* of a
///    molecule is a box around all its intersections;
/// 4. exclude spheres outside the region of their molecule;
/// 5. sort the others into the cells of the uniform grid over all spheres.
///
/// Since the cells are the same and only spheres without a partner are excluded, the pairs and
/// their order are those of a [`UniformGrid`]. Steps 1 to 4 are skipped if they do not pay off:
/// if molecules have few spheres, or most spheres are near another molecule.
#[derive(Clone, Debug, Default)]
pub struct TwoLevelGrid {
    grid: UniformGrid,
    /// Owners of the last search, and their runs of spheres: the molecules.
    owners: Vec<u32>,
    runs: Vec<Range<u32>>,
    boxes: BoxSet,
    box_grid: BoxGrid,
    box_pairs: PairBuffer,
    regions: Vec<Region>,
    /// Spheres that are not excluded, by task and in total.
    lists: Vec<Vec<u32>>,
    included: Vec<u32>,
    spheres: SphereSet,
    /// Number of following searches without boxes.
    pause: u32,
}

impl TwoLevelGrid {
    /// An empty grid.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks the spheres and sorts them into cells; `None` if no pair is possible.
    fn build(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
    ) -> Result<Option<PairWalk<'_>>, SearchError> {
        self.grid.layout = None;
        let Some(plan) = ReachPlan::new(spheres, margin)? else {
            return Ok(None);
        };
        self.build_planned(spheres, &plan, margin)
    }

    /// Sorts the spheres into cells; `None` if no pair is possible.
    pub(super) fn build_planned(
        &mut self,
        spheres: &SphereSet,
        plan: &ReachPlan,
        margin: f32,
    ) -> Result<Option<PairWalk<'_>>, SearchError> {
        let layout = plan.layout(spheres.len(), 0.0);
        if !self.exclude(spheres, plan, margin) {
            return self.grid.sort(spheres, plan, layout, None).map(Some);
        }
        if self.included.is_empty() {
            self.grid.layout = None;
            return Ok(None);
        }
        gather_spheres(&mut self.spheres, spheres, &self.included, 0, true);
        let walk = self
            .grid
            .sort(&self.spheres, plan, layout, Some(&self.included));
        walk.map(Some)
    }

    /// Steps 1 to 4: lists the spheres that are not excluded; false if that does not pay off.
    fn exclude(&mut self, spheres: &SphereSet, plan: &ReachPlan, margin: f32) -> bool {
        if self.owners.len() == spheres.len() && self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        if self.owners != spheres.owner {
            self.owners.clone_from(&spheres.owner);
            self.find_runs();
        }
        self.pause = PAUSE_SEARCHES;
        if spheres.len() < MIN_SPHERES_PER_MOLECULE * self.runs.len() {
            return false;
        }
        let boxed = self.boxes.set_around_runs(spheres, &self.runs, margin);
        let found = boxed.map_err(SearchError::from).and_then(|()| {
            self.box_grid
                .find_box_pairs(&self.boxes, &mut self.box_pairs)
        });
        // The grid reports the error.
        if found.is_err() {
            return false;
        }
        self.find_regions(f64::from(plan.extent.largest_radius) + 0.5 * f64::from(margin));
        if self.estimate_included() > MAX_INCLUDED * spheres.len() as f64 {
            return false;
        }
        self.list_included(spheres);
        self.pause = 0;
        true
    }

    fn find_runs(&mut self) {
        self.runs.clear();
        let mut start = 0;
        for run in self.owners.chunk_by(|one, other| one == other) {
            let end = start + run.len() as u32;
            self.runs.push(start..end);
            start = end;
        }
    }

    /// Step 3. The radius of a sphere plus half the margin is at most `reach` nm.
    fn find_regions(&mut self, reach: f64) {
        self.regions.clear();
        self.regions.resize(self.runs.len(), Region::EMPTY);
        for pair in self.box_pairs.iter() {
            let [a, b] = [pair.a as usize, pair.b as usize];
            let low = self.boxes.low(a).max(self.boxes.low(b));
            let high = self.boxes.high(a).min(self.boxes.high(b));
            self.regions[a].add(low, high);
            self.regions[b].add(low, high);
        }
        for region in &mut self.regions {
            *region = region.widened(reach);
        }
    }

    /// Estimated number of spheres that are not excluded, if they fill their boxes evenly.
    fn estimate_included(&self) -> f64 {
        let molecules = self.runs.iter().zip(&self.regions).enumerate();
        molecules
            .map(|(index, (run, region))| {
                let fraction = region.fraction_of(self.boxes.low(index), self.boxes.high(index));
                fraction * run.len() as f64
            })
            .sum()
    }

    /// Step 4.
    fn list_included(&mut self, spheres: &SphereSet) {
        let tasks = self.runs.len().div_ceil(MOLECULES_PER_TASK);
        if self.lists.len() < tasks {
            self.lists.resize_with(tasks, Vec::new);
        }
        let lists = &mut self.lists[..tasks];
        let runs = self.runs.par_chunks(MOLECULES_PER_TASK);
        let regions = self.regions.par_chunks(MOLECULES_PER_TASK);
        lists
            .par_iter_mut()
            .zip(runs.zip(regions))
            .for_each(|(list, (runs, regions))| {
                list.clear();
                for (run, region) in runs.iter().zip(regions) {
                    // The region is empty.
                    if region.low.x > region.high.x {
                        continue;
                    }
                    list.extend(run.clone().filter(|&index| {
                        let at = index as usize;
                        region.contains(spheres.x[at], spheres.y[at], spheres.z[at])
                    }));
                }
            });
        self.included.clear();
        for list in lists {
            self.included.extend_from_slice(list);
        }
    }
}

impl PairSearch for TwoLevelGrid {
    fn name(&self) -> &'static str {
        "two-level-grid"
    }

    impl_pair_search!();

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.grid.cell_around(point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_spheres_near_other_molecules_are_sorted_into_cells() {
        // Three rods of twenty atoms: two end to end, one far away.
        let mut spheres = SphereSet::new();
        for (rod, start) in [0.0, 3.0, 50.0].into_iter().enumerate() {
            for k in 0..20 {
                let center = Vec3::X * (start + 0.15 * k as f32);
                spheres.push(center, 0.17, rod as u32).unwrap();
            }
        }
        let mut grid = TwoLevelGrid::new();
        assert!(grid.count_pairs(&spheres, 0.0).unwrap() > 0);
        assert!(grid.included.len() < 20);
    }
}
