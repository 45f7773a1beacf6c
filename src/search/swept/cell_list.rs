//! Cells with dual representation, and the algorithms A, B and C.

use std::ops::RangeInclusive;

use glam::DVec3;

use super::cell_links::{Cell, CellLayout, CellLinks};
use super::moving_spheres::MovingSpheres;
use super::{Collision, SweptAlgorithm, SweptWork};

/// Fraction of half a cell that a sphere may use; the rest covers the rounding of cell coordinates.
const USABLE: f64 = 0.999;

/// Smallest width of a cell as a fraction of the largest coordinate, for the same reason.
const MIN_RELATIVE_WIDTH: f64 = 1.0e-12;

/// How much wider than necessary cells may be before they are recomputed.
const MAX_SLACK: f64 = 2.0;

/// Number of outliers that is always allowed.
const MIN_OUTLIERS: usize = 4;

/// One more outlier is allowed for each time that this divides the square root of the number of
/// spheres.
const ROOT_PER_OUTLIER: usize = 8;

/// Cells, their links with spheres, and the search with them.
#[derive(Clone, Debug)]
pub(super) struct CellList {
    /// Slices instead of cubes.
    has_slices: bool,
    /// Cells behind a sphere are not examined.
    has_directions: bool,
    /// Links follow every motion.
    follows_motions: bool,
    /// Requested width of a cell, nm.
    width: Option<f64>,
    layout: Option<CellLayout>,
    links: CellLinks,
    /// Where each sphere was when its links were updated, nm.
    linked_at: Vec<DVec3>,
    /// Radius plus displacement of each sphere, nm.
    reaches: Vec<f64>,
    /// Spheres that are too large or too fast for the cells in this step, and their number.
    is_outlier: Vec<bool>,
    outliers: u64,
    /// The visit in which each sphere was last compared.
    compared: Vec<u64>,
    visit: u64,
}

impl CellList {
    /// Cells of an algorithm; `None` for the naive one.
    pub(super) fn new(algorithm: SweptAlgorithm, width: Option<f32>) -> Option<Self> {
        use SweptAlgorithm as Is;
        (algorithm != Is::Naive).then(|| Self {
            has_slices: algorithm == Is::C,
            has_directions: algorithm != Is::Cells,
            follows_motions: matches!(algorithm, Is::Cells | Is::A),
            width: width.map(f64::from),
            layout: None,
            links: CellLinks::default(),
            linked_at: Vec::new(),
            reaches: Vec::new(),
            is_outlier: Vec::new(),
            outliers: 0,
            compared: Vec::new(),
            visit: 0,
        })
    }

    /// Prepares for a step: cells that suit the displacements and, in algorithms B and C, links.
    pub(super) fn begin_step(&mut self, spheres: &MovingSpheres, work: &mut SweptWork) {
        let previous = self.layout;
        let layout = self.plan(spheres);
        if previous != Some(layout) {
            let count = spheres.radii.len();
            self.layout = Some(layout);
            self.links.clear(&layout, count);
            self.linked_at.resize(count, DVec3::ZERO);
            self.compared.resize(count, 0);
            self.link(&layout, spheres, work);
        } else if !self.follows_motions {
            self.link(&layout, spheres, work);
        }
        self.outliers = 0;
        self.is_outlier.clear();
        self.is_outlier.resize(spheres.radii.len(), false);
        for sphere in 0..spheres.len() {
            self.redirected(spheres, sphere);
        }
    }

    /// Cells of sufficient width; the current ones if possible.
    fn plan(&mut self, spheres: &MovingSpheres) -> CellLayout {
        let furthest = |far: f64, center: &DVec3| far.max(center.abs().max_element());
        let least = MIN_RELATIVE_WIDTH * spheres.centers.iter().fold(0.0, furthest);
        let needed = least.max(match self.width {
            Some(width) => width,
            None => 2.0 * self.ordinary_reach(spheres) / USABLE,
        });
        let slack = if self.width.is_some() { 1.0 } else { MAX_SLACK };
        if let Some(layout) = self.layout
            && (needed..=needed * slack).contains(&layout.width)
        {
            return layout;
        }
        let low = spheres.centers.iter().copied().reduce(DVec3::min);
        let high = spheres.centers.iter().copied().reduce(DVec3::max);
        let size = high.unwrap_or_default() - low.unwrap_or_default();
        if self.has_slices {
            CellLayout::slices(needed, size, spheres.radii.len())
        } else {
            CellLayout::cubes(needed, size, spheres.radii.len())
        }
    }

    /// The largest reach of all spheres, except for a few that reach more than twice as far.
    fn ordinary_reach(&mut self, spheres: &MovingSpheres) -> f64 {
        let centers = spheres.centers.iter().zip(0..);
        let reaches = centers.map(|(&center, sphere)| spheres.reach_from(center, sphere));
        self.reaches.clear();
        self.reaches.extend(reaches);
        let furthest = self.reaches.iter().copied().fold(0.0, f64::max);
        let count = self.reaches.len();
        let max_outliers = MIN_OUTLIERS + count.isqrt() / ROOT_PER_OUTLIER;
        let ordinary = if count > max_outliers {
            let place = count - 1 - max_outliers;
            let by_size = f64::total_cmp;
            *self.reaches.select_nth_unstable_by(place, by_size).1
        } else {
            furthest
        };
        let limit = furthest.min(MAX_SLACK * ordinary);
        // Points at rest need cells, too.
        if limit > 0.0 { limit } else { 1.0 }
    }

