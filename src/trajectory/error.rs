//! [`TrajectoryError`].

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::export::ExportError;

/// A trajectory cannot be written. A file that was begun has all frames before the failure.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrajectoryError {
    /// The extension is not that of a trajectory.
    #[error(
        "unknown format of '{path}': expected the extension .xtc or .simularium of a trajectory"
    )]
    UnknownFormat {
        /// The path.
        path: PathBuf,
    },
    /// The format needs a feature of this crate.
    #[error(
        "cannot write '{path}': this program was built without the feature `xtc`; use .simularium"
    )]
    FeatureDisabled {
        /// The path.
        path: PathBuf,
    },
    /// The file cannot be created or written.
    #[error("cannot write '{path}': {source}")]
    File {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The structure file of the first frame cannot be written.
    #[error("cannot write the first frame for the trajectory: {0}")]
    Topology(ExportError),
    /// A molecule cannot be written.
    #[error("frame {frame} of the trajectory: {error}")]
    Molecule {
        /// Index of the frame, from 0.
        frame: u64,
        /// What is wrong.
        error: ExportError,
    },
    /// The time of a frame is not finite.
    #[error("frame {frame} of the trajectory has the time {time}, which is not finite")]
    InvalidTime {
        /// Index of the frame, from 0.
        frame: u64,
        /// The given time.
        time: f64,
    },
    /// A molecule is of a kind that was not added.
    #[error(
        "frame {frame} of the trajectory has a molecule of kind {kind}, but there are {count} kinds"
    )]
    UnknownKind {
        /// Index of the frame, from 0.
        frame: u64,
        /// The given index.
        kind: u32,
        /// Number of kinds.
        count: usize,
    },
    /// Molecules have come or gone.
    #[error(
        "frame {frame} of '{path}' has other molecules than the first: .xtc needs the same in all frames; use .simularium"
    )]
    MoleculesChanged {
        /// The file.
        path: PathBuf,
        /// Index of the frame, from 0.
        frame: u64,
    },
    /// The format cannot hold this number of atoms.
    #[error("cannot write {atoms} atoms to '{path}': .xtc needs from 1 to {max}")]
    AtomCount {
        /// The file.
        path: PathBuf,
        /// Number of atoms of the first frame.
        atoms: usize,
        /// Largest number of atoms.
        max: usize,
    },
}
