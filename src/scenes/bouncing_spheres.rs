//! [`BouncingSpheres`]: spheres in a box with piecewise constant accelerations.
//!
//! Trajectories are exact, whatever the times at which they are sampled. Collisions with each
//! other and with the walls are elastic.

use glam::{DVec3, Vec3};
use thiserror::Error;

use crate::motion::CollisionPartner;
use crate::motion::time_of_impact::Wall;
use crate::motion::unknown_trajectories::{Contact, MovingSphere, Probe};
use crate::search::{HierarchicalGrid, PairBuffer, PairSearch, SearchError};
use crate::spheres::{SphereError, SphereSet};

/// Initial gap between spheres, as a fraction of the largest radius.
const INITIAL_GAP: f64 = 1.0e-3;

/// Spheres in a cube with one corner at the origin.
#[derive(Clone, Debug)]
pub(super) struct BouncingSpheres {
    /// Side of the box, nm.
    side: f64,
    /// Radii and acceleration bounds.
    pub(super) spheres: Vec<MovingSphere>,
    /// Masses, Da: cubes of the radii in nm.
    pub(super) masses: Vec<f64>,
    states: Vec<SphereState>,
}

impl BouncingSpheres {
    /// Spheres close to `positions` (nm) with `velocities` (nm/s), separated so that none
    /// overlap. Accelerations are zero.
    pub(super) fn new(
        side: f64,
        spheres: Vec<MovingSphere>,
        mut positions: Vec<DVec3>,
        velocities: &[DVec3],
    ) -> Result<Self, SeparationError> {
        let radii: Vec<f64> = spheres.iter().map(|sphere| sphere.radius).collect();
        let largest = radii.iter().copied().fold(0.0, f64::max);
        let gap = INITIAL_GAP * largest;
        separate(&mut positions, &radii, gap, DVec3::splat(side))?;
        let starts = positions.iter().zip(velocities);
        Ok(Self {
            side,
            masses: radii.iter().map(|radius| radius.powi(3)).collect(),
            states: starts
                .map(|(&position, &velocity)| SphereState {
                    time: 0.0,
                    position,
                    velocity,
                    acceleration: DVec3::ZERO,
                    piece: 0,
                })
                .collect(),
            spheres,
        })
    }

    /// Sets the first acceleration of each sphere, from its index and state.
    pub(super) fn set_accelerations(&mut self, acceleration: impl Fn(u32, &SphereState) -> DVec3) {
        for (state, index) in self.states.iter_mut().zip(0..) {
            state.acceleration = acceleration(index, state);
        }
    }

    /// The faces of the box.
    pub(super) fn walls(&self) -> Vec<Wall> {
        Wall::box_faces(DVec3::ZERO, DVec3::splat(self.side)).to_vec()
    }

    /// State of a sphere at a time, s: see [`SphereState::advance`].
    pub(super) fn probe(
        &mut self,
        sphere: u32,
        time: f64,
        duration: f64,
        acceleration: impl Fn(&SphereState, u64) -> DVec3,
    ) -> Probe {
        let state = &mut self.states[sphere as usize];
        state.advance(time, duration, acceleration);
        Probe {
            position: state.position,
            velocity: state.velocity,
        }
    }

    /// Resolves an elastic collision.
    pub(super) fn bounce(&mut self, contact: &Contact) {
        let mass = self.masses[contact.sphere as usize];
        let other = match contact.other {
            CollisionPartner::Sphere(other) => self.masses[other as usize],
            CollisionPartner::Wall(_) => f64::INFINITY,
        };
        let impulse = contact.elastic_impulse(mass, other) * contact.normal;
        self.states[contact.sphere as usize].velocity -= impulse / mass;
        if let CollisionPartner::Sphere(index) = contact.other {
            self.states[index as usize].velocity += impulse / other;
        }
    }
}

/// State of a sphere at its own time.
#[derive(Clone, Copy, Debug)]
pub(super) struct SphereState {
    /// Time of this state, s.
    time: f64,
    pub(super) position: DVec3,
    pub(super) velocity: DVec3,
    /// Current acceleration, nm/s².
    acceleration: DVec3,
    /// Index of the current piece of constant acceleration.
    piece: u64,
}

impl SphereState {
    /// Advances to a time, s, in pieces of `duration` s. `acceleration` returns the acceleration
    /// of a piece from the state at its beginning and its index.
    fn advance(&mut self, time: f64, duration: f64, acceleration: impl Fn(&Self, u64) -> DVec3) {
        loop {
            let end = (self.piece + 1) as f64 * duration;
            let target = time.min(end);
            let step = target - self.time;
            if step > 0.0 {
                self.position += step * (self.velocity + 0.5 * step * self.acceleration);
                self.velocity += step * self.acceleration;
                self.time = target;
            }
            if time < end {
                return;
            }
            self.piece += 1;
            self.acceleration = acceleration(self, self.piece);
        }
    }
}

/// Maximum number of iterations of [`separate`].
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
fn separate(
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
