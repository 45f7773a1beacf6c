//! Cost model for the size of grid cells.
//!
//! Large cells hold many bounds to test; small cells are crossed often and reset their bounds
//! often. For evenly distributed spheres the model estimates the work per second. Per sphere it is
//!
//! ```text
//! (resets + collisions) × (RENEW + neighbors)
//!     + crossings × (CROSS + NEW × neighbors)
//! ```
//!
//! - *resets*: √(A / (L − 2 r)) per second (equation 8), for cells of side L;
//! - *collisions* of bounds: the collision rate of a gas, n π (rᵢ + rⱼ)² |v|, times
//!   (1 − φ/2) / (1 − φ)³ for the filled fraction φ of space (Carnahan and Starling), times
//!   the number of collisions of bounds per collision of spheres;
//! - *crossings*: a center crosses about 3/2 |v| / L faces per second, and the bound enters and
//!   leaves a cell at each;
//! - *neighbors*: bounds of widths dᵢ and dⱼ share a cell of side L along an axis if they are
//!   within L + dᵢ + dⱼ of each other on average, so there are n (L + dᵢ + dⱼ)³.

use super::TimeVaryingBound;
use super::grid_hierarchy::{MAX_LEVELS, level};

/// Cost of renewing a bound, in units of a pair test.
const RENEW: f64 = 16.0;

/// Cost of a crossing, in units of a pair test.
const CROSS: f64 = 8.0;

/// Collisions of bounds per collision of spheres.
const BOUND_COLLISIONS: f64 = 5.0;

/// Fraction of the neighbors that are new behind a face.
const NEW: f64 = 0.4;

/// Maximum filled fraction of space: random close packing.
const MAX_FILLED: f64 = 0.64;

/// Sizes tried per factor of two.
const SIZES_PER_OCTAVE: i32 = 3;

/// Totals, then means, of the spheres of one grid.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    count: f64,
    radius: f64,
    speed: f64,
    acceleration: f64,
}

/// The best side of the finest cells, nm, for bounds in a volume in nm³ whose cells are at
/// least `radii_per_cell` radii wide.
pub(super) fn best_cell_size(bounds: &[TimeVaryingBound], radii_per_cell: f64, volume: f64) -> f64 {
    let max_radius = bounds.iter().map(|bound| bound.radius).fold(0.0, f64::max);
    let count = bounds.len().max(1) as f64;
    let spacing = (volume / count).cbrt();
    // Points have no radius, and coincident spheres no spacing.
    let fitting = if max_radius > 0.0 {
        radii_per_cell * max_radius
    } else {
        spacing
    };
    let base = if fitting > 0.0 && fitting.is_finite() {
        fitting
    } else {
        1.0
    };
    let sizes = (-SIZES_PER_OCTAVE * (MAX_LEVELS as i32 - 2)..=2 * SIZES_PER_OCTAVE)
        .map(|k| base * (f64::from(k) / f64::from(SIZES_PER_OCTAVE)).exp2());
    let costs = sizes.map(|size| (cost(bounds, radii_per_cell, volume, size), size));
    let best = costs.min_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or(base, |(_, size)| size)
}

/// Estimated work per second for a size of the finest cells.
fn cost(bounds: &[TimeVaryingBound], radii_per_cell: f64, volume: f64, finest: f64) -> f64 {
    let mut groups = [Group::default(); MAX_LEVELS];
    for bound in bounds {
        let group = &mut groups[level(finest, radii_per_cell * bound.radius)];
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
    let filled = (4.0 / 3.0 * std::f64::consts::PI * cubes / volume).min(MAX_FILLED);
    let crowding = (1.0 - 0.5 * filled) / (1.0 - filled).powi(3);
    let occupied = || (0..).zip(&groups).filter(|(_, group)| group.count > 0.0);
    let cell_size = |level: u32| finest * f64::from(1 << level);
    let mut total = 0.0;
    for (i, one) in occupied() {
        let (mut neighbors, mut collisions) = (0.0, 0.0);
        for (j, other) in occupied() {
            // Bounds are about 1.5 times as large as their spheres on average.
            let width = cell_size(i.max(j)) + 3.0 * (one.radius + other.radius);
            neighbors += other.count * (width.powi(3) / volume).min(1.0);
            let reach = one.radius + other.radius;
            let cross_section = std::f64::consts::PI * reach * reach;
            collisions += other.count / volume * cross_section * one.speed.hypot(other.speed);
        }
        let resets = (one.acceleration / (cell_size(i) - 2.0 * one.radius)).sqrt();
        let crossings = 3.0 * one.speed / cell_size(i);
        total += one.count
            * ((resets + BOUND_COLLISIONS * crowding * collisions) * (RENEW + neighbors)
                + crossings * (CROSS + NEW * neighbors));
    }
    total
}
