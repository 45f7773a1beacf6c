//! Partial charges of atoms.
//!
//! Amino acids have tables (`residue_charges.rs`). Other residues get charges by their bonds:
//! each bond transfers charge between its elements, as in similar bonds of amino acids. Such
//! molecules are neutral; set the charges of ions with
//! [`with_charges`](super::ForceFieldMolecule::with_charges).

use super::residue_charges::{
    BACKBONE, C_TERMINUS, GLYCINE, Group, N_TERMINUS, N_TERMINUS_GLYCINE, N_TERMINUS_PROLINE,
    PROLINE, side_chain,
};
use crate::molecule::{Element, MoleculeTemplate};

/// Charge that a bond transfers from the first element to the second.
///
/// Bonds with hydrogen and oxygen are those of CHARMM22 for such groups; others are rough.
const TRANSFER: &[(Element, Element, f32)] = &[
    (Element::H, Element::C, 0.09),
    (Element::H, Element::N, 0.31),
    (Element::H, Element::O, 0.43),
    (Element::H, Element::S, 0.16),
    (Element::C, Element::N, 0.16),
    (Element::C, Element::O, 0.23),
    (Element::C, Element::S, 0.05),
    (Element::C, Element::F, 0.2),
    (Element::C, Element::CL, 0.15),
    (Element::C, Element::BR, 0.1),
    (Element::S, Element::O, 0.4),
    (Element::P, Element::O, 0.35),
];

/// Charge that a planar carbon takes from its hydrogen.
const PLANAR_TRANSFER: f32 = 0.115;

/// Charge that the oxygen of a carbonyl takes.
const CARBONYL_TRANSFER: f32 = 0.51;

/// Charge of metals, which occur as ions.
fn ion_charge(element: Element) -> Option<f32> {
    match element {
        Element::NA | Element::K | Element::CS => Some(1.0),
        Element::MG | Element::CA | Element::ZN | Element::FE => Some(2.0),
        _ => None,
    }
}

/// The partial charge of each atom, by its residue and its `bonds`.
pub(super) fn partial_charges(molecule: &MoleculeTemplate, bonds: &[Vec<u32>]) -> Vec<f32> {
    let mut charges = vec![0.0; molecule.atom_count()];
    let mut atoms_of = vec![Vec::new(); molecule.residues().len()];
    for (atom, &residue) in (0..).zip(molecule.residue_indices()) {
        atoms_of[residue as usize].push(atom);
    }
    for (residue, atoms) in molecule.residues().iter().zip(&atoms_of) {
        let residue_atoms = ResidueAtoms {
            molecule,
            bonds,
            atoms,
        };
        match residue_atoms.tables(&residue.name) {
            Some(tables) => residue_atoms.assign_from_tables(&tables, &mut charges),
            None => residue_atoms.assign_from_bonds(&mut charges),
        }
    }
    charges
}

/// The atoms of one residue.
struct ResidueAtoms<'a> {
    molecule: &'a MoleculeTemplate,
    bonds: &'a [Vec<u32>],
    atoms: &'a [u32],
}

impl ResidueAtoms<'_> {
    fn element(&self, atom: u32) -> Element {
        self.molecule.elements()[atom as usize]
    }

    fn name(&self, atom: u32) -> &str {
        &self.molecule.atom_names()[atom as usize]
    }

    fn find(&self, name: &str) -> Option<u32> {
        let mut atoms = self.atoms.iter().copied();
        atoms.find(|&atom| self.name(atom) == name)
    }

    fn bonded(&self, atom: u32) -> &[u32] {
        &self.bonds[atom as usize]
    }

    fn hydrogens(&self, atom: u32) -> impl Iterator<Item = u32> + '_ {
        let bonded = self.bonded(atom).iter().copied();
        bonded.filter(|&other| self.element(other) == Element::H)
    }

    /// Tables of an amino acid, the most specific first.
    fn tables(&self, residue: &str) -> Option<Vec<&'static [Group]>> {
        let residue = self.protonated_name(residue);
        let side = side_chain(residue)?;
        // A residue without a backbone is not an amino acid.
        let nitrogen = self.find("N")?;
        let mut tables = Vec::new();
        let (backbone, n_terminus, ammonium_hydrogens) = match residue {
            "GLY" => (GLYCINE, N_TERMINUS_GLYCINE, 3),
            "PRO" => (PROLINE, N_TERMINUS_PROLINE, 2),
            _ => (BACKBONE, N_TERMINUS, 3),
        };
        if self.hydrogens(nitrogen).count() >= ammonium_hydrogens {
            tables.push(n_terminus);
        }
        if self.find("OXT").is_some() {
            tables.push(C_TERMINUS);
        }
        tables.extend([backbone, side]);
        Some(tables)
    }

    /// The residue name by protonation and disulfide bonds: many files use one name for all
    /// histidines and cysteines.
    fn protonated_name<'n>(&self, residue: &'n str) -> &'n str {
        let has = |name: &str| self.find(name).is_some();
        match residue {
            "HIS" if has("HD1") && has("HE2") => "HIP",
            "HIS" if has("HD1") => "HID",
            "CYS" => {
                let sulfur = self.find("SG");
                let has_bridge = sulfur.is_some_and(|atom| {
                    let mut bonded = self.bonded(atom).iter();
                    bonded.any(|&other| self.element(other) == Element::S)
                });
                if has_bridge { "CYX" } else { residue }
            }
            _ => residue,
        }
    }

    /// Assigns charges from tables. The charge of missing hydrogens goes to their heavy atom.
    fn assign_from_tables(&self, tables: &[&'static [Group]], charges: &mut [f32]) {
        for &atom in self.atoms {
            if self.element(atom) == Element::H {
                continue;
            }
            let name = self.name(atom);
            let group = tables
                .iter()
                .find_map(|table| table.iter().find(|group| group.name == name));
            // Unknown atoms have no charge.
            let Some(group) = group else { continue };
            let mut missing = f32::from(group.hydrogens);
            for hydrogen in self.hydrogens(atom) {
                charges[hydrogen as usize] = group.hydrogen_charge;
                missing -= 1.0;
            }
            charges[atom as usize] = group.charge + missing * group.hydrogen_charge;
        }
    }

    /// Assigns charges by the transfer of each bond.
    fn assign_from_bonds(&self, charges: &mut [f32]) {
        for &atom in self.atoms {
            if let Some(charge) = ion_charge(self.element(atom)) {
                charges[atom as usize] = charge;
                continue;
            }
            let bonded = self.bonded(atom).iter();
            charges[atom as usize] = bonded.map(|&other| self.transfer(other, atom)).sum();
        }
    }

    /// Charge of atom `to` due to its bond with atom `from`.
    fn transfer(&self, from: u32, to: u32) -> f32 {
        let (a, b) = (self.element(from), self.element(to));
        for &(giver, taker, amount) in TRANSFER {
            if (giver, taker) == (a, b) {
                return -self.amount(from, to, amount);
            }
            if (giver, taker) == (b, a) {
                return self.amount(to, from, amount);
            }
        }
        0.0
    }

    fn amount(&self, giver: u32, taker: u32, amount: f32) -> f32 {
        match (self.element(giver), self.element(taker)) {
            (Element::H, Element::C) if self.bonded(taker).len() == 3 => PLANAR_TRANSFER,
            (Element::C, Element::O) if self.bonded(taker).len() == 1 => CARBONYL_TRANSFER,
            _ => amount,
        }
    }
}
