//! What a structure file says, before any option has left something out.
//!
//! Positions are nm in the frame of the file. Readers fill a [`Structure`]
//! through a `StructureBuilder`; `select.rs` and `bodies.rs` turn it into
//! templates.

use std::sync::Arc;

use glam::{DMat3, DVec3, Vec3};
use smol_str::SmolStr;

use super::{Element, Residue};

/// One atom of a structure file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StructureAtom {
    /// Position in the frame of the file, nm.
    pub position: Vec3,
    /// Chemical element.
    pub element: Element,
    /// Name inside the residue, such as `CA`.
    pub name: SmolStr,
    /// Index into [`Structure::residues`].
    pub residue: u32,
    /// Number of the model the atom belongs to.
    pub model: i32,
    /// Which of several alternate locations this is, if there are several.
    pub altloc: Option<char>,
    /// Fraction of molecules in which the atom is here, 1 if the file does not say.
    pub occupancy: f32,
    /// Whether the file calls it a hetero atom: not part of a polymer.
    pub hetero: bool,
}

/// One of the copies that make up an [`Assembly`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Operator {
    /// What the file calls it, such as `1` or `P-12`.
    pub id: String,
    /// Rotation part. Not checked to be a rotation until it is used.
    pub rotation: DMat3,
    /// Translation part, nm.
    pub translation: DVec3,
    /// The chains it copies, by label (see [`Structure::label_chains`]); `None` means all.
    pub chains: Option<Arc<[SmolStr]>>,
}

/// A biological assembly: the file's atoms, copied by operators.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Assembly {
    /// What the file calls it, usually `1`.
    pub id: String,
    /// The copies, in file order.
    pub operators: Vec<Operator>,
}

/// The content of a structure file, in its frame; lengths are nm.
///
/// [`template`](Self::template), [`split_by`](Self::split_by) and
/// [`instances`](Self::instances) make rigid bodies of it.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
///
/// let coat = load_structure("assets/molecules/4udv.pdb", &LoadOptions::default())?;
/// assert_eq!((coat.name(), coat.models().len()), ("4udv", 1));
/// assert_eq!(coat.assemblies()[0].operators.len(), 49);
/// # Ok::<(), bevy_rapier_molecules::molecule::MoleculeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Structure {
    pub(super) source: String,
    pub(super) atoms: Vec<StructureAtom>,
    pub(super) residues: Vec<Residue>,
    pub(super) label_chains: Vec<SmolStr>,
    pub(super) models: Vec<i32>,
    pub(super) assemblies: Vec<Assembly>,
}

impl Structure {
    /// The file it came from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// All atoms of all models, in file order.
    #[must_use]
    pub fn atoms(&self) -> &[StructureAtom] {
        &self.atoms
    }

    /// All residues of all models, in the order of their first atoms.
    #[must_use]
    pub fn residues(&self) -> &[Residue] {
        &self.residues
    }

    /// For each residue the chain name that assemblies use.
    ///
    /// The same as [`Residue::chain`] in PDB files; in mmCIF the `label_asym_id`,
    /// which gives ligands and waters chains of their own.
    #[must_use]
    pub fn label_chains(&self) -> &[SmolStr] {
        &self.label_chains
    }

    /// Model numbers, in file order.
    #[must_use]
    pub fn models(&self) -> &[i32] {
        &self.models
    }

    /// Biological assemblies, in file order; empty if the file names none.
    #[must_use]
    pub fn assemblies(&self) -> &[Assembly] {
        &self.assemblies
    }

    /// Names of the chains, each once, in file order.
    #[must_use]
    pub fn chains(&self) -> Vec<SmolStr> {
        let mut seen = std::collections::HashSet::new();
        let mut chains = Vec::new();
        let mut last: Option<&SmolStr> = None;
        for residue in &self.residues {
            if last != Some(&residue.chain) && seen.insert(&residue.chain) {
                chains.push(residue.chain.clone());
            }
            last = Some(&residue.chain);
        }
        chains
    }

    /// Name of the molecule: the file name without folders and endings.
    #[must_use]
    pub fn name(&self) -> &str {
        let file = self.source.rsplit(['/', '\\']).next().unwrap_or_default();
        match file.find('.') {
            Some(0) | None => file,
            Some(dot) => &file[..dot],
        }
    }
}
