//! Collisions of molecules that an engine moves step by step.

use std::sync::Arc;

use bevy_rapier_molecules::docking::{DockingMolecule, is_free};
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::motion::molecule_collisions::{MoleculeCollisionDetector, MovingPose};
use bevy_rapier_molecules::motion::{MotionError, OverlapShape};
use bevy_rapier_molecules::pose::Pose;
use glam::{DVec3, Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Acceleration of all molecules, nm/s².
const GRAVITY: DVec3 = DVec3::new(0.0, -20.0, 0.0);

/// Length of a step, s.
const DT: f64 = 1.0 / 60.0;

fn ubiquitin() -> Arc<MoleculeTemplate> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/1ubq.cif");
    Arc::new(load(path, &LoadOptions::default()).unwrap())
}

/// Molecules that fly through each other.
struct Flight {
    now: Vec<MovingPose>,
    spins: Vec<Vec3>,
}

impl Flight {
    fn new(count: u32, seed: u64) -> Self {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut vector = |size: f32| {
            Vec3::from_array([(); 3].map(|()| size * (2.0 * random.random::<f32>() - 1.0)))
        };
        let now = (0..count).map(|_| MovingPose {
            pose: Pose::from_translation(vector(14.0)),
            velocity: vector(20.0).as_dvec3(),
        });
        let now = now.collect();
        let spins = (0..count).map(|_| vector(3.0)).collect();
        Self { now, spins }
    }

    fn step(&mut self) -> Vec<MovingPose> {
        let start = self.now.clone();
        for (one, spin) in self.now.iter_mut().zip(&self.spins) {
            one.velocity += DT * GRAVITY;
            one.pose.position += (DT * one.velocity).as_vec3();
            let turn = Quat::from_scaled_axis(DT as f32 * *spin);
            one.pose.rotation = (turn * one.pose.rotation).normalize();
        }
        start
    }
}

#[test]
fn molecules_that_touch_at_the_end_of_a_step_have_collided() {
    let template = ubiquitin();
    let body = DockingMolecule::new(template.clone());
    let shape = Arc::new(OverlapShape::new(template).unwrap());
    let mut total = 0;
    for seed in 0..10 {
        let mut flight = Flight::new(24, seed);
        let bounds = vec![(shape.clone(), GRAVITY.length()); 24];
        let mut detector = MoleculeCollisionDetector::new(&bounds, &flight.now, 0.0).unwrap();
        let touch = |poses: &[MovingPose], a: u32, b: u32| {
            let [one, other] = [a, b].map(|k| poses[k as usize].pose);
            !is_free(&body, &one, &body, &other)
        };
        for step in 0..90 {
            let starts = flight.step();
            let before: Vec<bool> = (0..24 * 24)
                .map(|k| detector.are_touching(k / 24, k % 24))
                .collect();
            let collisions = detector.step(DT, &starts, &flight.now).unwrap().to_vec();
            let begin = f64::from(step) * DT;
            assert!(collisions.is_sorted_by_key(|collision| collision.time));
            for collision in &collisions {
                assert!((begin - 1.0e-9..=begin + DT + 1.0e-9).contains(&collision.time));
            }
            for a in 0..24 {
                for b in a + 1..24 {
                    let now = touch(&flight.now, a, b);
                    let is_new = now && !touch(&starts, a, b);
                    let reported = collisions.iter().any(|one| (one.a, one.b) == (a, b));
                    // Gaps within the touch tolerance may already count as touching.
                    let touched = before[(a * 24 + b) as usize];
                    assert!(reported || !is_new || touched, "{a} {b} in {seed}");
                    assert!(!now || detector.are_touching(a, b), "{a} {b} in {seed}");
                }
            }
            total += collisions.len();
        }
    }
    assert!(total > 30, "{total}");
}

