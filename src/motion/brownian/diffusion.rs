//! How fast particles diffuse.

use super::super::MotionError;

/// Boltzmann's constant, J/K (exact since 2019).
pub const BOLTZMANN: f64 = 1.380_649e-23;

/// Temperature of a room, K.
pub const ROOM_TEMPERATURE_K: f64 = 298.0;

/// Viscosity of water at that temperature, Pa s.
pub const WATER_VISCOSITY: f64 = 0.89e-3;

/// Square nanometers of a square meter.
const NM2_PER_M2: f64 = 1.0e18;

/// Meters of a nanometer.
const M_PER_NM: f64 = 1.0e-9;

/// Volume of a dalton of protein, nm³ (0.73 cm³/g).
pub const PROTEIN_NM3_PER_DA: f64 = 1.212e-3;

/// A shell of water moves along: the radius that counts in water over that of the volume.
const HYDRATED: f64 = 1.2;

/// The volume of a protein of so many daltons, nm³.
#[must_use]
pub fn protein_volume(mass: f64) -> f64 {
    mass * PROTEIN_NM3_PER_DA
}

/// The radius of the sphere that is dragged in water as a globular protein of so many
/// daltons is, nm.
#[must_use]
pub fn hydrodynamic_radius(mass: f64) -> f64 {
    let volume = protein_volume(mass);
    HYDRATED * (3.0 * volume / (4.0 * std::f64::consts::PI)).cbrt()
}

/// What particles diffuse in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Medium {
    /// Temperature, K. Default: 298.
    pub temperature: f64,
    /// Viscosity, Pa s. Default: that of water, 0.89e-3.
    pub viscosity: f64,
}

impl Default for Medium {
    fn default() -> Self {
        Self {
            temperature: ROOM_TEMPERATURE_K,
            viscosity: WATER_VISCOSITY,
        }
    }
}

impl Medium {
    /// The diffusion coefficient of a sphere of `radius` nm, nm²/s: kT / (6 π η r), after
    /// Stokes and Einstein.
    #[must_use]
    pub fn translational(&self, radius: f64) -> f64 {
        let drag = 6.0 * std::f64::consts::PI * self.viscosity * radius * M_PER_NM;
        BOLTZMANN * self.temperature / drag * NM2_PER_M2
    }

    /// The rotational diffusion coefficient of a sphere of `radius` nm, rad²/s:
    /// kT / (8 π η r³).
    #[must_use]
    pub fn rotational(&self, radius: f64) -> f64 {
        let drag = 8.0 * std::f64::consts::PI * self.viscosity * (radius * M_PER_NM).powi(3);
        BOLTZMANN * self.temperature / drag
    }
}

/// A particle that diffuses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrownianParticle {
    /// Radius of its hard sphere, nm.
    pub radius: f64,
    /// Diffusion coefficient, nm²/s.
    pub diffusion: f64,
    /// Rotational diffusion coefficient, rad²/s.
    pub rotational_diffusion: f64,
}

impl BrownianParticle {
    /// A sphere of `radius` nm that diffuses as it does in a medium.
    #[must_use]
    pub fn in_medium(radius: f64, medium: &Medium) -> Self {
        Self {
            radius,
            diffusion: medium.translational(radius),
            rotational_diffusion: medium.rotational(radius),
        }
    }

    /// Refuses what is no particle; `sphere` is for the error.
    pub(super) fn check(&self, sphere: u32) -> Result<(), MotionError> {
        for (what, value) in [
            ("radius", self.radius),
            ("diffusion coefficient", self.diffusion),
            (
                "rotational diffusion coefficient",
                self.rotational_diffusion,
            ),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(MotionError::BadSphere {
                    sphere,
                    what,
                    value,
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protein_drags_its_water_along() {
        // Ubiquitin, 8.6 kDa: 1.6 to 1.7 nm; lysozyme, 14.3 kDa: 1.9 to 2.0 nm.
        assert!((1.6..1.7).contains(&hydrodynamic_radius(8_600.0)));
        assert!((1.85..2.0).contains(&hydrodynamic_radius(14_300.0)));
    }

    #[test]
    fn a_protein_in_water_diffuses_as_measured() {
        // Hemoglobin, 3.1 nm: about 69 µm²/s at 293 K, and more in a warmer room.
        let cool = Medium {
            temperature: 293.0,
            viscosity: 1.002e-3,
        };
        assert!((cool.translational(3.1) * 1.0e-6 - 69.0).abs() < 1.0);
        let particle = BrownianParticle::in_medium(3.1, &Medium::default());
        assert!((particle.diffusion * 1.0e-6 - 79.0).abs() < 1.0);
        // It turns by a radian in some tens of nanoseconds.
        let time = 1.0 / (2.0 * particle.rotational_diffusion);
        assert!((1.0e-8..1.0e-7).contains(&time), "{time}");
    }
}
