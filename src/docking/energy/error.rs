//! Why there is no energy.

use thiserror::Error;

/// Why there is no energy.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum EnergyError {
    /// A parameter is not a number that makes sense.
    #[error("the {what} of the energy is {value}, and has to be {allowed}")]
    BadParameter {
        /// Which parameter.
        what: &'static str,
        /// What was given.
        value: f64,
        /// What it may be.
        allowed: &'static str,
    },
    /// The lattice does not fit into the memory that it is allowed.
    #[error(
        "the energy lattice around '{receptor}' needs {needed} bytes and may have {allowed}: make its spacing wider or allow more"
    )]
    TooLarge {
        /// Name of the receptor.
        receptor: String,
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that it may have.
        allowed: u64,
    },
    /// There is not one charge for each atom.
    #[error("molecule '{name}' has {atoms} atoms, and {charges} charges were given")]
    ChargeCount {
        /// Name of the molecule.
        name: String,
        /// Number of its atoms.
        atoms: usize,
        /// Number of charges.
        charges: usize,
    },
    /// A charge is not finite.
    #[error("atom {index} of molecule '{name}' has the charge {charge}, which is not finite")]
    BadCharge {
        /// Name of the molecule.
        name: String,
        /// The atom, counted from zero.
        index: usize,
        /// What was given.
        charge: f32,
    },
}
