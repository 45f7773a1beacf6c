//! [`FallingSpheres`]: the workload on which broad phases are compared.
//!
//! After Poirrier (2009), sections 4.2 and 6: equal spheres at uniformly random positions in a
//! cube, a constant downward acceleration, and a floor, but no walls. After each step, all
//! overlapping pairs are found and then separated one after the other, which may create new
//! overlaps. This is not realistic, but the spheres become denser with time and stay in motion.
//!
//! The paper leaves two things open, which are chosen here: the strength of gravity
//! ([`STEPS_TO_FALL`]), and that collisions are perfectly inelastic.

use std::f32::consts::PI;

use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use thiserror::Error;

use crate::search::PairBuffer;
use crate::spheres::{SphereError, SphereSet};

/// Steps after which the highest sphere reaches the floor if it hits no other.
///
/// The paper does not state the strength of gravity. It states that few spheres touch in the
/// first eleven steps, that everything is in motion in steps 50 to 60, and that spheres become
/// packed until they are at rest. The last spheres therefore arrive when the late steps begin.
/// The paper's results per sphere in the late steps hardly depend on the number of spheres, so
/// this constant does not, either.
pub const STEPS_TO_FALL: f32 = 50.0;

/// Why a scene of [`FallingSpheres`] is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FallingError {
    /// The volume ratio is not positive and finite.
    #[error("the volume ratio of the spheres must be positive and finite, but is {ratio}")]
    BadRatio {
        /// The given ratio.
        ratio: f32,
    },
    /// There are too many spheres.
    #[error(transparent)]
    Sphere(#[from] SphereError),
}

/// Spheres that fall on a floor at height zero and pile up. The y axis is up; the unit of time
/// is a step.
#[derive(Clone, Debug)]
pub struct FallingSpheres {
    spheres: SphereSet,
    velocities: Vec<Vec3>,
    /// Downward acceleration, nm per step².
    gravity: f32,
    /// Edge of the initial cube, nm.
    edge: f32,
}

impl FallingSpheres {
    /// Radius of the spheres, nm.
    pub const RADIUS_NM: f32 = 0.5;

    /// `count` spheres, each its own owner, that fill a fraction `ratio` of the initial cube.
    /// They may overlap.
    ///
    /// # Errors
    /// [`FallingError`] if the ratio is not positive.
    pub fn new(count: u32, ratio: f32, seed: u64) -> Result<Self, FallingError> {
        if !(ratio.is_finite() && ratio > 0.0) {
            return Err(FallingError::BadRatio { ratio });
        }
        let volume = 4.0 / 3.0 * PI * Self::RADIUS_NM.powi(3);
        let edge = (count as f32 * volume / ratio).cbrt();
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut spheres = SphereSet::new();
        for owner in 0..count {
            let position: [f32; 3] = std::array::from_fn(|_| edge * random.random::<f32>());
            spheres.push(Vec3::from_array(position), Self::RADIUS_NM, owner)?;
        }
        Ok(Self {
            velocities: vec![Vec3::ZERO; spheres.len()],
            gravity: gravity(edge, STEPS_TO_FALL),
            spheres,
            edge,
        })
    }

    /// Sets gravity so that the highest sphere falls for `steps` if it hits no other, instead of
    /// [`STEPS_TO_FALL`]. Must be positive.
    #[must_use]
    pub fn with_steps_to_fall(self, steps: f32) -> Self {
        Self {
            gravity: gravity(self.edge, steps),
            ..self
        }
    }

    /// The spheres in their current state.
    #[must_use]
    pub fn spheres(&self) -> &SphereSet {
        &self.spheres
    }

    /// Edge of the initial cube, nm.
    #[must_use]
    pub fn edge(&self) -> f32 {
        self.edge
    }

    /// Integrates gravity for one step.
    pub fn advance(&mut self) {
        let spheres = &mut self.spheres;
        for (index, velocity) in self.velocities.iter_mut().enumerate() {
            velocity.y -= self.gravity;
            spheres.x[index] += velocity.x;
            spheres.y[index] += velocity.y;
            spheres.z[index] += velocity.z;
            if spheres.y[index] < Self::RADIUS_NM {
                spheres.y[index] = Self::RADIUS_NM;
                velocity.y = velocity.y.max(0.0);
            }
        }
    }

    /// Least overlap, nm, that [`respond_in_order`](Self::respond_in_order) resolves: rounding
    /// decides whether a search finds a shallower one.
    pub const MIN_OVERLAP_NM: f32 = 1.0e-4;

    /// Separates the overlapping `pairs` in ascending order, so that the result is the same, bit
    /// for bit, whichever search found them. Overlaps below [`MIN_OVERLAP_NM`] remain.
    ///
    /// [`MIN_OVERLAP_NM`]: Self::MIN_OVERLAP_NM
    ///
    /// # Panics
    /// If a pair refers to a sphere that does not exist.
    pub fn respond_in_order(&mut self, pairs: &PairBuffer) {
        let mut pairs = pairs.clone();
        pairs.retain(|pair| pair.gap(&self.spheres) < -Self::MIN_OVERLAP_NM);
        pairs.sort_and_dedup();
        self.respond(&pairs);
    }

    /// Separates the overlapping `pairs` one after the other.
    ///
    /// # Panics
    /// If a pair refers to a sphere that does not exist.
    pub fn respond(&mut self, pairs: &PairBuffer) {
        for pair in pairs.iter() {
            let [a, b] = [pair.a as usize, pair.b as usize];
            let difference = self.spheres.center(b) - self.spheres.center(a);
            let distance = difference.length();
            let overlap = 2.0 * Self::RADIUS_NM - distance;
            if overlap <= 0.0 {
                continue;
            }
            // Coincident spheres separate along some axis.
            let normal = difference.try_normalize().unwrap_or(Vec3::Y);
            let push = 0.5 * overlap * normal;
            self.shift(a, -push);
            self.shift(b, push);
            // Perfectly inelastic.
            let closing = (self.velocities[b] - self.velocities[a]).dot(normal);
            if closing < 0.0 {
                let change = 0.5 * closing * normal;
                self.velocities[a] += change;
                self.velocities[b] -= change;
            }
        }
    }

    fn shift(&mut self, index: usize, by: Vec3) {
        self.spheres.x[index] += by.x;
        self.spheres.y[index] += by.y;
        self.spheres.z[index] += by.z;
    }
}

/// Downward acceleration, nm per step², of a fall of `edge` nm in `steps`.
fn gravity(edge: f32, steps: f32) -> f32 {
    2.0 * edge / (steps * steps)
}
