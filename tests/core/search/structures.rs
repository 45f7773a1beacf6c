//! Real structures: a membrane, hemoglobin, an enzyme.

use bevy_rapier_molecules::molecule::{LoadOptions, MoleculePart, SplitBy, load_structure};
use bevy_rapier_molecules::spheres::SphereSet;

use crate::search::oracle::assert_exact;

fn parts(file: &str, by: SplitBy) -> Vec<MoleculePart> {
    let path = format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"));
    let options = LoadOptions::default();
    load_structure(path, &options)
        .and_then(|structure| structure.split_by(by, &options))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The atoms of all parts. With a tolerance, half of it is their radius, so that closer atoms
/// overlap.
fn spheres(parts: &[MoleculePart], tolerance: Option<f32>) -> SphereSet {
    let placed = parts.iter().map(|part| (&*part.template, part.pose));
    let mut spheres = SphereSet::from_molecules(placed).expect("files hold finite atoms");
    if let Some(tolerance) = tolerance {
        spheres
            .set_radius(tolerance / 2.0)
            .expect("tolerances are positive");
    }
    spheres
}

#[test]
fn contacts_of_a_membrane_are_exact() {
    let lipids = parts("popc_bilayer.pdb", SplitBy::Residue);
    assert_eq!(lipids.len(), 128);
    let close = assert_exact(&spheres(&lipids, Some(0.2)), 0.0);
    let near = assert_exact(&spheres(&lipids, Some(0.34)), 0.0);
    assert!(
        near > 10 * close,
        "{near} pairs within 0.34 nm, {close} within 0.2"
    );
    assert_exact(&spheres(&lipids, None), 0.0);
}

#[test]
fn contacts_between_the_chains_of_hemoglobin_are_exact() {
    let chains = parts("1gzx.pdb", SplitBy::Chain);
    assert_eq!(chains.len(), 4);
    assert!(assert_exact(&spheres(&chains, Some(0.34)), 0.0) > 0);
    assert_exact(&spheres(&chains, None), 0.0);
    assert_exact(&spheres(&chains, None), 0.14);
}

#[test]
fn contacts_between_the_residues_of_an_enzyme_are_exact() {
    let residues = parts("dhfr.pdb", SplitBy::Residue);
    // Bonded neighbors are 0.13 nm apart.
    assert!(assert_exact(&spheres(&residues, Some(0.2)), 0.0) >= residues.len() - 1);
    assert_exact(&spheres(&residues, None), 0.0);
}
