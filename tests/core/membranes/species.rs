//! Conformers of species and areas of known lipids.

use bevy_rapier_molecules::compartment::{bilayer_depth, up_and_head};
use bevy_rapier_molecules::membrane::{Conformer, MembraneError, Species, known_area};
use bevy_rapier_molecules::molecule::{ModelChoice, MoleculeError, load_structure};
use bevy_rapier_molecules::prelude::*;
use glam::Vec3;

use super::fixtures::{asset, lipid, popc, rod};

#[test]
fn each_model_of_a_file_is_a_conformer() {
    for (name, conformers, atoms) in [
        ("popc", 16, 134),
        ("pope", 16, 125),
        ("dppc", 16, 130),
        ("cholesterol", 4, 74),
        ("ssm", 8, 133),
        ("popg", 8, 127),
        ("cardiolipin", 8, 248),
    ] {
        let species = lipid(name, 0.5);
        assert_eq!(species.conformers().len(), conformers, "{name}");
        for conformer in species.conformers() {
            assert_eq!(conformer.template.atom_count(), atoms, "{name}");
            assert_eq!(conformer.depth, bilayer_depth(&conformer.template));
            let (up, head) = up_and_head(&conformer.template);
            assert_eq!((conformer.up, conformer.head_height), (up, head));
            // The files have their heads toward +z.
            assert!(up.z > 0.8, "{name}: {up}");
        }
        assert_eq!(species.take(3).conformers().len(), 3);
    }
}

#[test]
fn structures_in_memory_give_the_same_species_as_their_file() {
    let options = LoadOptions::default();
    let structure = load_structure(asset("lipids/popc_conformers.pdb"), &options).unwrap();
    let species = Species::from_structures("popc", &[structure], &options, 0.65).unwrap();
    assert_eq!(species, popc());
    let none = Species::from_structures("popc", &[], &options, 0.65);
    assert!(matches!(none, Err(MembraneError::NoConformers { .. })));
}

#[test]
fn several_files_give_their_conformers_in_order() {
    let one = asset("molecules/popc.pdb");
    let many = asset("lipids/popc_conformers.pdb");
    let options = LoadOptions::default();
    let species = Species::load("POPC", &[one, many.clone()], &options, 0.65).unwrap();
    assert_eq!(species.conformers().len(), 17);
    let rest = Species::load("POPC", std::slice::from_ref(&many), &options, 0.65).unwrap();
    assert_eq!(species.conformers()[1..], *rest.conformers());
    let options = LoadOptions {
        model: ModelChoice::Number(3),
        ..options
    };
    let third = Species::load("POPC", &[many], &options, 0.65).unwrap();
    let [third] = third.conformers() else {
        panic!("one model");
    };
    let expected = &rest.conformers()[2];
    assert_eq!(third.template.positions(), expected.template.positions());
}

#[test]
fn radius_and_axis_apply_to_all_conformers() {
    let species = popc().with_radius(0.11).unwrap();
    for conformer in species.conformers() {
        assert!(
            conformer
                .template
                .radii()
                .iter()
                .all(|&radius| radius == 0.11)
        );
    }
    let species = species.with_axis(Vec3::Z * 7.0, 0.9).unwrap();
    for conformer in species.conformers() {
        assert_eq!((conformer.up, conformer.head_height), (Vec3::Z, 0.9));
        let lowest = conformer.template.positions().iter();
        let tail = lowest.map(|atom| atom.z).fold(0.0, f32::min);
        // 11 % of the length is beyond the mid-surface.
        let beyond = conformer.depth + tail;
        assert!((beyond / (0.9 - tail) + 0.11).abs() < 1.0e-5, "{beyond}");
    }
    assert!(species.clone().with_radius(0.0).is_err());
    for (up, head) in [(Vec3::ZERO, 0.9), (Vec3::NAN, 0.9), (Vec3::Z, f32::NAN)] {
        let error = species.clone().with_axis(up, head);
        assert!(matches!(error, Err(MembraneError::BadConformer { .. })));
    }
    let error = species.with_axis(Vec3::Z, -9.0);
    assert!(matches!(error, Err(MembraneError::HeadInMidSurface { .. })));
}

#[test]
fn invalid_species_are_rejected() {
    let none = Species::new("none", Vec::new(), 0.5);
    assert!(matches!(none, Err(MembraneError::NoConformers { .. })));
    let templates = |species: &Species| {
        let conformers = species.conformers().iter();
        conformers.map(|c| c.template.clone()).collect::<Vec<_>>()
    };
    let mixed = [templates(&rod("a", 3, 0.5)), templates(&rod("b", 4, 0.5))].concat();
    let error = Species::new("mixed", mixed, 0.5).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("conformer 1 of species 'mixed' has 5 atoms"),
        "{text}"
    );
    for area in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let error = Species::new("rod", templates(&rod("a", 3, 0.5)), area);
        assert!(
            matches!(error, Err(MembraneError::BadArea { .. })),
            "{area}"
        );
    }
    let missing = Species::load("x", &["missing.pdb"], &LoadOptions::default(), 0.5);
    let Err(MembraneError::Molecule(MoleculeError::Io { .. })) = missing else {
        panic!("no file");
    };
    let conformer = Conformer {
        up: Vec3::Z * 2.0,
        ..rod("a", 3, 0.5).conformers()[0].clone()
    };
    let error = Species::from_conformers("long", vec![conformer], 0.5);
    assert!(matches!(error, Err(MembraneError::BadConformer { .. })));
}

#[test]
fn areas_are_known_by_any_case_and_usual_aliases() {
    for (name, area) in [
        ("POPC", 0.65),
        ("pope", 0.58),
        ("Dppc", 0.63),
        ("SSM", 0.55),
        ("POPG", 0.66),
        ("DOPC", 0.68),
        ("chl1", 0.38),
        ("CHOLESTEROL", 0.38),
        ("cardiolipin", 1.1),
    ] {
        assert_eq!(known_area(name), Some(area), "{name}");
    }
    assert_eq!(known_area("POP"), None);
    assert_eq!(known_area(""), None);
}
