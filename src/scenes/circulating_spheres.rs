//! [`CirculatingSpheres`]: particles in a box, carried by a velocity field (Kim, Guibas and Shin
//! 2005, section 4.3, figures 7 and 8).

use glam::DVec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::bouncing_spheres::{BouncingSpheres, SeparationError, SphereState};
use crate::motion::CollisionPartner;
use crate::motion::time_of_impact::Wall;
use crate::motion::unknown_trajectories::{Contact, MovingSphere, Probe, SphereMotion};

/// Time for which the acceleration of a particle is constant, s.
const PIECE_SECONDS: f64 = 1.0 / 120.0;

/// Config of [`CirculatingSpheres`]. Default: the 1,000 particles of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CirculatingSpheresConfig {
    /// Number of particles. Default: 1000.
    pub count: u32,
    /// Side of the box, nm. Default: 200.
    pub side: f64,
    /// Minimum and maximum radius, nm. Default: 1 and 10.
    pub radii: [f64; 2],
    /// Bound on the acceleration, nm/s². Default: 30.
    pub acceleration: f64,
    /// Speed of the field at the center of the box, nm/s. Default: 60.
    pub speed: f64,
    /// Time in which a particle adopts the velocity of the field, s, unless its acceleration
    /// bound limits it. Default: 0.25.
    pub response: f64,
    /// Seed of radii and positions. Default: 1.
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
    /// The velocity of the field at a position, nm/s. It has no sources and is tangential to the
    /// walls.
    ///
    /// With coordinates from −1 to 1 it is the curl of (−y h, x h, 0) for h = q(x) q(y) q(z) and
    /// q(s) = (1 − s²)²: upwards with 2 h at the center, and downwards where x h′ outweighs that.
    fn field(&self, position: DVec3) -> DVec3 {
        let half = 0.5 * self.side;
        let at = ((position - half) / half).clamp(DVec3::NEG_ONE, DVec3::ONE);
        let left = DVec3::ONE - at * at;
        // q, and s q′.
        let q = left * left;
        let slope = -4.0 * at * at * left;
        let rise = q.z * (2.0 * q.x * q.y + slope.x * q.y + slope.y * q.x);
        let across = 4.0 * at.z * left.z * q.x * q.y;
        0.5 * self.speed * DVec3::new(at.x * across, at.y * across, rise)
    }

    /// The acceleration of a particle towards the velocity of the field.
    fn acceleration(&self, particle: &SphereState) -> DVec3 {
        let missing = self.field(particle.position) - particle.velocity;
        (missing / self.response).clamp_length_max(self.acceleration)
    }
}

/// Particles in a cube with one corner at the origin, initially at rest. The field carries them
/// up in the middle (along z), outwards below the top, and down along the sides. Collisions with
/// each other and with the walls are elastic. Masses (Da) are volumes (nm³).
///
/// The state of a particle does not depend on how often it is probed, except for rounding.
#[derive(Clone, Debug)]
pub struct CirculatingSpheres {
    config: CirculatingSpheresConfig,
    particles: BouncingSpheres,
    contacts: u64,
}

impl CirculatingSpheres {
    /// Particles at random positions without overlaps.
    ///
    /// # Errors
    /// [`SeparationError`] if a radius is invalid or the particles do not fit.
    pub fn new(config: &CirculatingSpheresConfig) -> Result<Self, SeparationError> {
        let mut random = Pcg64Mcg::seed_from_u64(config.seed);
        let mut between = |[low, high]: [f64; 2]| low + (high - low) * random.random::<f64>();
        let mut spheres = Vec::new();
        let mut positions = Vec::new();
        for _ in 0..config.count {
            spheres.push(MovingSphere {
                radius: between(config.radii),
                acceleration: config.acceleration,
            });
            positions.push(DVec3::from_array(
                [(); 3].map(|()| between([0.0, config.side])),
            ));
        }
        let at_rest = vec![DVec3::ZERO; positions.len()];
        let mut particles = BouncingSpheres::new(config.side, spheres, positions, &at_rest)?;
        particles.set_accelerations(|_, particle| config.acceleration(particle));
        Ok(Self {
            config: *config,
            particles,
            contacts: 0,
        })
    }

    /// Radii and acceleration bounds, for a detector.
    #[must_use]
    pub fn spheres(&self) -> &[MovingSphere] {
        &self.particles.spheres
    }

    /// The faces of the box.
    #[must_use]
    pub fn walls(&self) -> Vec<Wall> {
        self.particles.walls()
    }

    /// Number of collisions between particles so far.
    #[must_use]
    pub fn contacts(&self) -> u64 {
        self.contacts
    }
}

impl SphereMotion for CirculatingSpheres {
    fn probe(&mut self, sphere: u32, time: f64) -> Probe {
        let config = &self.config;
        self.particles
            .probe(sphere, time, PIECE_SECONDS, |state, _| {
                config.acceleration(state)
            })
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

    #[test]
    fn the_field_rises_in_the_middle_sinks_along_the_sides_and_has_no_sources() {
        let config = CirculatingSpheresConfig::default();
        let at = |x, y, z| config.field(DVec3::new(x, y, z));
        assert_eq!(at(100.0, 100.0, 100.0), DVec3::Z * 60.0);
        assert!(at(190.0, 100.0, 100.0).z < -5.0 && at(100.0, 8.0, 100.0).z < -5.0);
        // Outwards below the top, inwards above the bottom, and tangential to the walls.
        assert!(at(130.0, 100.0, 180.0).x > 1.0 && at(130.0, 100.0, 20.0).x < -1.0);
        assert_eq!(at(200.0, 70.0, 30.0).x, 0.0);
        assert_eq!(at(70.0, 30.0, 200.0).z, 0.0);
        let position = DVec3::new(61.0, 133.0, 87.0);
        let step = 1.0e-3;
        let divergence: f64 = (0..3)
            .map(|k| {
                let mut by = DVec3::ZERO;
                by[k] = step;
                (config.field(position + by) - config.field(position - by))[k] / (2.0 * step)
            })
            .sum();
        assert!(divergence.abs() < 1.0e-6, "{divergence}");
    }
}
