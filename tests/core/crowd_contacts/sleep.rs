//! Sleepers are left alone until something hits them or leaves them.

use std::sync::Arc;

use bevy_rapier_molecules::dynamics::ContactMaterial;
use bevy_rapier_molecules::molecule::{Atom, Element, MoleculeTemplate, Residue};
use glam::Vec3;

use crate::common::small_world::{Molecule, SmallWorld, ball};

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
fn a_neighbor_at_rest_wakes_no_one() {
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
fn a_neighbor_that_leaves_wakes() {
    let mut world = pair(0.0, Vec3::Y * 3.0);
    let mut woken = false;
    for _ in 0..10 {
        world.step(1.0 / 240.0);
        woken |= world.contacts.to_wake().contains(&0);
    }
    assert!(woken);
}

/// Sixteen atoms in a square.
fn plate(element: Element) -> Arc<MoleculeTemplate> {
    let atoms = (0..16).map(|k| Atom {
        position: Vec3::new((k % 4) as f32, 0.0, (k / 4) as f32) * 0.25,
        radius: 0.1,
        element,
        name: "X".into(),
        residue: 0,
    });
    let template = MoleculeTemplate::new("plate", atoms.collect(), vec![Residue::default()]);
    Arc::new(template.unwrap())
}

#[test]
fn a_sleeper_that_wakes_under_a_heavy_one_is_not_flung_away() {
    let [light, heavy] = [Element::H, Element::CS].map(plate);
    let molecules = vec![
        Molecule::new(&light, Vec3::ZERO),
        Molecule::new(&heavy, Vec3::Y * 0.198),
    ];
    let mut world = SmallWorld::new(molecules, ContactMaterial::default());
    world.molecules[0].asleep = true;
    world.step(1.0 / 240.0);
    assert_eq!(world.contacts.touches().len(), 1);
    assert!(world.contacts.to_wake().is_empty());
    // The light one has held the heavy one like a wall. Now it is hit from below, at 1 nm/s.
    world.molecules[0].asleep = false;
    world.molecules[0].momentum.y = f64::from(light.mass());
    for step in 0..20 {
        world.step(1.0 / 240.0);
        let speed = world.molecules[0].velocity().length();
        assert!(speed < 4.0, "step {step}: {speed} nm/s");
    }
}
