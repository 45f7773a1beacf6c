//! [`BouncingSpheres`]: spheres in a box with piecewise constant accelerations.
//!
//! Trajectories are exact, whatever the times at which they are sampled. Collisions with each
//! other and with the walls are elastic.

use glam::DVec3;

use super::separation::{SeparationError, separate};
use crate::motion::CollisionPartner;
use crate::motion::time_of_impact::Wall;
use crate::motion::unknown_trajectories::{Contact, MovingSphere, Probe};

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

    /// Resolves an elastic collision. Returns the impulse of the first sphere on the other,
    /// Da·nm/s.
    pub(super) fn bounce(&mut self, contact: &Contact) -> DVec3 {
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
        impulse
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
