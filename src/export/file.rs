//! Writing to a path: format by extension, whole file or none.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{ExportError, ExportOptions, ExportSummary, write_mmcif, write_pdb};
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// The structure formats that can be written.
///
/// ```
/// use std::path::Path;
/// use bevy_rapier_molecules::export::ExportFormat;
///
/// let told = |name: &str| ExportFormat::from_path(Path::new(name));
/// assert_eq!(told("vesicle.CIF.gz"), Some((ExportFormat::Mmcif, true)));
/// assert_eq!(told("vesicle.xyz"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportFormat {
    /// PDB, for every tool; limited columns.
    Pdb,
    /// PDBx/mmCIF, for scenes of any size.
    Mmcif,
}

impl ExportFormat {
    /// The format a path asks for, and whether it is to be compressed.
    ///
    /// `.pdb` and `.ent` are PDB, `.cif` and `.mmcif` are mmCIF, and each of them
    /// may be followed by `.gz`. Case does not matter.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<(Self, bool)> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let (stem, gzip) = match name.strip_suffix(".gz") {
            Some(stem) => (stem, true),
            None => (name.as_str(), false),
        };
        match Path::new(stem).extension()?.to_str()? {
            "pdb" | "ent" => Some((Self::Pdb, gzip)),
            "cif" | "mmcif" => Some((Self::Mmcif, gzip)),
            _ => None,
        }
    }
}

/// Writes molecules at their poses to `path`, in the format of its extension.
///
/// The text goes to a hidden file beside `path` that takes its name when it is
/// complete, so a failed or interrupted export never leaves half a file, and a
/// file that was there before stays until then.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// let places = [0.0, 1.0].map(|x| (&lipid, Pose::from_translation(Vec3::X * x)));
/// let path = std::env::temp_dir().join("two_lipids_of_a_doc_test.cif");
/// export(&path, places.into_iter(), &ExportOptions::default())?;
/// assert_eq!(load(&path, &LoadOptions::default())?.atom_count(), 2 * lipid.atom_count());
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ExportError`] if the extension is unknown, the file cannot be written, or the
/// molecules do not fit the format.
pub fn export<'a>(
    path: impl AsRef<Path>,
    molecules: impl IntoIterator<Item = (&'a MoleculeTemplate, Pose)>,
    options: &ExportOptions,
) -> Result<ExportSummary, ExportError> {
    let path = path.as_ref();
    let Some((format, gzip)) = ExportFormat::from_path(path) else {
        return Err(ExportError::UnknownFormat {
            path: path.to_owned(),
        });
    };
    let with_path = |source| ExportError::File {
        path: path.to_owned(),
        source,
    };
    let mut part = PartFile::create(path).map_err(with_path)?;
    let written = if gzip {
        // The fast level: atom rows shrink to a third with it, and to little less
        // at several times the cost.
        let mut encoder = GzEncoder::new(&mut part.file, Compression::fast());
        write(format, &mut encoder, molecules, options)
            .and_then(|summary| encoder.try_finish().map(|()| summary).map_err(Into::into))
    } else {
        write(format, &mut part.file, molecules, options)
    };
    let summary = written.map_err(|error| match error {
        ExportError::Write(source) => with_path(source),
        other => other,
    })?;
    part.put_in_place(path).map_err(with_path)?;
    Ok(summary)
}

fn write<'a>(
    format: ExportFormat,
    writer: impl Write,
    molecules: impl IntoIterator<Item = (&'a MoleculeTemplate, Pose)>,
    options: &ExportOptions,
) -> Result<ExportSummary, ExportError> {
    match format {
        ExportFormat::Pdb => write_pdb(writer, molecules, options),
        ExportFormat::Mmcif => write_mmcif(writer, molecules, options),
    }
}

/// A file under a temporary name that goes away unless it is put in place.
struct PartFile {
    file: File,
    path: PathBuf,
    in_place: bool,
}

impl PartFile {
    /// How many names are tried before giving up; only leftovers of a killed
    /// process with the same id take one.
    const ATTEMPTS: u32 = 100;

    fn create(target: &Path) -> io::Result<Self> {
        let name = target.file_name().unwrap_or(OsStr::new("structure"));
        for attempt in 0..Self::ATTEMPTS {
            let mut part = OsString::from(".");
            part.push(name);
            part.push(format!(".{}-{attempt}.part", std::process::id()));
            let path = target.with_file_name(part);
            match File::options().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    return Ok(Self {
                        file,
                        path,
                        in_place: false,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn put_in_place(mut self, target: &Path) -> io::Result<()> {
        // The content must be on the disk before the name points to it.
        self.file.sync_all()?;
        fs::rename(&self.path, target)?;
        self.in_place = true;
        Ok(())
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.in_place {
            // Nothing sensible can be done if this fails; the export has failed already.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides_the_format() {
        use ExportFormat::{Mmcif, Pdb};
        for (path, expected) in [
            ("a.pdb", Some((Pdb, false))),
            ("dir.x/A.PDB", Some((Pdb, false))),
            ("a.ent.gz", Some((Pdb, true))),
            ("a.cif", Some((Mmcif, false))),
            ("a.b.mmcif.GZ", Some((Mmcif, true))),
            ("a.gz", None),
            ("a.xyz", None),
            ("pdb", None),
            (".pdb", None),
            ("", None),
        ] {
            assert_eq!(ExportFormat::from_path(Path::new(path)), expected, "{path}");
        }
    }
}
