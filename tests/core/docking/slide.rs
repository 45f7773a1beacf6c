//! Sliding.

use bevy_rapier_molecules::docking::{DockingPair, RigidMotion};
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::docking::fixtures::{
    ball, ligand_and_receptor, random_motion, random_pose, smallest_gap,
};

#[test]
fn a_ball_slides_round_another_and_goes_on() {
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
fn a_ball_that_meets_another_head_on_is_blocked_and_not_inside() {
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
fn a_drug_slides_over_its_receptor_without_ever_being_inside_and_further_than_it_would_stop() {
    let (ligand, receptor) = ligand_and_receptor();
    let home = Pose::IDENTITY;
    let mut random = Pcg64::seed_from_u64(5);
    let (mut contacts, mut further) = (0, 0);
    for _ in 0..2000 {
        let pose = random_pose(&mut random, 3.5);
        if smallest_gap(&ligand, &pose, &receptor, &home) < 1.0e-5 {
            continue;
        }
        let motion = random_motion(&mut random);
        let slid = DockingPair::new(&ligand, pose, &receptor, home)
            .slide(&motion)
            .unwrap();
        assert!(smallest_gap(&ligand, &slid.pose, &receptor, &home) > 0.0);
        let stopped = DockingPair::new(&ligand, pose, &receptor, home)
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
