//! [`FallingSpheres`]: the workload on which broad phases are compared.
//!
//! After Poirrier (2009), sections 4.2 and 6: equal spheres at uniformly random positions in a
//! cuboid, a constant downward acceleration, and a floor, but no walls. After each step, all
//! overlapping pairs are found and then separated one after the other, which may create new
//! overlaps. This is not realistic, but the spheres become denser with time and stay in motion.
//!
//! The paper does not state the proportions of the cuboid, the acceleration, or what a collision
//! does to velocities. [`FallingConfig::default`] is the setting that fits its three tables and
//! its text at once, found by `cargo bench --bench papers -- poirrier`:
//!
//! - **a slab** of constant height whose base grows with the number of spheres: in a cube, the
//!   pile becomes deeper with the number of spheres, and so does the number of overlaps per sphere,
//!   which hardly changes in the paper from 50,000 to five million spheres;
//! - **separation in position only**: "non-interpenetration is enforced pairwise", and nothing is
//!   said about velocities. Spheres stop at the floor. With perfectly inelastic impulses instead,
//!   the pile spreads over the floor and gets thinner, so that results depend on its edges;
//! - **a fall of 48 steps** for the highest sphere, so that the late steps of the paper (50 to 60)
//!   are those after the last landing, when the number of overlaps no longer grows.

use std::f64::consts::PI;

use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use thiserror::Error;

use crate::search::PairBuffer;
use crate::spheres::{SphereError, SphereSet};

/// The region that the spheres of a [`FallingSpheres`] start in.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FallingRegion {
    /// A cuboid of this height (nm) with a square base.
    Slab {
        /// Height, nm.
        height: f32,
    },
    /// A cuboid with edges in these proportions; all equal for a cube.
    Cuboid {
        /// Relative lengths of the edges; y is the height.
        proportions: Vec3,
    },
}

/// What happens to the velocities of two spheres of a [`FallingSpheres`] that are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FallingResponse {
    /// Nothing: spheres lose their velocities at the floor only.
    Positions,
    /// If they approach each other, an impulse changes the velocities along the normal.
    Impulses,
}

/// How to build a [`FallingSpheres`]. The diameter of the spheres is 1 nm, so lengths are in
/// diameters, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FallingConfig {
    /// Number of spheres. Default: 10,000.
    pub count: u32,
    /// Total volume of the spheres divided by that of the region. Default: 0.1.
    pub volume_fraction: f32,
    /// Initial region. Default: a slab of 35 nm.
    pub region: FallingRegion,
    /// Downward acceleration, nm per step². Default: 0.03.
    pub gravity: f32,
    /// Coefficient of restitution, 0 to 1: of the floor, and with [`FallingResponse::Impulses`]
    /// of pairs. Default: 0, perfectly inelastic.
    pub restitution: f32,
    /// Response of pairs. Default: [`FallingResponse::Positions`].
    pub response: FallingResponse,
    /// Seed of the initial positions. Default: 1.
    pub seed: u64,
}

impl Default for FallingConfig {
    fn default() -> Self {
        Self {
            count: 10_000,
            volume_fraction: 0.1,
            region: FallingRegion::Slab { height: 35.0 },
            gravity: 0.03,
            restitution: 0.0,
            response: FallingResponse::Positions,
            seed: 1,
        }
    }
}

impl FallingConfig {
    /// The default with another number of spheres.
    #[must_use]
    pub fn of(count: u32) -> Self {
        Self {
            count,
            ..Self::default()
        }
    }

    fn check(&self) -> Result<(), FallingError> {
        let [x, y, z] = match self.region {
            FallingRegion::Slab { height } => [height; 3],
            FallingRegion::Cuboid { proportions } => proportions.to_array(),
        };
        let positive = [
            ("the volume fraction", self.volume_fraction),
            ("the size of the region", x),
            ("the size of the region", y),
            ("the size of the region", z),
        ];
        for (what, value) in positive {
            if !(value.is_finite() && value > 0.0) {
                return Err(FallingError::NotPositive { what, value });
            }
        }
        if !(self.gravity.is_finite() && self.gravity >= 0.0) {
            let gravity = self.gravity;
            return Err(FallingError::BadGravity { gravity });
        }
        if !(0.0..=1.0).contains(&self.restitution) {
            let restitution = self.restitution;
            return Err(FallingError::BadRestitution { restitution });
        }
        Ok(())
    }

