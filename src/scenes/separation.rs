//! Separates overlapping spheres in a box.

use glam::{DVec3, Vec3};
use thiserror::Error;

use crate::search::{HierarchicalGrid, PairBuffer, PairSearch, SearchError};
use crate::spheres::{SphereError, SphereSet};

/// Maximum number of iterations.
const MAX_ITERATIONS: usize = 20_000;

/// Fraction of an overlap that is removed per iteration: more than one, since a push away from
/// one neighbor is a push into another.
const OVER_RELAXATION: f64 = 1.05;

/// Margin of the pair search beyond the gap, as a fraction of the gap: the search uses f32.
const MARGIN: f64 = 0.5;

/// Why the spheres of a scene still overlap.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SeparationError {
    /// A sphere is invalid.
    #[error(transparent)]
    Sphere(#[from] SphereError),
    /// The search failed.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A sphere is larger than the box.
    #[error("sphere {sphere} of radius {radius} nm does not fit into a box of {side} nm")]
    TooLarge {
        /// Index of the sphere.
        sphere: u32,
        /// Its radius, nm.
        radius: f64,
        /// Side of the box, nm.
        side: f64,
    },
    /// Spheres still overlap after the maximum number of iterations.
    #[error(
        "{overlaps} pairs of {count} spheres still overlap: they fill {fraction:.2} of the box"
    )]
    TooDense {
        /// Overlapping pairs.
        overlaps: usize,
        /// Number of spheres.
        count: usize,
        /// Volume fraction of the spheres in the box.
        fraction: f64,
    },
}

/// Moves spheres in the box from the origin to `size` (nm) until they are `gap` nm apart from
/// each other and from its faces.
pub(super) fn separate(
    positions: &mut [DVec3],
    radii: &[f64],
    gap: f64,
    size: DVec3,
) -> Result<(), SeparationError> {
    for (&radius, sphere) in radii.iter().zip(0..) {
        let side = size.min_element();
        // False for NaN, too.
        let fits = 2.0 * (radius + gap) < side;
        if !fits {
            return Err(SeparationError::TooLarge {
                sphere,
                radius,
                side,
            });
        }
    }
    let (mut search, mut pairs) = (HierarchicalGrid::new(), PairBuffer::new());
    let mut spheres = SphereSet::new();
    let mut pushes = vec![DVec3::ZERO; positions.len()];
    let mut overlaps = 0;
    for _ in 0..MAX_ITERATIONS {
        spheres.clear();
        for ((position, &radius), owner) in positions.iter_mut().zip(radii).zip(0..) {
            let wall = DVec3::splat(radius + gap);
            *position = position.clamp(wall, size - wall);
            spheres.push(position.as_vec3(), radius as f32, owner)?;
        }
        search.find_pairs(&spheres, (gap * (1.0 + MARGIN)) as f32, &mut pairs)?;
        overlaps = 0;
        pushes.fill(DVec3::ZERO);
        for pair in pairs.iter() {
            let [a, b] = [pair.a as usize, pair.b as usize];
            let difference = positions[b] - positions[a];
            let distance = difference.length();
            let depth = radii[a] + radii[b] + gap - distance;
            if depth <= 0.0 {
                continue;
            }
            overlaps += 1;
            // Coincident spheres separate along some axis.
            let axis = DVec3::from(Vec3::AXES[a % 3]);
            let normal = difference.try_normalize().unwrap_or(axis);
            // The smaller sphere moves further; the extra tenth of the gap ensures progress.
            let share = radii[b] / (radii[a] + radii[b]).max(f64::MIN_POSITIVE);
            let push = (OVER_RELAXATION * depth + 0.1 * gap) * normal;
            pushes[a] -= share * push;
            pushes[b] += (1.0 - share) * push;
        }
        if overlaps == 0 {
            return Ok(());
        }
        for (position, push) in positions.iter_mut().zip(&pushes) {
            *position += *push;
        }
    }
    let volume: f64 = radii.iter().map(|radius| radius.powi(3)).sum();
    Err(SeparationError::TooDense {
        overlaps,
        count: positions.len(),
        fraction: 4.0 / 3.0 * std::f64::consts::PI * volume / size.element_product(),
    })
}
