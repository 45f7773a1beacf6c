//! The energy of two atoms.
//!
//! With s the square of their distance r, R the distance at which Lennard-Jones is lowest
//! and ε the depth there:
//!
//! - Lennard-Jones, ε((R²/s)⁶ − 2(R²/s)³), goes on from `soft` times R inwards along
//!   its tangent in s: at 0.9 it ends at 10 ε where the atoms coincide, instead of rising
//!   without end. What keeps atoms apart there are the hard spheres;
//! - Coulomb, k q₁q₂/(ε(r) r) with the dielectric ε(r) = 4 r/Å, is proportional to 1/s: what
//!   lies between the atoms dampens far charges more than near ones. It too goes on along
//!   its tangent in s, from 0.12 nm inwards;
//! - both are multiplied by a smooth step that is one up to `switch` and zero from `cutoff`.

use serde::{Deserialize, Serialize};

use super::EnergyError;

/// Where Coulomb's law is bent over, nm: closer than any two atoms that are not bonded.
const SOFT_CHARGE_NM: f64 = 0.12;

/// Coulomb's constant in kJ·nm/(mol·e²).
const COULOMB: f64 = 138.935_458;

/// Dielectric for each nm of distance: 4 for each Ångström.
const DIELECTRIC_PER_NM: f64 = 40.0;

/// How the energy is summed up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EnergyConfig {
    /// Distance of two points of the lattice, nm. Default: 0.05.
    pub spacing: f32,
    /// Distance at which the energy begins to fade, nm. Default: 0.7.
    pub switch: f32,
    /// Distance from which on there is none, nm. Default: 0.9.
    pub cutoff: f32,
    /// Where Lennard-Jones is bent over, in units of the distance at which it is lowest.
    /// Default: 0.9.
    ///
    /// A receptor that cannot give way has to be soft, or ligands that fit tightly are
    /// pushed out of where they belong. The default was chosen on T4 lysozyme L99A and
    /// p-xylene, with the crystal's pose in view: of 0.8, 0.85, 0.9, 0.95 and 1, the search
    /// ends in the cavity always with 0.9 and 0.95, sometimes with 1, never with the others.
    pub soft: f32,
    /// Most bytes of a lattice. Default: 256 MiB. T4 lysozyme takes 49 MB for p-xylene.
    pub max_bytes: u64,
}

impl Default for EnergyConfig {
    fn default() -> Self {
        Self {
            spacing: 0.05,
            switch: 0.7,
            cutoff: 0.9,
            soft: 0.9,
            max_bytes: 256 << 20,
        }
    }
}

impl EnergyConfig {
    /// Whether every number makes sense.
    pub(super) fn check(&self) -> Result<(), EnergyError> {
        let checks = [
            ("spacing", self.spacing, 0.005..=0.2, "from 0.005 to 0.2 nm"),
            ("cutoff", self.cutoff, 0.3..=3.0, "from 0.3 to 3 nm"),
            ("softness", self.soft, 0.5..=1.0, "from 0.5 to 1"),
            (
                "switch",
                self.switch,
                0.2..=self.cutoff - 0.05,
                "from 0.2 nm to 0.05 nm less than the cutoff",
            ),
        ];
        for (what, value, range, allowed) in checks {
            if !range.contains(&value) {
                return Err(EnergyError::BadParameter {
                    what,
                    value: f64::from(value),
                    allowed,
                });
            }
        }
        Ok(())
    }
}

/// Energy and its slope, both over the square of the distance.
pub(super) type EnergyAndSlope = (f64, f64);

/// The energy of two atoms of given kinds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftLennardJones {
    /// Distance at which Lennard-Jones is lowest, nm.
    pub distance: f64,
    /// Depth there, kJ/mol.
    pub depth: f64,
    /// Where it is bent over, in units of the distance.
    pub soft: f64,
}

impl SoftLennardJones {
    /// Lennard-Jones at the squared distance `s`, nm², without the step.
    pub(super) fn lennard_jones(&self, s: f64) -> EnergyAndSlope {
        let soft = self.soft_square();
        let x = (self.distance * self.distance / s.max(soft)).powi(3);
        let energy = self.depth * (x * x - 2.0 * x);
        let slope = -6.0 * self.depth * (x * x - x) / s.max(soft);
        (energy + slope * (s - soft).min(0.0), slope)
    }

