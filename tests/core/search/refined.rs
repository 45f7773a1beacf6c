//! A refined search finds the pairs of a search over all atoms, index for index.

use std::sync::Arc;

use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::scenes::{
    CrowdedBoxConfig, VesicleConfig, VesicleSize, crowded_box, vesicle,
};
use bevy_rapier_molecules::search::{
    AutoGrid, Pair, PairBuffer, PairSearch, PlacedMolecule, RefinedSearch, RefinedSearchError,
};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::{Mat3, Quat, Vec3};

use crate::common::thread_pool::with_threads;

fn molecule(file: &str) -> Arc<MoleculeTemplate> {
    let path = format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"));
    let loaded = load(path, &LoadOptions::default());
    Arc::new(loaded.unwrap_or_else(|error| panic!("{error}")))
}

fn placed(crowd: &Crowd) -> Vec<PlacedMolecule> {
    let members = crowd.members().iter();
    let placed = members.map(|member| PlacedMolecule {
        template: member.template,
        pose: member.pose,
    });
    placed.collect()
}

/// The pairs of a grid over all atoms.
fn atom_pairs(
    templates: &[Arc<MoleculeTemplate>],
    molecules: &[PlacedMolecule],
    margin: f32,
) -> Vec<Pair> {
    let mut atoms = SphereSet::new();
    for (owner, molecule) in molecules.iter().enumerate() {
        let template = &templates[molecule.template as usize];
        // How a crowd places its atoms.
        let rotation = Mat3::from_quat(molecule.pose.rotation);
        for (&local, &radius) in template.positions().iter().zip(template.radii()) {
            let center = rotation * local + molecule.pose.position;
            atoms.push(center, radius, owner as u32).unwrap();
        }
    }
    let mut pairs = PairBuffer::new();
    AutoGrid::new()
        .find_pairs(&atoms, margin, &mut pairs)
        .unwrap();
    pairs.to_sorted_vec()
}

/// Compares a refined search with a grid over all atoms; returns the number of pairs.
#[track_caller]
fn assert_exact(
    templates: &[Arc<MoleculeTemplate>],
    molecules: &[PlacedMolecule],
    margin: f32,
) -> usize {
    let expected = atom_pairs(templates, molecules, margin);
    let mut search = RefinedSearch::new(templates).unwrap();
    let mut pairs = PairBuffer::new();
    search.find_pairs(molecules, margin, &mut pairs).unwrap();
    assert!(
        pairs.to_sorted_vec() == expected,
        "{} and {} pairs",
        pairs.len(),
        expected.len()
    );
    expected.len()
}

#[test]
fn refined_pairs_of_crowded_proteins_are_those_of_the_atoms() {
    let files = [
        "1gzx.pdb",
        "popc.pdb",
        "4c64_dna.pdb",
        "p_xylene.pdb",
        "1ubq.cif",
    ];
    let templates = files.map(molecule);
    for (spacing, margin) in [(0.7, 0.0), (1.2, 0.0), (1.6, 0.3)] {
        let config = CrowdedBoxConfig {
            molecules: 30,
            spacing,
            ..CrowdedBoxConfig::default()
        };
        let crowd = crowded_box(&templates, &config).unwrap();
        let pairs = assert_exact(&templates, &placed(&crowd), margin);
        assert!(pairs > 100, "{pairs} pairs at {spacing}");
    }
}

#[test]
fn refined_pairs_of_a_vesicle_are_those_of_the_atoms() {
    let config = VesicleConfig {
        size: VesicleSize::Counts {
            outer: 60,
            inner: 6,
            radius: 3.2,
        },
        ..VesicleConfig::default()
    };
    let crowd = vesicle(molecule("popc.pdb"), &config).unwrap().crowd;
    assert!(assert_exact(crowd.templates(), &placed(&crowd), 0.0025) > 1000);
}

