//! Contacts at every level of detail: refined ones are those of the atoms, index for index,
//! and proxies miss nobody who touches.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::common::thread_pool::with_threads;
use bevy_rapier_molecules::detail::{Detail, DetailError, MoleculeSearch, PlacedMolecule};
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::proxy::ProxyError;
use bevy_rapier_molecules::scenes::{
    CrowdedBoxConfig, VesicleConfig, VesicleSize, crowded_box, vesicle,
};
use bevy_rapier_molecules::search::{Pair, PairBuffer};
use glam::{Quat, Vec3};

fn molecule(file: &str) -> Arc<MoleculeTemplate> {
    let path = format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"));
    let loaded = load(path, &LoadOptions::default());
    Arc::new(loaded.unwrap_or_else(|error| panic!("{error}")))
}

fn find(
    templates: &[Arc<MoleculeTemplate>],
    molecules: &[PlacedMolecule],
    detail: Detail,
    margin: f32,
) -> (Vec<Pair>, Vec<u32>) {
    let mut search = MoleculeSearch::new(templates, detail).unwrap();
    let mut pairs = PairBuffer::new();
    search.find_pairs(molecules, margin, &mut pairs).unwrap();
    (pairs.to_sorted_vec(), search.first_sphere().to_vec())
}

/// Pairs of molecules that pairs of spheres belong to.
fn touching(pairs: &[Pair], first: &[u32]) -> BTreeSet<[usize; 2]> {
    let owner = |sphere: u32| first.partition_point(|&start| start <= sphere) - 1;
    pairs
        .iter()
        .map(|pair| [owner(pair.a), owner(pair.b)])
        .collect()
}

/// Compares refined contacts with those of the atoms, and returns the latter.
#[track_caller]
fn compare_refined(
    templates: &[Arc<MoleculeTemplate>],
    molecules: &[PlacedMolecule],
    margin: f32,
) -> (Vec<Pair>, Vec<u32>) {
    let (atoms, first) = find(templates, molecules, Detail::Atoms, margin);
    let (refined, _) = find(templates, molecules, Detail::Refined, margin);
    assert!(
        atoms == refined,
        "{} and {} pairs",
        atoms.len(),
        refined.len()
    );
    (atoms, first)
}

/// Compares all details on a scene; returns the number of pairs of atoms.
#[track_caller]
fn compare(
    templates: &[Arc<MoleculeTemplate>],
    molecules: &[PlacedMolecule],
    margin: f32,
) -> usize {
    let (atoms, first) = compare_refined(templates, molecules, margin);
    let touched = touching(&atoms, &first);
    for count in [1, 17] {
        let (proxies, first) = find(templates, molecules, Detail::Proxies(count), margin);
        let found = touching(&proxies, &first);
        assert!(found.is_superset(&touched), "{count} proxies miss somebody");
    }
    atoms.len()
}

fn placed(crowd: &bevy_rapier_molecules::crowd::Crowd) -> Vec<PlacedMolecule> {
    let members = crowd.members().iter();
    let placed = members.map(|member| PlacedMolecule {
        template: member.template,
        pose: member.pose,
    });
    placed.collect()
}

#[test]
fn refined_contacts_of_crowded_proteins_are_those_of_the_atoms() {
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
        let pairs = compare(&templates, &placed(&crowd), margin);
        assert!(pairs > 100, "{pairs} pairs at {spacing}");
    }
}

#[test]
fn refined_contacts_of_a_vesicle_are_those_of_the_atoms() {
    let lipid = molecule("popc.pdb");
    let config = VesicleConfig {
        size: VesicleSize::Counts {
            outer: 60,
            inner: 6,
            radius: 3.2,
        },
        ..VesicleConfig::default()
    };
    let crowd = vesicle(lipid, &config).unwrap().crowd;
    assert!(compare(crowd.templates(), &placed(&crowd), 0.0025) > 1000);
}

/// Where coordinates have few digits left, spheres around atoms are rounded otherwise than
/// the atoms.
#[test]
fn refined_contacts_far_away_are_those_of_the_atoms() {
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
        let (pairs, _) = compare_refined(&templates, &molecules, 0.0);
        assert!(!pairs.is_empty(), "{far} nm away");
    }
}

#[test]
fn molecules_in_one_place_single_ones_and_none_are_fine() {
    let templates = [molecule("p_xylene.pdb")];
    let one = PlacedMolecule {
        template: 0,
        pose: Pose::IDENTITY,
    };
    let atoms = templates[0].atom_count();
    assert_eq!(compare(&templates, &[], 0.0), 0);
    assert_eq!(compare(&templates, &[one], 5.0), 0);
    assert!(compare(&templates, &[one; 5], 0.0) >= 10 * atoms);
    // Everything in reach of everything.
    assert_eq!(compare(&templates, &[one; 3], 50.0), 3 * atoms * atoms);
}

#[test]
fn a_search_that_is_used_again_forgets_the_scene_before() {
    let templates = [molecule("popc.pdb"), molecule("p_xylene.pdb")];
    let scene = |count: u32, seed: u64| {
        let config = CrowdedBoxConfig {
            molecules: count,
            spacing: 0.8,
            seed,
            ..CrowdedBoxConfig::default()
        };
        placed(&crowded_box(&templates, &config).unwrap())
    };
    let mut search = MoleculeSearch::new(&templates, Detail::Refined).unwrap();
    let mut pairs = PairBuffer::new();
    for (count, seed) in [(40, 1), (40, 2), (7, 3), (60, 4)] {
        let molecules = scene(count, seed);
        search.find_pairs(&molecules, 0.0, &mut pairs).unwrap();
        let (expected, _) = find(&templates, &molecules, Detail::Atoms, 0.0);
        assert!(pairs.to_sorted_vec() == expected);
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
        let mut search = MoleculeSearch::new(&templates, Detail::Refined).unwrap();
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
fn what_cannot_be_is_named() {
    let templates = [molecule("p_xylene.pdb")];
    let none = MoleculeSearch::new(&templates, Detail::Proxies(0)).err();
    assert_eq!(none, Some(DetailError::Proxy(ProxyError::NoProxies)));
    for detail in [Detail::Atoms, Detail::Proxies(3), Detail::Refined] {
        let mut search = MoleculeSearch::new(&templates, detail).unwrap();
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
            Some(DetailError::NoSuchTemplate { molecule: 1, .. })
        ));
        for bad in [
            Pose::from_translation(Vec3::NAN),
            Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 2.0)),
        ] {
            let error = find(0, bad, 0.0);
            assert!(matches!(
                error,
                Some(DetailError::BadPose { molecule: 1, .. })
            ));
        }
        for margin in [-1.0, f32::NAN] {
            let error = find(0, Pose::IDENTITY, margin);
            assert!(matches!(error, Some(DetailError::Search(_))), "{error:?}");
        }
        assert_eq!(find(0, Pose::IDENTITY, 0.0), None);
    }
}
