//! Falling spheres: the workload that broad phases are compared on.
//!
//! After Poirrier (2009), sections 4.2 and 6: equal spheres at uniformly random places of a
//! cube, a constant downward acceleration, and a floor, but no walls. After each step those
//! that overlap are listed, and the pairs of the list are parted one after the other, which
//! may make others overlap: not realistic, but a crowd that becomes denser with time, and
//! stays in motion.
//!
//! What the paper does not give is chosen here: how strong gravity is
//! ([`STEPS_TO_FALL`]), and that parted spheres no longer move towards each other, as
//! those on the floor no longer move down.

use std::f32::consts::PI;

use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use thiserror::Error;

use crate::search::PairBuffer;
use crate::spheres::{SphereError, SphereSet};

/// Steps after which the highest sphere would arrive at the floor if it met no other.
///
/// The paper does not say how strong gravity is. It says that few spheres touch in the first
/// eleven steps, that everything is in motion in steps 50 to 60, and that spheres become
/// packed until they are at rest. So the last ones arrive when the late steps begin: with
/// more gravity the pile would lie there for some time already, with less it would not be
/// one yet. Its figures for a sphere in the late steps hardly depend on the number of
/// spheres, so this does not, either.
pub const STEPS_TO_FALL: f32 = 50.0;

/// Why spheres cannot fall.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FallingError {
    /// The ratio of volumes is not positive.
    #[error("spheres cannot fill {ratio} of a space: give a positive ratio")]
    BadRatio {
        /// The ratio that was given.
        ratio: f32,
    },
    /// There are too many spheres.
    #[error(transparent)]
    Sphere(#[from] SphereError),
}

/// Spheres that fall on a floor at height zero, and pile up there. The y axis is up; time is
/// counted in steps.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::scenes::FallingSpheres;
///
/// let mut falling = FallingSpheres::new(500, 0.1, 1)?;
/// let (mut search, mut pairs) = (UniformGrid::new(), PairBuffer::new());
/// for _ in 0..60 {
///     falling.advance();
///     search.find_pairs(falling.spheres(), 0.0, &mut pairs)?;
///     falling.respond(&pairs);
/// }
/// assert!(falling.spheres().extent()?.high.y < falling.edge(), "they have come down");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FallingSpheres {
    spheres: SphereSet,
    velocities: Vec<Vec3>,
    /// Downward acceleration, nm per step².
    gravity: f32,
    /// Edge of the cube in which they start, nm.
    edge: f32,
}

impl FallingSpheres {
    /// Radius of the spheres, nm.
    pub const RADIUS_NM: f32 = 0.5;

    /// `count` spheres, each its own molecule, whose volumes add up to `ratio` of that of
    /// the cube they start in. They may overlap.
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
            let place: [f32; 3] = std::array::from_fn(|_| edge * random.random::<f32>());
            spheres.push(Vec3::from_array(place), Self::RADIUS_NM, owner)?;
        }
        Ok(Self {
            velocities: vec![Vec3::ZERO; spheres.len()],
            gravity: gravity(edge, STEPS_TO_FALL),
            spheres,
            edge,
        })
    }

    /// With gravity such that the highest sphere would fall for `steps` if it met no other,
    /// instead of [`STEPS_TO_FALL`]. A positive number.
    #[must_use]
    pub fn with_steps_to_fall(self, steps: f32) -> Self {
        Self {
            gravity: gravity(self.edge, steps),
            ..self
        }
    }

    /// The spheres as they are now.
    #[must_use]
    pub fn spheres(&self) -> &SphereSet {
        &self.spheres
    }

    /// Edge of the cube in which they started, nm.
    #[must_use]
    pub fn edge(&self) -> f32 {
        self.edge
    }

    /// Lets everything fall for a step.
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

    /// Parts what overlaps, pair by pair: `pairs` are the overlapping spheres of now.
    ///
    /// # Panics
    /// If a pair names a sphere that does not exist.
    pub fn respond(&mut self, pairs: &PairBuffer) {
        for pair in pairs.iter() {
            let [a, b] = [pair.a as usize, pair.b as usize];
            let apart = self.spheres.center(b) - self.spheres.center(a);
            let distance = apart.length();
            let overlap = 2.0 * Self::RADIUS_NM - distance;
            if overlap <= 0.0 {
                continue;
            }
            // Spheres in the same place part along any axis.
            let normal = apart.try_normalize().unwrap_or(Vec3::Y);
            let push = 0.5 * overlap * normal;
            self.shift(a, -push);
            self.shift(b, push);
            // They do not bounce.
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

/// Downward acceleration, nm per step², to fall from `edge` nm in some steps.
fn gravity(edge: f32, steps: f32) -> f32 {
    2.0 * edge / (steps * steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{PairSearch, UniformGrid};

    #[test]
    fn spheres_come_down_and_become_denser() {
        let mut falling = FallingSpheres::new(2000, 0.1, 1).unwrap();
        let (mut search, mut pairs) = (UniformGrid::new(), PairBuffer::new());
        let mut counts = Vec::new();
        for _ in 0..=60 {
            falling.advance();
            let spheres = falling.spheres().clone();
            search.find_pairs(&spheres, 0.0, &mut pairs).unwrap();
            counts.push(pairs.len());
            falling.respond(&pairs);
        }
        let highest = falling.spheres().extent().unwrap().high.y;
        assert!(highest < 0.6 * falling.edge());
        assert!(counts[60] > 3 * counts[0], "{counts:?}");
    }

    #[test]
    fn a_ratio_that_is_none_is_refused() {
        for ratio in [0.0, -1.0, f32::NAN] {
            assert!(FallingSpheres::new(10, ratio, 1).is_err());
        }
        assert!(FallingSpheres::new(0, 0.1, 1).unwrap().spheres().is_empty());
    }
}
