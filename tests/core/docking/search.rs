//! Docking search.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bevy_rapier_molecules::docking::energy::{EnergyConfig, EnergyGrid, ForceFieldMolecule};
use bevy_rapier_molecules::docking::search::{
    DockedPose, DockingSearch, DockingSearchConfig, DockingSearchError,
};
use bevy_rapier_molecules::docking::{DockingMolecule, is_free};
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;

use crate::common::thread_pool::with_threads;
use crate::docking::fixtures::{ligand_and_receptor, molecule};

fn energy(ligand: &DockingMolecule, receptor: &DockingMolecule) -> EnergyGrid {
    let [large, small] =
        [receptor, ligand].map(|molecule| ForceFieldMolecule::new(Arc::clone(molecule.template())));
    EnergyGrid::new(&large, &small, &EnergyConfig::default()).unwrap()
}

/// The search does not know the crystal pose.
#[test]
fn p_xylene_is_found_in_the_cavity_with_at_least_three_of_five_seeds() {
    let (ligand, receptor) = ligand_and_receptor();
    let (crystal, receptor_pose) = (
        ligand.template().file_pose(),
        receptor.template().file_pose(),
    );
    let energy = energy(&ligand, &receptor);
    let search = DockingSearch {
        ligand: &ligand,
        receptor: &receptor,
        receptor_pose,
        energy: &energy,
    };
    let mut found = 0;
    for seed in 1..=5 {
        let done = AtomicU32::new(0);
        let config = DockingSearchConfig {
            seed,
            ..DockingSearchConfig::default()
        };
        let poses = search
            .run(&config, &|finished, total| {
                assert!(finished <= total);
                done.fetch_max(finished, Ordering::Relaxed);
            })
            .unwrap();
        assert_eq!(done.into_inner(), config.restarts + config.finalists);
        assert!(poses.is_sorted_by_key(|pose| pose.energy));
        for DockedPose {
            pose,
            energy: expected,
            ..
        } in &poses
        {
            assert!(is_free(&ligand, pose, &receptor, &receptor_pose));
            assert_eq!(energy.energy(pose, &receptor_pose), *expected);
        }
        found += u32::from(poses[0].pose.position.distance(crystal.position) < 0.2);
    }
    assert!(found >= 3, "{found} of 5");
}

#[test]
fn same_seed_finds_the_same_poses_on_any_number_of_threads() {
    let (ligand, receptor) = (molecule("p_xylene.pdb"), molecule("popc.pdb"));
    let energy = energy(&ligand, &receptor);
    let search = DockingSearch {
        ligand: &ligand,
        receptor: &receptor,
        receptor_pose: Pose::from_translation(Vec3::new(1.0, 2.0, 3.0)),
        energy: &energy,
    };
    let run = |threads: usize, seed: u64| {
        let config = DockingSearchConfig {
            seed,
            restarts: 24,
            finalists: 6,
            ..DockingSearchConfig::default()
        };
        with_threads(threads, || search.run(&config, &|_, _| ()).unwrap())
    };
    assert_eq!(run(1, 7), run(3, 7));
    assert_ne!(run(1, 7), run(1, 8));
}

#[test]
fn invalid_settings_and_poses_are_errors() {
    let (ligand, receptor) = (molecule("p_xylene.pdb"), molecule("popc.pdb"));
    let energy = energy(&ligand, &receptor);
    let mut search = DockingSearch {
        ligand: &ligand,
        receptor: &receptor,
        receptor_pose: Pose::IDENTITY,
        energy: &energy,
    };
    let config = DockingSearchConfig {
        finalists: 0,
        ..DockingSearchConfig::default()
    };
    let result = search.run(&config, &|_, _| ());
    assert!(matches!(
        result,
        Err(DockingSearchError::BadParameter {
            what: "finalists",
            value: 0
        })
    ));
    search.receptor_pose = Pose::from_translation(Vec3::NAN);
    let result = search.run(&DockingSearchConfig::default(), &|_, _| ());
    assert!(matches!(result, Err(DockingSearchError::Docking(_))));
}
