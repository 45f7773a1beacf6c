//! Names of atoms for display.

use std::fmt;

use smol_str::SmolStr;

use super::{Element, MoleculeTemplate, Residue};

/// The name of an atom in its file. Displayed as `HIS 68 A ND1`: residue, number, chain, atom;
/// missing names are omitted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct AtomLabel {
    /// The residue of the atom.
    pub residue: Residue,
    /// Name of the atom inside the residue, such as `CA`.
    pub atom: SmolStr,
    /// Chemical element.
    pub element: Element,
}

impl AtomLabel {
    /// The label of the atom with this index, or `None` if it is out of range.
    #[must_use]
    pub fn new(template: &MoleculeTemplate, atom: usize) -> Option<Self> {
        let residue = *template.residue_indices().get(atom)?;
        Some(Self {
            residue: template.residues().get(residue as usize)?.clone(),
            atom: template.atom_names().get(atom)?.clone(),
            element: *template.elements().get(atom)?,
        })
    }
}

impl fmt::Display for AtomLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let residue = &self.residue;
        if !residue.name.is_empty() {
            write!(f, "{} ", residue.name)?;
        }
        write!(f, "{}", residue.number)?;
        if let Some(code) = residue.insertion_code {
            write!(f, "{code}")?;
        }
        for part in [&residue.chain, &self.atom] {
            if !part.is_empty() {
                write!(f, " {part}")?;
            }
        }
        Ok(())
    }
}
