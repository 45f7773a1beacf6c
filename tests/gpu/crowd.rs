//! Contacts that are found and solved on the device against those of the processor.

use std::sync::Arc;

use bevy_rapier_molecules::dynamics::{
    ContactMaterial, ContactSide, ExternalBody, ExternalContact, InteractionGroups, MovingBody,
};
use bevy_rapier_molecules::gpu::{GpuContactSolver, GpuDevice, GpuGroups};
use bevy_rapier_molecules::search::AutoGrid;
use glam::Vec3;

use super::crowd_reference::{SUBSTEP, Twins, heap, lipids};
use crate::common::gpu_device::{device, unless_required};
use crate::common::small_world::{Molecule, SmallWorld, ball, real, sledge};

#[test]
fn the_first_impulses_are_those_of_the_processor() {
    let Some(device) = device() else { return };
    for world in [lipids(60, 6, 3.2), heap(40), spread(30)] {
        let mut twins = Twins::new(world, &device);
        twins.step();
        twins.assert_close(1.0);
        assert!(twins.answers().iter().any(|[_, gpu]| !gpu.is_zero()));
    }
}

/// Molecules of different kinds inside each other: radii differ, overlaps are deep.
fn spread(count: usize) -> SmallWorld {
    let kinds = [ball(), real("p_xylene.pdb"), sledge()];
    let kinds: Vec<_> = kinds.into_iter().collect();
    let molecules = (0..count).map(|k| {
        let place = Vec3::new((k % 3) as f32, (k / 3 % 3) as f32, (k / 9) as f32);
        Molecule::new(&kinds[k % kinds.len()], place * 0.11)
    });
    SmallWorld::new(molecules.collect(), ContactMaterial::default())
}

/// What contacts carry from substep to substep is the same, too.
#[test]
fn twenty_five_warm_substeps_are_those_of_the_processor() {
    let Some(device) = device() else { return };
    for world in [lipids(60, 6, 3.2), heap(60)] {
        let mut twins = Twins::new(world, &device);
        for _ in 0..25 {
            twins.step();
            twins.assert_close(5.0);
        }
        assert_eq!(twins.device.search_name(), "gpu-contacts");
    }
}

#[test]
fn twenty_runs_are_equal_to_the_last_bit() {
    let Some(device) = device() else { return };
    let run = || {
        let mut world = lipids(40, 4, 2.6);
        let engine = GpuContactSolver::new(Arc::clone(&device)).unwrap();
        world.contacts.set_device_solver(Box::new(engine), false);
        for _ in 0..6 {
            world.step(SUBSTEP);
        }
        assert!(world.contacts.touches().is_empty(), "nobody asked for them");
        let places = world.molecules.iter();
        places
            .map(|molecule| (molecule.momentum, molecule.spin, molecule.position))
            .collect::<Vec<_>>()
    };
    let first = run();
    assert!(first.iter().any(|(momentum, ..)| momentum.length() > 0.0));
    for _ in 1..20 {
        assert!(run() == first);
    }
}

/// One impulse for each molecule comes back, sixteen bytes for each two that touch if
/// somebody asks, and a few counters.
#[test]
fn little_comes_back() {
    let options = bevy_rapier_molecules::gpu::GpuOptions::default();
    let device = unless_required(GpuDevice::headless(&options));
    let Some(device) = device.map(Arc::new) else {
        return;
    };
    for tells in [false, true] {
        let mut world = lipids(60, 6, 3.2);
        let engine = GpuContactSolver::new(Arc::clone(&device)).unwrap();
        world.contacts.set_device_solver(Box::new(engine), tells);
        world.step(SUBSTEP);
        let before = device.bytes_read();
        world.step(SUBSTEP);
        let bytes = (device.bytes_read() - before) as usize;
        let touching = 16 * world.contacts.touches().len();
        assert_eq!(touching > 0, tells);
        assert!(bytes <= 66 * 32 + touching + 64, "{bytes} bytes");
    }
}

