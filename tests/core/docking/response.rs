//! Collision responses.

use bevy_rapier_molecules::docking::{
    DockingError, DockingMolecule, DockingPair, ResponseMode, RigidMotion, overlapping_atoms,
};
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::docking::fixtures::{
    ball, ligand_and_receptor, random_motion, random_pose, smallest_gap,
};

fn docking_pair<'a>(
    moving: &'a DockingMolecule,
    pose: Pose,
    other: &'a DockingMolecule,
) -> DockingPair<'a> {
    DockingPair::new(moving, pose, other, Pose::IDENTITY)
}

#[test]
fn stop_cue_and_slide_match_their_algorithms() {
    let (ligand, receptor) = ligand_and_receptor();
    let fixed_pose = Pose::IDENTITY;
    let mut random = Pcg64::seed_from_u64(8);
    let mut contacts = 0;
    for _ in 0..800 {
        let pose = random_pose(&mut random, 3.5);
        if smallest_gap(&ligand, &pose, &receptor, &fixed_pose) < 1.0e-5 {
            continue;
        }
        let motion = random_motion(&mut random);
        let here = docking_pair(&ligand, pose, &receptor);
        let touch = DockingPair::new(&ligand, pose, &receptor, fixed_pose)
            .sweep(&motion)
            .unwrap();
        let stopped = here.respond(ResponseMode::Stop, &motion).unwrap();
        assert_eq!((stopped.pose, stopped.other_pose), (touch.pose, fixed_pose));
        assert_eq!(
            (stopped.blocked, &stopped.pairs),
            (touch.fraction < 1.0, &touch.pairs)
        );
        let through = here.respond(ResponseMode::Cue, &motion).unwrap();
        assert_eq!(through.pose, motion.pose_at(&pose, 1.0));
        assert_eq!(
            through.pairs,
            overlapping_atoms(&ligand, &through.pose, &receptor, &fixed_pose)
        );
        let slid = DockingPair::new(&ligand, pose, &receptor, fixed_pose)
            .slide(&motion)
            .unwrap();
        let sliding = here.respond(ResponseMode::Slide, &motion).unwrap();
        assert_eq!((sliding.pose, sliding.blocked), (slid.pose, slid.blocked));
        contacts += usize::from(touch.fraction < 1.0);
    }
    assert!(contacts > 50, "{contacts}");
}

#[test]
fn equal_balls_share_the_motion() {
    let (one, other) = (ball(0.1), ball(0.1));
    let start = Pose::from_translation(Vec3::X * -0.5);
    let motion = RigidMotion::translation(Vec3::X * 1.3);
    let pushed = docking_pair(&one, start, &other)
        .respond(ResponseMode::Push, &motion)
        .unwrap();
    // 0.3 nm are free; the remaining 1 nm is shared equally.
    let (here, there) = (pushed.pose.position.x, pushed.other_pose.position.x);
    assert!(
        (here - 0.3).abs() < 0.01 && (there - 0.5).abs() < 0.01,
        "{here} {there}"
    );
    // Momentum is conserved.
    assert!((here + 0.5 + there - 1.3).abs() < 1.0e-3);
    assert!(smallest_gap(&one, &pushed.pose, &other, &pushed.other_pose) > 0.0);
}

#[test]
fn light_molecule_slides_and_heavy_molecule_pushes() {
    let (ligand, receptor) = ligand_and_receptor();
    let mut random = Pcg64::seed_from_u64(9);
    let mut pushes = 0;
    for turn in 0..1200 {
        let pose = random_pose(&mut random, 3.5);
        if smallest_gap(&ligand, &pose, &receptor, &Pose::IDENTITY) < 1.0e-4 {
            continue;
        }
        let mut motion = random_motion(&mut random);
        motion.translation = motion.translation.clamp_length_max(1.0);
        let heavy = turn % 2 == 0;
        let here = if heavy {
            motion.rotation = Vec3::ZERO;
            DockingPair {
                other_pose: pose,
                ..docking_pair(&receptor, Pose::IDENTITY, &ligand)
            }
        } else {
            docking_pair(&ligand, pose, &receptor)
        };
        let pushed = here.respond(ResponseMode::Push, &motion).unwrap();
        let gap = smallest_gap(here.moving, &pushed.pose, here.other, &pushed.other_pose);
        assert!(gap > 0.0, "{gap}");
        let moved = pushed
            .other_pose
            .position
            .distance(here.other_pose.position);
        assert_eq!(pushed.other_pose.rotation, here.other_pose.rotation);
        if moved > 0.0 {
            pushes += 1;
        }
        if heavy {
            // The heavy molecule keeps nearly all of its motion.
            let left = pushed.pose.position.distance(motion.translation);
            assert!(
                pushed.blocked || left < 0.05 + 0.05 * motion.translation.length(),
                "{left}"
            );
        } else {
            assert!(moved < 0.05, "{moved}");
        }
    }
    assert!(pushes > 50, "{pushes}");
}

#[test]
fn only_cue_may_start_overlapping_and_motions_must_be_finite() {
    let (one, other) = (ball(0.1), ball(0.1));
    let inside = docking_pair(&one, Pose::from_translation(Vec3::X * 0.1), &other);
    let motion = RigidMotion::translation(Vec3::X);
    for mode in [ResponseMode::Stop, ResponseMode::Slide, ResponseMode::Push] {
        assert!(matches!(
            inside.respond(mode, &motion),
            Err(DockingError::StartsOverlapping { .. })
        ));
    }
    assert!(
        inside
            .respond(ResponseMode::Cue, &motion)
            .unwrap()
            .pairs
            .is_empty()
    );
    let infinite = RigidMotion::translation(Vec3::X * f32::INFINITY);
    for mode in [
        ResponseMode::Stop,
        ResponseMode::Cue,
        ResponseMode::Slide,
        ResponseMode::Push,
    ] {
        assert!(inside.respond(mode, &infinite).is_err());
    }
}
