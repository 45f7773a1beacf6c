//! A cache of the proxies of a template, and its files next to structure files:
//! `1gzx.pdb.proxy.ron`.
//!
//! A file contains the proxy of each atom and a hash of the atoms. The spheres are computed from
//! the atoms when it is loaded, so no atom protrudes even if the file was modified.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{ProxyError, ProxySet};
use crate::molecule::{BodySpheres, MoleculeTemplate};

/// Default seed of proxies.
pub const PROXY_SEED: u64 = 1;

/// Version of the file format.
const VERSION: u32 = 1;

/// Maximum size of a file, bytes: eight million atoms in ten sets.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Proxies could not be saved or loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProxyFileError {
    /// The file cannot be read or written.
    #[error("cannot access '{}': {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is larger than any valid proxy file.
    #[error("{}: {bytes} bytes are too many for a proxy file, at most {MAX_FILE_BYTES} are allowed", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// The file is not a valid proxy file.
    #[error("{}: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// What is wrong and where.
        message: String,
    },
    /// The file belongs to another structure or to other radii.
    #[error(
        "{}: the proxies belong to other atoms (another structure or radius scale); compute them again with `proxies --save`",
        path.display()
    )]
    OtherAtoms {
        /// The file.
        path: PathBuf,
    },
    /// The atoms are invalid.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
}

/// The content of a file.
#[derive(Serialize, Deserialize)]
struct ProxyFile {
    version: u32,
    /// Hash of all centers and radii.
    atoms: u64,
    sets: Vec<SavedSet>,
}

/// A [`ProxySet`] in a file.
#[derive(Serialize, Deserialize)]
struct SavedSet {
    count: u32,
    /// Proxy of each atom.
    assignment: Vec<u32>,
}

/// The path of the proxy file of a structure file.
#[must_use]
pub fn proxy_file_path(structure: impl AsRef<Path>) -> PathBuf {
    let mut name = structure.as_ref().as_os_str().to_owned();
    name.push(".proxy.ron");
    name.into()
}

/// The proxies of one template. Each number of proxies is computed once, on first use, with
/// [`PROXY_SEED`].
#[derive(Debug)]
pub struct ProxyCache {
    template: Arc<MoleculeTemplate>,
    sets: Mutex<BTreeMap<usize, Arc<ProxySet>>>,
}

impl ProxyCache {
    /// An empty cache for `template`.
    #[must_use]
    pub fn new(template: Arc<MoleculeTemplate>) -> Self {
        Self {
            template,
            sets: Mutex::default(),
        }
    }

    /// The template.
    #[must_use]
    pub fn template(&self) -> &Arc<MoleculeTemplate> {
        &self.template
    }

    /// `count` proxies of the template, at most the number of its atoms.
    ///
    /// # Errors
    /// [`ProxyError`] if `count` is zero or the template has too many atoms.
    pub fn get(&self, count: usize) -> Result<Arc<ProxySet>, ProxyError> {
        let count = count.min(self.template.atom_count());
        // The lock is held while computing, so that no other thread computes the same set.
        let mut sets = self.sets();
        if let Some(set) = sets.get(&count) {
            return Ok(set.clone());
        }
        let set = ProxySet::from_atoms(&*self.template, count, PROXY_SEED)?;
        Ok(sets.entry(count).or_insert(Arc::new(set)).clone())
    }

    /// Adds a set that was computed elsewhere, for example on the GPU or loaded from a file.
    ///
    /// # Errors
    /// [`ProxyError`] if the set does not belong to the atoms of the template.
    pub fn insert(&self, set: ProxySet) -> Result<(), ProxyError> {
        set.max_protrusion(&*self.template)?;
        self.sets().insert(set.len(), Arc::new(set));
        Ok(())
    }

    /// All cached sets in ascending order of size.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<ProxySet>> {
        self.sets().values().cloned().collect()
    }

    /// Saves all cached sets to `path`.
    ///
    /// # Errors
    /// [`ProxyFileError`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ProxyFileError> {
        let path = path.as_ref();
        let saved = |set: &ProxySet| SavedSet {
            count: set.len() as u32,
            assignment: set.assignment(),
        };
        let file = ProxyFile {
            version: VERSION,
            atoms: atoms_hash(BodySpheres::from(&**self.template())),
            sets: self.all().iter().map(|set| saved(set)).collect(),
        };
        let text = ron::to_string(&file).map_err(|error| ProxyFileError::Syntax {
            path: path.into(),
            message: error.to_string(),
        })?;
        fs::write(path, text).map_err(|source| ProxyFileError::Io {
            path: path.into(),
            source,
        })
    }

    /// Loads all sets of a file and returns their number.
    ///
    /// # Errors
    /// [`ProxyFileError`] if the file cannot be read or belongs to other atoms; the cache is then
    /// unchanged.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<usize, ProxyFileError> {
        let path = path.as_ref();
        let io_error = |source| ProxyFileError::Io {
            path: path.into(),
            source,
        };
        let bytes = fs::metadata(path).map_err(io_error)?.len();
        if bytes > MAX_FILE_BYTES {
            return Err(ProxyFileError::TooLarge {
                path: path.into(),
                bytes,
            });
        }
        let text = fs::read_to_string(path).map_err(io_error)?;
        let atoms = BodySpheres::from(&**self.template());
        let sets = read(&text, path, atoms)?;
        let count = sets.len();
        for set in sets {
            self.insert(set)?;
        }
        Ok(count)
    }

    fn sets(&self) -> MutexGuard<'_, BTreeMap<usize, Arc<ProxySet>>> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(text: &str, path: &Path, atoms: BodySpheres<'_>) -> Result<Vec<ProxySet>, ProxyFileError> {
    let syntax = |message: String| ProxyFileError::Syntax {
        path: path.into(),
        message,
    };
    let file: ProxyFile = ron::from_str(text).map_err(|error| syntax(error.to_string()))?;
    if file.version != VERSION {
        let version = file.version;
        return Err(syntax(format!(
            "version {version} is not supported, expected {VERSION}"
        )));
    }
    atoms.check()?;
    if file.atoms != atoms_hash(atoms) {
        return Err(ProxyFileError::OtherAtoms { path: path.into() });
    }
    let sets = file.sets.iter().enumerate();
    sets.map(|(index, set)| {
        let count = set.count as usize;
        let is_valid_count = (1..=atoms.centers.len()).contains(&count);
        if !is_valid_count || set.assignment.len() != atoms.centers.len() {
            return Err(syntax(format!(
                "set {index} does not have the right number of proxies or atoms"
            )));
        }
        let mut used = vec![false; count];
        for &proxy in &set.assignment {
            match used.get_mut(proxy as usize) {
                Some(used) => *used = true,
                None => {
                    return Err(syntax(format!(
                        "set {index} refers to a missing proxy {proxy}"
                    )));
                }
            }
        }
        if let Some(empty) = used.iter().position(|used| !used) {
            return Err(syntax(format!("proxy {empty} of set {index} has no atoms")));
        }
        Ok(ProxySet::from_assignment(atoms, count, &set.assignment))
    })
    .collect()
}

/// FNV-1a hash of all centers and radii, the same on all platforms.
fn atoms_hash(atoms: BodySpheres<'_>) -> u64 {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let numbers = atoms.centers.iter().zip(atoms.radii);
    let numbers = numbers.flat_map(|(p, &r)| [p.x, p.y, p.z, r]);
    numbers
        .flat_map(|number| number.to_bits().to_le_bytes())
        .fold(OFFSET_BASIS, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(PRIME)
        })
}
