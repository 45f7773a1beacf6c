//! Molecules first, then atoms: the broad phase before the uniform grid.

use std::ops::Range;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::boxes::{BoxGrid, BoxSearch, BoxSet};
use super::pair_tasks::impl_pair_search;
use super::uniform_grid::ReachPlan;
use super::uniform_grid::pair_walk::PairWalk;
use super::uniform_grid::sorted_spheres::gather;
use super::{GridCell, PairBuffer, PairSearch, SearchError, UniformGrid};
use crate::spheres::SphereSet;

/// Fewest spheres of a molecule, on the average, for which boxes are made.
const FEWEST_SPHERES: usize = 8;

/// Largest part of the spheres that may be left for the detour to pay.
///
/// A judgment: boxes cost a few percent of a search, and copying the rest some more.
const LARGEST_REST: f64 = 0.75;

/// Searches without a look at the boxes after one in which they did not pay. Who comes
/// first changes no pair and no order, so that this changes the time only.
const PAUSE: u32 = 15;

/// Molecules that one task looks at.
const MOLECULES_PER_TASK: usize = 64;

/// A box around the places where a molecule can meet others, nm.
#[derive(Clone, Copy, Debug)]
struct Region {
    low: Vec3,
    high: Vec3,
}

impl Region {
    const NONE: Self = Self {
        low: Vec3::INFINITY,
        high: Vec3::NEG_INFINITY,
    };

    fn add(&mut self, low: Vec3, high: Vec3) {
        self.low = self.low.min(low);
        self.high = self.high.max(high);
    }

    /// As large as it takes to hold the centers of all spheres that reach into it.
    fn widened(self, reach: f64) -> Self {
        let outwards = |corner: Vec3, by: f64| (corner.as_dvec3() + DVec3::splat(by)).as_vec3();
        Self {
            low: outwards(self.low, -reach).map(f32::next_down),
            high: outwards(self.high, reach).map(f32::next_up),
        }
    }

    #[inline]
    fn holds(&self, x: f32, y: f32, z: f32) -> bool {
        (x >= self.low.x)
            & (x <= self.high.x)
            & (y >= self.low.y)
            & (y <= self.high.y)
            & (z >= self.low.z)
            & (z <= self.high.z)
    }

    /// Its part of a box, by volume; a box without volume is all of it.
    fn part_of(&self, low: Vec3, high: Vec3) -> f64 {
        let part = |k: usize| {
            let whole = f64::from(high[k]) - f64::from(low[k]);
            let own = f64::from(self.high[k].min(high[k])) - f64::from(self.low[k].max(low[k]));
            if whole > 0.0 {
                (own / whole).clamp(0.0, 1.0)
            } else {
                1.0
            }
        };
        part(0) * part(1) * part(2)
    }
}

/// Uniform grid that asks first which molecules are near each other.
///
/// 1. a box around the spheres of each molecule;
/// 2. which boxes overlap: [`BoxGrid`];
/// 3. where two boxes overlap is the only place where their molecules can meet: the
///    *region* of a molecule is a box around all such places;
/// 4. spheres outside the region of their molecule are left out;
/// 5. the rest goes to the uniform grid, in the cells that it would have with everyone.
///
/// As the cells are the same and only spheres without a partner are missing, the result is
/// that of [`UniformGrid`], pair for pair and in the same order. Whether molecules come
/// first is decided again and again: it does not pay where they have few spheres, or are so
/// close together that most spheres are near another molecule.
///
/// ```
/// use bevy_rapier_molecules::search::{PairSearch, TwoLevelGrid};
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// // Three rods of twenty atoms: two end to end, one far away.
/// let mut spheres = SphereSet::new();
/// for (rod, start) in [0.0, 3.0, 50.0].into_iter().enumerate() {
///     for k in 0..20 {
///         spheres.push(Vec3::X * (start + 0.15 * k as f32), 0.17, rod as u32)?;
///     }
/// }
/// let mut grid = TwoLevelGrid::new();
/// assert!(grid.count_pairs(&spheres, 0.0)? > 0);
/// // Only atoms near the place where the two meet were sorted into cells.
/// assert!(grid.searched() < 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TwoLevelGrid {
    grid: UniformGrid,
    /// Owners of the last search, and their runs: the molecules.
    owners: Vec<u32>,
    runs: Vec<Range<u32>>,
    boxes: BoxSet,
    box_grid: BoxGrid,
    box_pairs: PairBuffer,
    regions: Vec<Region>,
    /// Spheres that are left, by task and in all.
    lists: Vec<Vec<u32>>,
    rest: Vec<u32>,
    spheres: SphereSet,
    /// Spheres that the grid saw in the last search.
    searched: usize,
    /// Searches to come in which boxes are not asked.
    pause: u32,
}

