//! LAMMPS: data of all atoms (`.data`), and an input script (`.in`) with the same name.
//!
//! # Written
//!
//! - Units `real` (Å), atom style `molecular`, without bonds. Molecules are numbered from 1 in the
//!   order of the scene. Positions stay as they are, except that in a periodic box whole molecules
//!   are moved until their centers are inside.
//! - A type of atoms is an element with a collision radius. Balls of coarse molecules have the
//!   density of protein.
//! - The script runs as it is, on any number of ranks: soft spheres of the collision radii push
//!   overlapping molecules apart, which are rigid bodies, damped, at temperature zero; molecules
//!   of one atom are points. It writes `NAME.relaxed.data`. Without a periodic box, the boundary
//!   follows the atoms.
//!
//! # Read
//!
//! - Atom styles `atomic`, `charge`, `bond`, `angle`, `molecular` and `full`, units `real` or
//!   `metal`. Atoms are unwrapped by their image flags.
//! - Atoms with the same molecule number are a molecule; those with number 0 are one each.
//!   Congruent molecules become one kind.
//! - Elements follow from the masses. Atoms with other masses than elements have are balls with the
//!   density of protein, unless our comment gives the radius.
//! - The box is periodic, unless the script beside the file says otherwise. Names of kinds are those
//!   in comments of our scripts. Boxes that are not orthorhombic are left out.

mod atom_types;
mod data_reader;
mod data_writer;
mod input_script;

use std::path::{Path, PathBuf};

use self::atom_types::AtomTypes;
use self::data_reader::read_data;
use self::data_writer::write_data;
use self::input_script::{InputScript, script_text};
use super::congruence::kinds_of;
use super::scene_box::SceneBox;
use super::two_files::write_two_files;
use super::{ReadSceneOptions, Scene, SceneKind, SceneReadError, WriteProgress};
use crate::export::{ExportError, ExportOptions, ExportSummary};
use crate::molecule::MoleculePart;

/// What the data that our script writes has in its name.
const RELAXED: &str = ".relaxed";

/// Largest distance of an atom from its place in a congruent molecule, nm: that of the rounding of
/// three decimals of Å.
const CONGRUENT_WITHIN_NM: f64 = 0.0003;

/// Writes the files.
pub(super) fn write(
    path: &Path,
    scene: &Scene,
    options: &ExportOptions,
    progress: WriteProgress<'_>,
) -> Result<ExportSummary, ExportError> {
    let scene_box = SceneBox::of(scene, options)?;
    let types = AtomTypes::of(scene);
    let script = script_text(path, scene, &types, &scene_box);
    write_two_files(
        path,
        |writer| write_data(writer, scene, &types, &scene_box, options, progress),
        &path.with_extension("in"),
        &script,
    )
}

/// Reads a file, with the script beside it if there is one.
pub(super) fn read(
    bytes: &[u8],
    source: &str,
    options: &ReadSceneOptions,
) -> Result<Scene, SceneReadError> {
    let script = script_paths(Path::new(source))
        .iter()
        .find_map(|path| InputScript::read(path))
        .unwrap_or_default();
    let data = read_data(bytes, source, options)?;
    let periodic_box = data.periodic_box.filter(|_| script.is_periodic);
    let bounds = data.bounds.filter(|[low, _]| {
        // A periodic box is at the origin by default.
        periodic_box.is_none() || *low != glam::Vec3::ZERO
    });
    Ok(Scene {
        name: name_of(source),
        kinds: named_kinds(data.molecules, &script, options),
        periodic_box,
        bounds,
    })
}

/// The kinds of molecules: those with the same name in the script are apart from others.
fn named_kinds(
    molecules: Vec<(i64, MoleculePart)>,
    script: &InputScript,
    options: &ReadSceneOptions,
) -> Vec<SceneKind> {
    let mut by_name: Vec<(Option<&str>, Vec<MoleculePart>)> = Vec::new();
    for (number, part) in molecules {
        let name = script.name_of(number);
        // Molecules are sorted by number, so that those with a name follow each other.
        match by_name.last_mut() {
            Some((last, parts)) if *last == name => parts.push(part),
            _ => by_name.push((name, vec![part])),
        }
    }
    let kinds = by_name.into_iter().flat_map(|(name, parts)| {
        let kinds = kinds_of(parts, CONGRUENT_WITHIN_NM, options).into_iter();
        kinds.map(move |mut kind| {
            kind.name = name.unwrap_or(kind.template.name()).to_owned();
            kind
        })
    });
    kinds.collect()
}

/// Where the script of a data file may be.
fn script_paths(path: &Path) -> Vec<PathBuf> {
    let mut paths = vec![path.with_extension("in")];
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    if let Some(stem) = stem.strip_suffix(RELAXED) {
        paths.push(path.with_file_name(format!("{stem}.in")));
    }
    paths
}

/// The file name without folders and extension.
fn name_of(source: &str) -> String {
    let stem = Path::new(source).file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}
