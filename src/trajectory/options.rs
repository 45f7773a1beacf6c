//! [`TrajectoryOptions`] and [`TrajectoryFormat`].

use std::path::{Path, PathBuf};

use glam::Vec3;

use super::TrajectoryError;
use crate::periodic_box::PeriodicBox;

/// A format of trajectories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TrajectoryFormat {
    /// XTC of GROMACS, all atoms: `.xtc`. Needs the feature `xtc`.
    Xtc,
    /// JSON of Simularium, poses: `.simularium`.
    Simularium,
}

impl TrajectoryFormat {
    /// The format given by the extension of a path.
    ///
    /// # Errors
    /// [`TrajectoryError`] if it is unknown, or needs a feature that this build does not have.
    pub fn of(path: &Path) -> Result<Self, TrajectoryError> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let path = || path.to_owned();
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("xtc") if cfg!(feature = "xtc") => Ok(Self::Xtc),
            Some("xtc") => Err(TrajectoryError::FeatureDisabled { path: path() }),
            Some("simularium") => Ok(Self::Simularium),
            _ => Err(TrajectoryError::UnknownFormat { path: path() }),
        }
    }
}

/// Meaning of the times of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// Seconds. XTC has them in ps, Simularium in ns. Default.
    #[default]
    Seconds,
    /// Iterations of a relaxation, which XTC counts as ps.
    Iterations,
}

/// The structure file with the first frame of an XTC file. It has the same atoms in the same order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum TopologyFile {
    /// `NAME.first.pdb` beside `NAME.xtc`; `NAME.first.cif` if PDB cannot hold the molecules.
    /// Default.
    #[default]
    Beside,
    /// This `.pdb`, `.ent`, `.cif` or `.mmcif` file, with or without `.gz`.
    At(PathBuf),
    /// No file, because there is one already.
    None,
}

/// Options of a [`TrajectoryWriter`](super::TrajectoryWriter).
#[derive(Clone, Debug, PartialEq)]
pub struct TrajectoryOptions {
    /// Title. Default: none.
    pub title: String,
    /// Meaning of the times of frames. Default: seconds.
    pub time_unit: TimeUnit,
    /// The box that repeats in space, from the origin to its size. Default: none.
    pub periodic_box: Option<PeriodicBox>,
    /// Whether every molecule is moved as a whole by edges of the periodic box until its center of
    /// mass is inside. Default: yes.
    pub wrap: bool,
    /// Lowest and highest corner of the box that Simularium shows, nm. The positions in its file are
    /// relative to the center of the box. Default: the periodic box, else a box around the origin
    /// and all molecules of all frames.
    pub bounds: Option<[Vec3; 2]>,
    /// The structure file with the first frame of an XTC file. Default: beside it.
    pub topology: TopologyFile,
}

impl TrajectoryOptions {
    /// The box that molecules are moved into.
    pub(super) fn wrapping_box(&self) -> Option<PeriodicBox> {
        self.periodic_box.filter(|_| self.wrap)
    }
}

impl Default for TrajectoryOptions {
    fn default() -> Self {
        Self {
            title: String::new(),
            time_unit: TimeUnit::Seconds,
            periodic_box: None,
            wrap: true,
            bounds: None,
            topology: TopologyFile::Beside,
        }
    }
}
