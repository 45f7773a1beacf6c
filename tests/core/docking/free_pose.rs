//! Nearest free pose.

use bevy_rapier_molecules::docking::DockingPair;
use bevy_rapier_molecules::pose::Pose;
use glam::{Quat, Vec3};

use crate::docking::fixtures::{ball, ligand_and_receptor, smallest_gap};

#[test]
fn ball_is_freed_along_about_the_shortest_path() {
    let (one, other) = (ball(0.1), ball(0.3));
    let inside = Pose::from_translation(Vec3::new(0.2, 0.1, -0.1));
    let free = DockingPair::new(&one, inside, &other, Pose::IDENTITY)
        .nearest_free_pose()
        .unwrap();
    let gap = smallest_gap(&one, &free, &other, &Pose::IDENTITY);
    assert!(gap > 0.0 && gap < 1.1e-4);
    let shortest = 0.4 - inside.position.length();
    assert!(free.position.distance(inside.position) < 1.1 * shortest);
}

#[test]
fn overlapping_ligand_is_freed_and_free_ligand_stays() {
    let (ligand, receptor) = ligand_and_receptor();
    let inside = Pose::new(Vec3::ZERO, Quat::from_rotation_x(0.3));
    assert!(smallest_gap(&ligand, &inside, &receptor, &Pose::IDENTITY) < 0.0);
    let free = DockingPair::new(&ligand, inside, &receptor, Pose::IDENTITY)
        .nearest_free_pose()
        .unwrap();
    assert!(smallest_gap(&ligand, &free, &receptor, &Pose::IDENTITY) > 0.0);
    assert_eq!(free.rotation, inside.rotation);
    let again = DockingPair::new(&ligand, free, &receptor, Pose::IDENTITY)
        .nearest_free_pose()
        .unwrap();
    assert_eq!(again, free);
}
