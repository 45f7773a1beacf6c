//! Diffusion coefficients after Stokes and Einstein.

use crate::motion::MotionError;
use crate::motion::error::check_sphere;

/// Boltzmann's constant, J/K (exact since 2019).
const BOLTZMANN: f64 = 1.380_649e-23;

/// Square nanometers per square meter.
const NM2_PER_M2: f64 = 1.0e18;

/// Meters per nanometer.
const M_PER_NM: f64 = 1.0e-9;

/// Volume of a protein per mass, nm³/Da (0.73 cm³/g).
const PROTEIN_NM3_PER_DA: f64 = 1.212e-3;

/// Ratio of the hydrodynamic radius to the radius of the volume: a water shell moves along.
const HYDRATION: f64 = 1.2;

/// Volume of a protein of `mass` Da, nm³.
#[must_use]
pub fn protein_volume(mass: f64) -> f64 {
    mass * PROTEIN_NM3_PER_DA
}

/// Radius of the sphere with the same drag in water as a globular protein of `mass` Da, nm.
#[must_use]
pub fn hydrodynamic_radius(mass: f64) -> f64 {
    let volume = protein_volume(mass);
    HYDRATION * (3.0 * volume / (4.0 * std::f64::consts::PI)).cbrt()
}

/// The solvent of the particles. Default: water at room temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "plugin", derive(bevy::prelude::Reflect))]
pub struct Medium {
    /// Temperature, K. Default: 298.
    pub temperature: f64,
    /// Viscosity, Pa·s. Default: 0.89e-3.
    pub viscosity: f64,
}

impl Default for Medium {
    fn default() -> Self {
        Self {
            temperature: 298.0,
            viscosity: 0.89e-3,
        }
    }
}

impl Medium {
    /// Diffusion coefficient of a sphere of `radius` nm: kT / (6 π η r), nm²/s.
    #[must_use]
    pub fn translational(&self, radius: f64) -> f64 {
        let drag = 6.0 * std::f64::consts::PI * self.viscosity * radius * M_PER_NM;
        BOLTZMANN * self.temperature / drag * NM2_PER_M2
    }

    /// Rotational diffusion coefficient of a sphere of `radius` nm: kT / (8 π η r³), rad²/s.
    #[must_use]
    pub fn rotational(&self, radius: f64) -> f64 {
        let drag = 8.0 * std::f64::consts::PI * self.viscosity * (radius * M_PER_NM).powi(3);
        BOLTZMANN * self.temperature / drag
    }
}

/// A hard sphere that diffuses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrownianParticle {
    /// Radius, nm.
    pub radius: f64,
    /// Diffusion coefficient, nm²/s.
    pub diffusion: f64,
    /// Rotational diffusion coefficient, rad²/s.
    pub rotational_diffusion: f64,
}

impl BrownianParticle {
    /// A sphere of `radius` nm with the diffusion coefficients of a medium.
    #[must_use]
    pub fn in_medium(radius: f64, medium: &Medium) -> Self {
        Self {
            radius,
            diffusion: medium.translational(radius),
            rotational_diffusion: medium.rotational(radius),
        }
    }

    pub(super) fn check(&self, index: u32) -> Result<(), MotionError> {
        let properties = [
            ("radius", self.radius),
            ("diffusion coefficient", self.diffusion),
            (
                "rotational diffusion coefficient",
                self.rotational_diffusion,
            ),
        ];
        check_sphere(index, &properties)
    }
}
