//! [`write_scene`]: writes a file completely or not at all, in the format of its extension.

use std::path::Path;

use super::{
    Scene, SceneFormat, bentopy_placements, cellpack_results, gromacs, instanced_cif, lammps,
    manifest,
};
use crate::export::{
    ExportError, ExportOptions, ExportSummary, write_file, write_mmcif, write_pdb,
};
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// Number of molecules between two calls of the progress.
pub(super) const PROGRESS_EVERY: usize = 1024;

/// Called with the number of molecules that are written, now and then.
pub type WriteProgress<'a> = &'a mut dyn FnMut(usize);

/// Writes a scene to `path`, in `format` or that of its extension. Files that belong together, such
/// as `.gro` and `.top`, have the same name.
///
/// A hidden file next to `path` is written and then renamed, so a failed or interrupted export
/// never leaves an incomplete file, and an existing file is replaced only by a complete one.
///
/// # Errors
/// [`ExportError`] if the extension is unknown, a file cannot be written, or the format does not
/// support the molecules.
pub fn write_scene(
    path: impl AsRef<Path>,
    scene: &Scene,
    format: Option<SceneFormat>,
    options: &ExportOptions,
    progress: WriteProgress<'_>,
) -> Result<ExportSummary, ExportError> {
    let path = path.as_ref();
    let format = format
        .or_else(|| SceneFormat::from_name(&path.to_string_lossy()))
        .ok_or_else(|| ExportError::UnknownFormat {
            path: path.to_owned(),
        })?;
    match format {
        SceneFormat::Pdb => write_file(path, |writer| {
            write_pdb(writer, counted(scene, progress), options)
        }),
        SceneFormat::Mmcif => write_file(path, |writer| {
            write_mmcif(writer, counted(scene, progress), options)
        }),
        SceneFormat::InstancedMmcif => write_file(path, |writer| {
            instanced_cif::write_instanced_mmcif(writer, scene, options, progress)
        }),
        SceneFormat::BinaryCif => write_file(path, |writer| {
            instanced_cif::write_binary_cif(writer, scene, options, progress)
        }),
        SceneFormat::Manifest => manifest::write(path, scene, options, progress),
        SceneFormat::BentopyPlacements => bentopy_placements::write(path, scene, options, progress),
        SceneFormat::CellpackResults => cellpack_results::write(path, scene, options, progress),
        SceneFormat::Gro => gromacs::write(path, scene, options, progress),
        SceneFormat::LammpsData => lammps::write(path, scene, options, progress),
    }
}

/// The molecules of a scene, with calls of the progress.
fn counted<'a>(
    scene: &'a Scene,
    progress: WriteProgress<'a>,
) -> impl Iterator<Item = (&'a MoleculeTemplate, Pose)> {
    scene.instances().enumerate().map(move |(index, molecule)| {
        if index.is_multiple_of(PROGRESS_EVERY) {
            progress(index);
        }
        molecule
    })
}
