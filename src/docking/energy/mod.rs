//! What two molecules do to each other before they touch: an energy, a force and a torque.
//!
//! The technique of Pattabiraman, Levitt, Ferrin and Langridge (*Computer graphics in
//! real-time docking with energy calculation and minimization*, 1985), which Turk names as
//! what his system lacks:
//! 1. [`ForceFieldMolecule`]: each atom gets a well of Lennard-Jones by its element and a
//!    partial charge by its residue, and a cost of solvation by both;
//! 2. [`EnergyGrid`]: around the receptor, the energy of a lone atom of each kind that the
//!    ligand has, of a unit charge, and of what it costs that water leaves, is summed up once
//!    at the points of a lattice;
//! 3. [`EnergyGrid::interaction`]: each atom of the ligand reads the eight points around
//!    it, whatever the size of the receptor; the force is the slope of what is read, so
//!    that energy and force belong together exactly.
//!
//! A lattice is too coarse for the steep part of the energy. As Turk proposes, hard spheres
//! cover that part, and the energy is bent over where they begin (see [`SoftLennardJones`]).
//! [`direct_interaction`] is the sum over all pairs in 64 bits that the lattice is compared
//! with: where no atoms overlap, each of the three energies is off by less than 1.5 kJ/mol
//! and a twentieth of itself, with the default spacing, for p-xylene and lysozyme.
//!
//! A lattice takes four bytes for each of its maps at each point, and no more than
//! [`EnergyConfig::max_bytes`].
//!
//! Energies are kJ/mol, forces kJ/(mol·nm), torques kJ/mol, charges those of the proton.

mod bonds;
mod direct_sum;
mod energy_grid;
mod error;
mod force_field_molecule;
mod lattice;
mod lennard_jones;
mod pair_potential;
mod partial_charges;
mod residue_charges;
mod solvation;

pub use direct_sum::direct_interaction;
pub use energy_grid::EnergyGrid;
pub use error::EnergyError;
pub use force_field_molecule::ForceFieldMolecule;
pub use lennard_jones::LennardJones;
pub use pair_potential::{EnergyConfig, SoftLennardJones};
pub use solvation::Solvation;

use glam::Vec3;

/// What a receptor does to a ligand.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interaction {
    /// Energy of attraction and repulsion, kJ/mol.
    pub lennard_jones: f64,
    /// Energy of the charges, kJ/mol.
    pub coulomb: f64,
    /// What it costs that water leaves, kJ/mol.
    pub solvation: f64,
    /// Force on the ligand in the world frame, kJ/(mol·nm).
    pub force: Vec3,
    /// Torque on the ligand about its center of mass in the world frame, kJ/mol.
    pub torque: Vec3,
}

impl Interaction {
    /// All energies together, kJ/mol.
    #[must_use]
    pub fn energy(&self) -> f64 {
        self.lennard_jones + self.coulomb + self.solvation
    }
}