#[test]
fn molecules_that_fly_through_each_other_within_a_step_have_collided() {
    let shape = Arc::new(OverlapShape::new(ubiquitin()).unwrap());
    let at = |x: f32, spin: f32| MovingPose {
        pose: Pose::new(Vec3::X * x, Quat::from_rotation_z(spin)),
        velocity: DVec3::X * 1200.0,
    };
    let rest = MovingPose::default();
    for turn in [0.0, 1.0, -3.0] {
        let mut detector = MoleculeCollisionDetector::new(
            &[(shape.clone(), 0.0), (shape.clone(), 0.0)],
            &[rest, at(-10.0, 0.0)],
            0.0,
        )
        .unwrap();
        // From one side to the other; at both ends even the bounding spheres are far apart.
        let (starts, ends) = ([rest, at(-10.0, 0.0)], [rest, at(10.0, turn)]);
        let met = detector.step(DT, &starts, &ends).unwrap().to_vec();
        assert_eq!(met.len(), 1, "turning by {turn}");
        let traveled = 20.0 * met[0].time / DT;
        assert!((6.0..9.5).contains(&traveled), "{traveled} nm");
        assert!(!detector.are_touching(0, 1), "they have separated again");
        // And back, slower than the engine said.
        assert_eq!(detector.step(DT, &ends, &starts).unwrap().len(), 1);
        // Past each other.
        let aside = |pose: MovingPose| MovingPose {
            pose: Pose::new(pose.pose.position + Vec3::Y * 8.0, pose.pose.rotation),
            ..pose
        };
        let [starts, ends] = [starts, ends].map(|[one, other]| [one, aside(other)]);
        assert!(detector.step(DT, &starts, &ends).unwrap().is_empty());
    }
}

#[test]
fn kicks_and_teleports_are_handled() {
    let shape = Arc::new(OverlapShape::new(ubiquitin()).unwrap());
    let at = |x: f32, speed: f64| MovingPose {
        pose: Pose::from_translation(Vec3::X * x),
        velocity: DVec3::X * speed,
    };
    let bounds = vec![(shape, 0.0); 2];
    let mut detector =
        MoleculeCollisionDetector::new(&bounds, &[at(0.0, 0.0), at(50.0, 0.0)], 0.0).unwrap();
    let rest = [at(0.0, 0.0), at(50.0, 0.0)];
    assert!(detector.step(0.1, &rest, &rest).unwrap().is_empty());
    // Kicked to 300 nm/s in the step.
    let kicked = [at(0.0, 0.0), at(20.0, -300.0)];
    assert!(detector.step(0.1, &rest, &kicked).unwrap().is_empty());
    // Teleported into each other.
    let together = [at(0.0, 0.0), at(1.0, 0.0)];
    let met = detector.step(0.1, &kicked, &together).unwrap();
    assert_eq!(met.len(), 1);
    assert!((0.2..0.3).contains(&met[0].time), "{}", met[0].time);
    assert!(detector.step(0.1, &together, &together).unwrap().is_empty());
    // Teleported between two steps.
    let away = [at(0.0, 0.0), at(9.0, 0.0)];
    assert!(detector.step(0.1, &away, &away).unwrap().is_empty());
    assert!(!detector.are_touching(0, 1));
    assert_eq!(detector.step(0.1, &away, &together).unwrap().len(), 1);
    assert!(detector.step(0.1, &away, &away).unwrap().is_empty());
    assert_eq!(detector.step(0.1, &together, &together).unwrap().len(), 1);
}

#[test]
fn invalid_steps_are_errors() {
    let shape = Arc::new(OverlapShape::new(ubiquitin()).unwrap());
    let poses = [MovingPose::default()];
    let mut detector =
        MoleculeCollisionDetector::new(&[(shape.clone(), 1.0)], &poses, 0.0).unwrap();
    assert!(detector.step(0.0, &poses, &poses).is_err());
    let error = detector.step(0.1, &poses, &[]).unwrap_err();
    assert_eq!(error, MotionError::CountMismatch { given: 0, count: 1 });
    let message = "expected one position for each of 1 spheres or molecules, got 0";
    assert_eq!(error.to_string(), message);
    assert!(MoleculeCollisionDetector::new(&[(shape, f64::NAN)], &poses, 0.0).is_err());
}
