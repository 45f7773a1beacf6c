//! Errors of checkpoints.

use std::io;
use std::sync::Arc;

use thiserror::Error;

/// Why a checkpoint cannot be saved, read or resumed.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(Arc<io::Error>),
    /// The file is not a checkpoint.
    #[error("it is not a checkpoint of a relaxation")]
    NotACheckpoint,
    /// The version of its format is not supported.
    #[error("its format has version {found}, expected {supported}")]
    Version {
        /// The version in the file.
        found: u32,
        /// The supported version.
        supported: u32,
    },
    /// The file is incomplete.
    #[error("it is incomplete: it ends after {bytes} bytes")]
    Truncated {
        /// Number of bytes that were read.
        bytes: u64,
    },
    /// The file was changed after it was written.
    #[error("it is damaged: {what}")]
    Damaged {
        /// What is wrong.
        what: &'static str,
    },
    /// The origin is another one: the molecules began at other places.
    #[error("it is of another recipe or seed")]
    OtherOrigin,
    /// The molecules are others than those of the crowd.
    #[error("it is of other molecules: {saved} were saved, and here are {molecules}")]
    OtherMolecules {
        /// Number of saved molecules.
        saved: usize,
        /// Number of molecules of the crowd.
        molecules: usize,
    },
    /// Law, clearance, stall window or coarse start of the config are others.
    #[error("it was made with another law, clearance, stall window or coarse start")]
    OtherConfig,
}

impl From<io::Error> for CheckpointError {
    fn from(error: io::Error) -> Self {
        Self::Io(Arc::new(error))
    }
}

impl PartialEq for CheckpointError {
    /// Whether both have the same text.
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}
