//! Particles that circulate in a box, carried by a velocity field: Kim, Guibas and Shin
//! (2005), section 4.3, figures 7 and 8.

use glam::DVec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::bouncing_spheres::{BouncingSpheres, SphereState};
use super::separation::SeparationError;
use crate::motion::CollisionPartner;
use crate::motion::time_of_impact::Wall;
use crate::motion::unknown_trajectories::{Contact, MovingSphere, Probe, SphereMotion};

/// How long the acceleration of a particle stays the same, s.
const PIECE_SECONDS: f64 = 1.0 / 120.0;

/// How many particles there are, and what carries them. Default: the paper's 1,000.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CirculatingSpheresConfig {
    /// Number of particles. Default: 1000.
    pub count: u32,
    /// Side of the box, nm. Default: 200.
    pub side: f64,
    /// Smallest and largest radius, nm. Default: 1 and 10.
    pub radii: [f64; 2],
    /// Bound on the acceleration, nm/s². Default: 30.
    pub acceleration: f64,
    /// Speed of the field in the middle of the box, nm/s. Default: 60.
    pub speed: f64,
    /// Time in which a particle takes on the velocity of the field, s, if its acceleration
    /// lets it. Default: 0.25.
    pub response: f64,
    /// Seed of radii and places. Default: 1.
    pub seed: u64,
}

impl Default for CirculatingSpheresConfig {
    fn default() -> Self {
        Self {
            count: 1000,
            side: 200.0,
            radii: [1.0, 10.0],
            acceleration: 30.0,
            speed: 60.0,
            response: 0.25,
            seed: 1,
        }
    }
}

impl CirculatingSpheresConfig {
    /// See [`CirculatingSpheres::field`].
    fn field(&self, place: DVec3) -> DVec3 {
        let half = 0.5 * self.side;
        let at = ((place - half) / half).clamp(DVec3::NEG_ONE, DVec3::ONE);
        let left = DVec3::ONE - at * at;
        // q, and s q′.
        let q = left * left;
        let slope = -4.0 * at * at * left;
        let rise = q.z * (2.0 * q.x * q.y + slope.x * q.y + slope.y * q.x);
        let across = 4.0 * at.z * left.z * q.x * q.y;
        0.5 * self.speed * DVec3::new(at.x * across, at.y * across, rise)
    }

    /// The acceleration that brings a particle to the velocity of the field.
    fn push(&self, particle: &SphereState) -> DVec3 {
        let missing = self.field(particle.position) - particle.velocity;
        (missing / self.response).clamp_length_max(self.acceleration)
    }
}

/// Particles in a box from the origin to its side, at rest at first. The field takes them up
/// in the middle (along z), out under the top, and down along the sides; elastic collisions
/// with each other and with the walls. Masses (Da) are volumes (nm³).
///
/// Where a particle is does not depend on how often it is asked for, but for rounding.
///
/// ```
/// use bevy_rapier_molecules::motion::unknown_trajectories::SphereMotion;
/// use bevy_rapier_molecules::scenes::{CirculatingSpheres, CirculatingSpheresConfig};
///
/// let config = CirculatingSpheresConfig { count: 20, ..CirculatingSpheresConfig::default() };
/// let mut particles = CirculatingSpheres::new(&config)?;
/// let moved = particles.probe(0, 0.5);
/// assert!(moved.velocity.length() > 0.0 && moved.velocity.length() <= 0.5 * 30.0);
/// # Ok::<(), bevy_rapier_molecules::scenes::SeparationError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CirculatingSpheres {
    config: CirculatingSpheresConfig,
    particles: BouncingSpheres,
    contacts: u64,
}

