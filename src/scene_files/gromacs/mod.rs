//! GROMACS: coordinates (`.gro`) of all atoms, and the topology (`.top`) with the same name.
//!
//! # Written
//!
//! - Molecules are grouped by [molecule type](super::SceneKind::molecule_type), in the order of
//!   their first kinds, as `[ molecules ]` counts them. Kinds with the same type are conformers.
//! - The lowest corner of the box is the origin, and the title has the translation. Without a
//!   periodic box, the box is that of the bounds, or 0.5 nm around all atoms. Molecules are whole:
//!   in a periodic box their centers are inside.
//! - Coordinates have the decimals of the options in nm, at least 3, so that the columns are the
//!   usual ones by default.
//! - Numbers of atoms and residues restart at 0 after 99,999. Names are cut to five characters, as
//!   GROMACS does; those that are then equal to others are an error.
//! - The topology includes the files of all kinds. The number of atoms of each type is a comment.
//!
//! # Read
//!
//! The molecules are those of the `.top` file beside the `.gro` file, if the numbers of their atoms
//! are in it, in the files that it includes, or in our comments; else each residue is a molecule
//! except for bonded ones. Congruent molecules of a type become one kind, with the type and all
//! includes. Boxes that are not orthorhombic are left out.

mod coordinates;
mod names;
mod topology;

use std::path::{Path, PathBuf};

use self::coordinates::write_coordinates;
use self::topology::{TopologyFile, molecule_types, topology_text};
use super::congruence::kinds_of;
use super::scene_box::SceneBox;
use super::two_files::write_two_files;
use super::{ReadSceneOptions, Scene, SceneReadError, WriteProgress};
use crate::export::{ExportError, ExportOptions, ExportSummary};
use crate::molecule::{MoleculePart, MoleculeRun, SplitBy, read_gro};

/// Largest distance of an atom from its place in a congruent molecule, in units of the last
/// decimal: both are rounded by at most √3/2, and their rotation and center by less.
const CONGRUENT_WITHIN: f64 = 2.5;

/// Writes the files.
pub(super) fn write(
    path: &Path,
    scene: &Scene,
    options: &ExportOptions,
    progress: WriteProgress<'_>,
) -> Result<ExportSummary, ExportError> {
    let scene_box = SceneBox::of(scene, options)?;
    let types = molecule_types(scene)?;
    let title = title_of(scene, options);
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let topology = topology_text(&title, &file, scene, &types)?;
    write_two_files(
        path,
        |writer| {
            let types = types.iter().map(|of_type| &of_type.kinds[..]);
            write_coordinates(writer, scene, types, &title, &scene_box, options, progress)
        },
        &topology_path(path),
        &topology,
    )
}

/// Reads a file, with the topology beside it if there is one.
pub(super) fn read(
    bytes: &[u8],
    source: &str,
    options: &ReadSceneOptions,
) -> Result<Scene, SceneReadError> {
    let topology = match options.split_by {
        SplitBy::Molecule => TopologyFile::read(&topology_path(Path::new(source)))?,
        _ => None,
    };
    let runs = topology.as_ref().and_then(TopologyFile::runs);
    let file = read_gro(bytes, source, runs.as_deref())
        .map_err(|error| SceneReadError::Molecule(error.into()))?;
    let structure = &file.structure;
    let parts = structure.split_by(options.split_by, &options.load)?;
    let tolerance = CONGRUENT_WITHIN * 10_f64.powi(-i32::from(file.decimals));
    let kinds = match (&topology, &runs) {
        (Some(topology), Some(runs)) if molecules_in(runs) == parts.len() as u64 => {
            kinds_of_types(topology, parts, tolerance, options)
        }
        // Some molecules are not loaded.
        _ => kinds_of(parts, tolerance, options),
    };
    Ok(Scene {
        name: structure.name().to_owned(),
        kinds,
        periodic_box: structure.unit_cell().and_then(|cell| cell.orthorhombic()),
        bounds: None,
    })
}

/// Number of molecules with atoms; the sum has been compared with the file.
fn molecules_in(runs: &[MoleculeRun]) -> u64 {
    let runs = runs.iter().filter(|run| run.atoms > 0);
    runs.map(|run| run.count).sum()
}

/// The kinds of each molecule type of a topology, whose molecules are `parts`.
fn kinds_of_types(
    topology: &TopologyFile,
    parts: Vec<MoleculePart>,
    tolerance: f64,
    options: &ReadSceneOptions,
) -> Vec<super::SceneKind> {
    let mut by_type: Vec<(&str, Vec<MoleculePart>)> = Vec::new();
    let mut parts = parts.into_iter();
    for entry in &topology.molecules {
        if entry.atoms == Some(0) {
            continue;
        }
        let known = by_type.iter().position(|(name, _)| *name == entry.name);
        let index = known.unwrap_or_else(|| {
            by_type.push((&entry.name, Vec::new()));
            by_type.len() - 1
        });
        let count = usize::try_from(entry.count).unwrap_or(usize::MAX);
        by_type[index].1.extend(parts.by_ref().take(count));
    }
    let kinds = by_type.into_iter().flat_map(|(name, parts)| {
        kinds_of(parts, tolerance, options)
            .into_iter()
            .map(move |mut kind| {
                kind.name = name.to_owned();
                kind.topology.molecule_type = Some(name.to_owned());
                kind.topology.includes.clone_from(&topology.includes);
                kind
            })
    });
    kinds.collect()
}

/// The topology of a `.gro` file, which may be gzipped.
fn topology_path(path: &Path) -> PathBuf {
    let is_gzipped = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    match is_gzipped {
        true => path.with_extension("").with_extension("top"),
        false => path.with_extension("top"),
    }
}

/// The title of the options, else the name of the scene, as one line.
fn title_of(scene: &Scene, options: &ExportOptions) -> String {
    // A semicolon starts a comment in topologies, and a number sign a directive.
    let replaced = |c: char| c.is_control() || matches!(c, ';' | '#' | '[' | ']' | '\\');
    let titles = [&options.title, &scene.name].map(|title| title.replace(replaced, " "));
    let title = titles
        .iter()
        .map(|title| title.trim())
        .find(|title| !title.is_empty());
    title.unwrap_or("molecules").to_owned()
}
