//! Options and warnings of loading a structure file.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::format::Format;

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
    /// Ratio of collision radii to van der Waals radii. Default: [`DEFAULT_RADIUS_SCALE`].
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
        ];
        let mut separator = "";
        for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, "{separator}{count} {what}")?;
            separator = "; ";
        }
        Ok(())
    }
}
