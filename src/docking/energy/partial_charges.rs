//! A partial charge for each atom.
//!
//! Amino acids have tables (`residues.rs`). Everything else is guessed from its bonds: each
//! bond moves some charge from one end to the other, by the elements there, as the tables
//! of amino acids do for like bonds. So molecules without tables are neutral: a charge that
//! a ligand has as a whole is not seen, and can be
//! [given](super::ForceFieldMolecule::with_charges).

use super::residue_charges::{
    CHAIN, FIRST, FIRST_GLYCINE, FIRST_PROLINE, GLYCINE, Group, LAST, PROLINE, side_chain,
};
use crate::molecule::{Element, MoleculeTemplate};

/// Charge that a bond moves from the first element to the second.
///
/// Those with hydrogen, and oxygen's, are CHARMM22's for such groups; the others are rough.
const MOVED: &[(Element, Element, f32)] = &[
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

/// What an aromatic or otherwise flat carbon takes from its hydrogen.
const MOVED_FLAT: f32 = 0.115;

/// What an oxygen with a single bond partner other than hydrogen takes: a carbonyl's.
const MOVED_CARBONYL: f32 = 0.51;

/// Charge of metals, which are there as ions.
fn ion(element: Element) -> Option<f32> {
    match element {
        Element::NA | Element::K | Element::CS => Some(1.0),
        Element::MG | Element::CA | Element::ZN | Element::FE => Some(2.0),
        _ => None,
    }
}

/// A partial charge for each atom, by its residue and its `bonds`.
pub(super) fn charges(molecule: &MoleculeTemplate, bonds: &[Vec<u32>]) -> Vec<f32> {
    let mut charges = vec![0.0; molecule.atom_count()];
    let mut atoms_of = vec![Vec::new(); molecule.residues().len()];
    for (atom, &residue) in (0..).zip(molecule.residue_indices()) {
        atoms_of[residue as usize].push(atom);
    }
    for (residue, atoms) in molecule.residues().iter().zip(&atoms_of) {
        let part = Part {
            molecule,
            bonds,
            atoms,
        };
        match part.tables(&residue.name) {
            Some(tables) => part.by_table(&tables, &mut charges),
            None => part.by_bonds(&mut charges),
        }
    }
    charges
}

/// The atoms of one residue.
struct Part<'a> {
    molecule: &'a MoleculeTemplate,
    bonds: &'a [Vec<u32>],
    atoms: &'a [u32],
}

impl Part<'_> {
    fn element(&self, atom: u32) -> Element {
        self.molecule.elements()[atom as usize]
    }

    fn name(&self, atom: u32) -> &str {
        &self.molecule.atom_names()[atom as usize]
    }

    fn find(&self, name: &str) -> Option<u32> {
        self.atoms
            .iter()
            .copied()
            .find(|&atom| self.name(atom) == name)
    }

    fn bonded(&self, atom: u32) -> &[u32] {
        &self.bonds[atom as usize]
    }

    fn hydrogens(&self, atom: u32) -> impl Iterator<Item = u32> + '_ {
        let bonded = self.bonded(atom).iter().copied();
        bonded.filter(|&other| self.element(other) == Element::H)
    }

    /// Tables of an amino acid, the more special first.
    fn tables(&self, residue: &str) -> Option<Vec<&'static [Group]>> {
        let residue = self.as_bonded(residue);
        let side = side_chain(residue)?;
        // An amino acid has a chain; what only has its name is something else.
        let nitrogen = self.find("N")?;
        let mut tables = Vec::new();
        let (chain, first, ammonium) = match residue {
            "GLY" => (GLYCINE, FIRST_GLYCINE, 3),
            "PRO" => (PROLINE, FIRST_PROLINE, 2),
            _ => (CHAIN, FIRST, 3),
        };
        if self.hydrogens(nitrogen).count() >= ammonium {
            tables.push(first);
        }
        if self.find("OXT").is_some() {
            tables.push(LAST);
        }
        tables.extend([chain, side]);
        Some(tables)
    }

    /// The residue as its bonds show it: histidines and cysteines go by one name in many
    /// files.
    fn as_bonded<'n>(&self, residue: &'n str) -> &'n str {
        let has = |name: &str| self.find(name).is_some();
        match residue {
            "HIS" if has("HD1") && has("HE2") => "HIP",
            "HIS" if has("HD1") => "HID",
            "CYS" => {
                let sulfur = self.find("SG");
                let bridge = sulfur.is_some_and(|atom| {
                    let mut bonded = self.bonded(atom).iter();
                    bonded.any(|&other| self.element(other) == Element::S)
                });
                if bridge { "CYX" } else { residue }
            }
            _ => residue,
        }
    }

    /// Charges by tables. Hydrogens that a file lacks leave theirs on their heavy atom.
    fn by_table(&self, tables: &[&'static [Group]], charges: &mut [f32]) {
        for &atom in self.atoms {
            if self.element(atom) == Element::H {
                continue;
            }
            let name = self.name(atom);
            let group = tables
                .iter()
                .find_map(|table| table.iter().find(|group| group.name == name));
            // Atoms that no table knows are left without a charge.
            let Some(group) = group else { continue };
            let mut lacking = f32::from(group.hydrogens);
            for hydrogen in self.hydrogens(atom) {
                charges[hydrogen as usize] = group.hydrogen_charge;
                lacking -= 1.0;
            }
            charges[atom as usize] = group.charge + lacking * group.hydrogen_charge;
        }
    }

    /// Charges by what each bond moves.
    fn by_bonds(&self, charges: &mut [f32]) {
        for &atom in self.atoms {
            if let Some(charge) = ion(self.element(atom)) {
                charges[atom as usize] = charge;
                continue;
            }
            let moved = self.bonded(atom).iter();
            charges[atom as usize] = moved.map(|&other| self.taken(other, atom)).sum();
        }
    }

    /// Charge that an atom has because of its bond to another: the negative of what the
    /// other has.
    fn taken(&self, from: u32, to: u32) -> f32 {
        let (a, b) = (self.element(from), self.element(to));
        for &(giver, taker, amount) in MOVED {
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
            (Element::H, Element::C) if self.bonded(taker).len() == 3 => MOVED_FLAT,
            (Element::C, Element::O) if self.bonded(taker).len() == 1 => MOVED_CARBONYL,
            _ => amount,
        }
    }
}
