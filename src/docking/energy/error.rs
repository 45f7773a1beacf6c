//! The error type of energies.

use thiserror::Error;

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
