//! Momentum and angular momentum are conserved, and energy does not grow.

use std::collections::HashSet;

use bevy_rapier_molecules::dynamics::ContactMaterial;
use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::common::small_world::{Molecule, SmallWorld, real};
use crate::common::thread_pool::with_threads;

const DT: f32 = 1.0 / 240.0;

fn bouncy() -> ContactMaterial {
    ContactMaterial {
        restitution: 0.7,
        friction: 0.5,
        ..ContactMaterial::default()
    }
}

#[test]
fn a_free_pair_conserves_momentum_and_angular_momentum() {
    let ubiquitin = real("1ubq.cif");
    let turned = Quat::from_euler(glam::EulerRot::XYZ, 0.3, 1.1, 2.0);
    let molecules = vec![
        Molecule::new(&ubiquitin, Vec3::new(-3.0, 0.4, 0.0)).moving(Vec3::X * 6.0),
        Molecule::new(&ubiquitin, Vec3::new(3.0, -0.3, 0.5))
            .moving(Vec3::X * -5.0)
            .turned(turned),
    ];
    let mut world = SmallWorld::new(molecules, bouncy());
    let momenta: f64 = world.molecules.iter().map(|m| m.momentum.length()).sum();
    let (p, l) = (world.momentum(), world.angular_momentum());
    let arms: f64 = momenta * 3.0;
    let before = world.kinetic_energy();
    let mut touched = false;
    for _ in 0..480 {
        world.step(DT);
        touched |= !world.contacts.touches().is_empty();
        assert!((world.momentum() - p).length() < 1.0e-5 * momenta);
    }
    assert!(touched, "the molecules never touched");
    let separating = world.molecules[1].velocity().x > world.molecules[0].velocity().x;
    assert!(separating, "the molecules did not bounce");
    let drift = (world.angular_momentum() - l).length() / arms;
    assert!(drift < 1.0e-5, "{drift}");
    let after = world.kinetic_energy();
    assert!(after <= before, "{before} {after}");
    let spinning = world.molecules.iter().any(|m| m.spin.length() > 0.0);
    assert!(spinning, "an off-center hit causes no rotation");
}

#[test]
fn a_closed_crowd_conserves_momentum_and_angular_momentum() {
    let ubiquitin = real("1ubq.cif");
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let mut molecules = Vec::new();
    for k in 0..27 {
        let cell = Vec3::new((k % 3) as f32, (k / 3 % 3) as f32, (k / 9) as f32) - Vec3::ONE;
        let axis = Vec3::from_array(std::array::from_fn(|_| random.random_range(-3.0..3.0)));
        let molecule = Molecule::new(&ubiquitin, cell * 4.6)
            .turned(Quat::from_scaled_axis(axis))
            // Towards the center.
            .moving(cell * -4.0);
        molecules.push(molecule);
    }
    let mut world = SmallWorld::new(molecules, bouncy());
    let size = |world: &SmallWorld| {
        world
            .molecules
            .iter()
            .map(|m| m.momentum.length())
            .sum::<f64>()
    };
    let (p, l, scale) = (world.momentum(), world.angular_momentum(), size(&world));
    let before = world.kinetic_energy();
    let mut met = HashSet::new();
    for _ in 0..360 {
        world.step(DT);
        let touches = world.contacts.touches().iter();
        met.extend(touches.map(|touch| (touch.a, touch.b)));
    }
    assert!(met.len() > 40, "only {} pairs touched", met.len());
    assert!((world.momentum() - p).length() < 1.0e-5 * scale);
    assert!((world.angular_momentum() - l).length() < 1.0e-5 * scale * 5.0);
    assert!(world.kinetic_energy() <= before);
    let overlap = world.deepest();
    assert!(overlap < 0.02, "{overlap}");
}

/// Molecules fall asleep, wake, vanish and appear in between.
#[test]
fn results_are_identical_on_any_number_of_threads() {
    let run = |threads: usize| {
        with_threads(threads, || {
            let lipid = real("popc.pdb");
            let mut random = Pcg64Mcg::seed_from_u64(3);
            let mut lipids = |count: usize| {
                let place = |_| std::array::from_fn(|_| random.random_range(-3.5..3.5));
                let places = (0..count).map(place).map(Vec3::from_array);
                let molecules = places.map(|place| Molecule::new(&lipid, place));
                molecules.collect::<Vec<_>>()
            };
            let mut world = SmallWorld::new(lipids(300), ContactMaterial::default());
            let mut woken = 0;
            for step in 0..40 {
                match step {
                    10 => {
                        let every_third = world.molecules.iter_mut().step_by(3);
                        every_third.for_each(|molecule| molecule.asleep = true);
                    }
                    20 => world.replace_every(5, lipids(40)),
                    _ => {}
                }
                world.step(DT);
                for member in world.contacts.to_wake().to_vec() {
                    let asleep = &mut world.molecules[member.index()].asleep;
                    woken += usize::from(std::mem::take(asleep));
                }
            }
            assert!(woken > 50, "{woken}");
            let bits = world.molecules.iter().flat_map(|molecule| {
                let pose = molecule.pose();
                let turn = pose.rotation.to_array();
                pose.position
                    .to_array()
                    .into_iter()
                    .chain(turn)
                    .map(f32::to_bits)
            });
            bits.collect::<Vec<_>>()
        })
    };
    let one = run(1);
    for threads in [2, 3, 8] {
        assert!(run(threads) == one, "on {threads} threads");
    }
}
