//! Proxies beside the structure file: `1gzx.pdb.proxy.ron`.
//!
//! The file has which atom is in which proxy, and a fingerprint of the atoms. The spheres
//! are made anew from both, so that a file that was meddled with can give bad proxies but
//! none that an atom sticks out of.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{ProxyCache, ProxyError, ProxySet};
use crate::molecule::BodySpheres;

/// Version of the form of the file.
const VERSION: u32 = 1;

/// Largest file that is read, bytes: eight million atoms in ten sets.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Why proxies could not be saved or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProxyFileError {
    /// The file cannot be read.
    #[error("'{}' cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file cannot be written.
    #[error("'{}' cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is larger than any that we write.
    #[error("{}: {bytes} bytes are too many for a file of proxies", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// The file does not say what a file of proxies should.
    #[error("{}: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        message: String,
    },
    /// The file is for other atoms: another structure, or other radii.
    #[error(
        "{}: its proxies are for other atoms (another structure, or another radius scale): make it anew with `proxies --save`",
        path.display()
    )]
    OtherAtoms {
        /// The file.
        path: PathBuf,
    },
    /// The atoms cannot have proxies.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
struct ProxyFile {
    version: u32,
    /// Hash of all centers and radii.
    atoms: u64,
    sets: Vec<SavedSet>,
}

/// A set of proxies in a file.
#[derive(Serialize, Deserialize)]
struct SavedSet {
    count: u32,
    /// Proxy of each atom.
    assignment: Vec<u32>,
}

/// The file of proxies that belongs to a structure file.
#[must_use]
pub fn proxy_file_of(structure: impl AsRef<Path>) -> PathBuf {
    let mut name = structure.as_ref().as_os_str().to_owned();
    name.push(".proxy.ron");
    name.into()
}

impl ProxyCache {
    /// Saves all sets that there are to `path`.
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
            atoms: fingerprint(BodySpheres::from(&**self.template())),
            sets: self.all().iter().map(|set| saved(set)).collect(),
        };
        let text = ron::to_string(&file).map_err(|error| ProxyFileError::Syntax {
            path: path.into(),
            message: error.to_string(),
        })?;
        fs::write(path, text).map_err(|source| ProxyFileError::Write {
            path: path.into(),
            source,
        })
    }

    /// Reads the sets of a file; returns how many there were.
    ///
    /// # Errors
    /// [`ProxyFileError`] if the file cannot be read, or is for other atoms; nothing was
    /// taken from it then.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<usize, ProxyFileError> {
        let path = path.as_ref();
        let unread = |source| ProxyFileError::Read {
            path: path.into(),
            source,
        };
        let bytes = fs::metadata(path).map_err(unread)?.len();
        if bytes > MAX_FILE_BYTES {
            return Err(ProxyFileError::TooLarge {
                path: path.into(),
                bytes,
            });
        }
        let text = fs::read_to_string(path).map_err(unread)?;
        let atoms = BodySpheres::from(&**self.template());
        let sets = read(&text, path, atoms)?;
        let count = sets.len();
        for set in sets {
            self.insert(set)?;
        }
        Ok(count)
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
            "version {version} is not known, only {VERSION}"
        )));
    }
    atoms.check()?;
    if file.atoms != fingerprint(atoms) {
        return Err(ProxyFileError::OtherAtoms { path: path.into() });
    }
    let sets = file.sets.iter().enumerate();
    sets.map(|(index, set)| {
        let count = set.count as usize;
        let enough = (1..=atoms.centers.len()).contains(&count);
        if !enough || set.assignment.len() != atoms.centers.len() {
            return Err(syntax(format!("set {index} is not for as many atoms")));
        }
        let mut used = vec![false; count];
        for &proxy in &set.assignment {
            match used.get_mut(proxy as usize) {
                Some(used) => *used = true,
                None => return Err(syntax(format!("set {index} has no proxy {proxy}"))),
            }
        }
        if let Some(empty) = used.iter().position(|used| !used) {
            return Err(syntax(format!("proxy {empty} of set {index} has no atoms")));
        }
        Ok(ProxySet::from_assignment(atoms, count, &set.assignment))
    })
    .collect()
}

/// A hash of all centers and radii, after Fowler, Noll and Vo: the same on all machines.
fn fingerprint(atoms: BodySpheres<'_>) -> u64 {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const FACTOR: u64 = 0x0100_0000_01b3;
    let numbers = atoms.centers.iter().zip(atoms.radii);
    let numbers = numbers.flat_map(|(p, &r)| [p.x, p.y, p.z, r]);
    numbers
        .flat_map(|number| number.to_bits().to_le_bytes())
        .fold(START, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(FACTOR)
        })
}
