//! Builds a [`Structure`] from atom records: groups atoms into residues.
//!
//! Atoms with the same (model, chain, number, insertion code, name) are one residue, even if
//! other atoms come between them, as in files that interleave alternate residues. After a chain
//! terminator or a decreasing residue number the same key starts a new residue: files with more
//! than 9,999 residues restart their numbering.

use std::collections::{HashMap, HashSet};

use glam::Vec3;
use smol_str::SmolStr;

use super::{Assembly, Structure, StructureAtom};
use crate::molecule::element_from_atom_name::{infer_element, is_massless_site};
use crate::molecule::error::{FileLocation, ReadError, ReadErrorKind};
use crate::molecule::template::MAX_COORDINATE_NM;
use crate::molecule::unit_cell::{InvalidCell, UnitCell};
use crate::molecule::{Element, Residue};

/// One atom of a file.
pub struct AtomRecord<'a> {
    /// Coordinates, nm.
    pub position: [f64; 3],
    /// Element field, trimmed; empty if the element follows from the name.
    pub symbol: &'a str,
    /// The four name columns of PDB with their blanks, or the name padded like them.
    pub name_columns: [u8; 4],
    /// Atom name, trimmed.
    pub name: &'a str,
    pub residue_name: &'a str,
    pub chain: &'a str,
    pub label_chain: &'a str,
    pub residue_number: i32,
    pub insertion_code: Option<char>,
    pub model: i32,
    pub altloc: Option<char>,
    pub occupancy: f32,
    /// Identifier of the entity; empty if there is none.
    pub entity: &'a str,
    /// Collision radius, nm, if the file has one.
    pub radius: Option<f32>,
}

type ResidueKey = (i32, Residue, SmolStr);

/// Names of the coordinates in errors.
pub const AXES: [&str; 3] = ["the x coordinate", "the y coordinate", "the z coordinate"];

/// Maximum length of an atom, residue or chain name, bytes; real ones have up to a dozen.
///
/// In a binary file every atom may refer to the same long string.
const MAX_NAME_BYTES: usize = 64;

/// Collects atom records; see the [module](self).
#[derive(Default)]
pub struct StructureBuilder {
    structure: Structure,
    /// Last residue with a key, and its segment.
    residues: HashMap<ResidueKey, (u32, u32)>,
    current_residue: Option<u32>,
    current_model: i32,
    models: HashSet<i32>,
    max_model: i32,
    /// Number of chain terminators, restarts of the residue numbers, and changes of the model.
    segment: u32,
    /// Number of ends of molecules.
    terminators: u32,
}

impl StructureBuilder {
    pub fn new(source: &str) -> Self {
        let mut builder = Self::default();
        builder.structure.source = source.to_owned();
        builder
    }

    /// Ends the current chain.
    pub fn terminate_chain(&mut self) {
        self.segment = self.segment.wrapping_add(1);
        self.current_residue = None;
    }

    /// Ends the current chain and molecule: a `TER` row.
    pub fn terminate_molecule(&mut self) {
        self.terminators = self.terminators.wrapping_add(1);
        self.structure.is_terminated = true;
        self.terminate_chain();
    }

    /// Sets the unit cell, unless it is already known; counts an invalid one.
    pub fn set_unit_cell(&mut self, cell: Result<Option<UnitCell>, InvalidCell>) {
        match cell {
            Ok(Some(cell)) => {
                self.structure.unit_cell.get_or_insert(cell);
            }
            Ok(None) => {}
            Err(InvalidCell) => self.structure.warnings.invalid_cells += 1,
        }
    }

    /// Sets the half thickness of the membrane (nm), unless it is already known.
    pub fn set_bilayer_half_thickness(&mut self, half_thickness: f32) {
        self.structure
            .bilayer_half_thickness
            .get_or_insert(half_thickness);
    }

    /// Sets the title.
    pub fn set_title(&mut self, title: String) {
        self.structure.title = title;
    }

    /// Sets the descriptions of the entities.
    pub fn set_entities(&mut self, entities: HashMap<SmolStr, String>) {
        self.structure.entities = entities;
    }

    /// Whether there are no atoms.
    pub fn is_empty(&self) -> bool {
        self.structure.atoms.is_empty()
    }

    /// Whether any atom belongs to this model.
    pub fn has_model(&self, model: i32) -> bool {
        self.models.contains(&model)
    }

    /// The number after the largest model number.
    pub fn next_model(&self) -> i32 {
        self.max_model.saturating_add(1)
    }

    /// The parsed occupancy, 1 if it is missing, 1 with a warning if it is invalid.
    pub fn valid_occupancy<E>(&mut self, parsed: Result<Option<f64>, E>) -> f32 {
        match parsed {
            Ok(None) => 1.0,
            Ok(Some(occupancy)) if (occupancy as f32).is_finite() => occupancy as f32,
            _ => {
                self.structure.warnings.invalid_occupancies += 1;
                1.0
            }
        }
    }

    /// The parsed residue or model number; counts an invalid one and treats it as missing.
    pub fn valid_number<E>(&mut self, parsed: Result<Option<i32>, E>) -> Option<i32> {
        parsed.unwrap_or_else(|_| {
            self.structure.warnings.invalid_numbers += 1;
            None
        })
    }

