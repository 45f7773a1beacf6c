//! The error type of logs.

use thiserror::Error;

use super::VERSION;

/// A log that cannot be parsed or replayed. Line numbers start at one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file is not a docking log.
    #[error("not a docking log: the first line must start with 'docking-log'")]
    NotALog,
    /// The log has an unsupported version.
    #[error("the log has version '{version}'; only version {VERSION} is supported")]
    Version {
        /// The version in the log.
        version: String,
    },
    /// The log has no end line.
    #[error(
        "the log is truncated: it stops at line {line}, after {inputs} complete inputs, without an 'end' line"
    )]
    Truncated {
        /// Number of lines.
        line: usize,
        /// Number of complete inputs.
        inputs: usize,
    },
    /// A line is invalid.
    #[error("line {line} of the log is invalid ({why}): '{text}'")]
    Line {
        /// Line number.
        line: usize,
        /// Description of the problem.
        why: &'static str,
        /// Beginning of the line.
        text: String,
    },
    /// The end line states a different number of inputs.
    #[error("line {line} of the log states {expected} inputs, but there are {found}")]
    Count {
        /// Line number.
        line: usize,
        /// Stated number of inputs.
        expected: usize,
        /// Actual number of inputs.
        found: usize,
    },
    /// The log was recorded with another molecule.
    #[error(
        "the log was recorded with another {role}: '{logged}' ({logged_atoms} atoms), not '{given}' ({given_atoms} atoms)"
    )]
    OtherMolecule {
        /// `"receptor"` or `"ligand"`.
        role: &'static str,
        /// Name of the molecule in the log.
        logged: String,
        /// Number of its atoms.
        logged_atoms: usize,
        /// Name of the molecule in the session.
        given: String,
        /// Number of its atoms.
        given_atoms: usize,
    },
    /// The log was recorded with another energy.
    #[error("the log was recorded with the energy settings '{logged}', not '{given}'")]
    OtherEnergy {
        /// Energy settings in the log.
        logged: String,
        /// Energy settings of the session.
        given: String,
    },
    /// The replay ended at other poses than the recording.
    #[error(
        "the replay ends at other poses than the recording: other hardware may round differently"
    )]
    DifferentEnd,
}
