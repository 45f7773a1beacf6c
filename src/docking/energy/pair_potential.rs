//! Softened pair potentials of atoms.
//!
//! With s the squared distance r², R the distance of the Lennard-Jones minimum and ε its depth:
//!
//! - Lennard-Jones, ε((R²/s)⁶ − 2(R²/s)³), continues along its tangent in s below `soft` times R.
//!   At 0.9 it ends at 10 ε for coincident atoms instead of infinity. Hard spheres keep atoms
//!   apart there.
//! - Coulomb, k q₁q₂/(ε(r) r) with the distance-dependent dielectric ε(r) = 4 r/Å, is proportional
//!   to 1/s. It continues along its tangent in s below 0.12 nm.
//! - Both are multiplied by a smooth switching function that is one up to `switch` and zero from
//!   `cutoff` on.

use super::EnergyConfig;

/// Distance below which Coulomb is linear, nm: closer than any nonbonded atoms.
const SOFT_CHARGE_NM: f64 = 0.12;

/// Coulomb's constant in kJ·nm/(mol·e²).
const COULOMB: f64 = 138.935_458;

/// Dielectric constant per distance, 1/nm: 4 per Ångström.
const DIELECTRIC_PER_NM: f64 = 40.0;

/// Energy and its derivative by the squared distance.
pub(super) type EnergyAndSlope = (f64, f64);

/// The softened Lennard-Jones potential of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SoftLennardJones {
    /// Distance of the minimum, nm.
    pub(super) distance: f64,
    /// Depth of the minimum, kJ/mol.
    pub(super) depth: f64,
    /// Distance below which it is linear, relative to `distance`.
    pub(super) soft: f64,
}

impl SoftLennardJones {
    /// The potential at the squared distance `s` in nm², without switching.
    pub(super) fn lennard_jones(&self, s: f64) -> EnergyAndSlope {
        let soft = self.soft_square();
        let x = (self.distance * self.distance / s.max(soft)).powi(3);
        let energy = self.depth * (x * x - 2.0 * x);
        let slope = -6.0 * self.depth * (x * x - x) / s.max(soft);
        (energy + slope * (s - soft).min(0.0), slope)
    }

    /// Squared distance below which the potential is linear, nm².
    pub(super) fn soft_square(&self) -> f64 {
        (self.soft * self.distance).powi(2)
    }
}

/// Coulomb potential of two unit charges at the squared distance `s` in nm², without switching.
pub(super) fn coulomb(s: f64) -> EnergyAndSlope {
    let soft = soft_charge();
    let k = coulomb_constant();
    let near = s.max(soft);
    let slope = -k / (near * near);
    (k / near + slope * (s - soft).min(0.0), slope)
}

/// Energy of two unit charges times their squared distance, kJ·nm²/mol.
pub(super) fn coulomb_constant() -> f64 {
    COULOMB / DIELECTRIC_PER_NM
}

/// Squared distance below which Coulomb is linear, nm².
pub(super) fn soft_charge() -> f64 {
    SOFT_CHARGE_NM * SOFT_CHARGE_NM
}

/// Switching function at the squared distance `s` in nm², and its derivative.
pub(super) fn switch(s: f64, config: &EnergyConfig) -> EnergyAndSlope {
    let [begin, end] = [config.switch, config.cutoff].map(|r| f64::from(r).powi(2));
    let t = ((end - s) / (end - begin)).clamp(0.0, 1.0);
    (
        t * t * (3.0 - 2.0 * t),
        -6.0 * t * (1.0 - t) / (end - begin),
    )
}

/// Product of a potential and the switching function.
pub(super) fn product(potential: EnergyAndSlope, switch: EnergyAndSlope) -> EnergyAndSlope {
    (
        potential.0 * switch.0,
        potential.1 * switch.0 + potential.0 * switch.1,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_derivatives_and_potentials_are_continuous() {
        let config = EnergyConfig::default();
        let pair = SoftLennardJones {
            distance: 0.38,
            depth: 0.4,
            soft: 0.8,
        };
        let potentials: [&dyn Fn(f64) -> EnergyAndSlope; 4] = [
            &|s| pair.lennard_jones(s),
            &coulomb,
            &|s| switch(s, &config),
            &|s| product(pair.lennard_jones(s), switch(s, &config)),
        ];
        for potential in potentials {
            for k in 0..2000 {
                let (s, h) = (f64::from(k) * 5.0e-4, 1.0e-7);
                let (here, slope) = potential(s);
                let there = potential(s + h).0;
                let error = ((there - here) / h - slope).abs();
                assert!(error < 1.0e-3 * (1.0 + slope.abs()), "{s}: {error}");
            }
        }
    }

    #[test]
    fn minimum_has_its_distance_and_depth() {
        let pair = SoftLennardJones {
            distance: 0.35,
            depth: 0.7,
            soft: 0.9,
        };
        let (energy, slope) = pair.lennard_jones(0.35 * 0.35);
        assert!((energy + 0.7).abs() < 1.0e-12 && slope.abs() < 1.0e-12);
        // As stated in the module docs.
        let (inside, _) = pair.lennard_jones(0.0);
        assert!((inside / 0.7 - 10.0).abs() < 0.5, "{}", inside / 0.7);
    }
}