    /// Adds an atom, unless it is a massless site of a water model.
    pub fn push(&mut self, atom: &AtomRecord<'_>) -> Result<(), ReadErrorKind> {
        for (field, value) in AXES.into_iter().zip(atom.position) {
            if !value.is_finite() {
                let text = value.to_string();
                return Err(ReadErrorKind::InvalidNumber { field, text });
            }
            if value.abs() > f64::from(MAX_COORDINATE_NM) {
                return Err(ReadErrorKind::TooFar { field, value });
            }
        }
        if is_massless_site(atom.name, atom.residue_name) {
            return Ok(());
        }
        let names = [
            atom.name,
            atom.residue_name,
            atom.chain,
            atom.label_chain,
            atom.entity,
        ];
        if names.iter().any(|name| name.len() > MAX_NAME_BYTES) {
            return Err(ReadErrorKind::TooLarge {
                what: "the length of a name",
                limit: MAX_NAME_BYTES as u64,
            });
        }
        if self.structure.atoms.len() >= u32::MAX as usize {
            return Err(ReadErrorKind::TooLarge {
                what: "the number of atoms",
                limit: u64::from(u32::MAX),
            });
        }
        let element = element_of(atom);
        // Balls of coarse molecules have radii instead.
        if element == Element::UNKNOWN && atom.radius.is_none() {
            self.structure.warnings.unknown_elements += 1;
        }
        let residue = self.residue_of(atom);
        let radii = &mut self.structure.radii;
        if atom.radius.is_some() || !radii.is_empty() {
            radii.resize(self.structure.atoms.len(), None);
            radii.push(atom.radius);
        }
        self.structure.atoms.push(StructureAtom {
            position: Vec3::from_array(atom.position.map(|value| value as f32)),
            element,
            name: SmolStr::new(atom.name),
            residue,
            model: atom.model,
            altloc: atom.altloc,
            occupancy: atom.occupancy,
        });
        Ok(())
    }

    fn residue_of(&mut self, atom: &AtomRecord<'_>) -> u32 {
        if let Some(index) = self.current_residue {
            let residue = &self.structure.residues[index as usize];
            let label_chain = &self.structure.label_chains[index as usize];
            let same_chain = self.current_model == atom.model
                && residue.chain == atom.chain
                && label_chain == atom.label_chain;
            if same_chain
                && residue.number == atom.residue_number
                && residue.insertion_code == atom.insertion_code
                && residue.name == atom.residue_name
            {
                return index;
            }
            if same_chain && atom.residue_number < residue.number {
                self.segment = self.segment.wrapping_add(1);
            }
        }
        if self.current_model != atom.model || self.structure.models.is_empty() {
            self.segment = self.segment.wrapping_add(1);
            self.current_model = atom.model;
            if self.models.insert(atom.model) {
                self.structure.models.push(atom.model);
                self.max_model = self.max_model.max(atom.model);
            }
        }
        let index = self.find_or_add_residue(atom);
        self.current_residue = Some(index);
        index
    }

    /// The residue with the key of `atom` in the current segment, added if it is new.
    fn find_or_add_residue(&mut self, atom: &AtomRecord<'_>) -> u32 {
        let residue = Residue {
            name: SmolStr::new(atom.residue_name),
            number: atom.residue_number,
            insertion_code: atom.insertion_code,
            chain: SmolStr::new(atom.chain),
        };
        let label_chain = SmolStr::new(atom.label_chain);
        let new_index = self.structure.residues.len() as u32;
        let entry = self
            .residues
            .entry((atom.model, residue.clone(), label_chain.clone()))
            .or_insert((new_index, self.segment));
        if entry.1 != self.segment {
            *entry = (new_index, self.segment);
        }
        if entry.0 == new_index {
            if !atom.entity.is_empty() {
                let entities = &mut self.structure.entity_of_chain;
                let entity = entities.entry(label_chain.clone());
                entity.or_insert_with(|| SmolStr::new(atom.entity));
            }
            self.structure.residues.push(residue);
            self.structure.label_chains.push(label_chain);
            self.structure.terminators.push(self.terminators);
        }
        entry.0
    }

    /// The finished structure.
    ///
    /// # Errors
    /// [`ReadErrorKind::NoAtoms`] if there are none.
    pub fn finish(mut self, assemblies: Vec<Assembly>) -> Result<Structure, ReadError> {
        if self.is_empty() {
            let source = &self.structure.source;
            let kind = ReadErrorKind::NoAtoms;
            return Err(ReadError::new(source, FileLocation::File, kind));
        }
        self.structure.assemblies = assemblies;
        Ok(self.structure)
    }
}

/// The element of an atom, by its element field or, if that is empty, its name.
fn element_of(atom: &AtomRecord<'_>) -> Element {
    // Files from before 1996 have line numbers in the element columns.
    let is_blank = atom.symbol.is_empty() || atom.symbol.as_bytes()[0].is_ascii_digit();
    let element = if is_blank {
        infer_element(atom.name_columns, atom.residue_name)
    } else {
        // A charge may follow, as in `Fe3+`.
        let letters = atom
            .symbol
            .trim_end_matches(|c: char| c.is_ascii_digit() || c == '+' || c == '-');
        Element::from_symbol(letters)
    };
    element.unwrap_or(Element::UNKNOWN)
}
