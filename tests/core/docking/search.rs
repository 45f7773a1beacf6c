//! The search for where a ligand belongs.

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

/// Nothing that the search is given depends on where the crystal has the ligand.
#[test]
fn p_xylene_is_found_in_the_cavity_of_lysozyme_with_at_least_three_of_five_seeds() {
    let (ligand, receptor) = ligand_and_receptor();
    let (crystal, home) = (
        ligand.template().file_pose(),
        receptor.template().file_pose(),
    );
    let energy = energy(&ligand, &receptor);
    let docking = DockingSearch {
        ligand: &ligand,
        receptor: &receptor,
        receptor_pose: home,
        energy: &energy,
    };
    let mut found = 0;
    for seed in 1..=5 {
        let done = AtomicU32::new(0);
        let config = DockingSearchConfig {
            seed,
            ..DockingSearchConfig::default()
        };
        let poses = docking
            .search(&config, &|now, all| {
                assert!(now <= all);
                done.fetch_max(now, Ordering::Relaxed);
            })
            .unwrap();
        assert_eq!(done.into_inner(), config.restarts + config.finalists);
        assert!(poses.is_sorted_by_key(|pose| pose.energy));
        for DockedPose {
            pose,
            energy: known,
            ..
        } in &poses
        {
            assert!(is_free(&ligand, pose, &receptor, &home));
            assert_eq!(energy.energy(pose, &home), *known);
        }
        found += u32::from(poses[0].pose.position.distance(crystal.position) < 0.2);
    }
    assert!(found >= 3, "{found} of 5");
}

#[test]
fn the_same_seed_finds_the_same_poses_on_any_number_of_threads() {
    let (ligand, receptor) = (molecule("p_xylene.pdb"), molecule("popc.pdb"));
    let energy = energy(&ligand, &receptor);
    let docking = DockingSearch {
        ligand: &ligand,
        receptor: &receptor,
        receptor_pose: Pose::from_translation(Vec3::new(1.0, 2.0, 3.0)),
        energy: &energy,
    };
    let search = |threads: usize, seed: u64| {
        let config = DockingSearchConfig {
            seed,
            restarts: 24,
            finalists: 6,
            ..DockingSearchConfig::default()
        };
        with_threads(threads, || docking.search(&config, &|_, _| ()).unwrap())
    };
    assert_eq!(search(1, 7), search(3, 7));
    assert_ne!(search(1, 7), search(1, 8));
}

#[test]
fn settings_and_poses_that_make_no_sense_are_refused() {
    let (ligand, receptor) = (molecule("p_xylene.pdb"), molecule("popc.pdb"));
    let energy = energy(&ligand, &receptor);
    let mut docking = DockingSearch {
        ligand: &ligand,
        receptor: &receptor,
        receptor_pose: Pose::IDENTITY,
        energy: &energy,
    };
    let config = DockingSearchConfig {
        finalists: 0,
        ..DockingSearchConfig::default()
    };
    let refused = docking.search(&config, &|_, _| ());
    assert!(matches!(
        refused,
        Err(DockingSearchError::BadParameter {
            what: "finalists",
            value: 0
        })
    ));
    docking.receptor_pose = Pose::from_translation(Vec3::NAN);
    let refused = docking.search(&DockingSearchConfig::default(), &|_, _| ());
    assert!(matches!(refused, Err(DockingSearchError::Docking(_))));
}
