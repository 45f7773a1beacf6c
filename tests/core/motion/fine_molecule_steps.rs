//! Fine-grained steps of molecules, against spheres, conservation laws and coarse steps.

use std::sync::Arc;

use bevy_rapier_molecules::docking::{DockingMolecule, overlapping_atoms};
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::motion::brownian::{
    BrownianConfig, BrownianMolecule, BrownianMolecules, BrownianParticle, BrownianParticles,
    BrownianSteps, Medium, MoveRules, ParticleCollision,
};
use bevy_rapier_molecules::motion::time_of_impact::Wall;
use bevy_rapier_molecules::motion::{CollisionOutcome, CollisionPartner};
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

/// `along`³ ubiquitins in a box.
fn crowd(along: u32, seed: u64) -> BrownianMolecules {
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
    let mut crowd = BrownianMolecules::new(&[ubiquitin()], &molecules, walls, seed).unwrap();
    crowd.set_steps(BrownianSteps::Fine);
    crowd
}

/// A step with this standard deviation along each axis, s.
fn step_of(spread: f64) -> f64 {
    0.5 * spread * spread / Medium::default().translational(RADIUS_NM)
}

fn assert_no_overlaps(crowd: &BrownianMolecules, template: Arc<MoleculeTemplate>) {
    let body = DockingMolecule::new(template);
    for (a, one) in crowd.molecules().iter().enumerate() {
        for other in &crowd.molecules()[a + 1..] {
            assert!(overlapping_atoms(&body, &one.pose, &body, &other.pose).is_empty());
        }
    }
}

#[test]
fn atoms_never_overlap_in_fine_steps() {
    let mut crowd = crowd(4, 1);
    let (mut collisions, mut rejected, mut rested) = (0, 0, 0);
    // Steps up to a quarter of a molecule.
    for spread in [0.1, 0.4] {
        for _ in 0..40 {
            let report = crowd.step(step_of(spread)).unwrap();
            collisions += report.collisions;
            rejected += report.rejected;
            rested += report.rested;
            assert_no_overlaps(&crowd, ubiquitin());
        }
    }
    assert!(collisions > 500, "{collisions}");
    // Walls veto some moves.
    assert!(rejected < 64 * 80 / 5, "{rejected}");
    assert!(rested < 64 * 80 / 50, "{rested}");
}

#[test]
fn without_collisions_both_steps_are_the_same() {
    let molecules: Vec<_> = (0..27)
        .map(|k| {
            let pose = Pose::from_translation(Vec3::X * 50.0 * k as f32);
            BrownianMolecule::in_medium(0, pose, RADIUS_NM, &Medium::default())
        })
        .collect();
    let run = |steps: BrownianSteps| {
        let mut crowd = BrownianMolecules::new(&[ubiquitin()], &molecules, Vec::new(), 4).unwrap();
        crowd.join(3, 4).unwrap();
        crowd.set_steps(steps);
        for _ in 0..10 {
            crowd.step(step_of(0.2)).unwrap();
        }
        crowd.molecules().to_vec()
    };
    let [coarse, fine] = [BrownianSteps::Coarse, BrownianSteps::Fine].map(run);
    assert_eq!(coarse, fine);
    assert_ne!(coarse, molecules);
}

fn pair_of(collision: &ParticleCollision) -> Pair {
    match collision.other {
        CollisionPartner::Sphere(other) => Pair::new(collision.particle, other),
        CollisionPartner::Wall(_) => panic!("there are no walls"),
    }
}

