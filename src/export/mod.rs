//! Writers of structure files: molecules at their poses as PDB or mmCIF.
//!
//! [`export`] writes a file in the format of its extension, completely or not at all;
//! [`write_pdb`] and [`write_mmcif`] write to any writer. The input is templates with poses
//! (world frame, nm), for example those of a `Crowd` (`instances`). The same input gives the same
//! bytes. Both writers stream molecule by molecule. Coordinates are written in ångström.
//!
//! No two molecules of a file share a residue (chain and number).
//!
//! # Errors
//!
//! [`ExportError`] names the molecule that a format does not support and suggests an alternative.

mod export_file;
mod mmcif_writer;
mod pdb_chain_ids;
mod pdb_writer;
pub(crate) mod text_rows;

pub(crate) use export_file::TemporaryFile;
pub use export_file::export;
#[cfg(feature = "recipe")]
pub(crate) use export_file::write_file;
pub use mmcif_writer::write_mmcif;
#[cfg(feature = "recipe")]
pub(crate) use mmcif_writer::{MAX_DECIMALS, block_name, chain_name, quoted};
pub use pdb_writer::write_pdb;

use std::io;
use std::path::PathBuf;

use glam::{DMat3, DVec3, Vec3};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thiserror::Error;

use crate::molecule::{MAX_COORDINATE_NM, MoleculeTemplate};
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;

/// Ångström in a nanometer.
pub(crate) const ANGSTROM_PER_NM: f64 = 10.0;

/// Maximum coordinate, ångström: what readers accept.
pub(crate) const MAX_COORDINATE: f64 = MAX_COORDINATE_NM as f64 * ANGSTROM_PER_NM;

/// Molecules could not be written. An existing target file is unchanged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The extension is not that of a supported format.
    #[error(
        "unknown format of '{path}': expected the extension .pdb, .ent, .cif or .mmcif, with or without .gz"
    )]
    UnknownFormat {
        /// The path.
        path: PathBuf,
    },
    /// The file cannot be created, written or renamed.
    #[error("cannot write '{path}': {source}")]
    File {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The given writer failed.
    #[error("cannot write the structure: {0}")]
    Write(#[from] io::Error),
    /// A pose is not finite, or its rotation is not a unit quaternion.
    #[error(
        "molecule {molecule} ('{name}') has an invalid pose, expected finite numbers and a unit quaternion"
    )]
    InvalidPose {
        /// Index of the molecule, from 0.
        molecule: usize,
        /// Name of its template.
        name: String,
    },
    /// A coordinate is out of the range of the format.
    #[error(
        "molecule {molecule} ('{name}') has an atom at {position} Å, outside the range of {range}"
    )]
    OutOfRange {
        /// Index of the molecule, from 0.
        molecule: usize,
        /// Name of its template.
        name: String,
        /// World position of the atom, ångström.
        position: Vec3,
        /// The format, its range, and an alternative if there is one.
        range: &'static str,
    },
    /// An edge of the periodic box does not fit the columns of the format.
    #[error(
        "the periodic box of {} × {} × {} nm does not fit {format}; use edges from 0.0001 to {max} nm{alternative}",
        size.x, size.y, size.z
    )]
    BoxOutOfRange {
        /// The edges, nm.
        size: Vec3,
        /// The format.
        format: &'static str,
        /// Largest edge, nm.
        max: f64,
        /// What to do instead; empty if there is nothing.
        alternative: &'static str,
    },
    /// An atom or residue name is not supported by the format.
    #[error("the name {name:?} is not supported: {expected}")]
    UnsupportedName {
        /// The name of the atom or residue.
        name: SmolStr,
        /// The supported names, and an alternative if there is one.
        expected: &'static str,
    },
    /// Something exceeds a limit of the format.
    #[error("{what} exceeds {limit}, the limit of {format}")]
    FormatLimit {
        /// What exceeds the limit.
        what: String,
        /// The limit, bytes or entries.
        limit: u64,
        /// The format, and an alternative if there is one.
        format: &'static str,
    },
    /// Kinds of molecules with the same molecule type have different numbers of atoms.
    #[error(
        "molecules of type '{name}' have {} and {} atoms; give the kinds different names or molecule types", atoms[0], atoms[1]
    )]
    MixedMoleculeType {
        /// The molecule type.
        name: String,
        /// Two of the numbers.
        atoms: [usize; 2],
    },
    /// There are more atoms or residues than PDB can number.
    #[error("molecule {molecule} exceeds the number of {what} of a PDB file; use mmCIF instead")]
    PdbFull {
        /// `atoms` or `residues`.
        what: &'static str,
        /// Index of the first molecule without numbers, from 0.
        molecule: usize,
    },
}

