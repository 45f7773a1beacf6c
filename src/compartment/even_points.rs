//! [`even_points`]: points spread evenly over a surface.
//!
//! Surfaces without a pattern get blue noise: five times as many uniform samples as needed, of
//! which those with the closest neighbors are eliminated one by one (C. Yuksel, *Sample
//! Elimination for Generating Poisson Disk Sample Sets*, 2015). Points that are still closer than
//! in a hexagonal lattice then repel each other along the surface.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use glam::{IVec3, Vec3};
use rand::Rng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::Surface;

/// Samples per point.
const OVERSAMPLING: usize = 5;

/// Iterations of the repulsion.
const ITERATIONS: usize = 30;

/// Range of the repulsion, as a fraction of the spacing of a hexagonal lattice.
const RANGE: f32 = 1.1;

/// Movement in an iteration per overlap of two ranges.
const STEP: f32 = 0.35;

/// Cosine of the angle between normals below which points belong to two opposite sides of a thin
/// part and do not see each other.
const OPPOSITE: f32 = -0.5;

/// Distance from the offset surface up to which a point lies on it, as a fraction of the spacing.
const ON_SURFACE: f32 = 1.0e-4;

/// Exactly `count` points spread evenly over the surface offset outwards by `offset` (nm), in
/// random order, so that whatever takes the first of them is spread evenly too.
///
/// A [`SphereShell`](super::SphereShell) has a spiral and a [`FlatPatch`](super::FlatPatch) an
/// almost hexagonal lattice that is even across its faces. On any other surface, nearest neighbors
/// of a hundred points or more are at least 0.7 of the spacing of a hexagonal lattice apart; points
/// on opposite sides of a thin part do not count as neighbors. The same seed gives the same points.
/// If nothing is left of the surface at that offset, they are samples.
///
/// ```
/// use bevy_rapier_molecules::compartment::{ShapeCompartment, Surface, even_points};
/// use bevy_rapier_molecules::pose::Pose;
/// use rand::SeedableRng;
///
/// let cell = ShapeCompartment::capsule(10.0, 6.0, Pose::IDENTITY)?;
/// let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(1);
/// let heads = even_points(&cell, 1.8, 500, &mut random);
/// assert_eq!(heads.len(), 500);
/// assert!(heads.iter().all(|head| (cell.signed_distance(*head) - 1.8).abs() < 1e-3));
/// # Ok::<(), bevy_rapier_molecules::compartment::CompartmentError>(())
/// ```
#[must_use]
pub fn even_points(
    surface: &dyn Surface,
    offset: f32,
    count: usize,
    random: &mut dyn Rng,
) -> Vec<Vec3> {
    let mut points = surface
        .even_pattern(offset, count, random)
        .unwrap_or_else(|| blue_noise(surface, offset, count, random));
    points.shuffle(random);
    points
}

/// Eliminated and relaxed samples.
fn blue_noise(surface: &dyn Surface, offset: f32, count: usize, random: &mut dyn Rng) -> Vec<Vec3> {
    let mut sample = |count| -> Vec<Vec3> {
        let points = (0..count).map(|_| surface.sample(offset, random));
        points.collect()
    };
    let spacing = hexagonal_spacing(surface.area_at(offset), count);
    if count < 2 || !(spacing.is_finite() && spacing > 0.0) {
        return sample(count);
    }
    let samples = sample(count.saturating_mul(OVERSAMPLING));
    let mut sites = sites(surface, offset, &samples, spacing);
    eliminate(&mut sites, count, spacing);
    for _ in 0..ITERATIONS {
        let moved = repelled(&sites, spacing);
        let mut moved = self::sites(surface, offset, &moved, spacing);
        for (site, moved) in sites.iter().zip(&mut moved) {
            // A point that fell off at a sharp edge stays.
            if !moved.is_on_surface {
                *moved = *site;
            }
        }
        sites = moved;
    }
    sites.iter().map(|site| site.position).collect()
}

/// Distance of neighbors in a hexagonal lattice of `count` points on a plane of that area (nm²).
fn hexagonal_spacing(area: f32, count: usize) -> f32 {
    (2.0 / 3.0_f32.sqrt() * area / count as f32).sqrt()
}

/// A point of the offset surface.
#[derive(Clone, Copy, Debug)]
struct Site {
    position: Vec3,
    normal: Vec3,
    is_on_surface: bool,
}

impl Site {
    /// Whether both belong to the same side of the surface, not to opposite ones of a thin part.
    fn sees(&self, other: &Self) -> bool {
        self.normal.dot(other.normal) > OPPOSITE
    }
}

/// The points moved onto the offset surface along its normals.
fn sites(surface: &dyn Surface, offset: f32, points: &[Vec3], spacing: f32) -> Vec<Site> {
    let site = |&point: &Vec3| {
        let mut position = point;
        let mut here = surface.distance_and_normal(position);
        let mut is_on_surface = false;
        // One step is exact, except across the medial axis.
        for _ in 0..3 {
            is_on_surface = (here.distance - offset).abs() <= ON_SURFACE * spacing;
            position += here.normal * (offset - here.distance);
            if is_on_surface {
                break;
            }
            here = surface.distance_and_normal(position);
        }
        Site {
            position,
            normal: here.normal,
            is_on_surface,
        }
    };
    points.par_iter().map(site).collect()
}