impl CirculatingSpheres {
    /// Particles at random places where none overlap.
    ///
    /// # Errors
    /// [`SeparationError`] if a number is not what it has to be, or they do not fit.
    pub fn new(config: &CirculatingSpheresConfig) -> Result<Self, SeparationError> {
        let mut random = Pcg64Mcg::seed_from_u64(config.seed);
        let mut between = |[low, high]: [f64; 2]| low + (high - low) * random.random::<f64>();
        let mut spheres = Vec::new();
        let mut places = Vec::new();
        for _ in 0..config.count {
            spheres.push(MovingSphere {
                radius: between(config.radii),
                acceleration: config.acceleration,
            });
            places.push(DVec3::from_array(
                [(); 3].map(|()| between([0.0, config.side])),
            ));
        }
        let at_rest = vec![DVec3::ZERO; places.len()];
        let mut particles = BouncingSpheres::new(config.side, spheres, places, &at_rest)?;
        particles.push_all(|_, particle| config.push(particle));
        Ok(Self {
            config: *config,
            particles,
            contacts: 0,
        })
    }

    /// Radii and bounds, for a detector.
    #[must_use]
    pub fn spheres(&self) -> &[MovingSphere] {
        &self.particles.spheres
    }

    /// The faces of the box.
    #[must_use]
    pub fn walls(&self) -> Vec<Wall> {
        self.particles.walls()
    }

    /// How often particles have met each other so far.
    #[must_use]
    pub fn contacts(&self) -> u64 {
        self.contacts
    }

    /// The velocity of the field at a place, nm/s. It goes nowhere through a wall, and has
    /// no sources.
    ///
    /// With places from −1 to 1 it is the curl of (−y h, x h, 0) for h = q(x) q(y) q(z) and
    /// q(s) = (1 − s²)²: up with 2 h in the middle, and down where x h′ outweighs that.
    #[must_use]
    pub fn field(&self, place: DVec3) -> DVec3 {
        self.config.field(place)
    }
}

impl SphereMotion for CirculatingSpheres {
    fn probe(&mut self, sphere: u32, time: f64) -> Probe {
        let config = &self.config;
        self.particles
            .probe(sphere, time, PIECE_SECONDS, |state, _| config.push(state))
    }

    fn collide(&mut self, contact: &Contact) {
        self.particles.bounce(contact);
        if let CollisionPartner::Sphere(_) = contact.other {
            self.contacts += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn particles() -> CirculatingSpheres {
        let config = CirculatingSpheresConfig {
            count: 20,
            ..CirculatingSpheresConfig::default()
        };
        CirculatingSpheres::new(&config).unwrap()
    }

    #[test]
    fn the_field_goes_up_in_the_middle_and_down_along_the_sides_and_has_no_sources() {
        let scene = particles();
        let at = |x, y, z| scene.field(DVec3::new(x, y, z));
        assert_eq!(at(100.0, 100.0, 100.0), DVec3::Z * 60.0);
        assert!(at(190.0, 100.0, 100.0).z < -5.0 && at(100.0, 8.0, 100.0).z < -5.0);
        // Out under the top, in above the bottom, and through no wall.
        assert!(at(130.0, 100.0, 180.0).x > 1.0 && at(130.0, 100.0, 20.0).x < -1.0);
        assert_eq!(at(200.0, 70.0, 30.0).x, 0.0);
        assert_eq!(at(70.0, 30.0, 200.0).z, 0.0);
        let place = DVec3::new(61.0, 133.0, 87.0);
        let step = 1.0e-3;
        let sources: f64 = (0..3)
            .map(|k| {
                let mut by = DVec3::ZERO;
                by[k] = step;
                (scene.field(place + by) - scene.field(place - by))[k] / (2.0 * step)
            })
            .sum();
        assert!(sources.abs() < 1.0e-6, "{sources}");
    }

    #[test]
    fn particles_keep_their_promise_however_often_they_are_asked() {
        let (mut often, mut once) = (particles(), particles());
        for step in 1..=300 {
            let time = f64::from(step) * 0.01;
            let before = often.probe(3, time - 0.01);
            let after = often.probe(3, time);
            let change = after.velocity.distance(before.velocity);
            assert!(change <= 30.0 * 0.01 + 1.0e-9);
        }
        let [one, other] = [often.probe(3, 3.0), once.probe(3, 3.0)];
        assert!(one.position.distance(other.position) < 1.0e-9);
    }
}
