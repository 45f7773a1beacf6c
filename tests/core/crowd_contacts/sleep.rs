//! Sleeping members stay asleep until something hits them or leaves them.

use std::sync::Arc;

use bevy_rapier_molecules::dynamics::{
    ContactMaterial, ContactSurface, InteractionGroups, MemberIndex,
};
use bevy_rapier_molecules::molecule::{Atom, Element, MoleculeTemplate, Residue};
use glam::Vec3;

use crate::common::small_world::{Molecule, SmallWorld, ball};

const DT: f32 = 1.0 / 240.0;

/// A sleeping ball and another one above it.
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
fn a_neighbor_at_rest_wakes_nothing() {
    let mut world = pair(-0.001, Vec3::ZERO);
    for _ in 0..100 {
        world.step(DT);
        assert!(world.contacts.to_wake().is_empty());
        assert_eq!(world.molecules[0].velocity(), Vec3::ZERO);
    }
}

#[test]
fn a_hit_wakes_a_sleeping_molecule() {
    let mut world = pair(0.005, Vec3::Y * -2.0);
    world.step(DT);
    assert!(world.contacts.to_wake().contains(&MemberIndex(0)));
}

#[test]
fn a_neighbor_that_leaves_wakes_a_sleeping_molecule() {
    let mut world = pair(0.0, Vec3::Y * 3.0);
    let mut woken = false;
    for _ in 0..10 {
        world.step(DT);
        woken |= world.contacts.to_wake().contains(&MemberIndex(0));
    }
    assert!(woken);
}

/// Two molecules that overlap by 0.05 nm, of which the first sleeps.
fn deep_pair() -> SmallWorld {
    pair(-0.05, Vec3::ZERO)
}

#[test]
fn a_deep_overlap_wakes_a_sleeping_molecule() {
    let mut world = deep_pair();
    world.step(DT);
    assert!(world.contacts.to_wake().contains(&MemberIndex(0)));
}

#[test]
fn filtered_molecules_stay_asleep() {
    let mut world = deep_pair();
    let groups = InteractionGroups {
        memberships: 1,
        filter: 0,
    };
    let surface = ContactSurface {
        groups,
        ..ContactSurface::default()
    };
    world.contacts.set_surface(MemberIndex(0), surface);
    for _ in 0..3 {
        world.step(DT);
        assert!(world.contacts.to_wake().is_empty());
    }
}

#[test]
fn ignored_pairs_stay_asleep_even_when_they_approach() {
    for velocity in [Vec3::ZERO, Vec3::Y * -2.0] {
        let mut world = pair(-0.05, velocity);
        world.contacts.set_ignored_pairs(|ignored| {
            // In any order.
            ignored.push([MemberIndex(1), MemberIndex(0)]);
        });
        for _ in 0..3 {
            world.step(DT);
            assert!(world.contacts.to_wake().is_empty());
        }
        // The pair touches again, and wakes.
        world.contacts.set_ignored_pairs(|_| {});
        world.step(DT);
        assert!(world.contacts.to_wake().contains(&MemberIndex(0)));
    }
}

/// A molecule of sixteen atoms in a square.
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
fn a_light_molecule_that_wakes_under_a_heavy_one_stays_slow() {
    let [light, heavy] = [Element::H, Element::CS].map(plate);
    let molecules = vec![
        Molecule::new(&light, Vec3::ZERO),
        Molecule::new(&heavy, Vec3::Y * 0.198),
    ];
    let mut world = SmallWorld::new(molecules, ContactMaterial::default());
    world.molecules[0].asleep = true;
    world.step(DT);
    assert_eq!(world.contacts.touches().len(), 1);
    assert!(world.contacts.to_wake().is_empty());
    // The sleeping molecule was immovable. Now it wakes with 1 nm/s upwards.
    world.molecules[0].asleep = false;
    world.molecules[0].momentum.y = f64::from(light.mass());
    for step in 0..20 {
        world.step(DT);
        let speed = world.molecules[0].velocity().length();
        assert!(speed < 4.0, "step {step}: {speed} nm/s");
    }
}
