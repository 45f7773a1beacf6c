//! Replaced values of a structure file.

use std::fmt;

/// How many values of a structure file were unusable and replaced by defaults.
///
/// ```
/// use bevy_rapier_molecules::molecule::{LoadOptions, read_bytes};
///
/// // Unknown atoms have the element `X` and the residue name `UNX` in the Protein Data Bank.
/// let line = "HETATM    1 UNK  UNX A   1      10.000  20.000  30.000  1.00  0.00           X";
/// let structure = read_bytes(line.as_bytes(), "unknown.pdb", &LoadOptions::default())?;
/// assert_eq!(structure.warnings().unknown_elements, 1);
/// # Ok::<(), bevy_rapier_molecules::molecule::MoleculeError>(())
/// ```
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
