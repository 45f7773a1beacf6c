//! Sweeps until the first contact.

use bevy_rapier_molecules::docking::{
    CONTACT_TOLERANCE_NM, DockingError, DockingMolecule, DockingPair, RigidMotion, is_free,
};
use bevy_rapier_molecules::pose::Pose;
use glam::{DVec3, Quat, Vec3};
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::docking::fixtures::{
    atoms, ball, gaps, ligand_and_receptor, molecule, random_motion, random_pose, random_vector,
    smallest_gap,
};

/// Number of samples on the path that must be free.
const SAMPLES: u32 = 24;

/// Rounding of poses, nm.
const ROUNDING_NM: f64 = 5.0e-6;

/// Checks the invariants of a sweep and returns whether there was a contact.
fn check(
    moving: &DockingMolecule,
    pose: &Pose,
    fixed: &DockingMolecule,
    motion: &RigidMotion,
) -> bool {
    let fixed_pose = Pose::IDENTITY;
    let report = DockingPair::new(moving, *pose, fixed, fixed_pose)
        .sweep(motion)
        .unwrap();
    assert!((0.0..=1.0).contains(&report.fraction));
    let gap = smallest_gap(moving, &report.pose, fixed, &fixed_pose);
    assert!(gap > 0.0, "overlaps by {gap} nm");
    for sample in 0..=SAMPLES {
        let fraction = report.fraction * f64::from(sample) / f64::from(SAMPLES);
        let between = motion.pose_at(pose, fraction);
        assert!(
            is_free(moving, &between, fixed, &fixed_pose),
            "overlap at {fraction} of {}",
            report.fraction
        );
    }
    let touched = !report.pairs.is_empty();
    if touched {
        assert!(
            gap <= f64::from(CONTACT_TOLERANCE_NM) + ROUNDING_NM,
            "stopped {gap} nm short"
        );
        assert!((report.normal.unwrap().length() - 1.0).abs() < 1.0e-5);
    } else {
        assert_eq!(report.fraction, 1.0);
    }
    touched
}

/// A random free pose near the receptor.
fn free_pose(random: &mut Pcg64, moving: &DockingMolecule, fixed: &DockingMolecule) -> Pose {
    loop {
        let pose = random_pose(random, 3.5);
        if smallest_gap(moving, &pose, fixed, &Pose::IDENTITY) > 1.0e-5 {
            return pose;
        }
    }
}

#[test]
fn sweeps_end_at_the_surface_without_overlap() {
    let (ligand, receptor) = ligand_and_receptor();
    let mut random = Pcg64::seed_from_u64(3);
    let mut touched = 0;
    for turn in 0..10_000 {
        let pose = free_pose(&mut random, &ligand, &receptor);
        let motion = random_motion(&mut random);
        if turn % 3 == 0 {
            // The receptor moves instead.
            let inverse = pose.rotation.inverse();
            let relative = Pose::new(inverse * -pose.position, inverse);
            if smallest_gap(&receptor, &relative, &ligand, &Pose::IDENTITY) > 1.0e-5 {
                touched += usize::from(check(&receptor, &relative, &ligand, &motion));
            }
        } else {
            touched += usize::from(check(&ligand, &pose, &receptor, &motion));
        }
    }
    assert!(touched > 1000, "{touched}");
}

/// First fraction of a translation at which two balls are `reach` apart.
fn first_contact(offset: DVec3, motion: DVec3, reach: f64) -> Option<f64> {
    // |offset + motion t| = reach.
    let (a, b) = (motion.length_squared(), offset.dot(motion));
    let c = offset.length_squared() - reach * reach;
    let root = b * b - a * c;
    (b < 0.0 && root >= 0.0).then(|| c / (-b + root.sqrt()))
}

#[test]
fn translations_agree_with_the_closed_form() {
    let (ligand, receptor) = ligand_and_receptor();
    let mut random = Pcg64::seed_from_u64(4);
    let mut touched = 0;
    for _ in 0..1500 {
        let pose = free_pose(&mut random, &ligand, &receptor);
        let longest = if touched % 2 == 0 { 5.0 } else { 100.0 };
        let motion = RigidMotion::translation(random_vector(&mut random, longest));
        let report = DockingPair::new(&ligand, pose, &receptor, Pose::IDENTITY)
            .sweep(&motion)
            .unwrap();
        let (one, other) = (atoms(&ligand, &pose), atoms(&receptor, &Pose::IDENTITY));
        let step = motion.translation.as_dvec3();
        // The sweep may stop anywhere between tolerance and contact.
        let first = |margin: f64| {
            let times = one.iter().flat_map(|(position, radius)| {
                other.iter().filter_map(move |(center, other_radius)| {
                    first_contact(*position - *center, step, radius + other_radius + margin)
                })
            });
            times.fold(1.0, f64::min)
        };
        let (early, late) = (
            first(f64::from(CONTACT_TOLERANCE_NM) + ROUNDING_NM),
            first(0.0),
        );
        assert!(
            report.fraction >= early.min(1.0) - 1.0e-9 && report.fraction <= late,
            "{} is not in {early}..{late}",
            report.fraction
        );
        touched += usize::from(!report.pairs.is_empty());
    }
    assert!(touched > 300, "{touched}");
}

