//! The particles and their collision detector.

use bevy_rapier_molecules::motion::unknown_trajectories::{
    CollisionDetector, EventCounts, Probe, SphereMotion, TimeVaryingBound, TimeVaryingConfig,
    TimeVaryingDetector,
};
use bevy_rapier_molecules::scenes::{CirculatingSpheres, CirculatingSpheresConfig};
use glam::DVec3;

use super::Arguments;
use super::common::AnyError;

/// Max distance of "in the middle" from the axis of the box, and of "at the sides" from the
/// sides, over the side of the box.
const REGION: f64 = 0.2;

/// Max number of particles.
const MAX_PARTICLES: u32 = 4000;

/// Circulating particles and their collision detector.
pub struct Particles {
    motion: CirculatingSpheres,
    detector: TimeVaryingDetector,
    radii: Vec<f64>,
    /// Side of the box, nm.
    pub side: f64,
}

impl Particles {
    pub fn new(arguments: &Arguments) -> Result<Self, AnyError> {
        let count = arguments.particles;
        if count == 0 || count > MAX_PARTICLES {
            return Err(
                format!("--particles must be from 1 to {MAX_PARTICLES}, but is {count}").into(),
            );
        }
        let acceleration = arguments.acceleration;
        if !(acceleration.is_finite() && acceleration > 0.0) {
            return Err(format!("--acceleration must be positive, but is {acceleration}").into());
        }
        if let Some(side) = arguments
            .side
            .filter(|side| !(side.is_finite() && *side > 0.0))
        {
            return Err(format!("--side must be positive, but is {side}").into());
        }
        let config = CirculatingSpheresConfig {
            count,
            acceleration,
            seed: arguments.scene.seed.get(),
            ..CirculatingSpheresConfig::default()
        };
        let mut motion = CirculatingSpheres::new(&config)?;
        let detector_config = TimeVaryingConfig {
            finest_cell_size: arguments.side,
            ..TimeVaryingConfig::default()
        };
        let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
        Ok(Self {
            detector: TimeVaryingDetector::new(
                &spheres,
                walls,
                &detector_config,
                0.0,
                &mut motion,
            )?,
            radii: spheres.iter().map(|sphere| sphere.radius).collect(),
            motion,
            side: config.side,
        })
    }

    /// Simulates `seconds` more seconds.
    pub fn advance(&mut self, seconds: f64) -> Result<(), AnyError> {
        self.advance_to(self.time() + seconds)
    }

    /// Simulates until a time, s. Stops in between do not change the result.
    pub fn advance_to(&mut self, time: f64) -> Result<(), AnyError> {
        Ok(self.detector.advance(time, &mut self.motion)?)
    }

    pub fn time(&self) -> f64 {
        self.detector.time()
    }

    pub fn radii(&self) -> &[f64] {
        &self.radii
    }

    /// The current position and velocity of a particle.
    pub fn probe(&mut self, particle: u32) -> Probe {
        self.motion.probe(particle, self.detector.time())
    }

    pub fn bound(&self, particle: u32) -> Option<&TimeVaryingBound> {
        self.detector.bound(particle)
    }

    /// Side and corners of the subspaces that the bound of a particle overlaps, nm.
    pub fn subspaces(&self, particle: u32) -> Option<(f64, [DVec3; 2])> {
        self.detector.cell_range(particle)
    }

    pub fn counts(&self) -> EventCounts {
        self.detector.counts()
    }

    /// Sides of the subspaces of each level, nm.
    pub fn sides(&self) -> Vec<f64> {
        self.detector.cell_sizes().collect()
    }

    /// Mean upward velocity in the middle and at the sides, nm/s.
    pub fn upward_velocities(&mut self) -> [f64; 2] {
        let mut sums = [(0.0, 0.0); 2];
        for particle in 0..self.radii.len() as u32 {
            let probe = self.probe(particle);
            let offset = (probe.position / self.side - 0.5).truncate().abs();
            let sum = if offset.length() < REGION {
                &mut sums[0]
            } else if offset.max_element() > 0.5 - REGION {
                &mut sums[1]
            } else {
                continue;
            };
            sum.0 += probe.velocity.z;
            sum.1 += 1.0;
        }
        sums.map(|(sum, count): (f64, f64)| sum / count.max(1.0))
    }

    /// Deepest current overlap of two particles, nm.
    pub fn deepest_overlap(&mut self) -> f64 {
        let count = self.radii.len() as u32;
        let positions: Vec<DVec3> = (0..count).map(|k| self.probe(k).position).collect();
        let mut deepest: f64 = 0.0;
        for (a, one) in positions.iter().enumerate() {
            for (b, other) in positions.iter().enumerate().skip(a + 1) {
                deepest = deepest.max(self.radii[a] + self.radii[b] - one.distance(*other));
            }
        }
        deepest
    }
}
