//! Energies of the grid, against the sum over all pairs in `f64`.

use std::sync::Arc;

use bevy_rapier_molecules::docking::energy::{
    EnergyConfig, EnergyError, EnergyGrid, ForceFieldMolecule, direct_interaction,
};
use bevy_rapier_molecules::docking::{DockingPair, RigidMotion, is_free};
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::pose::Pose;
use glam::{Quat, Vec3};
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::common::thread_pool::with_threads;
use crate::docking::fixtures::{ball, ligand_and_receptor, molecule, random_pose};

/// Maximum error where atoms do not overlap: absolute, kJ/mol, and relative.
const MAX_ERROR: (f64, f64) = (1.5, 0.05);

fn typed(template: &Arc<MoleculeTemplate>) -> ForceFieldMolecule {
    ForceFieldMolecule::new(Arc::clone(template))
}

fn without_hydrogens(file: &str) -> ForceFieldMolecule {
    let path = format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"));
    let options = LoadOptions {
        hydrogens: false,
        ..LoadOptions::default()
    };
    ForceFieldMolecule::new(Arc::new(load(&path, &options).unwrap()))
}

fn sum(molecule: &ForceFieldMolecule) -> f32 {
    molecule.charges().iter().sum()
}

#[test]
fn proteins_have_integer_charges_and_ligands_are_neutral() {
    let (ligand, receptor) = ligand_and_receptor();
    assert!(sum(&typed(ligand.template())).abs() < 1.0e-4);
    // The charges of the termini cancel.
    let residues = receptor.template().residues();
    let count = |names: &[&str]| {
        let found = residues
            .iter()
            .filter(|residue| names.contains(&residue.name.as_str()));
        found.count() as f32
    };
    let expected = count(&["LYS", "ARG", "HIP"]) - count(&["ASP", "GLU"]);
    assert!((sum(&typed(receptor.template())) - expected).abs() < 1.0e-3);
    // Without hydrogens the N-terminus counts as backbone.
    let bare = sum(&without_hydrogens("t4_lysozyme_l99a.pdb"));
    assert!(
        (bare - (expected - 1.0)).abs() < 1.0e-3,
        "{bare} {expected}"
    );
}

#[test]
fn charges_must_be_finite_and_one_per_atom() {
    let one = typed(ball(0.1).template());
    assert_eq!(
        one.clone().with_charges(vec![0.5]).unwrap().charges(),
        [0.5]
    );
    assert!(matches!(
        one.clone().with_charges(vec![]),
        Err(EnergyError::ChargeCount {
            atoms: 1,
            charges: 0,
            ..
        })
    ));
    assert!(matches!(
        one.with_charges(vec![f32::NAN]),
        Err(EnergyError::BadCharge { index: 0, .. })
    ));
}

#[test]
fn grid_agrees_with_direct_sum() {
    let (ligand, receptor) = ligand_and_receptor();
    // Alternating charges, to exercise the Coulomb term.
    let charges = (0..18)
        .map(|k| if k % 2 == 0 { 0.3 } else { -0.3 })
        .collect();
    let small = typed(ligand.template()).with_charges(charges).unwrap();
    let large = typed(receptor.template());
    let config = EnergyConfig::default();
    let grid = EnergyGrid::new(&large, &small, &config).unwrap();
    assert!(grid.bytes() as u64 <= config.max_bytes);
    let receptor_pose = Pose::new(Vec3::new(0.3, -0.2, 0.1), Quat::from_rotation_y(0.7));
    let mut random = Pcg64::seed_from_u64(11);
    let (mut near, mut squares, mut forces) = (0, 0.0, [0.0, 0.0]);
    for _ in 0..300 {
        let pose = random_pose(&mut random, 2.4);
        let Ok(pose) =
            DockingPair::new(&ligand, pose, &receptor, receptor_pose).nearest_free_pose()
        else {
            panic!("the poses are finite");
        };
        let read = grid.interaction(&pose, &receptor_pose);
        let exact = direct_interaction(&small, &pose, &large, &receptor_pose, &config);
        for (one, other) in [
            (read.lennard_jones, exact.lennard_jones),
            (read.coulomb, exact.coulomb),
            (read.solvation, exact.solvation),
        ] {
            let allowed = MAX_ERROR.0 + MAX_ERROR.1 * other.abs();
            assert!((one - other).abs() < allowed, "{one} is not {other}");
        }
        squares += (read.energy() - exact.energy()).powi(2);
        forces[0] += (read.force - exact.force).length_squared();
        forces[1] += exact.force.length_squared();
        near += usize::from(exact.lennard_jones < -10.0);
    }
    assert!(near > 150, "{near}");
    assert!(
        (squares / 300.0).sqrt() < 0.6,
        "{}",
        (squares / 300.0).sqrt()
    );
    assert!((forces[0] / forces[1]).sqrt() < 0.25, "{forces:?}");
}

#[test]
fn finer_grid_is_more_accurate() {
    let (one, other) = (typed(ball(0.1).template()), typed(ball(0.1).template()));
    let error = |spacing: f32| {
        let config = EnergyConfig {
            spacing,
            ..EnergyConfig::default()
        };
        let grid = EnergyGrid::new(&other, &one, &config).unwrap();
        let mut random = Pcg64::seed_from_u64(2);
        let poses = (0..500).map(|_| random_pose(&mut random, 0.8));
        poses
            .map(|pose| {
                let receptor_pose = Pose::IDENTITY;
                let exact =
                    direct_interaction(&one, &pose, &other, &receptor_pose, &config).energy();
                (grid.energy(&pose, &receptor_pose) - exact).abs()
            })
            .sum::<f64>()
    };
    let [coarse, middle, fine] = [0.06, 0.03, 0.015].map(error);
    // The error of linear interpolation is quadratic in the spacing.
    assert!(
        middle < 0.35 * coarse && fine < 0.35 * middle,
        "{coarse} {middle} {fine}"
    );
}

