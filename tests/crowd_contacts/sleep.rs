//! Sleepers are left alone until something hits them or leaves them.

use bevy_rapier_molecules::dynamics::ContactMaterial;
use glam::Vec3;

use super::small_world::{Molecule, SmallWorld, ball};

fn pair(gap: f32, velocity: Vec3) -> SmallWorld {
    let ball = ball();
    let mut molecules = vec![
        Molecule::new(&ball, Vec3::ZERO),
        Molecule::new(&ball, Vec3::Y * (0.2 + gap)).moving(velocity),
    ];
    molecules[0].asleep = true;
    SmallWorld::new(molecules, ContactMaterial::default())
}

#[test]
fn a_neighbour_at_rest_wakes_no_one() {
    let mut world = pair(-0.001, Vec3::ZERO);
    for _ in 0..100 {
        world.step(1.0 / 240.0);
        assert!(world.contacts.to_wake().is_empty());
        assert_eq!(world.molecules[0].velocity(), Vec3::ZERO);
    }
}

#[test]
fn a_hit_wakes() {
    let mut world = pair(0.005, Vec3::Y * -2.0);
    world.step(1.0 / 240.0);
    assert!(world.contacts.to_wake().contains(&0));
}

#[test]
fn a_neighbour_that_leaves_wakes() {
    let mut world = pair(0.0, Vec3::Y * 3.0);
    let mut woken = false;
    for _ in 0..10 {
        world.step(1.0 / 240.0);
        woken |= world.contacts.to_wake().contains(&0);
    }
    assert!(woken);
}
