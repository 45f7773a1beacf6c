//! Spheres whose ways are unknown: no collision is missed.

use bevy_rapier_molecules::motion::unknown_trajectories::{
    CollisionDetector, Contact, SphereMotion, TimeVaryingConfig, TimeVaryingDetector,
};
use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};
use rayon::prelude::*;

use crate::common::thread_pool::with_threads;
use crate::motion::reference::{
    FRAME, FRAMES, assert_same, contacts, hubbard, reference, scene, time_varying,
};

/// Scenes that are compared.
const SCENES: u64 = 100;

#[test]
fn both_detectors_find_what_steps_a_thousand_times_finer_find() {
    let total: usize = (0..SCENES)
        .into_par_iter()
        .map(|seed| {
            let expected = reference(scene(seed));
            let found = contacts(scene(seed), |motion| Box::new(time_varying(motion)));
            assert_same(seed, &expected, &found);
            let found = contacts(scene(seed), |motion| Box::new(hubbard(motion)));
            assert_same(seed, &expected, &found);
            expected.len()
        })
        .sum();
    assert!(
        total > 1000,
        "{total} contacts are too few to mean anything"
    );
}

/// Looked at ten times in each mean interval between probes, no two of many spheres of
/// very different sizes ever overlap by more than a little above the tolerance.
#[test]
fn nobody_is_ever_deeper_than_the_tolerance() {
    for side in [None, Some(5.0), Some(80.0)] {
        let config = ForcedSpheresConfig {
            count: 300,
            side: 120.0,
            ..ForcedSpheresConfig::default()
        };
        let mut motion = ForcedSpheres::new(&config).unwrap();
        let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
        let settings = TimeVaryingConfig {
            finest_cell_size: side,
            ..TimeVaryingConfig::default()
        };
        let mut detector =
            TimeVaryingDetector::new(&spheres, walls.clone(), &settings, 0.0, &mut motion).unwrap();
        let mut deepest = f64::NEG_INFINITY;
        for step in 1..=1000 {
            let now = f64::from(step) * 1.0e-3;
            detector.advance(now, &mut motion).unwrap();
            let places: Vec<_> = (0..spheres.len() as u32)
                .map(|sphere| motion.probe(sphere, now).position)
                .collect();
            for (a, one) in places.iter().enumerate() {
                for (b, other) in places.iter().enumerate().skip(a + 1) {
                    let reach = spheres[a].radius + spheres[b].radius;
                    deepest = deepest.max(reach - one.distance(*other));
                }
                for wall in &walls {
                    deepest = deepest.max(spheres[a].radius - wall.signed_distance(*one).distance);
                }
            }
        }
        assert!(deepest < 1.1 * settings.tolerance, "{deepest}");
        assert!(motion.contacts().len() > 500);
    }
}

#[test]
fn the_real_sphere_is_always_inside_of_its_bound() {
    let mut motion = scene(7);
    let mut detector = time_varying(&mut motion);
    for step in 1..=500 {
        let now = f64::from(step) * 2.0e-3;
        detector.advance(now, &mut motion).unwrap();
        for sphere in 0..12 {
            let bound = detector.bound(sphere).unwrap();
            let off = motion
                .probe(sphere, now)
                .position
                .distance(bound.center_at(now));
            assert!(off + bound.radius <= bound.radius_at(now) + 1.0e-9);
        }
    }
    assert!(detector.counts().resetting + detector.counts().colliding > 30);
}

/// Contacts do not depend on where one stops to look, nor on how space is cut.
#[test]
fn frames_and_subspaces_change_nothing_but_rounding() {
    let expected = contacts(scene(3), |motion| Box::new(time_varying(motion)));
    let mut motion = scene(3);
    let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
    let config = TimeVaryingConfig {
        tolerance: 1.0e-9,
        finest_cell_size: Some(1.0),
    };
    let mut detector =
        TimeVaryingDetector::new(&spheres, walls, &config, 0.0, &mut motion).unwrap();
    detector
        .advance(FRAME * FRAMES as f64, &mut motion)
        .unwrap();
    let found: Vec<_> = motion
        .contacts()
        .iter()
        .map(|contact| (contact.sphere, contact.other, contact.time))
        .collect();
    assert_same(3, &expected, &found);
    assert!(detector.cell_sizes().count() > 1);
}

#[test]
fn one_thread_and_two_give_the_same_contacts_to_the_last_bit() {
    let run = |threads: usize| {
        with_threads(threads, || {
            let config = ForcedSpheresConfig {
                count: 300,
                side: 120.0,
                seed: 4,
                ..ForcedSpheresConfig::default()
            };
            let mut motion = ForcedSpheres::new(&config).unwrap();
            let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
            let settings = TimeVaryingConfig::default();
            let mut detector =
                TimeVaryingDetector::new(&spheres, walls, &settings, 0.0, &mut motion).unwrap();
            detector.advance(2.0, &mut motion).unwrap();
            let met = |contact: &Contact| {
                let Contact { sphere, other, .. } = *contact;
                (sphere, other, contact.time.to_bits())
            };
            motion.contacts().iter().map(met).collect::<Vec<_>>()
        })
    };
    let contacts = run(1);
    assert!(contacts.len() > 500 && contacts == run(2));
}
