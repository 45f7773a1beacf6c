//! [`FilesInMemory`]: the files of a recipe that is not on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The files that a recipe refers to, for recipes that are not on disk: in an archive, on a server
/// or among the assets of an app.
///
/// [`Recipe::read_in_memory`](super::Recipe::read_in_memory) asks for all files of a recipe at
/// once. Add the [`missing`](Self::missing) ones and read the recipe again, until none is missing:
///
/// ```
/// use std::io;
/// use std::path::Path;
/// use bevy_rapier_molecules::recipe::{FilesInMemory, ReadOptions, Recipe};
///
/// let text = br#"{
///     "name": "two_balls",
///     "format_version": "2.1",
///     "objects": { "balls": {
///         "type": "multi_sphere",
///         "representations": { "packing": { "path": "shapes", "name": "two.sph" } }
///     } },
///     "composition": { "box": { "regions": { "interior": [{ "object": "balls", "count": 3 }] } } }
/// }"#;
/// let two_balls = b"5 5\n1\n2\n0 0 0 5\n8 0 0 5\n";
///
/// let mut files = FilesInMemory::default();
/// let recipe = loop {
///     let folder = Path::new("recipes");
///     let read = Recipe::read_in_memory(text, "a.json", folder, &ReadOptions::default(), &files);
///     let missing = files.missing();
///     if missing.is_empty() {
///         break read?;
///     }
///     for path in missing {
///         let is_known = path == Path::new("recipes/shapes/two.sph");
///         let content = if is_known { Ok(two_balls.to_vec()) } else { Err(io::ErrorKind::NotFound.into()) };
///         files.insert(path, content);
///     }
/// };
/// assert_eq!(recipe.ingredients.len(), 1);
/// # Ok::<(), bevy_rapier_molecules::recipe::RecipeError>(())
/// ```
///
/// Paths begin with the folder of the recipe, or with one of
/// [`structure_folders`](super::ReadOptions::structure_folders), and have no `.` or `..`.
#[derive(Debug, Default)]
pub struct FilesInMemory {
    known: BTreeMap<PathBuf, io::Result<Vec<u8>>>,
    /// Files that a recipe has asked for, and that are not known.
    missing: Mutex<BTreeSet<PathBuf>>,
}

impl FilesInMemory {
    /// Adds the content of a file, or why it cannot be read. With
    /// [`NotFound`](io::ErrorKind::NotFound), there is no such file.
    pub fn insert(&mut self, path: impl Into<PathBuf>, content: io::Result<Vec<u8>>) {
        let path = path.into();
        lock(&self.missing).remove(&path);
        self.known.insert(path, content);
    }

    /// The files that were asked for and not inserted, sorted. A recipe may do without some of
    /// them: they are places where a file may be.
    #[must_use]
    pub fn missing(&self) -> Vec<PathBuf> {
        lock(&self.missing).iter().cloned().collect()
    }

    /// What is known of a file; asks for it if it is nothing.
    fn get(&self, path: &Path) -> Option<&io::Result<Vec<u8>>> {
        let path = normalized(path)?;
        let known = self.known.get(&path);
        if known.is_none() {
            lock(&self.missing).insert(path);
        }
        known
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A path without `.` and `..`; none if it leaves its root.
fn normalized(path: &Path) -> Option<PathBuf> {
    let mut parts = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => parts.push(part),
            Component::CurDir => {}
            Component::ParentDir => {
                if !parts.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts)
}

/// Where the files of a recipe are.
#[derive(Clone, Copy, Debug)]
pub(super) enum FileSource<'a> {
    Disk,
    Memory(&'a FilesInMemory),
}

impl FileSource<'_> {
    /// Whether there is a file at a path.
    pub fn has(self, path: &Path) -> bool {
        match self {
            Self::Disk => path.is_file(),
            Self::Memory(files) => files.get(path).is_some_and(
                |content| !matches!(content, Err(error) if error.kind() == io::ErrorKind::NotFound),
            ),
        }
    }

    /// The content of a file.
    pub fn read(self, path: &Path) -> io::Result<Vec<u8>> {
        let Self::Memory(files) = self else {
            return std::fs::read(path);
        };
        match files.get(path) {
            Some(Ok(content)) => Ok(content.clone()),
            Some(Err(error)) => Err(io::Error::new(error.kind(), error.to_string())),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Whether a link leads out of a folder.
    pub fn leads_outside(self, path: &Path, folder: &Path) -> bool {
        match self {
            Self::Disk => match (path.canonicalize(), folder.canonicalize()) {
                (Ok(found), Ok(folder)) => !found.starts_with(folder),
                _ => false,
            },
            Self::Memory(_) => false,
        }
    }
}
