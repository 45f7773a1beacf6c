//! [`ColumnNames`]: names of atoms and residues in five columns.

use std::collections::HashMap;

use smol_str::SmolStr;

use crate::export::ExportError;
use crate::molecule::MoleculeTemplate;

/// Columns of a name.
pub(super) const NAME_COLUMNS: usize = 5;

/// A residue without a name.
const UNNAMED_RESIDUE: &str = "UNK";

/// The names of a template: those of residues left-justified, those of atoms right-justified.
pub(super) struct ColumnNames {
    pub residues: Vec<[u8; NAME_COLUMNS]>,
    pub atoms: Vec<[u8; NAME_COLUMNS]>,
}

/// Names that were cut, to find those that are then equal to others.
#[derive(Default)]
pub(super) struct CutNames {
    residues: HashMap<SmolStr, SmolStr>,
}

impl CutNames {
    /// The names of a template. Empty names become that of the element, or `UNK`.
    ///
    /// # Errors
    /// [`ExportError::UnsupportedName`] if a name has other characters than printable ASCII, or a
    /// name that is cut is the same as that of another residue, or atom of its residue.
    pub fn of(&mut self, template: &MoleculeTemplate) -> Result<ColumnNames, ExportError> {
        let mut residues = Vec::with_capacity(template.residues().len());
        for residue in template.residues() {
            let name = non_empty(&residue.name, UNNAMED_RESIDUE);
            let cut = cut(&name)?;
            remember(&mut self.residues, cut, &name)?;
            let mut columns = [b' '; NAME_COLUMNS];
            columns[..cut.len()].copy_from_slice(cut.as_bytes());
            residues.push(columns);
        }
        let mut atoms = Vec::with_capacity(template.atom_count());
        let mut cut_atoms: HashMap<u32, HashMap<SmolStr, SmolStr>> = HashMap::new();
        for (index, name) in template.atom_names().iter().enumerate() {
            let name = non_empty(name, template.elements()[index].symbol());
            let cut = cut(&name)?;
            let residue = template.residue_indices()[index];
            remember(cut_atoms.entry(residue).or_default(), cut, &name)?;
            let mut columns = [b' '; NAME_COLUMNS];
            columns[NAME_COLUMNS - cut.len()..].copy_from_slice(cut.as_bytes());
            atoms.push(columns);
        }
        Ok(ColumnNames { residues, atoms })
    }
}

fn non_empty(name: &SmolStr, otherwise: &str) -> SmolStr {
    match name.trim() {
        "" => otherwise.into(),
        name => name.into(),
    }
}

/// The first characters of a name.
fn cut(name: &str) -> Result<&str, ExportError> {
    if !name.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(ExportError::UnsupportedName {
            name: name.into(),
            expected: ".gro files allow printable ASCII characters without blanks; use mmCIF instead",
        });
    }
    Ok(&name[..name.len().min(NAME_COLUMNS)])
}

/// Remembers the whole name, which must be the only one with its first characters.
fn remember(
    known: &mut HashMap<SmolStr, SmolStr>,
    cut: &str,
    name: &SmolStr,
) -> Result<(), ExportError> {
    match known.get(cut) {
        Some(other) if other != name => Err(ExportError::UnsupportedName {
            name: name.clone(),
            expected: ".gro files have five characters, and another name starts with the same; rename it or use mmCIF instead",
        }),
        Some(_) => Ok(()),
        None => {
            known.insert(cut.into(), name.clone());
            Ok(())
        }
    }
}
