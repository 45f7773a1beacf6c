//! A molecule with what its atoms need for an energy.

use std::sync::Arc;

use super::bonds::bonds;
use super::partial_charges::charges;
use super::{EnergyError, LennardJones, Solvation};
use crate::molecule::{Element, MoleculeTemplate};

/// A molecule with a well of Lennard-Jones, a partial charge and a cost of solvation for
/// each atom.
#[derive(Clone, Debug, PartialEq)]
pub struct ForceFieldMolecule {
    template: Arc<MoleculeTemplate>,
    kinds: Vec<LennardJones>,
    charges: Vec<f32>,
    solvation: Vec<Solvation>,
    bonds: Vec<Vec<u32>>,
}

impl ForceFieldMolecule {
    /// Wells by elements and bonds; charges of amino acids by CHARMM22's tables, and of
    /// everything else by its bonds, so that it is neutral.
    #[must_use]
    pub fn new(template: Arc<MoleculeTemplate>) -> Self {
        let bonds = bonds(&template);
        let elements = template.elements();
        let kinds = elements.iter().zip(&bonds).map(|(&element, bonded)| {
            let around: Vec<Element> = bonded.iter().map(|&k| elements[k as usize]).collect();
            LennardJones::of(element, &around)
        });
        let mut typed = Self {
            kinds: kinds.collect(),
            charges: charges(&template, &bonds),
            solvation: Vec::new(),
            template,
            bonds,
        };
        typed.solvate();
        typed
    }

    /// Costs of solvation, by the charges.
    fn solvate(&mut self) {
        let elements = self.template.elements();
        let is = |atom: u32, element: Element| elements[atom as usize] == element;
        let united = |atom: u32| {
            let bonded = &self.bonds[atom as usize];
            let own = self.charges[atom as usize];
            if is(atom, Element::C) {
                let hydrogens = bonded.iter().filter(|&&other| is(other, Element::H));
                own + hydrogens
                    .map(|&other| self.charges[other as usize])
                    .sum::<f32>()
            } else if is(atom, Element::H) && bonded.iter().all(|&other| is(other, Element::C)) {
                0.0
            } else {
                own
            }
        };
        let solvation = (0..).zip(elements).map(|(atom, &element)| {
            let flat = self.bonds[atom as usize].len() < 4;
            Solvation::of(element, flat, united(atom))
        });
        self.solvation = solvation.collect();
    }

    /// The same with other charges, one for each atom, in units of the proton's.
    ///
    /// # Errors
    /// [`EnergyError`] if there are more or fewer than atoms, or one is not finite.
    pub fn with_charges(mut self, charges: Vec<f32>) -> Result<Self, EnergyError> {
        let name = || self.template.name().to_owned();
        if charges.len() != self.template.atom_count() {
            return Err(EnergyError::ChargeCount {
                name: name(),
                atoms: self.template.atom_count(),
                charges: charges.len(),
            });
        }
        let bad = charges.iter().position(|charge| !charge.is_finite());
        if let Some(index) = bad {
            return Err(EnergyError::BadCharge {
                name: name(),
                index,
                charge: charges[index],
            });
        }
        self.charges = charges;
        self.solvate();
        Ok(self)
    }

    /// What it was made of.
    #[must_use]
    pub fn template(&self) -> &Arc<MoleculeTemplate> {
        &self.template
    }

    /// Wells of the atoms.
    #[must_use]
    pub fn kinds(&self) -> &[LennardJones] {
        &self.kinds
    }

    /// What it costs to take the water from around the atoms.
    #[must_use]
    pub fn solvation(&self) -> &[Solvation] {
        &self.solvation
    }

    /// Partial charges of the atoms, in units of the proton's.
    #[must_use]
    pub fn charges(&self) -> &[f32] {
        &self.charges
    }
}
