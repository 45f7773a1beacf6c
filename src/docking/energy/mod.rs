//! Interaction energy, force and torque of two rigid molecules.
//!
//! The method of Pattabiraman, Levitt, Ferrin and Langridge (*Computer graphics in real-time
//! docking with energy calculation and minimization*, 1985), which Turk's system lacks:
//!
//! 1. [`ForceFieldMolecule`] assigns Lennard-Jones parameters, a partial charge and solvation
//!    parameters to each atom.
//! 2. [`EnergyGrid`] precomputes, on a grid around the receptor, the energy of a probe atom of
//!    each Lennard-Jones type of the ligand, of a unit charge, and of solvation.
//! 3. [`EnergyGrid::interaction`] interpolates for each atom of the ligand, at a cost independent
//!    of the receptor's size. The force is the gradient of the interpolation, so energy and force
//!    are consistent.
//!
//! A grid is too coarse for the steep part of the repulsion. As Turk proposes, hard spheres
//! replace that part, and the potentials are softened where the spheres begin.
//!
//! [`direct_interaction`] is the reference: the sum over all pairs in `f64`. Where no atoms
//! overlap, each of the three energies of the grid is accurate to 1.5 kJ/mol plus 5 %, for
//! p-xylene and lysozyme with the default spacing.
//!
//! Energies are in kJ/mol, forces in kJ/(mol·nm), torques in kJ/mol, charges in elementary charges.

mod direct_sum;
mod energy_grid;
mod force_field_molecule;
mod lennard_jones;
mod pair_potential;
mod partial_charges;
mod residue_charges;
mod solvation;

pub use direct_sum::direct_interaction;
pub use energy_grid::EnergyGrid;
pub use force_field_molecule::ForceFieldMolecule;

use glam::Vec3;
use thiserror::Error;

/// Configuration of the energy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnergyConfig {
    /// Grid spacing, nm. Default: 0.05.
    pub spacing: f32,
    /// Distance at which energies begin to fade out, nm. Default: 0.7.
    pub switch: f32,
    /// Distance at which energies are zero, nm. Default: 0.9.
    pub cutoff: f32,
    /// Distance below which Lennard-Jones is linear, relative to the distance of its minimum.
    /// Default: 0.9.
    ///
    /// A rigid receptor has to be soft, or tightly fitting ligands are pushed out of their
    /// binding site. The default was chosen for T4 lysozyme L99A and p-xylene, knowing the
    /// crystal pose: of 0.8, 0.85, 0.9, 0.95 and 1, the search always ends in the cavity with 0.9
    /// and 0.95, sometimes with 1, never with the others.
    pub soft: f32,
    /// Maximum size of a grid, bytes. Default: 256 MiB. T4 lysozyme needs 49 MB for p-xylene.
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
    /// Returns an error for the first parameter that is out of range.
    fn check(&self) -> Result<(), EnergyError> {
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

/// Invalid input of an energy.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum EnergyError {
    /// A parameter is out of range.
    #[error("the {what} of the energy must be {allowed}, not {value}")]
    BadParameter {
        /// Name of the parameter.
        what: &'static str,
        /// The invalid value.
        value: f64,
        /// Description of the valid range.
        allowed: &'static str,
    },
    /// The grid exceeds the maximum size.
    #[error(
        "the energy grid around '{receptor}' needs {needed} bytes, but at most {allowed} are allowed: increase its spacing or the limit"
    )]
    TooLarge {
        /// Name of the receptor.
        receptor: String,
        /// Required size, bytes.
        needed: u64,
        /// Maximum size, bytes.
        allowed: u64,
    },
    /// The number of charges differs from the number of atoms.
    #[error("molecule '{name}' has {atoms} atoms, but {charges} charges were given")]
    ChargeCount {
        /// Name of the molecule.
        name: String,
        /// Number of atoms.
        atoms: usize,
        /// Number of charges.
        charges: usize,
    },
    /// A charge is not finite.
    #[error("the charge of atom {index} of molecule '{name}' is not finite: {charge}")]
    BadCharge {
        /// Name of the molecule.
        name: String,
        /// Index of the atom.
        index: usize,
        /// The invalid charge.
        charge: f32,
    },
}

/// Interaction of a receptor with a ligand.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interaction {
    /// Lennard-Jones energy, kJ/mol.
    pub lennard_jones: f64,
    /// Electrostatic energy, kJ/mol.
    pub coulomb: f64,
    /// Desolvation energy, kJ/mol.
    pub solvation: f64,
    /// Force on the ligand, world frame, kJ/(mol·nm).
    pub force: Vec3,
    /// Torque on the ligand about its center of mass, world frame, kJ/mol.
    pub torque: Vec3,
}

impl Interaction {
    /// Total energy, kJ/mol.
    #[must_use]
    pub fn energy(&self) -> f64 {
        self.lennard_jones + self.coulomb + self.solvation
    }
}