/// Far from the origin, atoms and the spheres around them are rounded differently.
#[test]
fn refined_pairs_far_from_the_origin_are_those_of_the_atoms() {
    let templates = [molecule("1ubq.cif")];
    for far in [1.0e3, 1.0e5, 1.0e7] {
        let molecules: Vec<_> = (0..8)
            .map(|k| PlacedMolecule {
                template: 0,
                pose: Pose::new(
                    Vec3::new(far, -far, far) + Vec3::new(2.0 * k as f32, 0.0, 0.0),
                    Quat::from_rotation_y(k as f32),
                ),
            })
            .collect();
        assert!(assert_exact(&templates, &molecules, 0.0) > 0, "{far} nm");
    }
}

#[test]
fn coincident_molecules_a_single_one_and_none_are_exact() {
    let templates = [molecule("p_xylene.pdb")];
    let one = PlacedMolecule {
        template: 0,
        pose: Pose::IDENTITY,
    };
    let atoms = templates[0].atom_count();
    assert_eq!(assert_exact(&templates, &[], 0.0), 0);
    assert_eq!(assert_exact(&templates, &[one], 5.0), 0);
    assert!(assert_exact(&templates, &[one; 5], 0.0) >= 10 * atoms);
    // Every atom overlaps every other.
    assert_eq!(assert_exact(&templates, &[one; 3], 50.0), 3 * atoms * atoms);
}

#[test]
fn a_reused_search_does_not_depend_on_previous_scenes() {
    let templates = [molecule("popc.pdb"), molecule("p_xylene.pdb")];
    let mut search = RefinedSearch::new(&templates).unwrap();
    let mut pairs = PairBuffer::new();
    for (molecules, seed) in [(40, 1), (40, 2), (7, 3), (60, 4)] {
        let config = CrowdedBoxConfig {
            molecules,
            spacing: 0.8,
            seed,
            ..CrowdedBoxConfig::default()
        };
        let molecules = placed(&crowded_box(&templates, &config).unwrap());
        search.find_pairs(&molecules, 0.0, &mut pairs).unwrap();
        assert!(pairs.to_sorted_vec() == atom_pairs(&templates, &molecules, 0.0));
    }
}

#[test]
fn the_order_of_refined_pairs_does_not_depend_on_threads() {
    let templates = [molecule("1ubq.cif")];
    let config = CrowdedBoxConfig {
        molecules: 100,
        spacing: 1.0,
        ..CrowdedBoxConfig::default()
    };
    let molecules = placed(&crowded_box(&templates, &config).unwrap());
    let run = |threads: usize| {
        let mut search = RefinedSearch::new(&templates).unwrap();
        let mut pairs = PairBuffer::new();
        with_threads(threads, || {
            search.find_pairs(&molecules, 0.0, &mut pairs).unwrap()
        });
        pairs.iter().collect::<Vec<Pair>>()
    };
    let expected = run(1);
    assert!(expected.len() > 1000);
    assert!(run(2) == expected && run(5) == expected);
}

#[test]
fn invalid_molecules_and_margins_are_reported_and_leave_the_search_usable() {
    let templates = [molecule("p_xylene.pdb")];
    let mut search = RefinedSearch::new(&templates).unwrap();
    let mut pairs = PairBuffer::new();
    let mut find = |template: u32, pose: Pose, margin: f32| {
        let good = PlacedMolecule {
            template: 0,
            pose: Pose::IDENTITY,
        };
        let molecules = [good, PlacedMolecule { template, pose }];
        let found = search.find_pairs(&molecules, margin, &mut pairs);
        assert_eq!(found.is_ok(), !pairs.is_empty());
        found.err()
    };
    assert_eq!(find(0, Pose::IDENTITY, 0.0), None);
    assert!(matches!(
        find(1, Pose::IDENTITY, 0.0),
        Some(RefinedSearchError::NoSuchTemplate { molecule: 1, .. })
    ));
    for bad in [
        Pose::from_translation(Vec3::NAN),
        Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 2.0)),
    ] {
        let error = find(0, bad, 0.0);
        assert!(matches!(
            error,
            Some(RefinedSearchError::BadPose { molecule: 1, .. })
        ));
    }
    for margin in [-1.0, f32::NAN] {
        let error = find(0, Pose::IDENTITY, margin);
        assert!(
            matches!(error, Some(RefinedSearchError::Search(_))),
            "{error:?}"
        );
    }
    assert_eq!(find(0, Pose::IDENTITY, 0.0), None);
}
