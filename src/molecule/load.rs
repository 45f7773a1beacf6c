//! Loading structure files from a path or from bytes: options, functions and warnings.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::MoleculeError;
use super::format::{Format, read_structure};
use super::structure::{MoleculeInstances, Structure};
use super::template::MoleculeTemplate;

/// Default ratio of collision radii to van der Waals radii.
///
/// Bonded and hydrogen-bonded atoms are closer than the sum of their van der Waals radii. At 0.7
/// the lipids of a real, equilibrated membrane (`popc_bilayer.pdb`, without periodic images) have
/// no overlapping pair of atoms; at 0.75 there are 6 pairs, at 0.8 there are 26.
pub const DEFAULT_RADIUS_SCALE: f32 = 0.7;

/// Which models of a file to load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ModelChoice {
    /// The first model of the file.
    #[default]
    First,
    /// The model with this number.
    Number(i32),
    /// All models, superimposed.
    All,
}

/// Whether and how to apply the operators of a biological assembly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum AssemblyChoice {
    /// Load the atoms of the file without copies.
    #[default]
    None,
    /// All copies of the assembly with this name as one rigid body.
    OneBody(String),
    /// Each copy of the assembly with this name as a separate body.
    Instances(String),
}

/// Which part of a structure file to load, and the collision radii of its atoms.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
///
/// // The first chain of hemoglobin with half the van der Waals radii.
/// let options = LoadOptions {
///     chains: Some(vec!["A".to_owned()]),
///     radius_scale: 0.5,
///     ..LoadOptions::default()
/// };
/// let chain = load("assets/molecules/1gzx.pdb", &options)?;
/// assert!(chain.residues().iter().all(|residue| residue.chain == "A"));
/// let radius = chain.elements()[0].vdw_radius();
/// assert_eq!(chain.radii()[0], 0.5 * radius, "nm");
/// # Ok::<(), bevy_rapier_molecules::molecule::MoleculeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LoadOptions {
    /// Models to load. Default: the first.
    pub model: ModelChoice,
    /// Chains to load, by [`Residue::chain`](super::Residue::chain). Default: all.
    pub chains: Option<Vec<String>>,
    /// Whether to load waters. Default: no.
    pub waters: bool,
    /// Whether to load hydrogens. Default: yes.
    pub hydrogens: bool,
    /// Assembly to build. Default: none.
    pub assembly: AssemblyChoice,
    /// Ratio of collision radii to van der Waals radii, where the file has no radii. Default:
    /// [`DEFAULT_RADIUS_SCALE`].
    pub radius_scale: f32,
    /// Format of the file. Default: recognized by the extension, else by the content.
    pub format: Option<Format>,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            model: ModelChoice::First,
            chains: None,
            waters: false,
            hydrogens: true,
            assembly: AssemblyChoice::None,
            radius_scale: DEFAULT_RADIUS_SCALE,
            format: None,
        }
    }
}

/// How many values of a structure file were unusable and replaced by defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadWarnings {
    /// Atoms without a known element, loaded as [`Element::UNKNOWN`](super::Element::UNKNOWN).
    pub unknown_elements: usize,
    /// Occupancies that are not finite numbers, replaced by 1.
    pub invalid_occupancies: usize,
    /// Residue and model numbers that are not integers, replaced by the number that a missing
    /// one has: 0 for residues, 1 for models.
    pub invalid_numbers: usize,
    /// Unit cells with missing or impossible edges or angles, ignored.
    pub invalid_cells: usize,
}

impl LoadWarnings {
    /// Whether no value was replaced.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for LoadWarnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (
                self.unknown_elements,
                "unknown elements, loaded with the radius and mass of carbon",
            ),
            (self.invalid_occupancies, "invalid occupancies, loaded as 1"),
            (
                self.invalid_numbers,
                "invalid residue or model numbers, loaded as missing",
            ),
            (self.invalid_cells, "invalid unit cells, ignored"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let texts: Vec<String> = counts
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        f.write_str(&texts.join("; "))
    }
}

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
/// # Errors
/// [`MoleculeError`] with file, location and cause.
pub fn read_bytes(
    bytes: &[u8],
    source: &str,
    options: &LoadOptions,
) -> Result<Structure, MoleculeError> {
    Ok(read_structure(bytes, source, options.format)?)
}
