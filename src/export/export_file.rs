//! Writes a structure file completely or not at all, in the format of its extension.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{ExportError, ExportOptions, ExportSummary, write_mmcif, write_pdb};
use crate::molecule::{Format, MoleculeTemplate};
use crate::pose::Pose;

/// Writes molecules at their poses to `path`, in the format of its extension: `.pdb` and `.ent` are
/// PDB, `.cif` and `.mmcif` are mmCIF, optionally followed by `.gz`.
///
/// A hidden file next to `path` is written and then renamed, so a failed or interrupted export
/// never leaves an incomplete file, and an existing file is replaced only by a complete one.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// let lipids = [0.0, 1.0].map(|x| (&lipid, Pose::from_translation(Vec3::X * x)));
/// let path = std::env::temp_dir().join("two_lipids_of_a_doc_test.cif");
/// export(&path, lipids, &ExportOptions::default())?;
/// assert_eq!(load(&path, &LoadOptions::default())?.atom_count(), 2 * lipid.atom_count());
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ExportError`] if the extension is unknown, the file cannot be written, or the format does
/// not support the molecules.
pub fn export<'a>(
    path: impl AsRef<Path>,
    molecules: impl IntoIterator<Item = (&'a MoleculeTemplate, Pose)>,
    options: &ExportOptions,
) -> Result<ExportSummary, ExportError> {
    let path = path.as_ref();
    let name = path.to_string_lossy();
    let Some(format @ (Format::Pdb | Format::Mmcif)) = Format::from_name(&name) else {
        return Err(ExportError::UnknownFormat {
            path: path.to_owned(),
        });
    };
    write_file(path, |writer| match format {
        Format::Pdb => write_pdb(writer, molecules, options),
        _ => write_mmcif(writer, molecules, options),
    })
}

/// Writes a file completely or not at all, compressed if its name ends in `.gz`.
pub(crate) fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<ExportSummary, ExportError>,
) -> Result<ExportSummary, ExportError> {
    let with_path = |source| ExportError::File {
        path: path.to_owned(),
        source,
    };
    let mut temporary = TemporaryFile::create(path).map_err(with_path)?;
    let is_zipped = path.to_string_lossy().to_ascii_lowercase().ends_with(".gz");
    let written = if is_zipped {
        // Atom rows shrink to a third; slower levels gain little.
        let mut encoder = GzEncoder::new(&mut temporary.file, Compression::fast());
        write(&mut encoder)
            .and_then(|summary| encoder.try_finish().map(|()| summary).map_err(Into::into))
    } else {
        write(&mut temporary.file)
    };
    let summary = written.map_err(|error| match error {
        ExportError::Write(source) => with_path(source),
        other => other,
    })?;
    temporary.rename_to(path).map_err(with_path)?;
    Ok(summary)
}

/// A file with a temporary name that is deleted when dropped.
pub(crate) struct TemporaryFile {
    pub(crate) file: File,
    path: PathBuf,
}

impl TemporaryFile {
    /// Maximum number of names to try. A name is taken only by the leftover of a killed process
    /// with the same id.
    const ATTEMPTS: u32 = 100;

    pub(crate) fn create(target: &Path) -> io::Result<Self> {
        let name = target.file_name().unwrap_or(OsStr::new("structure"));
        for attempt in 0..Self::ATTEMPTS {
            let mut part = OsString::from(".");
            part.push(name);
            part.push(format!(".{}-{attempt}.part", std::process::id()));
            let path = target.with_file_name(part);
            match File::options().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Self { file, path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(crate) fn rename_to(self, target: &Path) -> io::Result<()> {
        // The content must be on disk before the file is renamed.
        self.file.sync_all()?;
        fs::rename(&self.path, target)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // No such file after a rename. Otherwise the export has failed already, and a second error
        // cannot be reported.
        let _ = fs::remove_file(&self.path);
    }
}
