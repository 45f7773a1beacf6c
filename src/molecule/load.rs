//! Loading structure files from a path or from bytes.

use std::path::Path;

use super::error::MoleculeError;
use super::format::read_structure;
use super::load_options::LoadOptions;
use super::structure::{MoleculeInstances, Structure};
use super::template::MoleculeTemplate;

/// Loads a structure file as one rigid body.
///
/// [`MoleculeTemplate::load_warnings`] counts values of the file that were replaced by defaults.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
///
/// let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// assert_eq!(lipid.atom_count(), 134);
/// assert!((lipid.mass() - 760.1).abs() < 0.1, "dalton");
/// assert!(lipid.load_warnings().is_empty());
/// # Ok::<(), bevy_rapier_molecules::molecule::MoleculeError>(())
/// ```
///
/// # Errors
/// [`MoleculeError`] with file, location and cause.
pub fn load(
    path: impl AsRef<Path>,
    options: &LoadOptions,
) -> Result<MoleculeTemplate, MoleculeError> {
    load_structure(path, options)?.template(options)
}

/// Loads the complete content of a structure file.
///
/// Uses only [`LoadOptions::format`]; the other options apply when the structure is turned into
/// bodies.
///
/// # Errors
/// [`MoleculeError`] with file, location and cause.
pub fn load_structure(
    path: impl AsRef<Path>,
    options: &LoadOptions,
) -> Result<Structure, MoleculeError> {
    let path = path.as_ref();
    let source = path.to_string_lossy();
    let bytes = std::fs::read(path).map_err(|error| MoleculeError::Io {
        file: source.clone().into_owned(),
        source: error,
    })?;
    read_bytes(&bytes, &source, options)
}

/// Loads a structure file as copies of rigid bodies; see [`Structure::instances`].
///
/// ```
/// use bevy_rapier_molecules::molecule::AssemblyChoice;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::molecule::load_instances;
///
/// // A virus coat: the file contains one protein and the poses of its 49 copies.
/// let options = LoadOptions {
///     assembly: AssemblyChoice::Instances("1".to_owned()),
///     ..LoadOptions::default()
/// };
/// let coat = load_instances("assets/molecules/4udv.pdb", &options)?;
/// assert_eq!((coat.len(), coat[0].poses.len()), (1, 49));
/// # Ok::<(), bevy_rapier_molecules::molecule::MoleculeError>(())
/// ```
///
/// # Errors
/// [`MoleculeError`] with file, location and cause.
pub fn load_instances(
    path: impl AsRef<Path>,
    options: &LoadOptions,
) -> Result<Vec<MoleculeInstances>, MoleculeError> {
    load_structure(path, options)?.instances(options)
}

/// Reads the complete content of a structure file from memory.
///
/// `source` is the file name used in errors; its extension determines the format unless
/// [`LoadOptions::format`] does. The other options are not used.
///
/// ```
/// use bevy_rapier_molecules::molecule::{LoadOptions, read_bytes};
///
/// let error = read_bytes(b"ATOM      1  CA", "half.pdb", &LoadOptions::default()).unwrap_err();
/// assert!(error.to_string().starts_with("half.pdb, line 1: "), "{error}");
/// ```
///
/// # Errors
/// [`MoleculeError`] with file, location and cause.
pub fn read_bytes(
    bytes: &[u8],
    source: &str,
    options: &LoadOptions,
) -> Result<Structure, MoleculeError> {
    Ok(read_structure(bytes, source, options.format)?)
}
