//! Turns a stream of atom records into a [`Structure`]: groups atoms into residues.
//!
//! Consecutive atoms with the same (model, chain, number, insertion code, name)
//! are one residue, and so are atoms that come back to such a key later (files
//! that interleave alternate residues do that). After a chain terminator or a
//! decreasing residue number the same key means a new residue: files with more
//! than 9,999 residues count from the start again.

use std::collections::{HashMap, HashSet};

use glam::Vec3;
use smol_str::SmolStr;

use super::error::{Place, ReadCause, ReadError};
use super::pdb_element::{infer_element, is_massless_site};
use super::structure::{Assembly, Structure, StructureAtom};
use super::template::MAX_COORDINATE_NM;
use super::{Element, Residue};

/// One atom as a file has it.
pub(super) struct RawAtom<'a> {
    /// Coordinates, nm.
    pub position: [f64; 3],
    /// Element field, trimmed; empty if the name has to tell.
    pub symbol: &'a str,
    /// The four name columns of PDB, with their blanks; elsewhere the padded name.
    pub name_columns: [u8; 4],
    /// Atom name, trimmed.
    pub name: &'a str,
    pub residue_name: &'a str,
    pub chain: &'a str,
    pub label_chain: &'a str,
    pub number: i32,
    pub insertion_code: Option<char>,
    pub model: i32,
    pub altloc: Option<char>,
    pub occupancy: f32,
    pub hetero: bool,
}

type ResidueKey = (i32, Residue, SmolStr);

/// Names of the coordinates in errors.
pub(super) const AXES: [&str; 3] = ["x", "y", "z"];

/// Longest name of an atom, residue or chain, bytes; real ones have up to a dozen.
///
/// A binary file may point to one long string from every atom.
const MAX_NAME_BYTES: usize = 64;

/// Collects atoms; see the module.
#[derive(Default)]
pub(super) struct StructureBuilder {
    structure: Structure,
    /// Residue and segment in which a key was last seen.
    seen: HashMap<ResidueKey, (u32, u32)>,
    current: Option<u32>,
    current_model: i32,
    known_models: HashSet<i32>,
    largest_model: i32,
    segment: u32,
}

impl StructureBuilder {
    pub(super) fn new(source: &str) -> Self {
        let mut builder = Self::default();
        builder.structure.source = source.to_owned();
        builder
    }

    /// A chain ends here.
    pub(super) fn terminate_chain(&mut self) {
        self.segment = self.segment.wrapping_add(1);
        self.current = None;
    }

    /// Whether any atom was read.
    pub(super) fn is_empty(&self) -> bool {
        self.structure.atoms.is_empty()
    }

    /// Whether there are atoms of this model.
    pub(super) fn has_model(&self, model: i32) -> bool {
        self.known_models.contains(&model)
    }

    /// A model number after all that there are.
    pub(super) fn next_model(&self) -> i32 {
        self.largest_model.saturating_add(1)
    }

    /// Adds an atom, or says what is wrong with it.
    pub(super) fn push(&mut self, raw: &RawAtom<'_>) -> Result<(), ReadCause> {
        for (field, value) in AXES.into_iter().zip(raw.position) {
            if !value.is_finite() {
                return Err(ReadCause::NotFinite {
                    field,
                    text: value.to_string(),
                });
            }
            if value.abs() > f64::from(MAX_COORDINATE_NM) {
                return Err(ReadCause::TooFar { field, value });
            }
        }
        let Some(element) = element_of(raw)? else {
            return Ok(());
        };
        let names = [raw.name, raw.residue_name, raw.chain, raw.label_chain];
        if names.iter().any(|name| name.len() > MAX_NAME_BYTES) {
            return Err(ReadCause::TooLarge {
                what: "the length of a name",
                limit: MAX_NAME_BYTES as u64,
            });
        }
        if self.structure.atoms.len() >= u32::MAX as usize {
            return Err(ReadCause::TooLarge {
                what: "the number of atoms",
                limit: u64::from(u32::MAX),
            });
        }
        let residue = self.residue_of(raw);
        self.structure.atoms.push(StructureAtom {
            position: Vec3::from_array(raw.position.map(|value| value as f32)),
            element,
            name: SmolStr::new(raw.name),
            residue,
            model: raw.model,
            altloc: raw.altloc,
            occupancy: raw.occupancy,
            hetero: raw.hetero,
        });
        Ok(())
    }

    fn residue_of(&mut self, raw: &RawAtom<'_>) -> u32 {
        if let Some(index) = self.current {
            let residue = &self.structure.residues[index as usize];
            let label_chain = &self.structure.label_chains[index as usize];
            let same_chain = self.current_model == raw.model
                && residue.chain == raw.chain
                && label_chain == raw.label_chain;
            if same_chain
                && residue.number == raw.number
                && residue.insertion_code == raw.insertion_code
                && residue.name == raw.residue_name
            {
                return index;
            }
            if same_chain && raw.number < residue.number {
                self.segment = self.segment.wrapping_add(1);
            }
        }
        if self.current_model != raw.model || self.structure.models.is_empty() {
            self.segment = self.segment.wrapping_add(1);
            self.current_model = raw.model;
            if self.known_models.insert(raw.model) {
                self.structure.models.push(raw.model);
                self.largest_model = self.largest_model.max(raw.model);
            }
        }
        let index = self.look_up(raw);
        self.current = Some(index);
        index
    }

    /// The residue with this key in the current segment, made if need be.
    fn look_up(&mut self, raw: &RawAtom<'_>) -> u32 {
        let residue = Residue {
            name: SmolStr::new(raw.residue_name),
            number: raw.number,
            insertion_code: raw.insertion_code,
            chain: SmolStr::new(raw.chain),
        };
        let label_chain = SmolStr::new(raw.label_chain);
        let new_index = self.structure.residues.len() as u32;
        let entry = self
            .seen
            .entry((raw.model, residue.clone(), label_chain.clone()))
            .or_insert((new_index, self.segment));
        if entry.1 != self.segment {
            *entry = (new_index, self.segment);
        }
        if entry.0 == new_index {
            self.structure.residues.push(residue);
            self.structure.label_chains.push(label_chain);
        }
        entry.0
    }

    /// The finished structure.
    ///
    /// # Errors
    /// [`ReadCause::NoAtoms`] if there were none.
    pub(super) fn finish(mut self, assemblies: Vec<Assembly>) -> Result<Structure, ReadError> {
        if self.is_empty() {
            return Err(ReadError::new(
                &self.structure.source,
                Place::File,
                ReadCause::NoAtoms,
            ));
        }
        self.structure.assemblies = assemblies;
        Ok(self.structure)
    }
}

/// The element of an atom; `None` for the massless sites of water models, which are skipped.
fn element_of(raw: &RawAtom<'_>) -> Result<Option<Element>, ReadCause> {
    // Files of before 1996 have line numbers where the element is now.
    let says_nothing = raw.symbol.is_empty() || raw.symbol.as_bytes()[0].is_ascii_digit();
    let element = if says_nothing {
        infer_element(raw.name_columns, raw.residue_name)
    } else {
        // A charge may follow, as in `Fe3+`.
        let letters = raw
            .symbol
            .trim_end_matches(|c: char| c.is_ascii_digit() || c == '+' || c == '-');
        Element::from_symbol(letters)
    };
    if is_massless_site(raw.name, raw.residue_name) {
        return Ok(None);
    }
    element.map(Some).ok_or_else(|| ReadCause::UnknownElement {
        symbol: raw.symbol.to_owned(),
        atom: raw.name.to_owned(),
    })
}