impl TwoLevelGrid {
    /// A search without molecules yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many spheres the last search had to sort into cells.
    #[must_use]
    pub fn searched(&self) -> usize {
        self.searched
    }

    /// `None` if no pair is possible.
    fn build(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
    ) -> Result<Option<PairWalk<'_>>, SearchError> {
        self.searched = 0;
        self.grid.forget_layout();
        let Some(plan) = ReachPlan::new(spheres, margin)? else {
            return Ok(None);
        };
        self.build_planned(spheres, &plan, margin)
    }

    /// The same for spheres that were looked at already.
    pub(super) fn build_planned(
        &mut self,
        spheres: &SphereSet,
        plan: &ReachPlan,
        margin: f32,
    ) -> Result<Option<PairWalk<'_>>, SearchError> {
        let layout = plan.layout(spheres.len(), 0.0);
        if !self.choose(spheres, plan, margin) {
            self.searched = spheres.len();
            return self.grid.sort(spheres, plan, layout, None).map(Some);
        }
        self.searched = self.rest.len();
        if self.rest.is_empty() {
            self.grid.forget_layout();
            return Ok(None);
        }
        self.gather(spheres);
        let walk = self
            .grid
            .sort(&self.spheres, plan, layout, Some(&self.rest));
        walk.map(Some)
    }

    /// Steps 1 to 4: lists the spheres that are left; false if that does not pay.
    fn choose(&mut self, spheres: &SphereSet, plan: &ReachPlan, margin: f32) -> bool {
        if self.owners.len() == spheres.len() && self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        if self.owners != spheres.owner {
            self.owners.clone_from(&spheres.owner);
            self.find_runs();
        }
        self.pause = PAUSE;
        if spheres.len() < FEWEST_SPHERES * self.runs.len() {
            return false;
        }
        let boxed = self.boxes.set_around_runs(spheres, &self.runs, margin);
        let found = boxed.map_err(SearchError::from).and_then(|()| {
            self.box_grid
                .find_box_pairs(&self.boxes, &mut self.box_pairs)
        });
        // What is wrong with the spheres is for the grid to say.
        if found.is_err() {
            return false;
        }
        self.find_regions(f64::from(plan.extent.largest_radius) + 0.5 * f64::from(margin));
        if self.estimate() > LARGEST_REST * spheres.len() as f64 {
            return false;
        }
        self.list_rest(spheres);
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

    /// Step 3. No sphere reaches further than `reach`, nm.
    fn find_regions(&mut self, reach: f64) {
        self.regions.clear();
        self.regions.resize(self.runs.len(), Region::NONE);
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

    /// How many spheres will be left, if they fill their boxes evenly.
    fn estimate(&self) -> f64 {
        let molecules = self.runs.iter().zip(&self.regions).enumerate();
        molecules
            .map(|(index, (run, region))| {
                let part = region.part_of(self.boxes.low(index), self.boxes.high(index));
                part * run.len() as f64
            })
            .sum()
    }

    /// Step 4.
    fn list_rest(&mut self, spheres: &SphereSet) {
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
                    // Nothing is between infinity and its negative.
                    if region.low.x > region.high.x {
                        continue;
                    }
                    list.extend(run.clone().filter(|&index| {
                        let at = index as usize;
                        region.holds(spheres.x[at], spheres.y[at], spheres.z[at])
                    }));
                }
            });
        self.rest.clear();
        for list in lists {
            self.rest.extend_from_slice(list);
        }
    }

    /// Copies the spheres that are left.
    fn gather(&mut self, spheres: &SphereSet) {
        let (rest, target) = (&self.rest, &mut self.spheres);
        for (target, source) in [
            (&mut target.x, &spheres.x),
            (&mut target.y, &spheres.y),
            (&mut target.z, &spheres.z),
            (&mut target.radius, &spheres.radius),
        ] {
            target.resize(rest.len(), 0.0);
            gather(target, source, rest);
        }
        target.owner.resize(rest.len(), 0);
        gather(&mut target.owner, &spheres.owner, rest);
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