#[test]
fn forces_and_torques_are_gradients_of_the_energy() {
    let (ligand, receptor) = ligand_and_receptor();
    let (small, large) = (typed(ligand.template()), typed(receptor.template()));
    let config = EnergyConfig {
        spacing: 0.08,
        ..EnergyConfig::default()
    };
    let grid = EnergyGrid::new(&large, &small, &config).unwrap();
    let receptor_pose = Pose::new(Vec3::new(-0.4, 0.0, 0.2), Quat::from_rotation_z(1.1));
    let mut random = Pcg64::seed_from_u64(3);
    let (mut off, mut all, mut turn_off, mut turn_all) = (0.0, 0.0, 0.0, 0.0);
    for _ in 0..200 {
        let pose = random_pose(&mut random, 2.0);
        let here = grid.interaction(&pose, &receptor_pose);
        let step = 1.0e-3;
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let slope = |motion: RigidMotion| {
                let ends = [0.5, -0.5]
                    .map(|part| grid.energy(&motion.pose_at(&pose, part), &receptor_pose));
                (ends[0] - ends[1]) / f64::from(step)
            };
            let along = slope(RigidMotion::translation(axis * step));
            off += (along + f64::from(here.force.dot(axis))).powi(2);
            all += along.powi(2);
            let about = slope(RigidMotion::rotation(axis * step));
            turn_off += (about + f64::from(here.torque.dot(axis))).powi(2);
            turn_all += about.powi(2);
        }
    }
    // Not zero because some atoms cross a face of the grid within the step.
    assert!(
        off < 0.01 * all && turn_off < 0.01 * turn_all,
        "{off} {all} {turn_off} {turn_all}"
    );
}

#[test]
fn interaction_is_zero_beyond_the_cutoff() {
    let (one, other) = (typed(ball(0.1).template()), typed(ball(0.1).template()));
    let grid = EnergyGrid::new(&other, &one, &EnergyConfig::default()).unwrap();
    for place in [
        Vec3::X,
        Vec3::splat(1.0e9),
        Vec3::splat(f32::NAN),
        Vec3::INFINITY,
    ] {
        let read = grid.interaction(&Pose::from_translation(place), &Pose::IDENTITY);
        assert_eq!(
            (read.energy(), read.force, read.torque),
            (0.0, Vec3::ZERO, Vec3::ZERO)
        );
    }
    assert!(grid.energy(&Pose::from_translation(Vec3::X * 0.38), &Pose::IDENTITY) < -0.2);
}

#[test]
fn invalid_parameters_are_errors() {
    let ball = typed(ball(0.1).template());
    let valid = EnergyConfig::default();
    assert!(EnergyGrid::new(&ball, &ball, &valid).is_ok());
    let [mut zero, mut nan, mut infinite, mut late] = [valid; 4];
    zero.spacing = 0.0;
    nan.spacing = f32::NAN;
    infinite.cutoff = f32::INFINITY;
    late.switch = 0.9;
    for (name, config) in [
        ("spacing", zero),
        ("spacing", nan),
        ("cutoff", infinite),
        ("switch", late),
    ] {
        assert!(matches!(
            EnergyGrid::new(&ball, &ball, &config),
            Err(EnergyError::BadParameter { what, .. }) if what == name
        ));
    }
}

#[test]
fn too_large_grid_is_an_error() {
    let (ligand, receptor) = ligand_and_receptor();
    let config = EnergyConfig {
        spacing: 0.005,
        ..EnergyConfig::default()
    };
    let result = EnergyGrid::new(
        &typed(receptor.template()),
        &typed(ligand.template()),
        &config,
    );
    let Err(EnergyError::TooLarge {
        needed,
        allowed,
        receptor,
    }) = result
    else {
        panic!("expected an error");
    };
    assert!(needed > allowed && allowed == config.max_bytes && receptor.contains("lysozyme"));
}

#[test]
fn grid_is_bitwise_identical_on_any_number_of_threads() {
    let (one, other) = (molecule("p_xylene.pdb"), molecule("popc.pdb"));
    let (one, other) = (typed(one.template()), typed(other.template()));
    let energies = |threads: usize| {
        with_threads(threads, || {
            let grid = EnergyGrid::new(&other, &one, &EnergyConfig::default()).unwrap();
            let mut random = Pcg64::seed_from_u64(5);
            let poses = (0..200).map(|_| random_pose(&mut random, 1.5));
            poses
                .map(|pose| grid.energy(&pose, &Pose::IDENTITY).to_bits())
                .collect::<Vec<u64>>()
        })
    };
    assert_eq!(energies(1), energies(3));
}

#[test]
fn crystal_pose_is_free_and_attractive() {
    let (ligand, receptor) = ligand_and_receptor();
    let (pose, receptor_pose) = (
        ligand.template().file_pose(),
        receptor.template().file_pose(),
    );
    assert!(is_free(&ligand, &pose, &receptor, &receptor_pose));
    let (small, large) = (typed(ligand.template()), typed(receptor.template()));
    let energy = direct_interaction(
        &small,
        &pose,
        &large,
        &receptor_pose,
        &EnergyConfig::default(),
    );
    assert!(energy.energy() < -30.0, "{energy:?}");
}
