//! Restitution, friction, stacks and large mass ratios.

use bevy_rapier_molecules::dynamics::ContactMaterial;
use glam::Vec3;

use crate::common::small_world::{Molecule, SmallWorld, ball, real, sled};

const DT: f32 = 1.0 / 240.0;

fn material(restitution: f32, friction: f32) -> ContactMaterial {
    ContactMaterial {
        restitution,
        friction,
        ..ContactMaterial::default()
    }
}

fn head_on(restitution: f32) -> [f32; 2] {
    let ball = ball();
    let molecules = vec![
        Molecule::new(&ball, Vec3::X * -0.5).moving(Vec3::X * 3.0),
        Molecule::new(&ball, Vec3::X * 0.5),
    ];
    let mut world = SmallWorld::new(molecules, material(restitution, 0.0));
    for _ in 0..240 {
        world.step(DT);
    }
    [0, 1].map(|k| world.molecules[k].velocity().x)
}

#[test]
fn an_elastic_ball_transfers_its_velocity() {
    let [first, second] = head_on(1.0);
    assert!(
        first.abs() < 0.05 && (second - 3.0).abs() < 0.05,
        "{first} {second}"
    );
}

#[test]
fn without_restitution_two_balls_move_on_together() {
    let [first, second] = head_on(0.0);
    assert!(
        (first - 1.5).abs() < 0.05 && (second - 1.5).abs() < 0.05,
        "{first} {second}"
    );
}

#[test]
fn restitution_one_half_returns_half_the_approach_speed() {
    let [first, second] = head_on(0.5);
    assert!((second - first - 1.5).abs() < 0.1, "{first} {second}");
}

/// Final speed of a sled of four atoms, which cannot roll, on a floor of fixed atoms.
fn slide(friction: f32) -> f32 {
    let (ball, sled) = (ball(), sled());
    let mut molecules = Vec::new();
    for x in -2..60 {
        for z in -4..5 {
            let place = Vec3::new(x as f32 * 0.05, 0.0, z as f32 * 0.05);
            molecules.push(Molecule::new(&ball, place).fixed());
        }
    }
    molecules.push(Molecule::new(&sled, Vec3::Y * 0.197).moving(Vec3::X));
    let mut world = SmallWorld::new(molecules, material(0.0, friction));
    world.gravity = Vec3::Y * -9.81;
    for _ in 0..240 {
        world.step(DT);
    }
    let sled = world.molecules.last().unwrap();
    let height = sled.position.y;
    assert!(height > 0.15, "{height}");
    sled.velocity().x
}

#[test]
fn friction_slows_a_sliding_molecule() {
    let (smooth, rough) = (slide(0.0), slide(0.8));
    assert!(smooth > 0.5, "{smooth}");
    assert!(rough < 0.5 * smooth, "{rough} {smooth}");
}

/// Ten molecules on top of a fixed one.
#[test]
fn a_tower_of_ten_stands_and_does_not_sink() {
    let ball = ball();
    let mut molecules = vec![Molecule::new(&ball, Vec3::ZERO).fixed()];
    for k in 1..=10 {
        molecules.push(Molecule::new(&ball, Vec3::Y * 0.2 * k as f32));
    }
    let mut world = SmallWorld::new(molecules, ContactMaterial::default());
    world.gravity = Vec3::Y * -9.81;
    for _ in 0..2400 {
        world.step(DT);
    }
    let top = world.molecules[10].position.y;
    assert!(top > 1.9, "{top}");
    assert!(world.deepest() < 0.02, "{}", world.deepest());
    let fastest = world
        .molecules
        .iter()
        .map(|m| m.velocity().length())
        .fold(0.0, f32::max);
    assert!(fastest < 0.01, "{fastest}");
}

/// The plugin promises this mass ratio at 60 Hz with 4 substeps.
#[test]
fn a_ligand_against_a_receptor_a_hundred_times_heavier_stays_stable() {
    let (receptor, ligand) = (real("t4_lysozyme_l99a.pdb"), real("p_xylene.pdb"));
    assert_eq!(ligand.atom_count(), 18);
    let ratio = receptor.mass() / ligand.mass();
    assert!(ratio > 100.0, "{ratio}");
    // From six sides.
    for side in [
        Vec3::X,
        Vec3::Y,
        Vec3::Z,
        Vec3::NEG_X,
        Vec3::NEG_Y,
        Vec3::NEG_Z,
    ] {
        let start = side * (receptor.bounding_radius() + 0.5);
        let molecules = vec![
            Molecule::new(&receptor, Vec3::ZERO),
            Molecule::new(&ligand, start).moving(side * -2.0),
        ];
        let mut world = SmallWorld::new(molecules, ContactMaterial::default());
        let before = world.kinetic_energy();
        let (mut deepest, mut met) = (0.0_f32, false);
        for _ in 0..240 * 5 {
            world.step(DT);
            deepest = deepest.max(world.deepest());
            met |= !world.contacts.touches().is_empty();
            assert!(world.kinetic_energy() <= before * 1.0001, "{side}");
        }
        let smallest = ligand.radii().iter().copied().fold(f32::MAX, f32::min);
        assert!(met, "{side}: they never touched");
        assert!(deepest < 0.2 * smallest, "{side}: {deepest} of {smallest}");
    }
}
