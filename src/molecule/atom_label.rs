//! Names of atoms for display.

use std::fmt;

use smol_str::SmolStr;

use super::{Element, MoleculeTemplate, Residue};

/// The name of an atom in its file. Displayed as `HIS 68 A ND1`: residue, number, chain, atom;
/// missing names are omitted.
///
/// ```
/// use bevy_rapier_molecules::molecule::AtomLabel;
/// use bevy_rapier_molecules::prelude::{LoadOptions, load};
///
/// let protein = load("assets/molecules/1ubq.cif", &LoadOptions::default())?;
/// let label = AtomLabel::new(&protein, 0).map(|label| label.to_string());
/// assert_eq!(label.as_deref(), Some("MET 1 A N"));
/// assert_eq!(AtomLabel::new(&protein, 100_000), None);
/// # Ok::<(), bevy_rapier_molecules::molecule::MoleculeError>(())
/// ```
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_display_residue_number_chain_and_atom() {
        let mut label = AtomLabel {
            residue: Residue {
                name: "HIS".into(),
                number: 68,
                insertion_code: None,
                chain: "A".into(),
            },
            atom: "ND1".into(),
            element: Element::N,
        };
        assert_eq!(label.to_string(), "HIS 68 A ND1");
        label.residue.insertion_code = Some('B');
        label.residue.chain = SmolStr::default();
        assert_eq!(label.to_string(), "HIS 68B ND1");
    }
}