/// Options of the writers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExportOptions {
    /// Title of the structure. Default: none.
    pub title: String,
    /// Decimals of the coordinates, at most 6, in the unit of the format: ångström in mmCIF and
    /// LAMMPS data, nm in GROMACS coordinates, which have at least 3. PDB always has 3 (ångström).
    /// Default: 3.
    pub decimals: u8,
    /// The box that repeats in space, written as the unit cell. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub periodic_box: Option<PeriodicBox>,
    /// Whether every molecule is moved as a whole by edges of the periodic box until its center of
    /// mass is inside. Default: yes.
    pub wrap: bool,
}

impl ExportOptions {
    /// The box that molecules are moved into.
    pub(crate) fn wrapping_box(&self) -> Option<PeriodicBox> {
        self.periodic_box.filter(|_| self.wrap)
    }
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self {
            title: String::new(),
            decimals: 3,
            periodic_box: None,
            wrap: true,
        }
    }
}

/// The number of molecules, atoms and bytes written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportSummary {
    /// Number of molecules.
    pub molecules: usize,
    /// Number of atoms.
    pub atoms: usize,
    /// Size before compression, bytes.
    pub bytes: u64,
}

/// A pose in double precision and ångström, so that all decimals are exact even far from the
/// origin.
pub(crate) struct AngstromPose {
    rotation: DMat3,
    position: DVec3,
}

impl AngstromPose {
    /// The pose of molecule `index`, moved into the periodic box if there is one.
    pub(crate) fn new(
        index: usize,
        template: &MoleculeTemplate,
        pose: Pose,
        periodic_box: Option<PeriodicBox>,
    ) -> Result<Self, ExportError> {
        if !pose.is_rigid() {
            return Err(ExportError::InvalidPose {
                molecule: index,
                name: template.name().to_owned(),
            });
        }
        let mut position = pose.position.as_dvec3();
        if let Some(periodic) = periodic_box {
            position -= periodic.exact_shift(periodic.image_of(position));
        }
        Ok(Self {
            rotation: DMat3::from_quat(pose.rotation.as_dquat().normalize()) * ANGSTROM_PER_NM,
            position: position * ANGSTROM_PER_NM,
        })
    }

    /// The pose as an operator: the rotation, and the translation (Å).
    #[cfg(feature = "recipe")]
    pub(crate) fn operator(&self) -> (DMat3, DVec3) {
        (self.rotation * ANGSTROM_PER_NM.recip(), self.position)
    }

    /// World position (Å) of a body-frame point (nm).
    pub(crate) fn angstrom(&self, local: Vec3) -> DVec3 {
        self.rotation * local.as_dvec3() + self.position
    }
}

/// Whether the residue is a standard polymer residue, written as `ATOM`; others are `HETATM`.
pub(crate) fn is_standard_residue(name: &str) -> bool {
    const STANDARD: [&str; 31] = [
        "A", "ALA", "ARG", "ASN", "ASP", "C", "CYS", "DA", "DC", "DG", "DI", "DT", "DU", "G",
        "GLN", "GLU", "GLY", "HIS", "I", "ILE", "LEU", "LYS", "MET", "PHE", "PRO", "SER", "THR",
        "TRP", "TYR", "U", "VAL",
    ];
    STANDARD.binary_search(&name).is_ok()
}