/// Moves points away from their neighbors, along the surface.
fn repelled(sites: &[Site], spacing: f32) -> Vec<Vec3> {
    let range = RANGE * spacing;
    let grid = Grid::new(sites, range);
    let moved = |(index, site): (usize, &Site)| {
        let mut push = Vec3::ZERO;
        grid.for_each_near(site.position, |other| {
            let arm = site.position - sites[other].position;
            let distance = arm.length();
            if other != index && distance < range && site.sees(&sites[other]) && distance > 0.0 {
                push += arm * ((range - distance) / distance);
            }
        });
        push -= site.normal * push.dot(site.normal);
        site.position + (push * STEP).clamp_length_max(0.3 * spacing)
    };
    sites.par_iter().enumerate().map(moved).collect()
}

/// A site in the queue of the elimination: the one with the largest weight, then the smallest
/// index, comes first.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Queued {
    weight: f32,
    index: usize,
}

impl Eq for Queued {}

impl Ord for Queued {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_weight = self.weight.total_cmp(&other.weight);
        by_weight.then(other.index.cmp(&self.index))
    }
}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Removes sites until `count` are left, each time the one with the closest neighbors.
fn eliminate(sites: &mut Vec<Site>, count: usize, spacing: f32) {
    // Yuksel's exponents; neighbors closer than `least` all weigh the same.
    let share = count as f32 / sites.len() as f32;
    let least = 0.65 * spacing * (1.0 - share.powf(1.5));
    let neighbors = Grid::new(sites, spacing).neighbors(sites, |distance| {
        (1.0 - distance.max(least) / spacing).powi(8)
    });
    let mut weights: Vec<f32> = neighbors
        .iter()
        .map(|near| near.iter().map(|(_, weight)| weight).sum())
        .collect();
    let queued = weights.iter().copied().enumerate();
    let mut queue: BinaryHeap<Queued> = queued
        .map(|(index, weight)| Queued { weight, index })
        .collect();
    let mut is_left = vec![true; sites.len()];
    let mut left = sites.len();
    while left > count
        && let Some(Queued { weight, index }) = queue.pop()
    {
        // Weights only decrease; an old one is queued again with its current value.
        if weights[index] != weight {
            let weight = weights[index];
            queue.push(Queued { weight, index });
            continue;
        }
        is_left[index] = false;
        left -= 1;
        for &(other, weight) in &neighbors[index] {
            weights[other as usize] -= weight;
        }
    }
    let mut is_left = is_left.into_iter();
    sites.retain(|_| is_left.next().unwrap_or(false));
}

/// Sites sorted by cells.
struct Grid {
    corner: Vec3,
    cell: f32,
    /// Cell (z, y, x) and index of each site.
    entries: Vec<([i32; 3], u32)>,
}

impl Grid {
    fn new(sites: &[Site], cell: f32) -> Self {
        let positions = sites.iter().map(|site| site.position);
        let corner = positions.fold(Vec3::INFINITY, Vec3::min);
        let mut grid = Self {
            corner,
            cell,
            entries: Vec::new(),
        };
        let entry = |(index, site): (usize, &Site)| {
            let cell = grid.cell_of(site.position);
            ([cell.z, cell.y, cell.x], index as u32)
        };
        let mut entries: Vec<_> = sites.par_iter().enumerate().map(entry).collect();
        entries.par_sort_unstable();
        grid.entries = entries;
        grid
    }

    fn cell_of(&self, point: Vec3) -> IVec3 {
        ((point - self.corner) / self.cell).floor().as_ivec3()
    }

    /// Visits all sites in the cell of a point and the cells around it, in a fixed order.
    fn for_each_near(&self, point: Vec3, mut visit: impl FnMut(usize)) {
        let IVec3 { x, y, z } = self.cell_of(point);
        let around = |middle: i32| [-1, 0, 1].map(|step| middle.saturating_add(step));
        let [before, _, after] = around(x);
        for z in around(z) {
            for y in around(y) {
                let first = self
                    .entries
                    .partition_point(|(cell, _)| *cell < [z, y, before]);
                let row = self.entries[first..].iter();
                row.take_while(|(cell, _)| *cell <= [z, y, after])
                    .for_each(|&(_, index)| visit(index as usize));
            }
        }
    }

    /// The neighbors of each site that it sees, closer than a cell, and their weights by distance.
    fn neighbors(
        &self,
        sites: &[Site],
        weight: impl Fn(f32) -> f32 + Sync,
    ) -> Vec<Vec<(u32, f32)>> {
        let near = |(index, site): (usize, &Site)| {
            let mut near = Vec::new();
            self.for_each_near(site.position, |other| {
                let distance = site.position.distance(sites[other].position);
                if other != index && distance < self.cell && site.sees(&sites[other]) {
                    near.push((other as u32, weight(distance)));
                }
            });
            near
        };
        sites.par_iter().enumerate().map(near).collect()
    }
}