    /// Updates the links of all spheres that fit into a cell.
    fn link(&mut self, layout: &CellLayout, spheres: &MovingSpheres, work: &mut SweptWork) {
        let limit = limit(layout);
        for (sphere, &radius) in (0..).zip(&spheres.radii) {
            let center = spheres.centers[sphere as usize];
            self.linked_at[sphere as usize] = center;
            if radius <= limit {
                work.updates += 1;
                self.links.update(layout, sphere, center, radius);
            }
        }
    }

    /// Updates the links after all spheres have moved, if the algorithm does.
    pub(super) fn moved(&mut self, spheres: &MovingSpheres, work: &mut SweptWork) {
        if let Some(layout) = self.layout.filter(|_| self.follows_motions) {
            self.link(&layout, spheres, work);
        }
    }

    /// Compares a sphere with all others for the rest of the step if its new path takes it too
    /// far for the cells.
    pub(super) fn redirected(&mut self, spheres: &MovingSpheres, sphere: u32) {
        let index = sphere as usize;
        let reach = spheres.reach_from(self.linked_at[index], sphere);
        let is_far = self.layout.is_none_or(|layout| reach > limit(&layout));
        if is_far && !self.is_outlier[index] {
            self.is_outlier[index] = true;
            self.outliers += 1;
        }
    }

    /// Finds the collisions in the rest of the step, if no sphere changes its path. A pair may
    /// be found several times.
    pub(super) fn find(
        &mut self,
        spheres: &MovingSpheres,
        work: &mut SweptWork,
        collisions: &mut Vec<Collision>,
    ) {
        let Some(layout) = self.layout else { return };
        for index in 0..layout.len() {
            for place in 0..self.links.spheres(index).len() {
                let sphere = self.links.spheres(index)[place];
                if !self.is_outlier[sphere as usize] {
                    let cell = self.links.cell_of(&layout, index, sphere);
                    self.compare_around(&layout, spheres, (cell, sphere), work, collisions);
                }
            }
        }
        work.outliers = self.outliers;
        if self.outliers > 0 {
            self.compare_outliers(spheres, work, collisions);
        }
    }

    /// Compares a sphere with those in one of its cells and around that have larger indices.
    fn compare_around(
        &mut self,
        layout: &CellLayout,
        spheres: &MovingSpheres,
        (own, sphere): (Cell, u32),
        work: &mut SweptWork,
        collisions: &mut Vec<Collision>,
    ) {
        self.visit += 1;
        let steps = [0, 1, 2].map(|axis| self.steps_along(layout, spheres, (own, sphere), axis));
        for x in steps[0].clone() {
            for y in steps[1].clone() {
                for z in steps[2].clone() {
                    let step = [x, y, z];
                    let cell: Cell = [0, 1, 2].map(|k| own[k].wrapping_add(step[k]));
                    work.cells += 1;
                    for &other in self.links.spheres(layout.index(cell)) {
                        let compared = &mut self.compared[other as usize];
                        if other <= sphere || *compared == self.visit {
                            continue;
                        }
                        *compared = self.visit;
                        if !self.is_outlier[other as usize] {
                            work.checks += 1;
                            collisions.extend(spheres.collision(sphere, other));
                        }
                    }
                }
            }
        }
    }

    /// Neighbors of a cell along an axis that a sphere of it must be compared with, from −1 to 1.
    ///
    /// If the sphere is entirely in one half of the cell and moves away from the other half,
    /// nothing reaches it from beyond that half (section 4.2).
    fn steps_along(
        &self,
        layout: &CellLayout,
        spheres: &MovingSpheres,
        (own, sphere): (Cell, u32),
        axis: usize,
    ) -> RangeInclusive<i64> {
        if !layout.is_divided(axis) {
            return 0..=0;
        }
        if !self.has_directions {
            return -1..=1;
        }
        let index = sphere as usize;
        let (center, radius) = (spheres.centers[index][axis], spheres.radii[index]);
        let motion = spheres.displacements[index][axis];
        let middle = layout.middle(own, axis);
        let moves_up = center - radius >= middle && motion >= 0.0;
        let moves_down = center + radius <= middle && motion <= 0.0;
        i64::from(moves_up) - 1..=1 - i64::from(moves_down)
    }

    /// Compares the outliers with all spheres.
    fn compare_outliers(
        &self,
        spheres: &MovingSpheres,
        work: &mut SweptWork,
        collisions: &mut Vec<Collision>,
    ) {
        let is_outlier = |sphere: u32| self.is_outlier[sphere as usize];
        for outlier in (0..spheres.len()).filter(|&sphere| is_outlier(sphere)) {
            for other in 0..spheres.len() {
                // Compare two outliers once.
                if other == outlier || (other < outlier && is_outlier(other)) {
                    continue;
                }
                work.checks += 1;
                collisions.extend(spheres.collision(outlier, other));
            }
        }
    }
}

/// How far from the place of its links a sphere may reach, nm. The tolerance keeps the sphere
/// that the cells were made for.
fn limit(layout: &CellLayout) -> f64 {
    0.5 * layout.width * USABLE * (1.0 + 4.0 * f64::EPSILON)
}