#[test]
fn balls_stop_at_the_contact_at_any_speed() {
    let (one, other) = (ball(0.15), ball(0.2));
    let start = Pose::new(Vec3::new(-10.0, 0.1, 0.0), Quat::IDENTITY);
    for length in [20.0_f32, 1.0e4, 1.0e12] {
        let motion = RigidMotion::translation(Vec3::X * length);
        let report = DockingPair::new(&one, start, &other, Pose::IDENTITY)
            .sweep(&motion)
            .unwrap();
        let meeting = 10.0 - (0.35_f64 * 0.35 - 0.01).sqrt();
        let traveled = report.fraction * f64::from(length);
        assert!(
            traveled < meeting && meeting - traveled < 2.0e-4,
            "{traveled}"
        );
        assert_eq!(report.pairs.len(), 1);
        assert!(report.normal.unwrap().x < -0.9);
    }
}

#[test]
fn rotating_arm_stops_at_a_pin() {
    let arm = molecule("p_xylene.pdb");
    let pin = ball(0.05);
    let template = arm.template();
    // Rotate the outermost atom towards a pin.
    let (far, position) = template
        .positions()
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.length().total_cmp(&b.1.length()))
        .unwrap();
    let axis = position.any_orthonormal_vector();
    let ahead = Quat::from_axis_angle(axis, 1.2) * *position;
    let fixed = Pose::new(ahead * 1.2, Quat::IDENTITY);
    for turn in [3.0_f32, 60.0, 6000.0] {
        let motion = RigidMotion::rotation(axis * turn);
        let start = Pose::IDENTITY;
        let report = DockingPair::new(&arm, start, &pin, fixed)
            .sweep(&motion)
            .unwrap();
        let gap = smallest_gap(&arm, &report.pose, &pin, &fixed);
        assert!(gap > 0.0 && gap < 1.1e-4, "{gap} after {}", report.fraction);
        assert!(
            report.fraction * f64::from(turn) < 1.2,
            "atom {far} passed the pin"
        );
    }
}

#[test]
fn touching_molecule_may_leave_or_slide_but_not_penetrate() {
    let (one, other) = (ball(0.1), ball(0.1));
    let start = Pose::from_translation(Vec3::new(-1.0, 0.0, 0.0));
    let fixed_pose = Pose::IDENTITY;
    let there = RigidMotion::translation(Vec3::X);
    let touch = DockingPair::new(&one, start, &other, fixed_pose)
        .sweep(&there)
        .unwrap();
    assert_eq!(touch.pairs.len(), 1);
    for (step, free) in [
        (Vec3::NEG_X, true),
        (Vec3::Y, true),
        (Vec3::new(-0.01, -1.0, 0.0), true),
        (Vec3::X, false),
        (Vec3::new(0.5, 1.0, 0.0), false),
    ] {
        let motion = RigidMotion::translation(step);
        let next = DockingPair::new(&one, touch.pose, &other, fixed_pose)
            .sweep(&motion)
            .unwrap();
        assert_eq!(next.fraction == 1.0, free, "{step}");
        if !free {
            assert!(next.fraction < 1.0e-3, "{}", next.fraction);
        }
        assert!(
            gaps(&atoms(&one, &next.pose), &atoms(&other, &fixed_pose))
                .all(|(_, _, gap)| gap > 0.0)
        );
    }
}

#[test]
fn invalid_input_is_an_error() {
    let (one, other) = (ball(0.1), ball(0.1));
    let fixed_pose = Pose::IDENTITY;
    let inside = Pose::from_translation(Vec3::X * 0.15);
    let go = |pose: &Pose, motion: RigidMotion, tolerance: f32| {
        let pair = DockingPair {
            tolerance,
            ..DockingPair::new(&one, *pose, &other, fixed_pose)
        };
        pair.sweep(&motion)
    };
    let error = go(&inside, RigidMotion::default(), CONTACT_TOLERANCE_NM).unwrap_err();
    let DockingError::StartsOverlapping {
        moving: 0,
        fixed: 0,
        penetration,
    } = error
    else {
        panic!("{error}");
    };
    assert!((penetration - 0.05).abs() < 1.0e-6);
    assert!(error.to_string().contains("start from a free pose"));
    let away = Pose::from_translation(Vec3::X);
    let bad = RigidMotion::translation(Vec3::splat(f32::NAN));
    assert!(matches!(
        go(&away, bad, CONTACT_TOLERANCE_NM),
        Err(DockingError::NotFinite)
    ));
    let infinite = Pose::from_translation(Vec3::INFINITY);
    let no_rotation = Pose::new(Vec3::X, Quat::from_xyzw(0.0, 0.0, 0.0, 0.0));
    for bad in [infinite, no_rotation] {
        assert!(matches!(
            go(&bad, RigidMotion::default(), CONTACT_TOLERANCE_NM),
            Err(DockingError::BadPose { .. })
        ));
    }
    for tolerance in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(matches!(
            go(&away, RigidMotion::default(), tolerance),
            Err(DockingError::BadTolerance { .. })
        ));
    }
}
