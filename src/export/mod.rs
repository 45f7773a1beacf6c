//! Molecules at their poses, written as structure files.
//!
//! Templates with poses (world frame, nm) go in, for instance
//! those of a `Crowd` (`instances`); a file, or bytes for any writer, come
//! out, the same for the same input, and an [`ExportSummary`]. What a format cannot hold is an
//! [`ExportError`] that names the molecule and says what to do instead.
//!
//! The formats are those of the Protein Data Bank: PDB with hybrid-36 numbers where its columns
//! end, and PDBx/mmCIF. Both writers stream: they take molecules one at a time and keep a buffer of
//! rows, never a second copy of the atoms. Lengths leave in ångström, which is
//! what the formats ask for.
//!
//! Molecules stay apart in the file:
//!
//! * mmCIF ([`write_mmcif`]): every molecule is a chain (`auth_asym_id`) of its
//!   own, `A` to `Z`, `AA` and so on; residues keep their names and numbers.
//! * PDB ([`write_pdb`]): molecules of one residue are numbered one after the
//!   other, molecules of several residues get a chain of their own as long as the
//!   62 letters last; no two molecules ever share a residue (chain and number).
//!
//! [`export`] picks the format by the extension of the path and leaves either the
//! whole file or none.

mod chains;
mod file;
mod mmcif;
mod pdb;
mod text;

pub use file::{ExportFormat, export};
pub use mmcif::write_mmcif;
pub use pdb::write_pdb;

use std::io;
use std::path::PathBuf;

use glam::{DMat3, DVec3, Vec3};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thiserror::Error;

use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// Ångström in a nanometer.
const ANGSTROM_PER_NM: f64 = 10.0;

/// Why a scene could not be written. The target file is as it was before.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The extension names no format that can be written.
    #[error(
        "cannot tell the format of '{path}': the name must end in .pdb, .ent, .cif or .mmcif, with or without .gz"
    )]
    UnknownFormat {
        /// The path that was given.
        path: PathBuf,
    },
    /// The file could not be created, written or put in place.
    #[error("cannot write '{path}': {source}")]
    File {
        /// The path that was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A writer that is not a file failed.
    #[error("cannot write the structure: {0}")]
    Write(#[from] io::Error),
    /// A pose holds NaN or infinity, or its quaternion is no rotation.
    #[error(
        "molecule {molecule} ('{name}') has a pose that is not finite, or whose rotation is not a unit quaternion"
    )]
    BadPose {
        /// Index of the molecule, from 0.
        molecule: usize,
        /// Name of its template.
        name: String,
    },
    /// A coordinate has more digits than the format has columns.
    #[error(
        "molecule {molecule} ('{name}') has an atom at {position} Å, outside the columns of a PDB file (-999.999 to 9999.999 Å); use mmCIF instead"
    )]
    OutsidePdb {
        /// Index of the molecule, from 0.
        molecule: usize,
        /// Name of its template.
        name: String,
        /// World position of the atom, ångström.
        position: Vec3,
    },
    /// A coordinate is further out than any reader takes.
    #[error("molecule {molecule} ('{name}') has an atom at {position} Å, too far out to write")]
    TooFar {
        /// Index of the molecule, from 0.
        molecule: usize,
        /// Name of its template.
        name: String,
        /// World position of the atom, ångström.
        position: Vec3,
    },
    /// An atom or residue name cannot be written in the format.
    #[error(
        "the name '{name}' does not fit a PDB file (at most four printable ASCII characters); use mmCIF instead"
    )]
    NameOutsidePdb {
        /// The name of the atom or residue.
        name: SmolStr,
    },
    /// An atom or residue name holds control characters.
    #[error("the name {name:?} holds characters that no structure file can hold")]
    BadName {
        /// The name of the atom or residue.
        name: SmolStr,
    },
    /// There are more atoms or residues than the numbers of a PDB file can tell apart.
    #[error(
        "a PDB file has no numbers left for the {what} of molecule {molecule}; use mmCIF instead"
    )]
    PdbFull {
        /// `atoms` or `residues`.
        what: &'static str,
        /// Index of the first molecule that found no number, from 0.
        molecule: usize,
    },
}

/// How a scene is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExportOptions {
    /// Title of the structure. Default: empty, no title.
    pub title: String,
    /// Decimals of the coordinates (ångström) in mmCIF, at most 6; PDB always has 3.
    /// Default: 3.
    pub decimals: u8,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self {
            title: String::new(),
            decimals: 3,
        }
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportSummary {
    /// Number of molecules.
    pub molecules: usize,
    /// Number of atoms.
    pub atoms: usize,
    /// Size of the text in bytes, before compression.
    pub bytes: u64,
}

/// A pose in 64 bits and ångström, so that the file holds what the pose says to
/// the last decimal, even far from the origin.
struct AngstromPose {
    rotation: DMat3,
    position: DVec3,
}

impl AngstromPose {
    fn new(index: usize, template: &MoleculeTemplate, pose: Pose) -> Result<Self, ExportError> {
        if !pose.is_rigid() {
            return Err(ExportError::BadPose {
                molecule: index,
                name: template.name().to_owned(),
            });
        }
        Ok(Self {
            rotation: DMat3::from_quat(pose.rotation.as_dquat().normalize()) * ANGSTROM_PER_NM,
            position: pose.position.as_dvec3() * ANGSTROM_PER_NM,
        })
    }

    /// World position (Å) of a body-frame point (nm).
    fn angstrom(&self, local: Vec3) -> DVec3 {
        self.rotation * local.as_dvec3() + self.position
    }
}

/// Whether `name` is one of the polymer residues that the format writes as `ATOM`; all others
/// are `HETATM`.
fn is_standard_residue(name: &str) -> bool {
    const STANDARD: [&str; 31] = [
        "A", "ALA", "ARG", "ASN", "ASP", "C", "CYS", "DA", "DC", "DG", "DI", "DT", "DU", "G",
        "GLN", "GLU", "GLY", "HIS", "I", "ILE", "LEU", "LYS", "MET", "PHE", "PRO", "SER", "THR",
        "TRP", "TYR", "U", "VAL",
    ];
    STANDARD.binary_search(&name).is_ok()
}
