//! From a path to a molecule.

use std::path::Path;

use super::bodies::MoleculeInstances;
use super::error::MoleculeError;
use super::options::LoadOptions;
use super::reader::read_as;
use super::structure::Structure;
use super::template::MoleculeTemplate;

/// Loads a structure file as one rigid body.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
///
/// let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// assert_eq!(lipid.atom_count(), 134);
/// assert!((lipid.mass() - 760.1).abs() < 0.1, "dalton");
/// # Ok::<(), bevy_rapier_molecules::molecule::MoleculeError>(())
/// ```
///
/// # Errors
/// [`MoleculeError`] with file, line and cause.
pub fn load(
    path: impl AsRef<Path>,
    options: &LoadOptions,
) -> Result<MoleculeTemplate, MoleculeError> {
    load_structure(path, options)?.template(options)
}

/// Loads all that a structure file says.
///
/// Of the options only `format` counts here; the others are applied when the
/// structure is turned into bodies.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
///
/// let options = LoadOptions::default();
/// let hemoglobin = load_structure("assets/molecules/1gzx.pdb", &options)?;
/// let chains = hemoglobin.split_by(SplitBy::Chain, &options)?;
/// assert_eq!(chains.len(), 4);
/// # Ok::<(), bevy_rapier_molecules::molecule::MoleculeError>(())
/// ```
///
/// # Errors
/// [`MoleculeError`] with file, line and cause.
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
///
/// // The coat of a virus: the file has one protein and where its 49 copies are.
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
/// [`MoleculeError`] with file, line and cause.
pub fn load_instances(
    path: impl AsRef<Path>,
    options: &LoadOptions,
) -> Result<Vec<MoleculeInstances>, MoleculeError> {
    load_structure(path, options)?.instances(options)
}

/// Reads all that the bytes of a structure file say, without touching the file system.
///
/// `source` is what errors call the file; its ending tells the format unless
/// the options do. Of the options only `format` counts here.
///
/// ```
/// use bevy_rapier_molecules::molecule::{LoadOptions, read_bytes};
///
/// let error = read_bytes(b"ATOM      1  CA", "half.pdb", &LoadOptions::default()).unwrap_err();
/// assert!(error.to_string().starts_with("half.pdb, line 1: "), "{error}");
/// ```
///
/// # Errors
/// [`MoleculeError`] with file, line and cause.
pub fn read_bytes(
    bytes: &[u8],
    source: &str,
    options: &LoadOptions,
) -> Result<Structure, MoleculeError> {
    Ok(read_as(bytes, source, options.format)?)
}
