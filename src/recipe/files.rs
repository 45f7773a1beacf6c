//! [`FileFinder`]: the files that a recipe refers to.
//!
//! Paths are relative to the folder of the recipe and may not leave it, unless that is allowed.
//! Nothing is fetched from a network.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::bundled::bundled;
use super::error::RecipeProblem;
use super::file_source::FileSource;
use crate::compartment::{MeshFileError, TriangleMesh, read_mesh};
use crate::molecule::{Format, LoadOptions, MoleculeError, Structure, read_bytes};

/// Beginnings of paths that cellPACK fetches from a network.
const NETWORK: [&str; 7] = [
    "http:",
    "https:",
    "ftp:",
    "s3:",
    "gs:",
    "github:",
    "firebase:",
];

/// The path for which cellPACK fetches a file from its own server.
const DEFAULT: &str = "default";

/// Extensions of structure files, tried for a bare name.
const STRUCTURES: [&str; 9] = [
    "pdb", "cif", "bcif", "ent", "gro", "pdb.gz", "cif.gz", "bcif.gz", "gro.gz",
];

/// Finds the files of a recipe.
#[derive(Clone, Debug)]
pub(super) struct FileFinder<'a> {
    /// Where the files are.
    pub source: FileSource<'a>,
    /// Folder of the recipe.
    pub folder: PathBuf,
    /// Other folders with structure files.
    pub structure_folders: Vec<PathBuf>,
    /// Whether paths may leave the folder.
    pub allow_outside: bool,
}

impl FileFinder<'_> {
    /// A file by its folder and name, both as written in the recipe.
    pub fn find(&self, folder: Option<&str>, name: &str) -> Result<PathBuf, RecipeProblem> {
        let written = match folder {
            Some(folder) if !folder.is_empty() => Path::new(folder).join(name),
            _ => PathBuf::from(name),
        };
        let text = || written.to_string_lossy().into_owned();
        for part in [folder.unwrap_or_default(), name] {
            let lower = part.to_ascii_lowercase();
            if lower == DEFAULT || NETWORK.iter().any(|start| lower.starts_with(start)) {
                return Err(RecipeProblem::Network { path: text() });
            }
        }
        let path = self.folder.join(&written);
        if !self.allow_outside && (written.is_absolute() || climbs(&written)) {
            return Err(RecipeProblem::OutsideFolder { path: text() });
        }
        if !self.source.has(&path) {
            return Err(RecipeProblem::NoFile { path });
        }
        if !self.allow_outside && self.source.leads_outside(&path, self.root()) {
            return Err(RecipeProblem::OutsideFolder { path: text() });
        }
        Ok(path)
    }

    /// A structure file by its bare name or identifier, in the folder of the recipe or in one of
    /// the other folders.
    pub fn find_structure(&self, name: &str) -> Option<PathBuf> {
        let is_bare = Path::new(name).components().count() == 1 && !climbs(Path::new(name));
        if !is_bare {
            return None;
        }
        let names = |name: String| {
            let extended = STRUCTURES.map(|extension| format!("{name}.{extension}"));
            [name].into_iter().chain(extended)
        };
        let lower = name.to_ascii_lowercase();
        let folders = std::iter::once(&self.folder).chain(&self.structure_folders);
        for folder in folders {
            for name in names(name.to_owned()).chain(names(lower.clone())) {
                let path = folder.join(&name);
                let is_structure = Format::from_name(&name).is_some();
                if is_structure && self.source.has(&path) {
                    return Some(path);
                }
            }
        }
        None
    }

    /// A file by its folder and name. Paths of cellPACK are relative to where it runs: a copy next
    /// to the recipe is fine, too.
    pub fn find_near(&self, folder: Option<&str>, name: &str) -> Result<PathBuf, RecipeProblem> {
        let beside = || {
            let name = Path::new(name).file_name()?.to_str()?;
            self.find(None, name).ok()
        };
        self.find(folder, name)
            .or_else(|problem| beside().ok_or(problem))
    }

    /// Asks the source for all places where a structure file may be.
    pub fn request_structure(&self, folder: Option<&str>, name: &str) {
        if self.find(folder, name).is_err() {
            self.find_structure(name);
        }
    }

    /// Asks the source for all places where another file may be.
    pub fn request_near(&self, folder: Option<&str>, name: &str) {
        // Only the source matters here: the file is read later.
        drop(self.find_near(folder, name));
    }

    /// The content of a structure file: one by its folder and name, else by its bare name as
    /// [`find_structure`](Self::find_structure), else a bundled one. A path that leaves the folder
    /// is an error, whatever its name.
    pub fn structure(
        &self,
        folder: Option<&str>,
        name: &str,
    ) -> Result<Arc<Structure>, RecipeProblem> {
        let path = match self.find(folder, name) {
            Ok(path) => path,
            Err(problem @ RecipeProblem::OutsideFolder { .. }) => return Err(problem),
            Err(problem) => match self.find_structure(name) {
                Some(path) => path,
                None => return Ok(bundled(name).ok_or(problem)??),
            },
        };
        let file = path.to_string_lossy();
        let bytes = self.read(&path).map_err(|source| MoleculeError::Io {
            file: file.clone().into_owned(),
            source,
        })?;
        Ok(read_bytes(&bytes, &file, &LoadOptions::default()).map(Arc::new)?)
    }

    /// The content of a mesh file.
    pub fn mesh(&self, path: &Path) -> Result<TriangleMesh, MeshFileError> {
        let file = path.to_string_lossy();
        let bytes = self.read(path).map_err(|source| MeshFileError::Io {
            file: file.clone().into_owned(),
            source,
        })?;
        read_mesh(&bytes, &file, None)
    }

    /// The content of a file that was found.
    pub fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.source.read(path)
    }

    fn root(&self) -> &Path {
        if self.folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &self.folder
        }
    }
}

/// Whether a relative path leaves its folder.
fn climbs(path: &Path) -> bool {
    let mut depth = 0_i64;
    for component in path.components() {
        match component {
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return true,
        }
        if depth < 0 {
            return true;
        }
    }
    false
}
