//! Neighbor lists of one step.
//!
//! Each particle has a range around its start that it may not leave. Two particles are
//! neighbors if their ranges allow them to touch. A particle that a collision sends out of
//! its range gets a larger one, and its neighbors are searched again.

use glam::DVec3;
use rayon::prelude::*;

/// Maximum number of cells per particle.
const CELLS_PER_PARTICLE: usize = 2;

/// Neighbors of all particles in one step.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbors {
    /// Positions at the start of the step, nm.
    pub(super) starts: Vec<DVec3>,
    radii: Vec<f64>,
    /// Maximum distance of each particle from its start, nm.
    pub(super) ranges: Vec<f64>,
    pub(super) lists: Vec<Vec<u32>>,
    low: DVec3,
    cell_size: f64,
    counts: [usize; 3],
    /// Index of the first particle of each cell in `sorted`.
    first: Vec<u32>,
    sorted: Vec<u32>,
    cells: Vec<u32>,
    /// Maximum of radius plus range, nm.
    max_reach: f64,
}

impl Neighbors {
    /// Finds the neighbors of all particles.
    pub(super) fn build(&mut self, starts: &[DVec3], radii: &[f64], ranges: &[f64]) {
        starts.clone_into(&mut self.starts);
        radii.clone_into(&mut self.radii);
        ranges.clone_into(&mut self.ranges);
        let spheres = radii.iter().zip(ranges);
        self.max_reach = spheres.fold(0.0, |max, (radius, range)| max.max(radius + range));
        self.sort();
        let mut lists = std::mem::take(&mut self.lists);
        lists.resize_with(starts.len(), Vec::new);
        let this = &*self;
        lists.par_iter_mut().enumerate().for_each(|(index, list)| {
            this.collect(index as u32, list);
        });
        self.lists = lists;
    }

    /// Enlarges the range of a particle and updates the lists of its neighbors.
    pub(super) fn enlarge(&mut self, particle: u32, range: f64) {
        let index = particle as usize;
        self.ranges[index] = range;
        self.max_reach = self.max_reach.max(self.radii[index] + range);
        let mut list = std::mem::take(&mut self.lists[index]);
        self.collect(particle, &mut list);
        for &other in &list {
            let back = &mut self.lists[other as usize];
            if !back.contains(&particle) {
                back.push(particle);
            }
        }
        self.lists[index] = list;
    }

    /// Changes the radius of a particle.
    pub(super) fn resize(&mut self, particle: u32, radius: f64, range: f64) {
        self.radii[particle as usize] = radius;
        self.enlarge(particle, range);
    }

    /// Sorts the particles into cells.
    fn sort(&mut self) {
        let count = self.starts.len();
        let starts = self.starts.iter().copied();
        self.low = starts.clone().fold(DVec3::INFINITY, DVec3::min);
        let extent = starts.fold(DVec3::NEG_INFINITY, DVec3::max) - self.low;
        // As wide as the reach of two particles, unless that makes too many cells.
        self.cell_size = (2.0 * self.max_reach).max(f64::MIN_POSITIVE);
        let budget = (CELLS_PER_PARTICLE * count).max(1) as f64;
        self.counts = [1; 3];
        if count > 0 {
            let mut counts = (extent / self.cell_size).floor() + 1.0;
            while counts.element_product() > budget {
                self.cell_size *= 1.26;
                counts = (extent / self.cell_size).floor() + 1.0;
            }
            self.counts = counts.to_array().map(|k| (k as usize).max(1));
        }
        let cell_count: usize = self.counts.iter().product();
        let mut cells = std::mem::take(&mut self.cells);
        cells.clear();
        let cell = |&position: &DVec3| self.cell(self.coordinates(position)) as u32;
        cells.extend(self.starts.iter().map(cell));
        self.first.clear();
        self.first.resize(cell_count + 1, 0);
        for &cell in &cells {
            self.first[cell as usize + 1] += 1;
        }
        for k in 0..cell_count {
            self.first[k + 1] += self.first[k];
        }
        let mut next = self.first.clone();
        self.sorted.clear();
        self.sorted.resize(count, 0);
        for (&cell, particle) in cells.iter().zip(0..) {
            let at = &mut next[cell as usize];
            self.sorted[*at as usize] = particle;
            *at += 1;
        }
        self.cells = cells;
    }

    fn coordinates(&self, position: DVec3) -> [usize; 3] {
        let scaled = (position - self.low) / self.cell_size;
        [0, 1, 2].map(|k| (scaled[k].max(0.0) as usize).min(self.counts[k] - 1))
    }

    fn cell(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.counts[1] + y) * self.counts[0] + x
    }

    /// Collects all particles that a particle may touch.
    fn collect(&self, particle: u32, list: &mut Vec<u32>) {
        list.clear();
        let index = particle as usize;
        let own = self.radii[index] + self.ranges[index];
        let position = self.starts[index];
        let reach = DVec3::splat(own + self.max_reach);
        let [low, high] =
            [position - reach, position + reach].map(|corner| self.coordinates(corner));
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                let row = [self.cell([low[0], y, z]), self.cell([high[0], y, z]) + 1];
                let [begin, end] = row.map(|k| self.first[k] as usize);
                for &other in &self.sorted[begin..end] {
                    let k = other as usize;
                    let max_distance = own + self.radii[k] + self.ranges[k];
                    let is_near =
                        self.starts[k].distance_squared(position) <= max_distance * max_distance;
                    if is_near && other != particle {
                        list.push(other);
                    }
                }
            }
        }
    }
}