    /// Edges of the initial region, nm.
    fn size(&self) -> Vec3 {
        let radius = f64::from(FallingSpheres::RADIUS_NM);
        let spheres = f64::from(self.count) * 4.0 / 3.0 * PI * radius.powi(3);
        let volume = spheres / f64::from(self.volume_fraction);
        match self.region {
            FallingRegion::Slab { height } => {
                let base = (volume / f64::from(height)).sqrt() as f32;
                Vec3::new(base, height, base)
            }
            FallingRegion::Cuboid { proportions } => {
                let unit = volume / proportions.as_dvec3().element_product();
                proportions * unit.cbrt() as f32
            }
        }
    }
}

/// Why a [`FallingConfig`] is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FallingError {
    /// A length or fraction is not positive and finite.
    #[error("{what} must be positive and finite, but is {value}")]
    NotPositive {
        /// The quantity.
        what: &'static str,
        /// Its value.
        value: f32,
    },
    /// The gravity is negative or not finite.
    #[error("the gravity must be finite and not negative, but is {gravity}")]
    BadGravity {
        /// The given value, nm per step².
        gravity: f32,
    },
    /// The coefficient of restitution is not from 0 to 1.
    #[error("the coefficient of restitution must be from 0 to 1, but is {restitution}")]
    BadRestitution {
        /// The given value.
        restitution: f32,
    },
    /// A sphere is invalid, or there are too many.
    #[error(transparent)]
    Sphere(#[from] SphereError),
}

/// Spheres that fall on a floor at height zero and pile up. The y axis is up; the unit of time
/// is a step.
#[derive(Clone, Debug)]
pub struct FallingSpheres {
    config: FallingConfig,
    spheres: SphereSet,
    velocities: Vec<Vec3>,
    /// Edges of the initial region, nm.
    size: Vec3,
}

impl FallingSpheres {
    /// Radius of the spheres, nm.
    pub const RADIUS_NM: f32 = 0.5;

    /// Spheres at rest, each its own owner. They may overlap.
    ///
    /// # Errors
    /// [`FallingError`] if the config is invalid.
    pub fn new(config: &FallingConfig) -> Result<Self, FallingError> {
        config.check()?;
        let size = config.size();
        let mut random = Pcg64Mcg::seed_from_u64(config.seed);
        let mut spheres = SphereSet::new();
        for owner in 0..config.count {
            let position: [f32; 3] = std::array::from_fn(|_| random.random::<f32>());
            spheres.push(size * Vec3::from_array(position), Self::RADIUS_NM, owner)?;
        }
        Ok(Self {
            config: *config,
            velocities: vec![Vec3::ZERO; spheres.len()],
            spheres,
            size,
        })
    }

    /// The spheres in their current state.
    #[must_use]
    pub fn spheres(&self) -> &SphereSet {
        &self.spheres
    }

    /// Edges of the initial region, nm. Its lowest corner is the origin.
    #[must_use]
    pub fn size(&self) -> Vec3 {
        self.size
    }

    /// Integrates gravity for one step.
    pub fn advance(&mut self) {
        let spheres = &mut self.spheres;
        for (index, velocity) in self.velocities.iter_mut().enumerate() {
            velocity.y -= self.config.gravity;
            spheres.x[index] += velocity.x;
            spheres.y[index] += velocity.y;
            spheres.z[index] += velocity.z;
            if spheres.y[index] < Self::RADIUS_NM {
                spheres.y[index] = Self::RADIUS_NM;
                velocity.y = velocity.y.max(-self.config.restitution * velocity.y);
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
            if self.config.response == FallingResponse::Impulses {
                self.exchange([a, b], normal);
            }
        }
    }

    /// Changes the velocities of two spheres that approach each other along `normal`.
    fn exchange(&mut self, [a, b]: [usize; 2], normal: Vec3) {
        let closing = (self.velocities[b] - self.velocities[a]).dot(normal);
        if closing < 0.0 {
            let change = 0.5 * (1.0 + self.config.restitution) * closing * normal;
            self.velocities[a] += change;
            self.velocities[b] -= change;
        }
    }

    fn shift(&mut self, index: usize, by: Vec3) {
        self.spheres.x[index] += by.x;
        self.spheres.y[index] += by.y;
        self.spheres.z[index] += by.z;
    }
}
