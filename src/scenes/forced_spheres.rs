//! [`ForcedSpheres`]: spheres in a box, driven by random forces (Kim, Guibas and Shin 2005,
//! section 4.2).

use glam::DVec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::bouncing_spheres::{BouncingSpheres, SeparationError};
use crate::motion::time_of_impact::Wall;
use crate::motion::unknown_trajectories::{Contact, MovingSphere, Probe, SphereMotion};

/// Duration of a force, s.
const FORCE_SECONDS: f64 = 0.25;

/// Config of [`ForcedSpheres`]. Default: the 1,000 spheres of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForcedSpheresConfig {
    /// Number of spheres. Default: 1000.
    pub count: u32,
    /// Side of the box, nm. Default: 200.
    pub side: f64,
    /// Minimum and maximum radius, nm. Default: 0.1 and 10.
    pub radii: [f64; 2],
    /// Minimum and maximum initial speed, nm/s. Default: 2.5 √3 and 25 √3.
    pub speeds: [f64; 2],
    /// Minimum and maximum acceleration bound, nm/s². Default: 10 and 20.
    pub accelerations: [f64; 2],
    /// Fraction of that bound that is used; 0 gives straight trajectories. Default: 1.
    pub force: f64,
    /// Seed of the whole scene. Default: 1.
    pub seed: u64,
}

impl Default for ForcedSpheresConfig {
    fn default() -> Self {
        let root = 3.0_f64.sqrt();
        Self {
            count: 1000,
            side: 200.0,
            radii: [0.1, 10.0],
            speeds: [2.5 * root, 25.0 * root],
            accelerations: [10.0, 20.0],
            force: 1.0,
            seed: 1,
        }
    }
}

impl ForcedSpheresConfig {
    /// The same density with `count` spheres in a larger or smaller box.
    #[must_use]
    pub fn scaled_to(&self, count: u32) -> Self {
        let ratio = f64::from(count) / f64::from(self.count.max(1));
        Self {
            count,
            side: self.side * ratio.cbrt(),
            ..*self
        }
    }

    /// The acceleration of a sphere during one piece of its trajectory: random in direction and
    /// in magnitude up to `bound` (nm/s²).
    fn acceleration(&self, sphere: u32, bound: f64, piece: u64) -> DVec3 {
        let max = self.force * bound;
        if max == 0.0 {
            return DVec3::ZERO;
        }
        let seed = self.seed ^ u64::from(sphere) << 32 ^ piece;
        // Decorrelates consecutive seeds.
        let mut random = Pcg64Mcg::seed_from_u64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let [fraction, turn, height] = [(); 3].map(|()| random.random::<f64>());
        max * fraction * sample_unit_sphere([turn, height])
    }
}

/// Spheres in a box, each driven by a random force that changes four times a second. Collisions
/// with each other and with the walls are elastic. Masses (Da) are volumes (nm³).
///
/// The state of a sphere does not depend on how often it is probed, except for rounding.
#[derive(Clone, Debug)]
pub struct ForcedSpheres {
    config: ForcedSpheresConfig,
    bouncing: BouncingSpheres,
    contacts: Vec<Contact>,
}

impl ForcedSpheres {
    /// Spheres at random positions without overlaps.
    ///
    /// # Errors
    /// [`SeparationError`] if a radius is invalid or the spheres do not fit.
    pub fn new(config: &ForcedSpheresConfig) -> Result<Self, SeparationError> {
        let mut random = Pcg64Mcg::seed_from_u64(config.seed);
        let mut between = |[low, high]: [f64; 2]| low + (high - low) * random.random::<f64>();
        let mut spheres = Vec::new();
        let mut velocities = Vec::new();
        let mut positions = Vec::new();
        for _ in 0..config.count {
            spheres.push(MovingSphere {
                radius: between(config.radii),
                acceleration: between(config.accelerations),
            });
            let speed = between(config.speeds);
            velocities.push(speed * sample_unit_sphere([between([0.0, 1.0]), between([0.0, 1.0])]));
            positions.push(DVec3::from_array(
                [(); 3].map(|()| between([0.0, config.side])),
            ));
        }
        let bounds: Vec<f64> = spheres.iter().map(|sphere| sphere.acceleration).collect();
        let mut bouncing = BouncingSpheres::new(config.side, spheres, positions, &velocities)?;
        bouncing
            .set_accelerations(|sphere, _| config.acceleration(sphere, bounds[sphere as usize], 0));
        Ok(Self {
            config: *config,
            bouncing,
            contacts: Vec::new(),
        })
    }

    /// Radii and acceleration bounds, for a detector.
    #[must_use]
    pub fn spheres(&self) -> &[MovingSphere] {
        &self.bouncing.spheres
    }

    /// The faces of the box.
    #[must_use]
    pub fn walls(&self) -> Vec<Wall> {
        self.bouncing.walls()
    }

    /// All contacts so far.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Masses, Da.
    #[must_use]
    pub fn masses(&self) -> &[f64] {
        &self.bouncing.masses
    }
}

impl SphereMotion for ForcedSpheres {
    fn probe(&mut self, sphere: u32, time: f64) -> Probe {
        let config = &self.config;
        let bound = self.bouncing.spheres[sphere as usize].acceleration;
        self.bouncing
            .probe(sphere, time, FORCE_SECONDS, |_, piece| {
                config.acceleration(sphere, bound, piece)
            })
    }

    fn collide(&mut self, contact: &Contact) {
        self.contacts.push(*contact);
        self.bouncing.bounce(contact);
    }
}

/// A uniformly distributed unit vector from two numbers in `[0, 1)`.
fn sample_unit_sphere([turn, height]: [f64; 2]) -> DVec3 {
    let z = 2.0 * height - 1.0;
    let (sin, cos) = (std::f64::consts::TAU * turn).sin_cos();
    let ring = (1.0 - z * z).max(0.0).sqrt();
    DVec3::new(ring * cos, ring * sin, z)
}
