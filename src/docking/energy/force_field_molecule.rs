//! A molecule with force-field parameters.

use std::sync::Arc;

use super::EnergyError;
use super::lennard_jones::LennardJones;
use super::partial_charges::partial_charges;
use super::solvation::Solvation;
use crate::molecule::{Element, MoleculeTemplate, bonds};

/// A molecule with Lennard-Jones, charge and solvation parameters for each atom.
#[derive(Clone, Debug, PartialEq)]
pub struct ForceFieldMolecule {
    template: Arc<MoleculeTemplate>,
    pub(super) lennard_jones: Vec<LennardJones>,
    charges: Vec<f32>,
    pub(super) solvation: Vec<Solvation>,
    bonds: Vec<Vec<u32>>,
}

impl ForceFieldMolecule {
    /// Assigns parameters: Lennard-Jones by elements and bonds, charges of amino acids from
    /// CHARMM22, and charges of everything else by bonds, so that it is neutral.
    #[must_use]
    pub fn new(template: Arc<MoleculeTemplate>) -> Self {
        let bonds = bonds(&template);
        let elements = template.elements();
        let lennard_jones = elements.iter().zip(&bonds).map(|(&element, bonded)| {
            let bonded: Vec<Element> = bonded.iter().map(|&k| elements[k as usize]).collect();
            LennardJones::of(element, &bonded)
        });
        let mut molecule = Self {
            lennard_jones: lennard_jones.collect(),
            charges: partial_charges(&template, &bonds),
            solvation: Vec::new(),
            template,
            bonds,
        };
        molecule.update_solvation();
        molecule
    }

    /// Updates the solvation parameters from the charges.
    fn update_solvation(&mut self) {
        let elements = self.template.elements();
        let is = |atom: u32, element: Element| elements[atom as usize] == element;
        let united_charge = |atom: u32| {
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
            let is_planar = self.bonds[atom as usize].len() < 4;
            Solvation::of(element, is_planar, united_charge(atom))
        });
        self.solvation = solvation.collect();
    }

    /// Replaces the charges, in elementary charges.
    ///
    /// # Errors
    /// [`EnergyError`] if there is not one charge for each atom, or one is not finite.
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
        self.update_solvation();
        Ok(self)
    }

    /// The template.
    #[must_use]
    pub fn template(&self) -> &Arc<MoleculeTemplate> {
        &self.template
    }

    /// Partial charges of the atoms, in elementary charges.
    #[must_use]
    pub fn charges(&self) -> &[f32] {
        &self.charges
    }
}
