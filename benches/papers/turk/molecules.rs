//! Bundled molecules as in Turk (1989): without hydrogens, with the radii of section 5.2.

use std::error::Error;
use std::sync::Arc;

use bevy_rapier_molecules::docking::DockingMolecule;
use bevy_rapier_molecules::molecule::{Atom, Element, LoadOptions, MoleculeTemplate, load};

use super::cell_lists::Ball;
use crate::common::Run;
use crate::common::molecules::path;

/// Radii, nm.
const CARBON: f32 = 0.174;
const OXYGEN: f32 = 0.14;
const NITROGEN: f32 = 0.154;
const SULFUR: f32 = 0.18;

/// The receptor of section 5.4.
pub const DHFR: &str = "dhfr.pdb";

/// The ligand of section 5.4.
pub const TRIMETHOPRIM: &str = "trimethoprim.pdb";

/// Receptors, from the smallest to the largest. The last one is a patch of a membrane.
const STRUCTURES: [&str; 9] = [
    "4c64_dna.pdb",
    "1ubq.cif",
    DHFR,
    "4udv.pdb",
    "t4_lysozyme_l99a.pdb",
    "2por.pdb",
    "multi.pdb",
    "1gzx.pdb",
    "popc_bilayer.pdb",
];

/// The structures of a run.
pub fn structures(run: &Run) -> &'static [&'static str] {
    run.pick(&STRUCTURES, &STRUCTURES[1..3])
}

/// Loads a bundled molecule. Waters are left out. Elements without a radius in the paper, such as
/// phosphorus and iron, get the largest one, so that they do not widen the cells.
pub fn molecule(file: &str) -> Result<MoleculeTemplate, Box<dyn Error>> {
    let options = LoadOptions {
        hydrogens: false,
        ..LoadOptions::default()
    };
    let read = load(path(file), &options)?;
    let atoms = (0..read.atom_count()).map(|index| {
        let element = read.elements()[index];
        Atom {
            position: read.positions()[index],
            radius: match element {
                Element::C => CARBON,
                Element::O => OXYGEN,
                Element::N => NITROGEN,
                _ => SULFUR,
            },
            element,
            name: read.atom_names()[index].clone(),
            residue: read.residue_indices()[index],
        }
    });
    let residues = read.residues().to_vec();
    Ok(MoleculeTemplate::new(
        read.name(),
        atoms.collect(),
        residues,
    )?)
}

/// The same, ready to be docked.
pub fn docking_molecule(file: &str) -> Result<DockingMolecule, Box<dyn Error>> {
    Ok(DockingMolecule::new(Arc::new(molecule(file)?)))
}

/// The atoms of a molecule in its body frame.
pub fn balls(template: &MoleculeTemplate) -> Vec<Ball> {
    let atoms = template.positions().iter().zip(template.radii());
    atoms
        .map(|(&center, &radius)| Ball { center, radius })
        .collect()
}
