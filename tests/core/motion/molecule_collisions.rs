//! Molecules that an engine moves step by step: when do their atoms meet?

use std::sync::Arc;

use bevy_rapier_molecules::docking::{DockingMolecule, is_free};
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::motion::molecule_collisions::{MoleculeCollisionDetector, MovingPose};
use bevy_rapier_molecules::motion::{MotionError, OverlapShape};
use bevy_rapier_molecules::pose::Pose;
use glam::{DVec3, Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Acceleration of everyone, nm/s².
const GRAVITY: DVec3 = DVec3::new(0.0, -20.0, 0.0);

/// Length of a step, s.
const DT: f64 = 1.0 / 60.0;

fn ubiquitin() -> Arc<MoleculeTemplate> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/1ubq.cif");
    Arc::new(load(path, &LoadOptions::default()).unwrap())
}

/// Molecules that fly through each other, as an engine moves them.
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
fn everyone_who_touches_at_the_end_of_a_step_has_met() {
    let template = ubiquitin();
    let body = DockingMolecule::new(template.clone());
    let shape = Arc::new(OverlapShape::new(template).unwrap());
    let mut meetings = 0;
    for seed in 0..10 {
        let mut flight = Flight::new(24, seed);
        let bounds = vec![(shape.clone(), GRAVITY.length()); 24];
        let mut watch = MoleculeCollisionDetector::new(&bounds, &flight.now, 0.0).unwrap();
        let touch = |places: &[MovingPose], a: u32, b: u32| {
            let [one, other] = [a, b].map(|k| places[k as usize].pose);
            !is_free(&body, &one, &body, &other)
        };
        for step in 0..90 {
            let starts = flight.step();
            let before: Vec<bool> = (0..24 * 24)
                .map(|k| watch.are_touching(k / 24, k % 24))
                .collect();
            let met = watch.step(DT, &starts, &flight.now).unwrap().to_vec();
            let begin = f64::from(step) * DT;
            assert!(met.is_sorted_by_key(|meeting| meeting.time));
            for meeting in &met {
                assert!((begin - 1.0e-9..=begin + DT + 1.0e-9).contains(&meeting.time));
            }
            for a in 0..24 {
                for b in a + 1..24 {
                    let now = touch(&flight.now, a, b);
                    let new = now && !touch(&starts, a, b);
                    let told = met.iter().any(|meeting| (meeting.a, meeting.b) == (a, b));
                    // A thousandth of a nanometer is as good as touching.
                    let touched = before[(a * 24 + b) as usize];
                    assert!(told || !new || touched, "{a} {b} in {seed}");
                    assert!(!now || watch.are_touching(a, b), "{a} {b} in {seed}");
                }
            }
            meetings += met.len();
        }
    }
    assert!(meetings > 30, "{meetings}");
}

#[test]
fn kicks_and_jumps_are_noticed() {
    let shape = Arc::new(OverlapShape::new(ubiquitin()).unwrap());
    let at = |x: f32, speed: f64| MovingPose {
        pose: Pose::from_translation(Vec3::X * x),
        velocity: DVec3::X * speed,
    };
    let bounds = vec![(shape, 0.0); 2];
    let mut watch =
        MoleculeCollisionDetector::new(&bounds, &[at(0.0, 0.0), at(50.0, 0.0)], 0.0).unwrap();
    let rest = [at(0.0, 0.0), at(50.0, 0.0)];
    assert!(watch.step(0.1, &rest, &rest).unwrap().is_empty());
    // Kicked to 300 nm/s within the step.
    let kicked = [at(0.0, 0.0), at(20.0, -300.0)];
    assert!(watch.step(0.1, &rest, &kicked).unwrap().is_empty());
    // Put into each other.
    let together = [at(0.0, 0.0), at(1.0, 0.0)];
    let met = watch.step(0.1, &kicked, &together).unwrap();
    assert_eq!(met.len(), 1);
    assert!((0.2..0.3).contains(&met[0].time), "{}", met[0].time);
    assert!(watch.step(0.1, &together, &together).unwrap().is_empty());
    // And elsewhere between two steps.
    let away = [at(0.0, 0.0), at(9.0, 0.0)];
    assert!(watch.step(0.1, &away, &away).unwrap().is_empty());
    assert!(!watch.are_touching(0, 1));
    assert_eq!(watch.step(0.1, &away, &together).unwrap().len(), 1);
    assert!(watch.step(0.1, &away, &away).unwrap().is_empty());
    assert_eq!(watch.step(0.1, &together, &together).unwrap().len(), 1);
}

#[test]
fn steps_that_are_none_are_refused() {
    let shape = Arc::new(OverlapShape::new(ubiquitin()).unwrap());
    let places = [MovingPose::default()];
    let mut watch = MoleculeCollisionDetector::new(&[(shape.clone(), 1.0)], &places, 0.0).unwrap();
    assert!(watch.step(0.0, &places, &places).is_err());
    let error = watch.step(0.1, &places, &[]).unwrap_err();
    assert_eq!(error, MotionError::CountMismatch { given: 0, count: 1 });
    let said = "0 places were given for 1 spheres or molecules: each needs one";
    assert_eq!(error.to_string(), said);
    assert!(MoleculeCollisionDetector::new(&[(shape, f64::NAN)], &places, 0.0).is_err());
}
