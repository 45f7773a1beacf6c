//! Who may meet whom within a step.
//!
//! Each particle is allowed some way from where it starts. Whoever can reach each other
//! within what both are allowed are neighbors. A particle that a collision makes go
//! further is allowed more, and looks for neighbors again.

use glam::DVec3;
use rayon::prelude::*;

/// Cells for each particle at most.
const CELLS_PER_PARTICLE: usize = 2;

/// Cells along an axis at least.
const MIN_ALONG: usize = 1;

/// Neighbors of all particles in one step.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbors {
    /// Where particles started, nm.
    starts: Vec<DVec3>,
    radii: Vec<f64>,
    /// How far each may get from there, nm.
    allowed: Vec<f64>,
    lists: Vec<Vec<u32>>,
    low: DVec3,
    width: f64,
    along: [usize; 3],
    /// First particle of each cell in `sorted`.
    first: Vec<u32>,
    sorted: Vec<u32>,
    cells: Vec<u32>,
    /// Largest radius plus largest allowance, nm.
    furthest: f64,
}

impl Neighbors {
    pub(super) fn of(&self, particle: u32) -> &[u32] {
        &self.lists[particle as usize]
    }

    pub(super) fn start(&self, particle: u32) -> DVec3 {
        self.starts[particle as usize]
    }

    pub(super) fn allowed(&self, particle: u32) -> f64 {
        self.allowed[particle as usize]
    }

    /// Finds all neighbors of particles that start here and are allowed this much.
    pub(super) fn build(&mut self, starts: &[DVec3], radii: &[f64], allowed: &[f64]) {
        self.starts.clear();
        self.starts.extend_from_slice(starts);
        self.radii.clear();
        self.radii.extend_from_slice(radii);
        self.allowed.clear();
        self.allowed.extend_from_slice(allowed);
        let reaches = radii.iter().zip(allowed).map(|(radius, way)| radius + way);
        self.furthest = reaches.fold(0.0, f64::max);
        self.sort();
        let mut lists = std::mem::take(&mut self.lists);
        lists.resize_with(starts.len(), Vec::new);
        let this = &*self;
        lists.par_iter_mut().enumerate().for_each(|(index, list)| {
            this.collect(index as u32, list);
        });
        self.lists = lists;
    }

    /// Allows a particle more, and tells its new neighbors.
    pub(super) fn allow(&mut self, particle: u32, way: f64) {
        let index = particle as usize;
        self.allowed[index] = way;
        self.furthest = self.furthest.max(self.radii[index] + way);
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

    /// Sorts particles into cells.
    fn sort(&mut self) {
        let count = self.starts.len();
        let fold = |start: DVec3, pick: fn(DVec3, DVec3) -> DVec3| {
            self.starts
                .iter()
                .fold(start, |best, &place| pick(best, place))
        };
        self.low = fold(DVec3::INFINITY, DVec3::min);
        let size = fold(DVec3::NEG_INFINITY, DVec3::max) - self.low;
        // As wide as the reach of two, unless that makes too many cells.
        self.width = (2.0 * self.furthest).max(f64::MIN_POSITIVE);
        let budget = (CELLS_PER_PARTICLE * count).max(1) as f64;
        loop {
            let along = (size / self.width).floor() + 1.0;
            if along.element_product() <= budget || count == 0 {
                self.along = along.to_array().map(|k| (k as usize).max(MIN_ALONG));
                break;
            }
            self.width *= 1.26;
        }
        if count == 0 {
            self.along = [MIN_ALONG; 3];
        }
        let cells: usize = self.along.iter().product();
        let mut of = std::mem::take(&mut self.cells);
        of.clear();
        of.extend(
            self.starts
                .iter()
                .map(|&place| self.cell(self.coordinates(place)) as u32),
        );
        self.first.clear();
        self.first.resize(cells + 1, 0);
        for &cell in &of {
            self.first[cell as usize + 1] += 1;
        }
        for k in 0..cells {
            self.first[k + 1] += self.first[k];
        }
        let mut next = self.first.clone();
        self.sorted.clear();
        self.sorted.resize(count, 0);
        for (&cell, particle) in of.iter().zip(0..) {
            let at = &mut next[cell as usize];
            self.sorted[*at as usize] = particle;
            *at += 1;
        }
        self.cells = of;
    }

    fn coordinates(&self, place: DVec3) -> [usize; 3] {
        let scaled = (place - self.low) / self.width;
        [0, 1, 2].map(|k| (scaled[k].max(0.0) as usize).min(self.along[k] - 1))
    }

    fn cell(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.along[1] + y) * self.along[0] + x
    }

    /// Everyone that a particle may meet.
    fn collect(&self, particle: u32, list: &mut Vec<u32>) {
        list.clear();
        let index = particle as usize;
        let own = self.radii[index] + self.allowed[index];
        let place = self.starts[index];
        let reach = DVec3::splat(own + self.furthest);
        let [low, high] = [place - reach, place + reach].map(|at| self.coordinates(at));
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                let row = self.cell([low[0], y, z])..=self.cell([high[0], y, z]);
                let [begin, end] = [*row.start(), *row.end() + 1].map(|k| self.first[k] as usize);
                for &other in &self.sorted[begin..end] {
                    let k = other as usize;
                    let far = own + self.radii[k] + self.allowed[k];
                    let near = self.starts[k].distance_squared(place) <= far * far;
                    if near && other != particle {
                        list.push(other);
                    }
                }
            }
        }
    }
}
