//! What to take from a structure file, and how large its atoms are.

use serde::{Deserialize, Serialize};

use super::reader::Format;

/// How much smaller than van der Waals the collision radii are.
///
/// Bonded and hydrogen-bonded atoms are closer than their van der Waals radii
/// add up to. At 0.7 the lipids of a real, equilibrated membrane
/// (`popc_bilayer.pdb`, without periodic images) have no overlapping pair of
/// atoms; at 0.75 there are 6 pairs, at 0.8 there are 26.
pub const DEFAULT_RADIUS_SCALE: f32 = 0.7;

/// Which models of a file to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ModelChoice {
    /// The first in the file.
    #[default]
    First,
    /// The one with this number.
    Number(i32),
    /// All of them, on top of each other.
    All,
}

/// Whether and how to build a biological assembly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum AssemblyChoice {
    /// The atoms as the file has them.
    #[default]
    None,
    /// The copies of the assembly with this name, together as one rigid body.
    OneBody(String),
    /// The copies of the assembly with this name, each a body of its own.
    Instances(String),
}

/// What to take from a structure file, and how large its atoms are.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
///
/// // The first chain of hemoglobin with half of the van der Waals radii.
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
    /// Which models. Default: the first.
    pub model: ModelChoice,
    /// Which chains, by the names in [`Residue::chain`](super::Residue::chain). Default: all.
    pub chains: Option<Vec<String>>,
    /// Whether to keep waters. Default: no.
    pub waters: bool,
    /// Whether to keep hydrogens. Default: yes.
    pub hydrogens: bool,
    /// Whether to build an assembly. Default: no.
    pub assembly: AssemblyChoice,
    /// Factor from van der Waals to collision radii. Default: [`DEFAULT_RADIUS_SCALE`].
    pub radius_scale: f32,
    /// The format, if neither name nor content tell it right. Default: they do.
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