/// Molecules of one atom on the same random paths as spheres have the same collisions and end at the
/// same places.
#[test]
fn single_atoms_move_as_hard_spheres_do() {
    let radius = 0.2_f32;
    let ball = template(vec![carbon(Vec3::ZERO, radius)]);
    let diffusion = 1.0e9;
    let mut collisions = 0;
    for seed in 0..60 {
        let positions: Vec<Vec3> = (0..27)
            .map(|k| [k % 3, k / 3 % 3, k / 9].map(|k| 0.55 * k as f32))
            .map(Vec3::from_array)
            .collect();
        let molecules: Vec<_> = positions
            .iter()
            .zip([1.0, 3.0].iter().cycle())
            .map(|(&position, factor)| BrownianMolecule {
                template: 0,
                pose: Pose::from_translation(position),
                diffusion: factor * diffusion,
                rotational_diffusion: 0.0,
            })
            .collect();
        let particles: Vec<_> = molecules
            .iter()
            .map(|one| BrownianParticle {
                radius: f64::from(radius),
                diffusion: one.diffusion,
                rotational_diffusion: 0.0,
            })
            .collect();
        let starts: Vec<DVec3> = positions.iter().map(|at| at.as_dvec3()).collect();
        let config = BrownianConfig {
            seed,
            ..BrownianConfig::default()
        };
        let mut spheres = BrownianParticles::new(&particles, &starts, config).unwrap();
        let mut atoms =
            BrownianMolecules::new(std::slice::from_ref(&ball), &molecules, Vec::new(), seed)
                .unwrap();
        atoms.set_steps(BrownianSteps::Fine);
        let dt = 0.5 * 0.12 * 0.12 / diffusion;
        let mut met = Vec::new();
        spheres
            .step(dt, &mut |one: &ParticleCollision| {
                met.push(pair_of(one));
                CollisionOutcome::Bounce
            })
            .unwrap();
        let mut met_atoms = Vec::new();
        atoms
            .step_with(dt, &mut |pair: Pair| {
                met_atoms.push(pair);
                CollisionOutcome::Bounce
            })
            .unwrap();
        // Almost simultaneous collisions may be in any order.
        met.sort_unstable();
        met_atoms.sort_unstable();
        assert_eq!(met, met_atoms, "scene {seed}");
        for (sphere, atom) in spheres.positions().iter().zip(atoms.molecules()) {
            // Atoms bounce a ten-thousandth of a nanometer apart; each further collision multiplies
            // the difference by up to ten.
            let off = sphere.distance(atom.pose.position.as_dvec3());
            assert!(off < 2.0e-2, "scene {seed}: {off}");
        }
        collisions += met.len();
    }
    assert!(collisions > 500, "{collisions}");
}

/// A hits B, and B therefore hits C in the same step (figure 4 of Johnson and Whalley).
#[test]
fn a_collision_that_follows_from_another_in_the_same_step_is_found() {
    let ball = template(vec![carbon(Vec3::ZERO, 0.2)]);
    let molecules = [0.0, 0.45, 0.9].map(|x| BrownianMolecule {
        template: 0,
        pose: Pose::from_translation(Vec3::X * x),
        diffusion: 1.0e9,
        rotational_diffusion: 0.0,
    });
    let meets_third = |kind: BrownianSteps, seed: u64| {
        let templates = std::slice::from_ref(&ball);
        let mut crowd = BrownianMolecules::new(templates, &molecules, Vec::new(), seed).unwrap();
        crowd.set_steps(kind);
        crowd.step(0.5 * 0.15 * 0.15 / 1.0e9).unwrap();
        crowd.collisions().contains(&Pair::new(1, 2))
    };
    let only_fine = (0..1000).filter(|&seed| {
        meets_third(BrownianSteps::Fine, seed) && !meets_third(BrownianSteps::Coarse, seed)
    });
    let count = only_fine.count();
    assert!(count > 5, "{count}");
}

/// Bounces keep the distribution of the moves: long after the start, molecules diffuse as fast in
/// fine steps of different lengths, which is not so in coarse ones.
#[test]
fn diffusion_depends_less_on_the_length_of_fine_steps() {
    let diffused = |kind: BrownianSteps, spread: f64| {
        let mut crowd = crowd(4, 3);
        crowd.set_steps(kind);
        let start = crowd.molecules().to_vec();
        // The same time in steps of each length.
        for _ in 0..(3.2 / (spread * spread)).round() as u32 {
            crowd.step(step_of(spread)).unwrap();
        }
        let squares = crowd.molecules().iter().zip(&start);
        let sum: f32 = squares
            .map(|(now, then)| now.pose.position.distance_squared(then.pose.position))
            .sum();
        f64::from(sum) / 64.0
    };
    let ratio = |kind| diffused(kind, 0.4) / diffused(kind, 0.1);
    let [coarse, fine] = [BrownianSteps::Coarse, BrownianSteps::Fine].map(ratio);
    assert!(coarse < 0.8 * fine, "{coarse} {fine}");
}

