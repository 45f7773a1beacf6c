//! Reading of recipe files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::bent::BentFile;
use super::error::RecipeProblem;
use super::file_source::{FileSource, FilesInMemory};
use super::files::FileFinder;
use super::{Recipe, RecipeError, bent_recipe, cellpack};

/// How a recipe is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadOptions {
    /// Whether files of the recipe may be outside of its folder. Default: no.
    pub allow_outside: bool,
    /// Folders with structure files, which the recipe may refer to by their names or identifiers.
    /// Default: none.
    pub structure_folders: Vec<PathBuf>,
}

impl Recipe {
    /// Reads a recipe and the files that it refers to. The extension is `.json` for cellPACK or
    /// `.bent` for bentopy.
    ///
    /// # Errors
    /// [`RecipeError`] with the file, the place in it, and the problem.
    pub fn load(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, RecipeError> {
        let path = path.as_ref();
        let source = path.to_string_lossy();
        let text = std::fs::read(path).map_err(|error| RecipeProblem::Io(error).at(&source, ""))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::read(&text, &source, folder, options)
    }

    /// Reads a recipe from memory. `source` is its file name, for errors and the format; `folder`
    /// is what its paths are relative to.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn read(
        text: &[u8],
        source: &str,
        folder: &Path,
        options: &ReadOptions,
    ) -> Result<Self, RecipeError> {
        read_from(FileSource::Disk, text, source, folder, options)
    }

    /// Reads a recipe whose files are in memory, too. Asks `files` for all files that it may need;
    /// see [`FilesInMemory`] for an example.
    ///
    /// # Errors
    /// As [`load`](Self::load). While files are [missing](FilesInMemory::missing), the result means
    /// nothing.
    pub fn read_in_memory(
        text: &[u8],
        source: &str,
        folder: &Path,
        options: &ReadOptions,
        files: &FilesInMemory,
    ) -> Result<Self, RecipeError> {
        read_from(FileSource::Memory(files), text, source, folder, options)
    }
}

fn read_from(
    file_source: FileSource<'_>,
    text: &[u8],
    source: &str,
    folder: &Path,
    options: &ReadOptions,
) -> Result<Recipe, RecipeError> {
    let files = FileFinder {
        source: file_source,
        folder: folder.to_owned(),
        structure_folders: options.structure_folders.clone(),
        allow_outside: options.allow_outside,
    };
    let is_in_memory = matches!(file_source, FileSource::Memory(_));
    let extension = Path::new(source).extension();
    match extension.map(OsStr::to_ascii_lowercase) {
        Some(extension) if extension == "json" => {
            let file = cellpack::read(text, source)?;
            if is_in_memory {
                cellpack::request_files(&file, &files)?;
            }
            cellpack::resolve(&file, &files)
        }
        Some(extension) if extension == "bent" => {
            let file = BentFile::read(text, source);
            let file = file.map_err(|error| RecipeProblem::Bent(error).at(source, ""))?;
            if is_in_memory {
                bent_recipe::request_files(&file, &files);
            }
            bent_recipe::resolve(&file, source, &files)
        }
        _ => Err(RecipeProblem::UnknownFormat.at(source, "")),
    }
}
