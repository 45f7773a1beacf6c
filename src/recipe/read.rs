//! Reading of recipe files.

use std::path::{Path, PathBuf};

use super::bent::BentFile;
use super::error::RecipeProblem;
use super::files::FileFinder;
use super::{Recipe, RecipeError, bent_recipe, cellpack};

/// How a recipe is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
        let files = FileFinder {
            folder: folder.to_owned(),
            structure_folders: options.structure_folders.clone(),
            allow_outside: options.allow_outside,
        };
        let extension = Path::new(source).extension();
        match extension.map(std::ffi::OsStr::to_ascii_lowercase) {
            Some(extension) if extension == "json" => {
                cellpack::resolve(&cellpack::read(text, source)?, &files)
            }
            Some(extension) if extension == "bent" => {
                let file = BentFile::read(text, source);
                let file = file.map_err(|error| RecipeProblem::Bent(error).at(source, ""))?;
                bent_recipe::resolve(&file, source, &files)
            }
            _ => Err(RecipeProblem::UnknownFormat.at(source, "")),
        }
    }
}
