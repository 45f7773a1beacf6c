//! [`SceneFormat`]: formats of files with placed molecules.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// A format of files with placed molecules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SceneFormat {
    /// PDB, all atoms: `.pdb`, `.ent`.
    Pdb,
    /// mmCIF, all atoms: `.cif`, `.mmcif`.
    Mmcif,
    /// mmCIF with the atoms of each kind and the operators of an assembly. Read from `.cif`; for
    /// writing, it has to be asked for.
    InstancedMmcif,
    /// `BinaryCIF` with the atoms of each kind and the operators of an assembly: `.bcif`.
    BinaryCif,
    /// A manifest of the mesoscale explorer of Mol*, zipped with structure files: `.zip`.
    Manifest,
    /// Placements of bentopy: `placements.json`, `NAME.placements.json`.
    BentopyPlacements,
    /// Results of cellPACK: other `.json`.
    CellpackResults,
    /// Coordinates of GROMACS, all atoms: `.gro`, with a topology `.top` beside it.
    Gro,
    /// Data of LAMMPS, all atoms: `.data`, `.lmp`, with an input script `.in` beside it.
    LammpsData,
}

impl SceneFormat {
    /// All formats.
    pub const ALL: [Self; 9] = [
        Self::Pdb,
        Self::Mmcif,
        Self::InstancedMmcif,
        Self::BinaryCif,
        Self::Manifest,
        Self::BentopyPlacements,
        Self::CellpackResults,
        Self::Gro,
        Self::LammpsData,
    ];

    /// The format given by a file name, with or without `.gz` for the text formats of structures
    /// and for `BinaryCIF`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let plain = lower.strip_suffix(".gz");
        let is_zipped = plain.is_some();
        let path = Path::new(plain.unwrap_or(&lower));
        let format = match path.extension()?.to_str()? {
            "pdb" | "ent" => Self::Pdb,
            "cif" | "mmcif" => Self::Mmcif,
            "bcif" => Self::BinaryCif,
            "zip" => Self::Manifest,
            "gro" => Self::Gro,
            "data" | "lmp" => Self::LammpsData,
            "json" => {
                let stem = path.file_stem()?.to_str()?;
                let is_placements = stem == "placements" || stem.ends_with(".placements");
                match is_placements {
                    true => Self::BentopyPlacements,
                    false => Self::CellpackResults,
                }
            }
            _ => return None,
        };
        let may_be_zipped = matches!(
            format,
            Self::Pdb | Self::Mmcif | Self::BinaryCif | Self::Gro
        );
        (may_be_zipped || !is_zipped).then_some(format)
    }

    /// Whether the file has each atom of each molecule, not poses.
    #[must_use]
    pub fn has_all_atoms(self) -> bool {
        matches!(self, Self::Pdb | Self::Mmcif | Self::Gro | Self::LammpsData)
    }

    /// Whether the file is a structure file that [`load`](crate::molecule::load) reads.
    #[must_use]
    pub fn is_structure(self) -> bool {
        matches!(
            self,
            Self::Pdb | Self::Mmcif | Self::InstancedMmcif | Self::BinaryCif
        )
    }

    /// Name on command lines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pdb => "pdb",
            Self::Mmcif => "mmcif",
            Self::InstancedMmcif => "instanced-mmcif",
            Self::BinaryCif => "binary-cif",
            Self::Manifest => "manifest",
            Self::BentopyPlacements => "bentopy-placements",
            Self::CellpackResults => "cellpack-results",
            Self::Gro => "gro",
            Self::LammpsData => "lammps-data",
        }
    }
}
