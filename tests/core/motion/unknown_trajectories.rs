//! Spheres with unknown trajectories: no collision is missed.

use bevy_rapier_molecules::motion::CollisionPartner;
use bevy_rapier_molecules::motion::time_of_impact::{Wall, WallSide};
use bevy_rapier_molecules::motion::unknown_trajectories::{
    CollisionDetector, Contact, HubbardSweep, SphereMotion, TimeVaryingConfig, TimeVaryingDetector,
    TimeVaryingRules,
};
use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};
use glam::DVec3;
use rayon::prelude::*;

use crate::common::thread_pool::with_threads;
use crate::motion::fine_step_reference::{
    ContactEntry, FRAME, FRAMES, assert_same, contact_list, contacts, hubbard, reference, scene,
    time_varying, time_varying_between,
};

/// Number of scenes compared.
const SCENES: u64 = 100;

/// Sweeps and durations of space-time bounds, s: shorter and longer than a frame, and longer
/// than the scene.
const SPACE_TIME_BOUNDS: [(HubbardSweep, f64); 4] = [
    (HubbardSweep::FirstOverlap, 0.005),
    (HubbardSweep::FirstOverlap, 0.1),
    (HubbardSweep::FirstOverlap, 1.0),
    (HubbardSweep::Full, 0.1),
];

/// Compares all detectors with the reference; returns the contacts.
fn compare(seed: u64, walls: &[Wall]) -> Vec<ContactEntry> {
    let expected = reference(scene(seed), walls);
    for rules in [TimeVaryingRules::FirstEnd, TimeVaryingRules::Published] {
        let found = contacts(scene(seed), |motion| {
            Box::new(time_varying_between(walls.to_vec(), rules, motion))
        });
        assert_same(seed, &expected, &found);
    }
    for bounds in SPACE_TIME_BOUNDS {
        let found = contacts(scene(seed), |motion| {
            Box::new(hubbard(walls.to_vec(), bounds, motion))
        });
        assert_same(seed, &expected, &found);
    }
    expected
}

#[test]
fn all_detectors_agree_with_steps_a_thousand_times_finer() {
    let total: usize = (0..SCENES)
        .into_par_iter()
        .map(|seed| compare(seed, &scene(seed).walls()).len())
        .sum();
    assert!(total > 1000, "only {total} contacts");
}

#[test]
fn all_detectors_agree_on_contacts_with_blocks_balls_and_slopes() {
    let center = DVec3::splat(6.0);
    let obstacles = [
        Wall::Cuboid {
            low: DVec3::new(5.5, 5.0, 4.0),
            high: DVec3::new(6.5, 7.0, 8.0),
        },
        Wall::Ball {
            center: DVec3::new(3.0, 9.0, 3.0),
            radius: 0.7,
            side: WallSide::Outside,
        },
        Wall::Ball {
            center,
            radius: 9.0,
            side: WallSide::Inside,
        },
        Wall::Plane {
            normal: DVec3::new(0.0, 0.6, 0.8),
            offset: 1.5,
        },
    ];
    let is_clear = |seed: &u64| {
        let mut motion = scene(*seed);
        let spheres = motion.spheres().to_vec();
        spheres.iter().zip(0..).all(|(sphere, index)| {
            let position = motion.probe(index, 0.0).position;
            let distances = obstacles.iter().map(|wall| wall.signed_distance(position));
            distances.map(|at| at.distance).fold(f64::MAX, f64::min) > sphere.radius
        })
    };
    let seeds: Vec<u64> = (0..5 * SCENES).filter(is_clear).take(40).collect();
    assert_eq!(seeds.len(), 40);
    let contacts = seeds.into_par_iter().flat_map_iter(|seed| {
        let mut walls = scene(seed).walls();
        walls.extend_from_slice(&obstacles);
        compare(seed, &walls)
    });
    let mut hits = [0; 10];
    for (_, partner, _) in contacts.collect::<Vec<_>>() {
        if let CollisionPartner::Wall(wall) = partner {
            hits[wall as usize] += 1;
        }
    }
    assert!(hits.into_iter().min() > Some(5), "{hits:?}");
}

#[test]
fn published_rules_queue_every_collision_before_a_reset() {
    let run = |rules| {
        let mut motion = scene(5);
        let walls = motion.walls();
        let mut detector = time_varying_between(walls, rules, &mut motion);
        detector
            .advance(FRAME * FRAMES as f64, &mut motion)
            .unwrap();
        detector
    };
    let [lean, published] = [TimeVaryingRules::FirstEnd, TimeVaryingRules::Published].map(run);
    assert!(published.counts().queued > lean.counts().queued);
    let radii = scene(5);
    let largest = radii.spheres().iter().map(|one| one.radius);
    let largest = largest.fold(0.0, f64::max);
    assert!(published.cell_sizes().last() >= Some(4.0 * largest));
    // Each plane of faces belongs to at least one cell that is entered or left.
    for counts in [lean.counts(), published.counts()] {
        assert!(counts.entering > 0 && counts.entered_cells >= counts.entering);
        assert!(counts.leaving > 0 && counts.left_cells >= counts.leaving);
    }
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
        ..TimeVaryingConfig::default()
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