#[test]
fn momentum_is_kept() {
    let Some(device) = device() else { return };
    let mut world = lipids(40, 4, 2.6);
    let engine = GpuContactSolver::new(Arc::clone(&device)).unwrap();
    world.contacts.set_device_solver(Box::new(engine), true);
    let mut largest = 0.0_f64;
    for _ in 0..40 {
        world.step(SUBSTEP);
        let moving = world.molecules.iter().map(|one| one.momentum.length());
        largest = largest.max(moving.sum());
    }
    assert!(largest > 1.0, "{largest}");
    let (momentum, spin) = (world.momentum(), world.angular_momentum());
    assert!(
        momentum.length() < 1.0e-5 * largest,
        "{momentum} of {largest}"
    );
    assert!(spin.length() < 1.0e-4 * largest, "{spin} of {largest}");
}

#[test]
fn nobody_one_alone_and_two_are_answered() {
    let Some(device) = device() else { return };
    let places = [Vec3::ZERO, Vec3::X * 0.15];
    for count in 0..=2 {
        let kind = sledge();
        let molecules = places[..count].iter();
        let molecules = molecules.map(|place| Molecule::new(&kind, *place));
        let world = SmallWorld::new(molecules.collect(), ContactMaterial::default());
        let mut twins = Twins::new(world, &device);
        for _ in 0..3 {
            twins.step();
            twins.assert_close(1.0);
        }
        assert_eq!(twins.answers().len(), count);
    }
}

#[test]
fn molecules_in_one_place_come_apart() {
    let Some(device) = device() else { return };
    let kind = real("p_xylene.pdb");
    let molecules = (0..3).map(|_| Molecule::new(&kind, Vec3::ZERO));
    let mut world = SmallWorld::new(molecules.collect(), ContactMaterial::default());
    let engine = GpuContactSolver::new(Arc::clone(&device)).unwrap();
    world.contacts.set_device_solver(Box::new(engine), true);
    for _ in 0..600 {
        world.step(SUBSTEP);
    }
    assert!(world.deepest() < 0.02, "{}", world.deepest());
}

#[test]
fn groups_and_exempt_pairs_are_kept_apart() {
    let Some(device) = device() else { return };
    let mut twins = Twins::new(heap(30), &device);
    let shy = InteractionGroups {
        memberships: 1,
        filter: 2,
    };
    for contacts in [&mut twins.world.contacts, &mut twins.device] {
        for member in [50, 53, 61] {
            contacts.set_surface(member, ContactMaterial::default(), shy);
        }
        contacts.exempt(52, 56);
        contacts.exempt(60, 49);
    }
    for step in 0..12 {
        if step == 6 {
            for contacts in [&mut twins.world.contacts, &mut twins.device] {
                contacts.clear_exempt();
                contacts.exempt(57, 52);
            }
        }
        twins.step();
        twins.assert_close(5.0);
    }
}

#[test]
fn sleepers_are_woken_by_the_same() {
    let Some(device) = device() else { return };
    let mut world = heap(40);
    for molecule in world.molecules.iter_mut().skip(49).step_by(3) {
        molecule.asleep = true;
        molecule.momentum = glam::DVec3::ZERO;
    }
    let mut twins = Twins::new(world, &device);
    let mut woken = 0;
    for step in 0..20 {
        twins.step();
        twins.assert_close(5.0);
        let asleep = |member: &&u32| twins.world.molecules[**member as usize].asleep;
        let wakes: Vec<u32> = twins
            .device
            .to_wake()
            .iter()
            .filter(asleep)
            .copied()
            .collect();
        woken += wakes.len();
        for member in wakes {
            twins.world.molecules[member as usize].asleep = false;
        }
        if step == 10 {
            // Their neighbors notice.
            twins.world.molecules[55].position.y += 5.0;
        }
    }
    assert!(woken > 5, "{woken} were woken");
}

