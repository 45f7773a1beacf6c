//! Diffusing molecules, whose atoms never overlap.

use std::sync::Arc;

use bevy_rapier_molecules::docking::{DockingMolecule, overlapping_atoms};
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::motion::brownian::{
    BrownianMolecule, BrownianMolecules, Medium, MoveRules,
};
use bevy_rapier_molecules::motion::time_of_impact::Wall;
use bevy_rapier_molecules::motion::{CollisionOutcome, MotionError};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::search::{BruteForce, Pair};
use glam::{DVec3, Quat, Vec3};

use crate::common::carbons::{carbon, template};
use crate::common::thread_pool::with_threads;

/// Hydrodynamic radius of ubiquitin, nm.
const RADIUS_NM: f64 = 1.7;

/// Distance of neighbors at the start, nm. Their bounding spheres overlap.
const SPACING_NM: f32 = 4.4;

fn ubiquitin() -> Arc<MoleculeTemplate> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/1ubq.cif");
    Arc::new(load(path, &LoadOptions::default()).unwrap())
}

fn crowd(along: u32, seed: u64) -> BrownianMolecules {
    let template = ubiquitin();
    let molecules: Vec<_> = (0..along.pow(3))
        .map(|k| {
            let cell = [k % along, k / along % along, k / along / along];
            let position = Vec3::from_array(cell.map(|k| (k as f32 + 0.5) * SPACING_NM));
            let pose = Pose::new(position, Quat::IDENTITY);
            BrownianMolecule::in_medium(0, pose, RADIUS_NM, &Medium::default())
        })
        .collect();
    let side = f64::from(along as f32 * SPACING_NM);
    let walls = Wall::box_faces(DVec3::splat(-2.0), DVec3::splat(side + 2.0)).to_vec();
    BrownianMolecules::new(&[template], &molecules, walls, seed).unwrap()
}

/// Steps of a tenth of a nanometer along each axis.
fn step_seconds() -> f64 {
    0.5 * 0.1 * 0.1 / Medium::default().translational(RADIUS_NM)
}

#[test]
fn atoms_of_different_molecules_never_overlap() {
    let mut crowd = crowd(4, 1);
    let body = DockingMolecule::new(ubiquitin());
    let mut collisions = 0;
    let start: Vec<_> = crowd.molecules().iter().map(|one| one.pose).collect();
    for _ in 0..100 {
        let report = crowd.step(step_seconds()).unwrap();
        collisions += crowd.collisions().len();
        assert!(report.rounds > 0 && report.rejected < 64);
    }
    assert!(collisions > 100, "{collisions}");
    for (a, one) in crowd.molecules().iter().enumerate() {
        for other in &crowd.molecules()[a + 1..] {
            assert!(overlapping_atoms(&body, &one.pose, &body, &other.pose).is_empty());
        }
    }
    // They diffuse more slowly than free molecules.
    let squares = crowd.molecules().iter().zip(&start);
    let mean: f32 = squares
        .map(|(now, then)| now.pose.position.distance_squared(then.position))
        .sum::<f32>()
        / 64.0;
    let free = 6.0 * crowd.molecules()[0].diffusion * 100.0 * step_seconds();
    assert!(
        (0.05..0.95).contains(&(f64::from(mean) / free)),
        "{mean} of {free}"
    );
}

/// The faces of a hollow cube of carbon atoms, 2 nm wide.
fn cage() -> Arc<MoleculeTemplate> {
    let mut atoms = Vec::new();
    for k in 0..11_i32.pow(3) {
        let cell = [k % 11, k / 11 % 11, k / 121].map(|k| 0.2 * (k - 5) as f32);
        if cell.iter().any(|at| at.abs() > 0.99) {
            atoms.push(carbon(Vec3::from_array(cell), 0.17));
        }
    }
    template(atoms)
}

#[test]
fn a_molecule_does_not_jump_out_of_its_cage_in_a_long_step() {
    let rod = template(
        (-1..=1)
            .map(|k| carbon(Vec3::X * 0.12 * k as f32, 0.1))
            .collect(),
    );
    let diffusion = 1.0e9;
    let molecules = [(0, 0.0), (1, diffusion)].map(|(template, diffusion)| BrownianMolecule {
        template,
        pose: Pose::IDENTITY,
        diffusion,
        rotational_diffusion: diffusion,
    });
    // A standard deviation of 3 nm along each axis: most moves end outside.
    let step = 0.5 * 3.0 * 3.0 / diffusion;
    let mut kept = 0;
    for seed in 0..20 {
        let templates = [cage(), rod.clone()];
        let mut brownian =
            BrownianMolecules::new(&templates, &molecules, Vec::new(), seed).unwrap();
        for _ in 0..50 {
            let report = brownian.step(step).unwrap();
            kept += report.rejected;
            let position = brownian.molecules()[1].pose.position;
            assert!(position.abs().max_element() < 0.9, "{position} in {seed}");
        }
    }
    assert!(kept > 500, "{kept} moves were rejected");
}

