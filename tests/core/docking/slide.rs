//! Sliding along a surface.

use bevy_rapier_molecules::docking::{DockingPair, RigidMotion};
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::docking::fixtures::{
    ball, ligand_and_receptor, random_motion, random_pose, smallest_gap,
};

#[test]
fn ball_slides_around_another() {
    let (one, other) = (ball(0.1), ball(0.3));
    let mut pose = Pose::from_translation(Vec3::new(-1.0, 0.05, 0.0));
    let step = RigidMotion::translation(Vec3::X * 0.05);
    for _ in 0..80 {
        let report = DockingPair::new(&one, pose, &other, Pose::IDENTITY)
            .slide(&step)
            .unwrap();
        assert!(smallest_gap(&one, &report.pose, &other, &Pose::IDENTITY) > 0.0);
        pose = report.pose;
    }
    assert!(pose.position.x > 1.0, "{}", pose.position);
    assert!(pose.position.y > 0.35, "{}", pose.position);
}

#[test]
fn head_on_collision_blocks_without_overlap() {
    let one = ball(0.1);
    let other = ball(0.2);
    let start = Pose::from_translation(Vec3::NEG_X);
    let motion = RigidMotion::translation(Vec3::X * 2.0);
    let report = DockingPair::new(&one, start, &other, Pose::IDENTITY)
        .slide(&motion)
        .unwrap();
    assert!(report.blocked && report.pairs.len() == 1);
    assert!(smallest_gap(&one, &report.pose, &other, &Pose::IDENTITY) > 0.0);
}

#[test]
fn ligand_slides_without_overlap_and_beyond_the_first_contact() {
    let (ligand, receptor) = ligand_and_receptor();
    let fixed_pose = Pose::IDENTITY;
    let mut random = Pcg64::seed_from_u64(5);
    let (mut contacts, mut further) = (0, 0);
    for _ in 0..2000 {
        let pose = random_pose(&mut random, 3.5);
        if smallest_gap(&ligand, &pose, &receptor, &fixed_pose) < 1.0e-5 {
            continue;
        }
        let motion = random_motion(&mut random);
        let slid = DockingPair::new(&ligand, pose, &receptor, fixed_pose)
            .slide(&motion)
            .unwrap();
        assert!(smallest_gap(&ligand, &slid.pose, &receptor, &fixed_pose) > 0.0);
        let stopped = DockingPair::new(&ligand, pose, &receptor, fixed_pose)
            .sweep(&motion)
            .unwrap();
        if stopped.fraction < 0.9 {
            contacts += 1;
            let left = |end: &Pose| end.position.distance(pose.position + motion.translation);
            further += usize::from(left(&slid.pose) < left(&stopped.pose));
        }
    }
    assert!(contacts > 100, "{contacts}");
    assert!(4 * further > 3 * contacts, "{further} of {contacts}");
}
