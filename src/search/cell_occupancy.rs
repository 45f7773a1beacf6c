//! Mean number of spheres per cell: table 1 of Turk (1989).
//!
//! For comparison with the paper only. The searches put each sphere into a single cell.

use std::collections::{BTreeMap, BTreeSet};

use super::SearchError;
use super::hash_grid::{Cell, MIN_SLOTS, SPREAD};
use crate::spheres::SphereSet;

/// Multiplier that mixes the bits: 2⁶⁴ divided by the golden ratio.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mean number of spheres per occupied cell, as in table 1 of the paper.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CellOccupancy {
    /// Without hashing.
    pub full: f64,
    /// With cells hashed to the 4096 slots of the paper.
    pub hashed: f64,
}

/// Puts each sphere into all cells that it overlaps, with cells as wide as the largest sphere,
/// as in the paper. Zero if no sphere has a size.
///
/// # Errors
/// [`SearchError`] if a sphere is invalid.
pub fn cell_occupancy(spheres: &SphereSet) -> Result<CellOccupancy, SearchError> {
    let extent = spheres.extent()?;
    let width = 2.0 * f64::from(extent.largest_radius);
    if spheres.is_empty() || width <= 0.0 {
        return Ok(CellOccupancy::default());
    }
    let mut cells: BTreeMap<Cell, u64> = BTreeMap::new();
    for index in 0..spheres.len() {
        let (center, radius) = (spheres.center(index).as_dvec3(), spheres.radius(index));
        let corner = |sign: f64| {
            ((center + sign * f64::from(radius)) / width)
                .floor()
                .as_i64vec3()
        };
        let (low, high) = (corner(-1.0), corner(1.0));
        for x in low.x..=high.x {
            for y in low.y..=high.y {
                for z in low.z..=high.z {
                    // The corner of the cell may still be out of reach.
                    let cell = glam::I64Vec3::new(x, y, z).as_dvec3() * width;
                    let nearest = center.clamp(cell, cell + width);
                    if nearest.distance(center) < f64::from(radius) {
                        *cells.entry([x, y, z]).or_default() += 1;
                    }
                }
            }
        }
    }
    let entries: u64 = cells.values().sum();
    let slots: BTreeSet<u64> = cells
        .keys()
        .map(|cell| hash(*cell) & (MIN_SLOTS as u64 - 1))
        .collect();
    Ok(CellOccupancy {
        full: entries as f64 / cells.len().max(1) as f64,
        hashed: entries as f64 / slots.len().max(1) as f64,
    })
}

/// Hash of a cell with well-mixed lower bits.
fn hash(cell: Cell) -> u64 {
    let sum = (0..3).fold(0, |sum: u64, k| {
        sum.wrapping_add((cell[k] as u64).wrapping_mul(SPREAD[k]))
    });
    // The upper bits of the product are well mixed.
    sum.wrapping_mul(MIX) >> 32
}
