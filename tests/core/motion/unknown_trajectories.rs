//! Spheres with unknown trajectories: no collision is missed.

use bevy_rapier_molecules::motion::unknown_trajectories::{
    CollisionDetector, Contact, SphereMotion, TimeVaryingConfig, TimeVaryingDetector,
};
use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};
use rayon::prelude::*;

use crate::common::thread_pool::with_threads;
use crate::motion::fine_step_reference::{
    FRAME, FRAMES, assert_same, contact_list, contacts, hubbard, reference, scene, time_varying,
};

/// Number of scenes compared.
const SCENES: u64 = 100;

#[test]
fn both_detectors_agree_with_steps_a_thousand_times_finer() {
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
    assert!(total > 1000, "only {total} contacts");
}

#[test]
fn spheres_never_overlap_by_more_than_the_tolerance() {
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
            let positions: Vec<_> = (0..spheres.len() as u32)
                .map(|sphere| motion.probe(sphere, now).position)
                .collect();
            for (a, one) in positions.iter().enumerate() {
                for (b, other) in positions.iter().enumerate().skip(a + 1) {
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
fn spheres_stay_inside_their_bounds() {
    let mut motion = scene(7);
    let mut detector = time_varying(&mut motion);
    for step in 1..=500 {
        let now = f64::from(step) * 2.0e-3;
        detector.advance(now, &mut motion).unwrap();
        for sphere in 0..12 {
            let bound = detector.bound(sphere).unwrap();
            let deviation = motion
                .probe(sphere, now)
                .position
                .distance(bound.center_at(now));
            assert!(deviation + bound.radius <= bound.radius_at(now) + 1.0e-9);
        }
    }
    assert!(detector.counts().resetting + detector.counts().colliding > 30);
}

#[test]
fn contacts_do_not_depend_on_frames_or_cell_size() {
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
    assert_same(3, &expected, &contact_list(&motion));
    assert!(detector.cell_sizes().count() > 1);
}

#[test]
fn contacts_are_bitwise_identical_on_any_number_of_threads() {
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
            let entry = |contact: &Contact| {
                let Contact { sphere, other, .. } = *contact;
                (sphere, other, contact.time.to_bits())
            };
            motion.contacts().iter().map(entry).collect::<Vec<_>>()
        })
    };
    let contacts = run(1);
    assert!(contacts.len() > 500 && contacts == run(2));
}
