//! How large subspaces should be.
//!
//! Large ones hold many bounds to compare with; small ones are crossed often, and reset
//! their bounds often. The model estimates the work of a second, for spheres that are
//! spread evenly: for each sphere
//!
//! ```text
//! (resets + collisions) × (RENEW + CHECK × neighbors)
//!     + crossings × (CROSS + CHECK × neighbors × part that is new)
//! ```
//!
//! - *resets*: √(A / (L − 2 r)) a second (equation 8), for a side of L;
//! - *collisions* of bounds: those of the spheres in a gas, n π (rᵢ + rⱼ)² |v|, more often in
//!   a dense one by (1 − φ/2) / (1 − φ)³ (Carnahan and Starling), where φ is the part of
//!   space that is filled; times the number of times that their bounds collide before;
//! - *crossings*: with the sum of the sizes of its speeds along the axes, a center passes
//!   about 3/2 |v| / L faces a second,
//!   and a bound enters and leaves at each;
//! - *neighbors*: two bounds as wide as dᵢ and dⱼ share a subspace of side L along an axis
//!   if they are within L + dᵢ + dⱼ of each other, on average: n (L + dᵢ + dⱼ)³ do.

use super::TimeVaryingBound;
use super::grids::{MOST_LEVELS, RADII_PER_SIDE, level};

/// Work of a renewed bound, in units of a comparison.
const RENEW: f64 = 16.0;

/// Work of a crossing, in units of a comparison.
const CROSS: f64 = 8.0;

/// Collisions of bounds for each collision of spheres.
const LOOKS: f64 = 5.0;

/// Part of the neighbors that are new behind a face.
const NEW: f64 = 0.4;

/// Part of space that spheres fill at most.
const DENSEST: f64 = 0.64;

/// Sides that are tried for each doubling.
const TRIES: i32 = 3;

/// Spheres of one grid, taken together.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    count: f64,
    radius: f64,
    speed: f64,
    acceleration: f64,
}

/// The best side of the finest subspaces, nm, for bounds in a volume in nm³.
pub(super) fn best_side(bounds: &[TimeVaryingBound], volume: f64) -> f64 {
    let largest = bounds.iter().map(|bound| bound.radius).fold(0.0, f64::max);
    let count = bounds.len().max(1) as f64;
    let spacing = (volume / count).cbrt();
    // Points need subspaces, too, and everyone in the same place as well.
    let narrowest = if largest > 0.0 {
        RADII_PER_SIDE * largest
    } else {
        spacing
    };
    let top = if narrowest > 0.0 && narrowest.is_finite() {
        narrowest
    } else {
        1.0
    };
    let sides = (-TRIES * (MOST_LEVELS as i32 - 2)..=2 * TRIES)
        .map(|k| top * (f64::from(k) / f64::from(TRIES)).exp2());
    let costs = sides.map(|side| (cost(bounds, volume, side), side));
    let best = costs.min_by(|one, other| one.0.total_cmp(&other.0));
    best.map_or(top, |(_, side)| side)
}

fn cost(bounds: &[TimeVaryingBound], volume: f64, finest: f64) -> f64 {
    let mut groups = [Group::default(); MOST_LEVELS];
    for bound in bounds {
        let group = &mut groups[level(finest, bound.radius)];
        group.count += 1.0;
        group.radius += bound.radius;
        group.speed += bound.velocity.length();
        group.acceleration += bound.acceleration;
    }
    for group in &mut groups {
        let count = group.count.max(1.0);
        group.radius /= count;
        group.speed /= count;
        group.acceleration /= count;
    }
    let volume = volume.max(f64::MIN_POSITIVE);
    let cubes: f64 = bounds.iter().map(|bound| bound.radius.powi(3)).sum();
    let filled = (4.0 / 3.0 * std::f64::consts::PI * cubes / volume).min(DENSEST);
    let crowding = (1.0 - 0.5 * filled) / (1.0 - filled).powi(3);
    let mut total = 0.0;
    for (k, one) in groups
        .iter()
        .enumerate()
        .filter(|(_, group)| group.count > 0.0)
    {
        let side = finest * f64::from(1 << k);
        let (mut neighbors, mut collisions) = (0.0, 0.0);
        for (j, other) in groups
            .iter()
            .enumerate()
            .filter(|(_, group)| group.count > 0.0)
        {
            let coarser = finest * f64::from(1 << k.max(j));
            // Bounds are about half as large again as their spheres on average.
            let width = coarser + 3.0 * (one.radius + other.radius);
            neighbors += other.count * (width.powi(3) / volume).min(1.0);
            let reach = one.radius + other.radius;
            let cross_section = std::f64::consts::PI * reach * reach;
            collisions += other.count / volume * cross_section * one.speed.hypot(other.speed);
        }
        let resets = (one.acceleration / (side - 2.0 * one.radius)).sqrt();
        let crossings = 3.0 * one.speed / side;
        total += one.count
            * ((resets + LOOKS * crowding * collisions) * (RENEW + neighbors)
                + crossings * (CROSS + NEW * neighbors));
    }
    total
}