#[test]
fn fine_steps_are_bitwise_identical_on_any_number_of_threads_and_broad_phase() {
    let run = |threads: usize, is_brute: bool| {
        with_threads(threads, || {
            let mut crowd = crowd(3, 5);
            if is_brute {
                crowd.set_search(Box::new(BruteForce));
            }
            for _ in 0..20 {
                crowd.step(step_of(0.2)).unwrap();
            }
            let bits = |one: &BrownianMolecule| {
                let Pose { position, rotation } = one.pose;
                (
                    position.to_array().map(f32::to_bits),
                    rotation.to_array().map(f32::to_bits),
                )
            };
            let molecules: Vec<_> = crowd.molecules().iter().map(bits).collect();
            (molecules, crowd.collisions().to_vec())
        })
    };
    let first = run(1, false);
    assert!(!first.1.is_empty());
    assert_eq!(first, run(2, false));
    assert_eq!(first, run(2, true));
}

#[test]
fn molecules_stay_in_a_cage_in_long_fine_steps() {
    let mut atoms = Vec::new();
    for k in 0..11_i32.pow(3) {
        let cell = [k % 11, k / 11 % 11, k / 121].map(|k| 0.2 * (k - 5) as f32);
        if cell.iter().any(|at| at.abs() > 0.99) {
            atoms.push(carbon(Vec3::from_array(cell), 0.17));
        }
    }
    let rod = (-1..=1).map(|k| carbon(Vec3::X * 0.12 * k as f32, 0.1));
    let templates = [template(atoms), template(rod.collect())];
    let molecules = [(0, 1.0e8), (1, 1.0e9)].map(|(template, diffusion)| BrownianMolecule {
        template,
        pose: Pose::IDENTITY,
        diffusion,
        rotational_diffusion: diffusion,
    });
    let mut collisions = 0;
    for seed in 0..10 {
        let mut brownian =
            BrownianMolecules::new(&templates, &molecules, Vec::new(), seed).unwrap();
        brownian.set_steps(BrownianSteps::Fine);
        for _ in 0..20 {
            // Most free moves end outside.
            collisions += brownian.step(0.5 * 3.0 * 3.0 / 1.0e9).unwrap().collisions;
            let [cage, rod] = [0, 1].map(|k| brownian.molecules()[k].pose);
            let inside = cage.inverse_transform_point(rod.position);
            assert!(inside.abs().max_element() < 0.9, "{inside} in {seed}");
        }
    }
    assert!(collisions > 500, "{collisions}");
}

#[test]
fn rules_apply_to_fine_steps() {
    struct Rules(CollisionOutcome);
    impl MoveRules for Rules {
        fn collide(&mut self, _pair: Pair) -> CollisionOutcome {
            self.0
        }

        fn may_move(&self, molecule: u32, _from: &Pose, to: &Pose) -> bool {
            molecule != 13 && to.position.x < 11.5
        }
    }
    for outcome in [
        CollisionOutcome::Bounce,
        CollisionOutcome::Stick,
        CollisionOutcome::Pass,
    ] {
        let mut crowd = crowd(3, 2);
        let start = crowd.molecules().to_vec();
        let mut rules = Rules(outcome);
        let (mut collisions, mut stuck) = (0, 0);
        for _ in 0..40 {
            let report = crowd.step_with(step_of(0.2), &mut rules).unwrap();
            collisions += report.collisions;
            stuck += report.stuck;
            let limit = |one: &BrownianMolecule| one.pose.position.x < 11.5;
            assert!(crowd.molecules().iter().all(limit));
        }
        assert!(collisions > 10, "{outcome:?} {collisions}");
        assert_eq!(crowd.molecules()[13].pose, start[13].pose);
        assert_ne!(crowd.molecules()[4].pose, start[4].pose);
        assert_eq!(stuck > 3, outcome == CollisionOutcome::Stick);
        if outcome != CollisionOutcome::Pass {
            assert_no_overlaps(&crowd, ubiquitin());
        }
    }
}

#[test]
fn overlapping_molecules_separate_in_fine_steps() {
    let ball = template(vec![carbon(Vec3::ZERO, 0.2)]);
    let at = |x: f32| BrownianMolecule {
        template: 0,
        pose: Pose::from_translation(Vec3::X * x),
        diffusion: 1.0e9,
        rotational_diffusion: 0.0,
    };
    let mut brownian = BrownianMolecules::new(&[ball], &[at(0.0), at(0.1)], Vec::new(), 3).unwrap();
    brownian.set_steps(BrownianSteps::Fine);
    for _ in 0..100 {
        brownian.step(0.5 * 0.1 * 0.1 / 1.0e9).unwrap();
    }
    let [one, other] = [0, 1].map(|k| brownian.molecules()[k].pose.position);
    assert!(one.distance(other) > 0.4);
}
