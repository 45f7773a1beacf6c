//! The content of a structure file, before load options select a part of it.
//!
//! Readers fill a [`Structure`] through [`builder::StructureBuilder`]. Its methods in
//! `rigid_bodies.rs` turn it into templates; `atom_selection.rs` applies the load options.

#[cfg(feature = "recipe")]
mod assembly_kinds;
mod atom_selection;
pub(super) mod builder;
mod rigid_bodies;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use glam::{DMat3, DVec3, Vec3};
use smol_str::SmolStr;

#[cfg(feature = "recipe")]
pub(crate) use self::rigid_bodies::proper_rotation;
pub use self::rigid_bodies::{MoleculeInstances, MoleculePart, SplitBy};
use super::error::{MoleculeError, ReadErrorKind};
use super::{Element, LoadWarnings, Residue, UnitCell};

/// Number of operators that all assemblies of a file may have in any case, more than any virus has:
/// 27 MB.
const BASE_OPERATORS: usize = 200_000;

/// Additional operators for each one that the file lists. Scenes of placed molecules use each once.
const OPERATORS_PER_ROW: usize = 4;

/// Limits the operators of all assemblies of a file, so that a small file cannot exhaust memory:
/// expressions can list operators again and multiply them.
pub(super) struct OperatorBudget {
    remaining: usize,
    limit: usize,
}

impl OperatorBudget {
    /// The budget of a file that lists `rows` operators.
    pub(super) fn for_rows(rows: usize) -> Self {
        let limit = rows
            .saturating_mul(OPERATORS_PER_ROW)
            .saturating_add(BASE_OPERATORS);
        Self {
            remaining: limit,
            limit,
        }
    }

    /// Returns an error if there are fewer than `count` operators left.
    pub(super) fn check(&self, count: usize) -> Result<(), ReadErrorKind> {
        if count <= self.remaining {
            return Ok(());
        }
        Err(ReadErrorKind::TooLarge {
            what: "the number of assembly operators",
            limit: self.limit as u64,
        })
    }

    pub(super) fn spend(&mut self, count: usize) -> Result<(), ReadErrorKind> {
        self.check(count)?;
        self.remaining -= count;
        Ok(())
    }
}

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
    /// Number of the model that the atom belongs to.
    pub model: i32,
    /// Identifier of the alternate location, if the atom has several.
    pub altloc: Option<char>,
    /// Fraction of molecules that have the atom at this location; 1 if missing.
    pub occupancy: f32,
}

/// A rigid motion that copies chains into an [`Assembly`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Operator {
    /// Name in the file, such as `1` or `P-12`.
    pub id: SmolStr,
    /// Rotation part. Validated when the assembly is built.
    pub rotation: DMat3,
    /// Translation part, nm.
    pub translation: DVec3,
    /// The copied chains, by `label_asym_id` in mmCIF; `None` means all.
    pub chains: Option<Arc<[SmolStr]>>,
}

/// A biological assembly: copies of the atoms of the file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Assembly {
    /// Name in the file, usually `1`.
    pub id: String,
    /// How it was found, such as `PISA` or `CELLPACK`; empty if unknown.
    pub method: String,
    /// One operator per copy, in file order.
    pub operators: Vec<Operator>,
}

/// The content of a structure file, in its frame; lengths are nm.
///
/// [`template`](Self::template), [`split_by`](Self::split_by) and
/// [`instances`](Self::instances) turn it into rigid bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Structure {
    source: String,
    atoms: Vec<StructureAtom>,
    residues: Vec<Residue>,
    /// The chain name of each residue that assemblies use: that of the residue in PDB files,
    /// `label_asym_id` in mmCIF, which assigns separate chains to ligands and waters.
    label_chains: Vec<SmolStr>,
    /// The entity of each label chain in mmCIF.
    entity_of_chain: HashMap<SmolStr, SmolStr>,
    /// Descriptions of the entities.
    entities: HashMap<SmolStr, String>,
    /// Collision radius of each atom, nm, where the file has one; empty if it has none.
    radii: Vec<Option<f32>>,
    title: String,
    /// Number of `TER` rows before the first atom of each residue.
    terminators: Vec<u32>,
    /// Whether there are `TER` rows.
    is_terminated: bool,
    models: Vec<i32>,
    assemblies: Vec<Assembly>,
    warnings: LoadWarnings,
    bilayer_half_thickness: Option<f32>,
    unit_cell: Option<UnitCell>,
}

impl Structure {
    /// All atoms of all models, in file order.
    #[must_use]
    pub fn atoms(&self) -> &[StructureAtom] {
        &self.atoms
    }

    /// Title of the structure in mmCIF; empty if there is none.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// All residues of all models, in the order of their first atoms.
    #[must_use]
    pub fn residues(&self) -> &[Residue] {
        &self.residues
    }

    /// Model numbers, in file order.
    #[must_use]
    pub fn models(&self) -> &[i32] {
        &self.models
    }

    /// Biological assemblies, in file order.
    #[must_use]
    pub fn assemblies(&self) -> &[Assembly] {
        &self.assemblies
    }

    /// How many values of the file were replaced by defaults.
    #[must_use]
    pub fn warnings(&self) -> LoadWarnings {
        self.warnings
    }

    /// The unit cell of the crystal or simulation: `CRYST1` in PDB files, `_cell` in the other
    /// formats. Invalid cells are ignored and counted as [`LoadWarnings`].
    #[must_use]
    pub fn unit_cell(&self) -> Option<UnitCell> {
        self.unit_cell
    }

    /// Half of the hydrophobic thickness of the membrane, nm, if the file is from the OPM database.
    ///
    /// In these files, the mid-plane of the membrane is z = 0.
    #[must_use]
    pub fn bilayer_half_thickness(&self) -> Option<f32> {
        self.bilayer_half_thickness
    }

    /// Unique names of the chains, in file order.
    #[must_use]
    pub fn chains(&self) -> Vec<SmolStr> {
        let mut seen = HashSet::new();
        let names = self.residues.iter().map(|residue| &residue.chain);
        names.filter(|name| seen.insert(*name)).cloned().collect()
    }

    fn not_in_file<T: ToString>(
        &self,
        what: &'static str,
        requested: impl ToString,
        available: impl IntoIterator<Item = T>,
    ) -> MoleculeError {
        MoleculeError::NotInFile {
            file: self.source.clone(),
            what,
            requested: requested.to_string(),
            available: available.into_iter().map(|name| name.to_string()).collect(),
        }
    }

    /// Name of the molecule: the file name without folders and extensions.
    #[must_use]
    pub fn name(&self) -> &str {
        let file = self.source.rsplit(['/', '\\']).next().unwrap_or_default();
        match file.find('.') {
            Some(0) | None => file,
            Some(dot) => &file[..dot],
        }
    }
}
