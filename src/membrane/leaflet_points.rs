//! [`free_points`]: an exact number of evenly spread points between proteins.
//!
//! 1. Spread more points than needed evenly over the whole surface;
//! 2. drop those inside a protein;
//! 3. repeat with more or fewer points until exactly or slightly more than the number are left;
//! 4. of the surplus, drop those closest to a protein.

use glam::{Vec2, Vec3};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

use super::protein_outline::{LipidLine, PlacedOutlines};
use super::protein_places::wrapped;
use crate::compartment::{Surface, even_points};

/// Most numbers of points that are tried while too few are left.
const MAX_TRIES: usize = 40;

/// Numbers of points that are tried to make the surplus smaller.
const GOOD_TRIES: usize = 10;

/// The surplus that is dropped without another try is one point, and one of this many.
const SURPLUS: usize = 500;

/// Most points per point that is left. Beyond it, the gaps between proteins are not worth it.
const MAX_OVERSAMPLING: usize = 64;

/// Where the lipids of a leaflet go.
pub(super) struct LeafletPoints<'a> {
    pub surface: &'a dyn Surface,
    /// Distance of the plane of the leaflet from the surface along the normal, nm.
    pub offset: f32,
    /// Heights of centers of mass above the plane along the normal, nm.
    pub heights: &'a [f32],
    /// The edges along x and y, nm, if the surface is periodic.
    pub period: Option<Vec2>,
    pub proteins: &'a PlacedOutlines<'a>,
    /// Part of the area that is not covered by proteins.
    pub free_part: f32,
}

/// Exactly `count` points, in random order; none if the gaps between the proteins are too narrow.
pub(super) fn free_points(leaflet: &LeafletPoints, count: usize, seed: u64) -> Option<Vec<Vec3>> {
    let spread = |total: usize| {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let points = even_points(leaflet.surface, leaflet.offset, total, &mut random);
        let free = points.into_par_iter().filter_map(|point| {
            let line = LipidLine {
                point: wrapped(point, leaflet.period),
                normal: leaflet.surface.normal(point),
                heights: leaflet.heights,
            };
            Some((leaflet.proteins.clearance(&line)?, point))
        });
        free.collect::<Vec<(f32, Vec3)>>()
    };
    let limit = count.saturating_mul(MAX_OVERSAMPLING) + 1000;
    let mut total = (count as f64 / f64::from(leaflet.free_part)).ceil() as usize;
    let mut tried = Vec::new();
    let mut best: Option<Vec<(f32, Vec3)>> = None;
    for attempt in 0..MAX_TRIES {
        // The number of points left goes up and down by chance.
        while tried.contains(&total) {
            total += 1;
        }
        if total > limit || (attempt >= GOOD_TRIES && best.is_some()) {
            break;
        }
        tried.push(total);
        let free = spread(total);
        let left = free.len();
        let per_point = total as f64 / left.max(1) as f64;
        if left < count {
            let step = (count - left) as f64 * per_point;
            total += (step.ceil() as usize).clamp(1, total + 1);
            continue;
        }
        let surplus = left - count;
        if best.as_ref().is_none_or(|best| left < best.len()) {
            best = Some(free);
        }
        if surplus <= 1 + count / SURPLUS {
            break;
        }
        let step = surplus as f64 * per_point;
        total = total.saturating_sub(step.floor() as usize).max(count);
    }
    best.map(|free| without_closest(free, count))
}

/// The first `count` points by distance from a protein, the furthest first; in their order.
fn without_closest(free: Vec<(f32, Vec3)>, count: usize) -> Vec<Vec3> {
    let mut order: Vec<usize> = (0..free.len()).collect();
    order.sort_by(|&a, &b| free[b].0.total_cmp(&free[a].0).then(a.cmp(&b)));
    order.truncate(count);
    order.sort_unstable();
    order.into_iter().map(|index| free[index].1).collect()
}
