//! A porin with its barrel axis, and files like those of the OPM database.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use bevy_rapier_molecules::molecule::{Atom, Element, MoleculeTemplate, Residue, load};
use bevy_rapier_molecules::prelude::*;
use glam::{Quat, Vec3};

/// Distance from one CA atom to the fourth next in a strand, nm.
const STRAND: f32 = 1.25;

pub fn porin_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets/molecules/2por.pdb")
}

/// Porin: one barrel of 16 strands.
pub fn porin() -> Arc<MoleculeTemplate> {
    Arc::new(load(porin_path(), &LoadOptions::default()).unwrap())
}

/// The axis of the barrel by its strands alone. All are tilted by about 40° against it, so it is
/// the direction with the largest sum of square cosines.
pub fn barrel_axis(porin: &MoleculeTemplate) -> Vec3 {
    let is_ca = |atom: &usize| {
        porin.atom_names()[*atom] == "CA" && porin.residue_of(*atom).name.as_str() != "CA"
    };
    let trace: Vec<Vec3> = (0..porin.atom_count())
        .filter(is_ca)
        .map(|atom| porin.positions()[atom])
        .collect();
    let steps = trace.windows(5).map(|five| five[4] - five[0]);
    let strands: Vec<Vec3> = steps
        .filter(|step| step.length() > STRAND)
        .map(Vec3::normalize)
        .collect();
    assert!(strands.len() > 100);
    let mut axis = Vec3::new(0.3, 0.5, 0.8);
    for _ in 0..500 {
        let next: Vec3 = strands
            .iter()
            .map(|strand| *strand * strand.dot(axis))
            .sum();
        axis = next.normalize();
    }
    axis
}

/// Angle between two axes without a sign, degrees.
pub fn angle_between(a: Vec3, b: Vec3) -> f32 {
    a.dot(b).abs().min(1.0).acos().to_degrees()
}

/// Porin as a file of the OPM database: its barrel along z, its center of mass at `depth` nm,
/// and the markers of the membrane.
pub fn opm_file(depth: f32, header: bool) -> String {
    let porin = porin();
    let turn = Quat::from_rotation_arc(barrel_axis(&porin), Vec3::Z);
    let shift = Vec3::Z * depth - turn * porin.file_pose().position;
    let mut file = String::new();
    if header {
        file += "REMARK      1/2 of bilayer thickness:   12.4\n";
    }
    for line in fs::read_to_string(porin_path()).unwrap().lines() {
        if !line.starts_with("ATOM") && !line.starts_with("HETATM") {
            continue;
        }
        let number = |from: usize| line[from..from + 8].trim().parse::<f32>().unwrap() / 10.0;
        let place = Vec3::new(number(30), number(38), number(46));
        let Vec3 { x, y, z } = (turn * place + shift) * 10.0;
        writeln!(file, "{}{x:8.3}{y:8.3}{z:8.3}{}", &line[..30], &line[54..]).unwrap();
    }
    for (name, z) in [("N", -12.4), ("O", 12.4)] {
        for x in [-40.0, 40.0] {
            writeln!(
                file,
                "HETATM 9000  {name}   DUM  9000    {x:8.3}{:8.3}{z:8.3}",
                90.0
            )
            .unwrap();
        }
    }
    file
}

/// A molecule of carbons with this radius, nm.
pub fn carbons(places: impl IntoIterator<Item = Vec3>, radius: f32) -> Arc<MoleculeTemplate> {
    let atom = |position| Atom {
        position,
        radius,
        element: Element::C,
        name: "C".into(),
        residue: 0,
    };
    let atoms = places.into_iter().map(atom).collect();
    let residues = vec![Residue::default()];
    Arc::new(MoleculeTemplate::new("carbons", atoms, residues).unwrap())
}
