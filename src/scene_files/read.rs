//! [`read_scene`]: placed molecules from a file of any format.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;
use thiserror::Error;

use super::congruence::kinds_of;
use super::{
    Scene, SceneFormat, SceneKind, bentopy_placements, cellpack_results, gromacs, instanced_cif,
    lammps, manifest,
};
use crate::crowd::CrowdError;
use crate::molecule::{AssemblyChoice, LoadOptions, MoleculeError, SplitBy, Structure, read_bytes};

/// Largest difference (nm) of the places of an atom in two congruent molecules: coordinates have
/// three decimals in ångström.
const FILE_ROUNDING_NM: f64 = 3.0e-4;

/// How files of placed molecules are read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSceneOptions {
    /// Format of the file. Default: that of its extension, or of its content for `.json`.
    pub format: Option<SceneFormat>,
    /// What of structure files is loaded. Default: all models, with waters.
    pub load: LoadOptions,
    /// The molecules of files with all atoms. Default: as this library writes them.
    pub split_by: SplitBy,
    /// Whether congruent molecules of files with all atoms become one kind, which moves atoms by up
    /// to the rounding of the file. Default: yes.
    pub merge_copies: bool,
    /// Folders in which structure files are looked up by name, after the folder of the file.
    /// Default: none.
    pub structure_folders: Vec<PathBuf>,
    /// Whether quaternions in results of cellPACK are w, x, y, z instead of x, y, z, w. Matrices
    /// are not affected. Default: yes, as cellPACK writes them.
    pub w_first: bool,
}

impl Default for ReadSceneOptions {
    fn default() -> Self {
        Self {
            format: None,
            load: LoadOptions {
                waters: true,
                ..LoadOptions::default()
            },
            split_by: SplitBy::Molecule,
            merge_copies: true,
            structure_folders: Vec::new(),
            w_first: true,
        }
    }
}

/// A file of placed molecules cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SceneReadError {
    /// The file cannot be opened.
    #[error("cannot read '{file}': {source}")]
    Io {
        /// The file.
        file: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A structure file is invalid.
    #[error(transparent)]
    Molecule(#[from] MoleculeError),
    /// Neither extension nor content are those of a supported format.
    #[error(
        "{file}: unknown format; expected .pdb, .ent, .cif, .mmcif, .bcif, .gro (with or without .gz), .zip, .json, .data or .lmp"
    )]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// A value of the file is invalid.
    #[error("{file}: {place}: {problem}")]
    Invalid {
        /// The file.
        file: String,
        /// Where in the file: a line, or a path of keys such as `placements[2].batches[0]`.
        place: String,
        /// What is wrong, and what is expected.
        problem: String,
    },
    /// A structure file that the file refers to was not found.
    #[error(
        "{file}: {place}: there is no structure file '{name}' in {}",
        listed(folders)
    )]
    MissingStructure {
        /// The file.
        file: String,
        /// Where in the file.
        place: String,
        /// The name that was looked up.
        name: String,
        /// The folders that were searched.
        folders: Vec<PathBuf>,
    },
    /// A pose is invalid.
    #[error("{file}: {error}")]
    Pose {
        /// The file.
        file: String,
        /// What is wrong.
        error: CrowdError,
    },
}

fn listed(folders: &[PathBuf]) -> String {
    let folders = folders
        .iter()
        .map(|folder| format!("'{}'", folder.display()));
    folders.collect::<Vec<String>>().join(", ")
}

/// Reads placed molecules.
///
/// # Errors
/// [`SceneReadError`] with file, place and cause.
pub fn read_scene(
    path: impl AsRef<Path>,
    options: &ReadSceneOptions,
) -> Result<Scene, SceneReadError> {
    let path = path.as_ref();
    let source = path.to_string_lossy().into_owned();
    let bytes = std::fs::read(path).map_err(|error| SceneReadError::Io {
        file: source.clone(),
        source: error,
    })?;
    read_scene_bytes(&bytes, &source, options)
}

/// As [`read_scene`], from the bytes of a file. `source` is its path; files that belong to it are
/// looked up beside it.
///
/// # Errors
/// [`SceneReadError`] with file, place and cause.
pub fn read_scene_bytes(
    bytes: &[u8],
    source: &str,
    options: &ReadSceneOptions,
) -> Result<Scene, SceneReadError> {
    let format = options
        .format
        .or_else(|| SceneFormat::from_name(source))
        .ok_or_else(|| SceneReadError::UnknownFormat {
            file: source.to_owned(),
        })?;
    match format {
        SceneFormat::Manifest => manifest::read(bytes, source, options),
        SceneFormat::BentopyPlacements | SceneFormat::CellpackResults => {
            let found = options.format.or_else(|| json_format(bytes));
            match found.unwrap_or(format) {
                SceneFormat::BentopyPlacements => bentopy_placements::read(bytes, source, options),
                _ => cellpack_results::read(bytes, source, options),
            }
        }
        SceneFormat::Gro => gromacs::read(bytes, source, options),
        SceneFormat::LammpsData => lammps::read(bytes, source, options),
        SceneFormat::Pdb
        | SceneFormat::Mmcif
        | SceneFormat::InstancedMmcif
        | SceneFormat::BinaryCif => {
            let structure = read_bytes(bytes, source, &options.load)?;
            scene_of_structure(&structure, options)
        }
    }
}

/// The format of a JSON file by its keys.
fn json_format(bytes: &[u8]) -> Option<SceneFormat> {
    /// The keys that differ. Nothing of a large file is kept.
    #[derive(Deserialize)]
    struct Keys {
        placements: Option<IgnoredAny>,
    }
    let keys: Keys = serde_json::from_slice(bytes).ok()?;
    let format = match keys.placements {
        Some(_) => SceneFormat::BentopyPlacements,
        None => SceneFormat::CellpackResults,
    };
    Some(format)
}

/// The molecules of a structure file:
/// - Without an assembly in the options, those of the first assembly with the method `CELLPACK`, each
///   kind with its path and name, or those of the file as it is.
/// - With one as instances, its copies.
/// - With one as one body, that body.
///
/// # Errors
/// [`SceneReadError`] if the file lacks something that the options select.
pub fn scene_of_structure(
    structure: &Structure,
    options: &ReadSceneOptions,
) -> Result<Scene, SceneReadError> {
    let mut scene = Scene {
        name: structure.name().to_owned(),
        periodic_box: structure
            .unit_cell()
            .filter(|cell| !cell.is_placeholder())
            .and_then(|cell| cell.orthorhombic()),
        ..Scene::default()
    };
    let of_scene = structure.scene_assembly();
    match &options.load.assembly {
        AssemblyChoice::OneBody(_) => {
            let template = structure.template(&options.load)?;
            let pose = template.file_pose();
            let mut kind = SceneKind::new(structure.name(), template.into());
            kind.poses.push(pose);
            scene.kinds.push(kind);
        }
        AssemblyChoice::None if let Some(id) = of_scene => {
            instanced_cif::read_kinds(&mut scene, structure, id, options)?;
        }
        AssemblyChoice::Instances(id) if of_scene == Some(id) => {
            instanced_cif::read_kinds(&mut scene, structure, id, options)?;
        }
        _ => {
            let parts = structure.split_by(options.split_by, &options.load)?;
            scene.kinds = kinds_of(parts, FILE_ROUNDING_NM, options);
        }
    }
    Ok(scene)
}
