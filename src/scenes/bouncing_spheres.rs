//! Spheres in a box whose accelerations are constant for a while, then others: their ways
//! are exact, however often they are asked for. Collisions are elastic, with each other and
//! with the walls.

use glam::DVec3;

use super::separation::{SeparationError, separate};
use crate::motion::CollisionPartner;
use crate::motion::time_of_impact::Wall;
use crate::motion::unknown_trajectories::{Contact, MovingSphere, Probe};

/// Gap between spheres at the start, as a part of the largest radius.
const GAP: f64 = 1.0e-3;

/// Spheres in a box from the origin to its side.
#[derive(Clone, Debug)]
pub(super) struct BouncingSpheres {
    /// Side of the box, nm.
    side: f64,
    /// Radii and bounds.
    pub(super) spheres: Vec<MovingSphere>,
    /// Volumes (nm³) but for a factor; Da.
    pub(super) masses: Vec<f64>,
    travelers: Vec<SphereState>,
}

impl BouncingSpheres {
    /// Spheres near `places` (nm), where none overlap, with `velocities` (nm/s). Nobody
    /// pushes them yet.
    pub(super) fn new(
        side: f64,
        spheres: Vec<MovingSphere>,
        mut places: Vec<DVec3>,
        velocities: &[DVec3],
    ) -> Result<Self, SeparationError> {
        let radii: Vec<f64> = spheres.iter().map(|sphere| sphere.radius).collect();
        let largest = radii.iter().copied().fold(0.0, f64::max);
        separate(&mut places, &radii, GAP * largest, DVec3::splat(side))?;
        let starts = places.iter().zip(velocities);
        Ok(Self {
            side,
            masses: radii.iter().map(|radius| radius.powi(3)).collect(),
            travelers: starts
                .map(|(&place, &velocity)| SphereState::new(place, velocity))
                .collect(),
            spheres,
        })
    }

    /// Gives each sphere its first acceleration, by its index and where it is.
    pub(super) fn push_all(&mut self, push: impl Fn(u32, &SphereState) -> DVec3) {
        for (traveler, index) in self.travelers.iter_mut().zip(0..) {
            traveler.acceleration = push(index, traveler);
        }
    }

    /// The faces of the box.
    pub(super) fn walls(&self) -> Vec<Wall> {
        Wall::box_faces(DVec3::ZERO, DVec3::splat(self.side)).to_vec()
    }

    /// Where a sphere is at a time, s: see [`SphereState::go`].
    pub(super) fn probe(
        &mut self,
        sphere: u32,
        time: f64,
        length: f64,
        push: impl Fn(&SphereState, u64) -> DVec3,
    ) -> Probe {
        let traveler = &mut self.travelers[sphere as usize];
        traveler.go(time, length, push);
        Probe {
            position: traveler.position,
            velocity: traveler.velocity,
        }
    }

    /// An elastic collision; returns the impulse, Da·nm/s, that the first sphere gives.
    pub(super) fn bounce(&mut self, contact: &Contact) -> DVec3 {
        let mass = self.masses[contact.sphere as usize];
        let other = match contact.other {
            CollisionPartner::Sphere(other) => self.masses[other as usize],
            CollisionPartner::Wall(_) => f64::INFINITY,
        };
        let impulse = contact.elastic_impulse(mass, other) * contact.normal;
        self.travelers[contact.sphere as usize].velocity -= impulse / mass;
        if let CollisionPartner::Sphere(index) = contact.other {
            self.travelers[index as usize].velocity += impulse / other;
        }
        impulse
    }
}

/// A sphere on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct SphereState {
    /// When the sphere was here, s.
    time: f64,
    pub(super) position: DVec3,
    pub(super) velocity: DVec3,
    /// Acceleration of now, nm/s², and which one of its life that is.
    acceleration: DVec3,
    piece: u64,
}

impl SphereState {
    /// A sphere at the start of its life, which nobody pushes yet.
    fn new(position: DVec3, velocity: DVec3) -> Self {
        Self {
            time: 0.0,
            position,
            velocity,
            acceleration: DVec3::ZERO,
            piece: 0,
        }
    }

    /// Goes on to a time, s, in pieces of `length` s. `push` gives the acceleration of the
    /// next piece at its beginning, from the sphere then and the number of the piece.
    fn go(&mut self, time: f64, length: f64, push: impl Fn(&Self, u64) -> DVec3) {
        loop {
            let end = (self.piece + 1) as f64 * length;
            let to = time.min(end);
            let step = to - self.time;
            if step > 0.0 {
                self.position += step * (self.velocity + 0.5 * step * self.acceleration);
                self.velocity += step * self.acceleration;
                self.time = to;
            }
            if time < end {
                return;
            }
            self.piece += 1;
            self.acceleration = push(self, self.piece);
        }
    }
}
