//! Diffusing molecules: atoms never overlap.

use std::sync::Arc;

use bevy_rapier_molecules::docking::{DockingMolecule, interferes};
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::motion::brownian::{
    BrownianMolecule, BrownianMolecules, Medium, MoleculesError,
};
use bevy_rapier_molecules::motion::swept::Wall;
use bevy_rapier_molecules::pose::Pose;
use glam::{DVec3, Quat, Vec3};

/// Hydrodynamic radius of ubiquitin, nm.
const RADIUS_NM: f64 = 1.7;

/// Distance of neighbours at the start, nm: their bounding spheres overlap.
const STEP_NM: f32 = 4.4;

fn ubiquitin() -> Arc<MoleculeTemplate> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/1ubq.cif");
    Arc::new(load(path, &LoadOptions::default()).unwrap())
}

fn crowd(along: u32, seed: u64) -> BrownianMolecules {
    let template = ubiquitin();
    let molecules: Vec<_> = (0..along.pow(3))
        .map(|k| {
            let cell = [k % along, k / along % along, k / along / along];
            let place = Vec3::from_array(cell.map(|k| (k as f32 + 0.5) * STEP_NM));
            let pose = Pose::new(place, Quat::IDENTITY);
            BrownianMolecule::in_medium(0, pose, RADIUS_NM, &Medium::default())
        })
        .collect();
    let side = f64::from(along as f32 * STEP_NM);
    let walls = Wall::room(DVec3::splat(-2.0), DVec3::splat(side + 2.0)).to_vec();
    BrownianMolecules::new(&[template], &molecules, walls, seed).unwrap()
}

/// Steps of a tenth of a nanometre along each axis.
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
        assert!(report.rounds > 0 && report.back < 64);
    }
    assert!(collisions > 100, "{collisions}");
    for (a, one) in crowd.molecules().iter().enumerate() {
        for other in &crowd.molecules()[a + 1..] {
            assert!(interferes(&body, &one.pose, &body, &other.pose).is_empty());
        }
    }
    // They move and turn, but not as far as they would alone.
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

#[test]
fn one_thread_and_two_move_molecules_alike() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
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
fn molecules_that_are_none_are_refused() {
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
        MoleculesError::NoTemplate { molecule: 0, .. }
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
