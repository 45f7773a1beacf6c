//! The particles, and the detector that follows them.

use bevy_rapier_molecules::motion::unknown_trajectories::{
    CollisionDetector, EventCounts, Probe, SphereMotion, TimeVaryingBound, TimeVaryingConfig,
    TimeVaryingDetector,
};
use bevy_rapier_molecules::scenes::{CirculatingSpheres, CirculatingSpheresConfig};
use glam::DVec3;

use super::Arguments;
use super::common::AnyError;

/// How far from the middle line "in the middle" is, as a part of the side of the box; and
/// how near to a side "at the sides".
const MIDDLE: f64 = 0.2;

/// Particles at most: more are no longer seen apart.
const MOST: u32 = 4000;

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
        if count == 0 || count > MOST {
            return Err(format!("--particles must be from 1 to {MOST}, and is {count}").into());
        }
        let acceleration = arguments.acceleration;
        if !(acceleration.is_finite() && acceleration > 0.0) {
            return Err(format!("--acceleration must be positive, and is {acceleration}").into());
        }
        let config = CirculatingSpheresConfig {
            count,
            acceleration,
            seed: arguments.scene.seed.or(None),
            ..CirculatingSpheresConfig::default()
        };
        let mut motion = CirculatingSpheres::new(&config)?;
        let settings = TimeVaryingConfig {
            finest_cell_size: arguments.side,
            ..TimeVaryingConfig::default()
        };
        let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
        Ok(Self {
            detector: TimeVaryingDetector::new(&spheres, walls, &settings, 0.0, &mut motion)?,
            radii: spheres.iter().map(|sphere| sphere.radius).collect(),
            motion,
            side: config.side,
        })
    }

    /// Goes on for so many seconds.
    pub fn advance(&mut self, seconds: f64) -> Result<(), AnyError> {
        self.advance_to(self.time() + seconds)
    }

    /// Goes on until a time, s. What happens does not depend on where it stops in between.
    pub fn advance_to(&mut self, time: f64) -> Result<(), AnyError> {
        Ok(self.detector.advance(time, &mut self.motion)?)
    }

    pub fn time(&self) -> f64 {
        self.detector.time()
    }

    pub fn radii(&self) -> &[f64] {
        &self.radii
    }

    /// Where a particle is now, and how fast.
    pub fn probe(&mut self, particle: u32) -> Probe {
        self.motion.probe(particle, self.detector.time())
    }

    pub fn bound(&self, particle: u32) -> Option<&TimeVaryingBound> {
        self.detector.bound(particle)
    }

    /// Side and corners of the subspaces that the bound of a particle is in.
    pub fn subspaces(&self, particle: u32) -> Option<(f64, [DVec3; 2])> {
        self.detector.cell_range(particle)
    }

    pub fn counts(&self) -> EventCounts {
        self.detector.counts()
    }

    pub fn sides(&self) -> Vec<f64> {
        self.detector.cell_sizes().collect()
    }

    /// Mean velocity upwards in the middle and at the sides, nm/s.
    pub fn rise(&mut self) -> [f64; 2] {
        let mut sums = [(0.0, 0.0); 2];
        for particle in 0..self.radii.len() as u32 {
            let probe = self.probe(particle);
            let off = (probe.position / self.side - 0.5).truncate().abs();
            let place = if off.length() < MIDDLE {
                &mut sums[0]
            } else if off.max_element() > 0.5 - MIDDLE {
                &mut sums[1]
            } else {
                continue;
            };
            place.0 += probe.velocity.z;
            place.1 += 1.0;
        }
        sums.map(|(sum, count): (f64, f64)| sum / count.max(1.0))
    }

    /// Deepest overlap of two particles now, nm.
    pub fn deepest(&mut self) -> f64 {
        let count = self.radii.len() as u32;
        let places: Vec<DVec3> = (0..count).map(|k| self.probe(k).position).collect();
        let mut deepest: f64 = 0.0;
        for (a, one) in places.iter().enumerate() {
            for (b, other) in places.iter().enumerate().skip(a + 1) {
                deepest = deepest.max(self.radii[a] + self.radii[b] - one.distance(*other));
            }
        }
        deepest
    }
}