    /// Square of the distance at which it is bent over, nm².
    pub(super) fn soft_square(&self) -> f64 {
        (self.soft * self.distance).powi(2)
    }
}

/// Coulomb's law for two unit charges at the squared distance `s`, nm², without the step.
pub(super) fn coulomb(s: f64) -> EnergyAndSlope {
    let soft = soft_charge();
    let k = coulomb_constant();
    let near = s.max(soft);
    let slope = -k / (near * near);
    (k / near + slope * (s - soft).min(0.0), slope)
}

/// Energy of two unit charges times the square of their distance, kJ·nm²/mol.
pub(super) fn coulomb_constant() -> f64 {
    COULOMB / DIELECTRIC_PER_NM
}

/// Square of the distance at which Coulomb's law is bent over, nm².
pub(super) fn soft_charge() -> f64 {
    SOFT_CHARGE_NM * SOFT_CHARGE_NM
}

/// What energies are multiplied by at the squared distance `s`, nm², and its slope.
pub(super) fn step(s: f64, config: &EnergyConfig) -> EnergyAndSlope {
    let [begin, end] = [config.switch, config.cutoff].map(|r| f64::from(r).powi(2));
    let t = ((end - s) / (end - begin)).clamp(0.0, 1.0);
    (
        t * t * (3.0 - 2.0 * t),
        -6.0 * t * (1.0 - t) / (end - begin),
    )
}

/// A law times the step.
pub(super) fn product(law: EnergyAndSlope, step: EnergyAndSlope) -> EnergyAndSlope {
    (law.0 * step.0, law.1 * step.0 + law.0 * step.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_derivatives_and_nothing_jumps() {
        let config = EnergyConfig::default();
        let pair = SoftLennardJones {
            distance: 0.38,
            depth: 0.4,
            soft: 0.8,
        };
        let laws: [&dyn Fn(f64) -> EnergyAndSlope; 4] = [
            &|s| pair.lennard_jones(s),
            &coulomb,
            &|s| step(s, &config),
            &|s| product(pair.lennard_jones(s), step(s, &config)),
        ];
        for law in laws {
            for k in 0..2000 {
                let (s, h) = (f64::from(k) * 5.0e-4, 1.0e-7);
                let (here, slope) = law(s);
                let there = law(s + h).0;
                let error = ((there - here) / h - slope).abs();
                assert!(error < 1.0e-3 * (1.0 + slope.abs()), "{s}: {error}");
            }
        }
    }

    #[test]
    fn the_well_is_where_and_as_deep_as_it_should_be() {
        let pair = SoftLennardJones {
            distance: 0.35,
            depth: 0.7,
            soft: 0.9,
        };
        let (energy, slope) = pair.lennard_jones(0.35 * 0.35);
        assert!((energy + 0.7).abs() < 1.0e-12 && slope.abs() < 1.0e-12);
        // The end that the module's documentation names.
        let (inside, _) = pair.lennard_jones(0.0);
        assert!((inside / 0.7 - 10.0).abs() < 0.5, "{}", inside / 0.7);
    }

    #[test]
    fn settings_that_make_no_sense_are_refused_by_name() {
        let sound = EnergyConfig::default();
        assert_eq!(sound.check(), Ok(()));
        let bad = [
            (
                "spacing",
                EnergyConfig {
                    spacing: 0.0,
                    ..sound
                },
            ),
            (
                "spacing",
                EnergyConfig {
                    spacing: f32::NAN,
                    ..sound
                },
            ),
            (
                "cutoff",
                EnergyConfig {
                    cutoff: f32::INFINITY,
                    ..sound
                },
            ),
            (
                "switch",
                EnergyConfig {
                    switch: 0.9,
                    ..sound
                },
            ),
        ];
        for (name, config) in bad {
            assert!(matches!(
                config.check(),
                Err(EnergyError::BadParameter { what, .. }) if what == name
            ));
        }
    }
}