/// A floor below the balls, as an engine would tell of it; the floor has another number
/// from substep to substep.
pub fn floor(world: &SmallWorld, turn: usize) -> (Vec<ExternalBody>, Vec<ExternalContact>) {
    let still = |id| ExternalBody {
        id,
        body: MovingBody::default(),
    };
    // A plate that gives way, between the balls and the ground.
    let plate = ExternalBody {
        id: 7,
        body: MovingBody {
            inverse_mass: Vec3::splat(1.0e-3),
            center: Vec3::Y * -0.2,
            acceleration: Vec3::Y * -9.81,
            ..MovingBody::default()
        },
    };
    let mut obstacles = vec![still(9), plate];
    if turn % 3 == 1 {
        obstacles.rotate_left(1);
        obstacles.push(still(4));
    }
    let index = |id| obstacles.iter().position(|one| one.id == id).unwrap() as u32;
    let [ground, plate] = [9, 7].map(index);
    let support = |member: usize, obstacle, key| {
        let place = world.molecules[member].pose().position;
        ExternalContact {
            a: ContactSide::External(obstacle),
            b: ContactSide::Member(member as u32),
            key,
            normal: Vec3::Y,
            point: Vec3::new(place.x, -0.1, place.z),
            gap: place.y,
            friction: 0.4,
            restitution: 0.1,
        }
    };
    let mut supports: Vec<ExternalContact> = (0..world.molecules.len())
        .filter(|member| world.molecules[*member].position.y < 0.03)
        .map(|member| {
            let obstacle = if member % 2 == 0 { ground } else { plate };
            support(member, obstacle, 1 << 40 | member as u64)
        })
        .collect();
    if turn % 3 != 2 {
        for (key, side) in [(100, 0.3), (101, -0.3)] {
            supports.push(ExternalContact {
                a: ContactSide::External(ground),
                b: ContactSide::External(plate),
                point: Vec3::new(side, -0.3, 0.0),
                gap: 0.0,
                ..support(0, ground, key)
            });
        }
    }
    (obstacles, supports)
}

/// Balls on top of each other, above that floor.
pub fn pile() -> SmallWorld {
    let kind = ball();
    let molecules = (0..24).map(|k| {
        let place = Vec3::new(
            (k % 3) as f32 * 0.19,
            (k / 6) as f32 * 0.19,
            (k / 3 % 2) as f32 * 0.19,
        );
        // Some stand alone, and are left to the engine.
        let aside = if k % 6 == 5 {
            Vec3::X * k as f32
        } else {
            Vec3::ZERO
        };
        Molecule::new(&kind, place + aside)
    });
    let mut world = SmallWorld::new(molecules.collect(), ContactMaterial::default());
    world.gravity = Vec3::Y * -9.81;
    world
}

#[test]
fn floors_and_plates_hold_molecules_as_on_the_processor() {
    let Some(device) = device() else { return };
    let mut twins = Twins::new(pile(), &device);
    for turn in 0..25 {
        let (obstacles, supports) = floor(&twins.world, turn);
        twins.step_on(&obstacles, &supports);
        twins.assert_close(10.0);
    }
    let moved = twins.answers();
    assert!(
        moved[24..].iter().any(|[_, gpu]| !gpu.is_zero()),
        "the plate is pushed"
    );
}

#[test]
fn contacts_go_on_when_members_come_and_go_and_devices_change() {
    let Some(device) = device() else { return };
    let mut twins = Twins::new(heap(40), &device);
    for step in 0..24 {
        match step {
            4 => {
                // The last one leaves.
                twins.world.molecules.pop();
                for contacts in [&mut twins.world.contacts, &mut twins.device] {
                    let mut members = contacts.members().to_vec();
                    members.pop();
                    contacts.set_members(members).unwrap();
                }
            }
            8 => twins.device.set_search(Box::new(AutoGrid::new())),
            12 | 20 => {
                let engine = GpuContactSolver::new(Arc::clone(&device)).unwrap();
                twins.device.set_device_solver(Box::new(engine), true);
            }
            16 => {
                let search = GpuGroups::new(Arc::clone(&device)).unwrap();
                twins.device.set_group_search(Box::new(search));
            }
            _ => {}
        }
        twins.step();
        twins.assert_close(10.0);
    }
}

#[test]
fn contacts_can_be_looked_at() {
    let Some(device) = device() else { return };
    let mut twins = Twins::new(heap(30), &device);
    for _ in 0..10 {
        twins.step();
    }
    let key = |contact: &bevy_rapier_molecules::dynamics::ContactConstraint| {
        (contact.a, contact.b, contact.spheres.a, contact.spheres.b)
    };
    let cpu = twins.world.contacts.contacts().iter();
    let cpu: Vec<_> = cpu.filter(|contact| contact.is_active()).map(key).collect();
    let gpu: Vec<_> = twins.device.contacts().iter().map(key).collect();
    assert!(cpu.len() > 20);
    assert_eq!(gpu, cpu);
    for contact in twins.device.contacts() {
        assert!(twins.device.contact_point(contact).is_some());
    }
}
