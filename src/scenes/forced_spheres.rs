//! Spheres that someone pushes about in a box: the experiment of Kim, Guibas and Shin
//! (2005), section 4.2.

use glam::DVec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::bouncing_spheres::BouncingSpheres;
use super::separation::SeparationError;
use crate::motion::CollisionPartner;
use crate::motion::time_of_impact::Wall;
use crate::motion::unknown_trajectories::{Contact, MovingSphere, Probe, SphereMotion};

/// How long a force lasts, s.
const FORCE_SECONDS: f64 = 0.25;

/// How many spheres there are, and how they move. Default: the paper's, 1,000 of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForcedSpheresConfig {
    /// Number of spheres. Default: 1000.
    pub count: u32,
    /// Side of the box, nm. Default: 200.
    pub side: f64,
    /// Smallest and largest radius, nm. Default: 0.1 and 10.
    pub radii: [f64; 2],
    /// Smallest and largest speed at the start, nm/s. Default: 2.5 √3 and 25 √3.
    pub speeds: [f64; 2],
    /// Smallest and largest bound on the acceleration, nm/s². Default: 10 and 20.
    pub accelerations: [f64; 2],
    /// How much of that bound is used: zero for straight ways. Default: 1.
    pub force: f64,
    /// Seed of everything. Default: 1.
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
    /// More or fewer spheres in a box of the same density.
    #[must_use]
    pub fn scaled_to(&self, count: u32) -> Self {
        let ratio = f64::from(count) / f64::from(self.count.max(1));
        Self {
            count,
            side: self.side * ratio.cbrt(),
            ..*self
        }
    }

    /// The acceleration of a sphere with this bound (nm/s²) during one piece of its life: of
    /// random size and direction, within its bound.
    fn acceleration(&self, sphere: u32, bound: f64, piece: u64) -> DVec3 {
        let size = self.force * bound;
        if size == 0.0 {
            return DVec3::ZERO;
        }
        let seed = self.seed ^ u64::from(sphere) << 32 ^ piece;
        // Numbers of neighboring seeds are not neighbors.
        let mut random = Pcg64Mcg::seed_from_u64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let [size_part, turn, height] = [(); 3].map(|()| random.random::<f64>());
        size * size_part * unit([turn, height])
    }
}

/// Spheres in a box, each pushed by forces of random directions that change four times a
/// second; elastic collisions with each other and with the walls. Masses (Da) are volumes
/// (nm³).
///
/// Where a sphere is does not depend on how often it is asked for, but for rounding.
///
/// ```
/// use bevy_rapier_molecules::motion::unknown_trajectories::SphereMotion;
/// use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};
///
/// let config = ForcedSpheresConfig::default().scaled_to(20);
/// let mut spheres = ForcedSpheres::new(&config)?;
/// let [before, after] = [0.0, 0.1].map(|time| spheres.probe(7, time).velocity);
/// assert!(before.distance(after) <= 0.1 * spheres.spheres()[7].acceleration, "nm/s");
/// # Ok::<(), bevy_rapier_molecules::scenes::SeparationError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ForcedSpheres {
    config: ForcedSpheresConfig,
    forced: BouncingSpheres,
    contacts: Vec<Contact>,
    wall_impulse: DVec3,
}

impl ForcedSpheres {
    /// Spheres at random places where none overlap.
    ///
    /// # Errors
    /// [`SeparationError`] if a number is not what it has to be, or they do not fit.
    pub fn new(config: &ForcedSpheresConfig) -> Result<Self, SeparationError> {
        let mut random = Pcg64Mcg::seed_from_u64(config.seed);
        let mut between = |[low, high]: [f64; 2]| low + (high - low) * random.random::<f64>();
        let mut spheres = Vec::new();
        let mut velocities = Vec::new();
        let mut places = Vec::new();
        for _ in 0..config.count {
            spheres.push(MovingSphere {
                radius: between(config.radii),
                acceleration: between(config.accelerations),
            });
            let speed = between(config.speeds);
            velocities.push(speed * unit([between([0.0, 1.0]), between([0.0, 1.0])]));
            places.push(DVec3::from_array(
                [(); 3].map(|()| between([0.0, config.side])),
            ));
        }
        let bounds: Vec<f64> = spheres.iter().map(|sphere| sphere.acceleration).collect();
        let mut forced = BouncingSpheres::new(config.side, spheres, places, &velocities)?;
        forced.push_all(|sphere, _| config.acceleration(sphere, bounds[sphere as usize], 0));
        Ok(Self {
            config: *config,
            forced,
            contacts: Vec::new(),
            wall_impulse: DVec3::ZERO,
        })
    }

    /// Radii and bounds, for a detector.
    #[must_use]
    pub fn spheres(&self) -> &[MovingSphere] {
        &self.forced.spheres
    }

    /// The faces of the box.
    #[must_use]
    pub fn walls(&self) -> Vec<Wall> {
        self.forced.walls()
    }

    /// All contacts so far.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Masses, Da.
    #[must_use]
    pub fn masses(&self) -> &[f64] {
        &self.forced.masses
    }

    /// The sum of all momenta at a time (s), without what walls have given, Da·nm/s.
    pub fn momentum(&mut self, time: f64) -> DVec3 {
        let own: DVec3 = (0..self.masses().len() as u32)
            .map(|sphere| self.masses()[sphere as usize] * self.probe(sphere, time).velocity)
            .sum();
        own - self.wall_impulse
    }

    /// The sum of all kinetic energies at a time (s), Da·nm²/s².
    pub fn kinetic_energy(&mut self, time: f64) -> f64 {
        let mut energy = 0.0;
        for sphere in 0..self.config.count {
            let velocity = self.probe(sphere, time).velocity;
            energy += 0.5 * self.masses()[sphere as usize] * velocity.length_squared();
        }
        energy
    }
}

impl SphereMotion for ForcedSpheres {
    fn probe(&mut self, sphere: u32, time: f64) -> Probe {
        let config = &self.config;
        let bound = self.forced.spheres[sphere as usize].acceleration;
        self.forced.probe(sphere, time, FORCE_SECONDS, |_, piece| {
            config.acceleration(sphere, bound, piece)
        })
    }

    fn collide(&mut self, contact: &Contact) {
        self.contacts.push(*contact);
        let impulse = self.forced.bounce(contact);
        if let CollisionPartner::Wall(_) = contact.other {
            self.wall_impulse -= impulse;
        }
    }
}

/// A direction, from two numbers between 0 and 1; evenly spread if they are.
fn unit([turn, height]: [f64; 2]) -> DVec3 {
    let z = 2.0 * height - 1.0;
    let (sin, cos) = (std::f64::consts::TAU * turn).sin_cos();
    let ring = (1.0 - z * z).max(0.0).sqrt();
    DVec3::new(ring * cos, ring * sin, z)
}
