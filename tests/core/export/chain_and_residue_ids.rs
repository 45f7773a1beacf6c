//! Chain and residue identifiers distinguish the molecules in a file.

use std::collections::HashSet;

use bevy_rapier_molecules::export::ExportOptions;
use bevy_rapier_molecules::molecule::{LoadOptions, SplitBy, load};
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;

use crate::export::fixtures::{
    assert_same_atoms, asset, dimer, lattice, mmcif_text, pdb_text, split, triatomic,
};

#[test]
fn molecules_with_one_residue_are_distinct_beyond_decimal_numbers() {
    // More than 9,999 residues and 99,999 atoms.
    let template = triatomic();
    let scene: Vec<_> = (0..40_000).map(|k| (&template, lattice(k))).collect();
    let options = ExportOptions::default();
    let pdb = pdb_text(&scene, &options);
    let mmcif = mmcif_text(&scene, &options);
    for (parts, by) in [
        (split(&pdb, "a.pdb", SplitBy::Residue), "PDB residue"),
        (split(&mmcif, "a.cif", SplitBy::Chain), "mmCIF chain"),
        (split(&mmcif, "a.cif", SplitBy::Residue), "mmCIF residue"),
    ] {
        assert_eq!(parts.len(), scene.len(), "{by}");
        for (part, &written) in parts.iter().zip(&scene) {
            assert_same_atoms((&part.template, part.pose), written);
        }
    }
    assert!(pdb.contains("HETATMA0001"));
    assert!(pdb.contains(" LIG AA000 "));
}

#[test]
fn molecules_with_several_residues_are_distinct() {
    let template = dimer();
    let scene: Vec<_> = (0..100).map(|k| (&template, lattice(k))).collect();
    let options = ExportOptions::default();

    let mmcif = split(&mmcif_text(&scene, &options), "a.cif", SplitBy::Chain);
    assert_eq!(mmcif.len(), 100);
    for (part, &written) in mmcif.iter().zip(&scene) {
        assert_same_atoms((&part.template, part.pose), written);
        let numbers: Vec<i32> = part.template.residues().iter().map(|r| r.number).collect();
        assert_eq!(numbers, [5, 7]);
    }

    // One molecule per chain letter of PDB.
    let pdb = split(&pdb_text(&scene[..62], &options), "a.pdb", SplitBy::Chain);
    assert_eq!(pdb.len(), 62);
    for (part, &written) in pdb.iter().zip(&scene) {
        assert_same_atoms((&part.template, part.pose), written);
        let numbers: Vec<i32> = part.template.residues().iter().map(|r| r.number).collect();
        assert_eq!(numbers, [5, 7]);
    }
    assert_eq!(pdb[0].template.residues()[0].chain, "P");

    // With more molecules than letters, no two share a residue, and gaps are kept.
    let pdb = split(&pdb_text(&scene, &options), "a.pdb", SplitBy::Residue);
    assert_eq!(pdb.len(), 200);
    let mut seen = HashSet::new();
    for pair in pdb.chunks(2) {
        let (a, b) = (
            &pair[0].template.residues()[0],
            &pair[1].template.residues()[0],
        );
        assert_eq!((&a.chain, a.number + 2), (&b.chain, b.number));
        assert!(
            seen.insert((a.chain.clone(), a.number)) && seen.insert((b.chain.clone(), b.number))
        );
    }
}

#[test]
fn proteins_and_lipids_in_one_file_are_distinct() {
    let (protein, lipid) = (dimer(), triatomic());
    let scene: Vec<_> = (0..60)
        .map(|k| (if k % 3 == 0 { &protein } else { &lipid }, lattice(k)))
        .collect();
    let options = ExportOptions::default();
    let text = pdb_text(&scene, &options);
    // Twenty proteins with one chain each, and one chain of all lipids.
    assert_eq!(split(&text, "a.pdb", SplitBy::Chain).len(), 21);
    assert_eq!(split(&text, "a.pdb", SplitBy::Residue).len(), 20 * 2 + 40);
    assert_eq!(
        split(&mmcif_text(&scene, &options), "a.cif", SplitBy::Chain).len(),
        60
    );
}

#[test]
fn several_chains_of_a_molecule_are_one_chain_in_mmcif_and_several_in_pdb() {
    let template = load(asset("1gzx.pdb"), &LoadOptions::default()).unwrap();
    let far = Pose::from_translation(Vec3::new(20.0, 0.0, 0.0));
    let scene = [(&template, template.file_pose()), (&template, far)];
    let options = ExportOptions::default();
    assert_eq!(
        split(&mmcif_text(&scene, &options), "a.cif", SplitBy::Chain).len(),
        2
    );
    assert_eq!(
        split(&pdb_text(&scene, &options), "a.pdb", SplitBy::Chain).len(),
        8
    );
}
