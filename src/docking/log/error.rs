//! Why a log cannot be played.

use thiserror::Error;

use super::VERSION;

/// Why a log cannot be played. Lines are counted from one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LogError {
    /// It does not begin as logs do.
    #[error("this is no docking log: its first line should begin with 'docking-log'")]
    NotALog,
    /// It was written by another version.
    #[error("the log has version '{version}', and only version {VERSION} can be played")]
    Version {
        /// What it says.
        version: String,
    },
    /// It stops before its end.
    #[error(
        "the log is truncated: it stops at line {line}, after {inputs} whole inputs, without its last line 'end'"
    )]
    Truncated {
        /// The last line that there is.
        line: usize,
        /// Inputs before that.
        inputs: usize,
    },
    /// A line makes no sense.
    #[error("line {line} of the log makes no sense ({why}): '{text}'")]
    Line {
        /// Which line.
        line: usize,
        /// What is wrong with it.
        why: &'static str,
        /// What it says, or the beginning of it.
        text: String,
    },
    /// Its last line counts other inputs than there are.
    #[error("line {line} of the log ends {expected} inputs, but there are {found}")]
    Count {
        /// The last line.
        line: usize,
        /// What it says.
        expected: usize,
        /// What there is.
        found: usize,
    },
    /// It was recorded with another molecule.
    #[error(
        "the log was recorded with another {part}: with '{logged}' ({logged_atoms} atoms), and not with '{given}' ({given_atoms} atoms)"
    )]
    OtherMolecule {
        /// Receptor or ligand.
        part: &'static str,
        /// Name of the one in the log.
        logged: String,
        /// Number of its atoms.
        logged_atoms: usize,
        /// Name of the one at hand.
        given: String,
        /// Number of its atoms.
        given_atoms: usize,
    },
    /// It was recorded with other settings of the energy.
    #[error("the log was recorded with the energy '{logged}', and not with '{given}'")]
    OtherEnergy {
        /// What it says.
        logged: String,
        /// What is at hand.
        given: String,
    },
    /// It led elsewhere than when it was recorded.
    #[error(
        "the log leads elsewhere than when it was recorded: on another kind of machine, numbers may be rounded in another way"
    )]
    DifferentEnd,
}