#[test]
fn molecules_that_overlap_at_the_start_can_separate() {
    let ball = template(vec![carbon(Vec3::ZERO, 0.2)]);
    let at = |x: f32| BrownianMolecule {
        template: 0,
        pose: Pose::from_translation(Vec3::X * x),
        diffusion: 1.0e9,
        rotational_diffusion: 0.0,
    };
    let mut brownian = BrownianMolecules::new(&[ball], &[at(0.0), at(0.1)], Vec::new(), 3).unwrap();
    for _ in 0..100 {
        brownian.step(0.5 * 0.1 * 0.1 / 1.0e9).unwrap();
    }
    let [one, other] = [0, 1].map(|k| brownian.molecules()[k].pose.position);
    assert!(one.distance(other) > 0.4);
}

#[test]
fn poses_are_bitwise_identical_on_any_number_of_threads() {
    let run = |threads: usize| {
        with_threads(threads, || {
            let mut crowd = crowd(3, 5);
            for _ in 0..10 {
                crowd.step(step_seconds()).unwrap();
            }
            let bits = |one: &BrownianMolecule| {
                let Pose { position, rotation } = one.pose;
                (
                    position.to_array().map(f32::to_bits),
                    rotation.to_array().map(f32::to_bits),
                )
            };
            crowd.molecules().iter().map(bits).collect::<Vec<_>>()
        })
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn sticking_molecules_move_as_one_rigid_body() {
    let mut crowd = crowd(4, 2);
    let mut stick = |_: Pair| CollisionOutcome::Stick;
    let mut stuck = 0;
    for _ in 0..100 {
        stuck += crowd.step_with(step_seconds(), &mut stick).unwrap().stuck;
    }
    assert!(stuck > 5);
    assert_eq!(crowd.clusters().map(<[u32]>::len).sum::<usize>(), 64);
    let mut by_size: Vec<Vec<u32>> = crowd.clusters().map(<[u32]>::to_vec).collect();
    by_size.sort_by_key(Vec::len);
    let largest = by_size.pop().unwrap();
    assert!(largest.len() > 2 && crowd.cluster(largest[1]) == Some(&largest[..]));
    // Positions of the members in the frame of the first one.
    let relative = |crowd: &BrownianMolecules| -> Vec<Vec3> {
        let first = crowd.molecules()[largest[0] as usize].pose;
        let poses = largest.iter().map(|&k| crowd.molecules()[k as usize].pose);
        poses
            .map(|pose| first.inverse_transform_point(pose.position))
            .collect()
    };
    let before = (
        relative(&crowd),
        crowd.molecules()[largest[0] as usize].pose,
    );
    for _ in 0..40 {
        crowd.step(step_seconds()).unwrap();
    }
    for (now, then) in relative(&crowd).iter().zip(&before.0) {
        assert!(now.distance(*then) < 1.0e-4, "{now} {then}");
    }
    let now = crowd.molecules()[largest[0] as usize].pose;
    assert!(now.position.distance(before.1.position) > 0.05);
    assert!(now.rotation.angle_between(before.1.rotation) > 0.01);
    let body = DockingMolecule::new(ubiquitin());
    for (a, one) in crowd.molecules().iter().enumerate() {
        for other in &crowd.molecules()[a + 1..] {
            assert!(overlapping_atoms(&body, &one.pose, &body, &other.pose).is_empty());
        }
    }
}

#[test]
fn sticking_pair_diffuses_as_a_sphere_of_its_volume() {
    let medium = Medium::default();
    let one = |x: f32| {
        let pose = Pose::from_translation(Vec3::X * x);
        BrownianMolecule::in_medium(0, pose, RADIUS_NM, &medium)
    };
    // Pairs far from each other.
    let molecules: Vec<_> = (0..2000)
        .map(|k| one(200.0 * (k / 2) as f32 + 5.0 * (k % 2) as f32))
        .collect();
    let mut crowd = BrownianMolecules::new(&[ubiquitin()], &molecules, Vec::new(), 3).unwrap();
    for k in 0..1000 {
        crowd.join(2 * k, 2 * k + 1).unwrap();
    }
    let middle = |crowd: &BrownianMolecules, k: usize| {
        let [a, b] = [0, 1].map(|one| crowd.molecules()[2 * k + one].pose.position.as_dvec3());
        0.5 * (a + b)
    };
    let mut squares = 0.0;
    let dt = step_seconds();
    for _ in 0..20 {
        let before: Vec<DVec3> = (0..1000).map(|k| middle(&crowd, k)).collect();
        crowd.step(dt).unwrap();
        let starts = before.iter().enumerate();
        squares += starts
            .map(|(k, before)| middle(&crowd, k).distance_squared(*before))
            .sum::<f64>();
    }
    let expected = 6.0 * medium.translational(RADIUS_NM * 2.0_f64.cbrt()) * dt;
    let ratio = squares / 20_000.0 / expected;
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

#[test]
fn rules_veto_moves_and_decide_outcomes() {
    struct Rules(usize);
    impl MoveRules for Rules {
        fn collide(&mut self, _pair: Pair) -> CollisionOutcome {
            self.0 += 1;
            CollisionOutcome::Pass
        }

        fn may_move(&self, molecule: u32, _from: &Pose, to: &Pose) -> bool {
            molecule != 3 && to.is_finite()
        }
    }
    let mut crowd = crowd(3, 2);
    let start = crowd.molecules().to_vec();
    let mut rules = Rules(0);
    for _ in 0..40 {
        crowd.step_with(step_seconds(), &mut rules).unwrap();
    }
    assert!(rules.0 > 5);
    assert_eq!(crowd.molecules()[3].pose, start[3].pose);
    assert_ne!(crowd.molecules()[4].pose, start[4].pose);
}

#[test]
fn long_steps_are_split() {
    let mut crowd = crowd(3, 2);
    let longest = crowd.longest_step();
    let spread = (2.0 * crowd.molecules()[0].diffusion * longest).sqrt();
    assert!((0.1..0.3).contains(&spread), "{spread}");
    assert_eq!(crowd.steps_for(3.5 * longest), 4);
    let report = crowd
        .advance(100.5 * longest, &mut |_: Pair| CollisionOutcome::Bounce)
        .unwrap();
    assert_eq!(report.steps, 101);
    assert!(!crowd.collisions().is_empty() && crowd.collisions().is_sorted());
    // Immobile molecules need no steps.
    let still = BrownianMolecule {
        diffusion: 0.0,
        rotational_diffusion: 0.0,
        ..crowd.molecules()[0]
    };
    crowd.set_molecules(&[still]).unwrap();
    assert_eq!(crowd.longest_step(), f64::INFINITY);
    assert_eq!(crowd.steps_for(1.0), 1);
    crowd.step(1.0).unwrap();
    assert_eq!(crowd.molecules()[0].pose, still.pose);
}

#[test]
fn results_do_not_depend_on_the_broad_phase() {
    let [mut one, mut other] = [crowd(3, 7), crowd(3, 7)];
    other.set_search(Box::new(BruteForce));
    for _ in 0..20 {
        one.step(step_seconds()).unwrap();
        other.step(step_seconds()).unwrap();
    }
    assert_eq!(one.molecules(), other.molecules());
    assert_eq!(one.collisions(), other.collisions());
}

#[test]
fn invalid_molecules_are_errors() {
    let template = ubiquitin();
    let good = BrownianMolecule::in_medium(0, Pose::IDENTITY, 1.0, &Medium::default());
    let build = |one: BrownianMolecule| {
        BrownianMolecules::new(std::slice::from_ref(&template), &[one], Vec::new(), 1)
    };
    let error = build(BrownianMolecule {
        template: 1,
        ..good
    })
    .unwrap_err();
    assert!(matches!(
        error,
        MotionError::NoSuchTemplate { molecule: 0, .. }
    ));
    let pose = Pose::from_translation(Vec3::NAN);
    assert!(build(BrownianMolecule { pose, ..good }).is_err());
    assert!(
        build(BrownianMolecule {
            diffusion: -1.0,
            ..good
        })
        .is_err()
    );
    assert!(build(good).unwrap().step(0.0).is_err());
}
