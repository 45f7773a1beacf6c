//! Spheres that are pushed apart until none overlap.

use glam::{DVec3, Vec3};
use thiserror::Error;

use crate::search::{HierarchicalGrid, PairBuffer, PairSearch, SearchError};
use crate::spheres::{SphereError, SphereSet};

/// How many times everyone is pushed at most.
const MOST_ROUNDS: usize = 20_000;

/// Part of an overlap that is taken back in a round: more than all, since a push into one
/// neighbor is a push out of the other.
const PUSH: f64 = 1.05;

/// Part of the gap by which pairs are found that do not yet overlap: the search has 32
/// bits.
const MARGIN: f64 = 0.5;

/// Why spheres cannot be put apart.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SeparationError {
    /// A sphere cannot be searched.
    #[error(transparent)]
    Sphere(#[from] SphereError),
    /// The search failed.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A sphere is larger than the box.
    #[error("sphere {sphere} of radius {radius} nm does not fit into a box of {side} nm")]
    TooLarge {
        /// Which sphere, counted from zero.
        sphere: u32,
        /// Its radius, nm.
        radius: f64,
        /// Side of the box, nm.
        side: f64,
    },
    /// They still overlap after a long time.
    #[error(
        "{overlaps} pairs of {count} spheres still overlap: they fill {fraction:.2} of the box"
    )]
    TooDense {
        /// Pairs that overlap.
        overlaps: usize,
        /// Number of spheres.
        count: usize,
        /// Part of the box that they fill.
        fraction: f64,
    },
}

/// Moves spheres in a box from the origin to `room` nm until they are `gap` nm apart from
/// each other and from its faces.
pub(super) fn separate(
    places: &mut [DVec3],
    radii: &[f64],
    gap: f64,
    room: DVec3,
) -> Result<(), SeparationError> {
    for (&radius, sphere) in radii.iter().zip(0..) {
        let side = room.min_element();
        // False also where they are not numbers.
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
    let mut pushes = vec![DVec3::ZERO; places.len()];
    let mut overlaps = 0;
    for _ in 0..MOST_ROUNDS {
        spheres.clear();
        for ((place, &radius), owner) in places.iter_mut().zip(radii).zip(0..) {
            let wall = DVec3::splat(radius + gap);
            *place = place.clamp(wall, room - wall);
            spheres.push(place.as_vec3(), radius as f32, owner)?;
        }
        search.find_pairs(&spheres, (gap * (1.0 + MARGIN)) as f32, &mut pairs)?;
        overlaps = 0;
        pushes.fill(DVec3::ZERO);
        for pair in pairs.iter() {
            let [a, b] = [pair.a as usize, pair.b as usize];
            let apart = places[b] - places[a];
            let distance = apart.length();
            let depth = radii[a] + radii[b] + gap - distance;
            if depth <= 0.0 {
                continue;
            }
            overlaps += 1;
            // Those in the same place part along any axis.
            let axis = DVec3::from(Vec3::AXES[a % 3]);
            let normal = apart.try_normalize().unwrap_or(axis);
            // The smaller one gives way; a little more than is needed, so that it ends.
            let share = radii[b] / (radii[a] + radii[b]).max(f64::MIN_POSITIVE);
            let push = (PUSH * depth + 0.1 * gap) * normal;
            pushes[a] -= share * push;
            pushes[b] += (1.0 - share) * push;
        }
        if overlaps == 0 {
            return Ok(());
        }
        for (place, push) in places.iter_mut().zip(&pushes) {
            *place += *push;
        }
    }
    let volume: f64 = radii.iter().map(|radius| radius.powi(3)).sum();
    Err(SeparationError::TooDense {
        overlaps,
        count: places.len(),
        fraction: 4.0 / 3.0 * std::f64::consts::PI * volume / room.element_product(),
    })
}
