//! Devices that fail while they solve contacts: the processor goes on within the same
//! substep, and nothing is lost.

use std::sync::Arc;

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::dynamics::CrowdContacts;
use bevy_rapier_molecules::gpu::{GpuContactSolver, GpuDevice, GpuOptions};

use super::crowd::{floor, pile};
use super::crowd_reference::{SUBSTEP, Twins, heap, lipids};
use crate::common::gpu_device::unless_required;
use crate::common::small_world::SmallWorld;

/// A device of one's own, to be broken.
#[track_caller]
fn own_device(options: &GpuOptions) -> Option<Arc<GpuDevice>> {
    unless_required(GpuDevice::headless(options)).map(Arc::new)
}

fn fault(contacts: &mut CrowdContacts) -> Option<DeviceError> {
    contacts.take_device_error()
}

/// Half a substep: what comes before the device is asked to solve.
fn gather(world: &SmallWorld, contacts: &mut CrowdContacts) {
    let (molecules, gravity) = (&world.molecules, world.gravity);
    contacts
        .gather(|member| Some(molecules[member].body(gravity)))
        .unwrap();
}

#[test]
fn a_device_lost_between_substeps_is_replaced_within_one() {
    for after in [0, 1, 15, 16, 17, 30, 32, 45] {
        let Some(device) = own_device(&GpuOptions::default()) else {
            return;
        };
        let mut twins = Twins::new(heap(40), &device);
        for _ in 0..after {
            twins.step();
        }
        assert_eq!(fault(&mut twins.device), None);
        device.raw().destroy();
        for step in 0..6 {
            twins.step();
            twins.assert_close(10.0);
            let error = fault(&mut twins.device);
            assert_eq!(
                error.as_ref().map(DeviceError::is_lost),
                (step == 0).then_some(true)
            );
        }
        assert_eq!(twins.device.search_name(), "auto-grid");
    }
}

/// What contacts carry is made anew from what came back of them and from the bodies of the
/// last substeps: a heap goes on falling and settling as if nothing had happened.
#[test]
fn a_device_lost_after_long_leaves_a_heap_sound() {
    let Some(device) = own_device(&GpuOptions::default()) else {
        return;
    };
    let mut broken = heap(40);
    let engine = GpuContactSolver::new(Arc::clone(&device)).unwrap();
    broken.contacts.set_device_solver(Box::new(engine), true);
    let mut whole = heap(40);
    for step in 0..120 {
        if step == 60 {
            device.raw().destroy();
        }
        broken.step(SUBSTEP);
        whole.step(SUBSTEP);
        assert!(broken.deepest() < whole.deepest() + 0.02, "step {step}");
    }
    assert!(fault(&mut broken.contacts).is_some_and(|error| error.is_lost()));
    let energies = [&broken, &whole].map(SmallWorld::kinetic_energy);
    assert!(energies[0] < 1.5 * energies[1] + 10.0, "{energies:?}");
}

/// Supports and sleepers come through it, and so does who nobody tells who touches whom.
#[test]
fn a_device_lost_under_a_heap_on_a_floor_is_replaced() {
    for (after, tells) in [(5, true), (20, true), (20, false)] {
        let Some(device) = own_device(&GpuOptions::default()) else {
            return;
        };
        let mut twins = Twins::new(pile(), &device);
        if !tells {
            let engine = GpuContactSolver::new(Arc::clone(&device)).unwrap();
            twins.device.set_device_solver(Box::new(engine), false);
        }
        for turn in 0..after + 6 {
            if turn == after {
                device.raw().destroy();
            }
            let (obstacles, supports) = floor(&twins.world, turn);
            twins.solve_on(&obstacles, &supports);
            twins.assert_close(10.0);
            twins.world.go_on(SUBSTEP);
        }
        assert!(fault(&mut twins.device).is_some_and(|error| error.is_lost()));
    }
}

#[test]
fn a_device_lost_between_detection_and_answer_is_replaced() {
    for after in [0, 5] {
        let Some(device) = own_device(&GpuOptions::default()) else {
            return;
        };
        let mut twins = Twins::new(heap(40), &device);
        for _ in 0..after {
            twins.step();
        }
        for contacts in [&mut twins.world.contacts, &mut twins.device] {
            let (molecules, gravity) = (&twins.world.molecules, twins.world.gravity);
            contacts
                .gather(|member| Some(molecules[member].body(gravity)))
                .unwrap();
            contacts.detect().unwrap();
        }
        device.raw().destroy();
        for contacts in [&mut twins.world.contacts, &mut twins.device] {
            contacts.respond(SUBSTEP);
        }
        twins.assert_close(10.0);
        assert_eq!(twins.device.touches(), twins.world.contacts.touches());
        assert!(fault(&mut twins.device).is_some_and(|error| error.is_lost()));
    }
}

/// The first substep that does not fit is the processor's, with all that contacts carried.
#[test]
fn a_device_without_memory_is_replaced_without_loss() {
    let mut failed = 0;
    for memory_bytes in [40_000, 150_000, 400_000, 800_000, 1_600_000] {
        let options = GpuOptions {
            memory_bytes: Some(memory_bytes),
            ..GpuOptions::default()
        };
        let Some(device) = own_device(&options) else {
            return;
        };
        let mut twins = Twins::new(lipids(24, 4, 2.2), &device);
        let mut told = 0;
        for _ in 0..10 {
            twins.step();
            twins.assert_close(10.0);
            let fault = fault(&mut twins.device);
            told += usize::from(fault.is_some());
            assert!(fault.is_none_or(|error| error.is_out_of_space()));
        }
        assert!(told <= 1);
        failed += told;
    }
    assert!(failed >= 2, "{failed} devices had too little memory");
}

#[test]
fn a_device_lost_when_members_change_is_replaced() {
    let Some(device) = own_device(&GpuOptions::default()) else {
        return;
    };
    let mut twins = Twins::new(heap(40), &device);
    for _ in 0..6 {
        twins.step();
    }
    device.raw().destroy();
    twins.world.molecules.pop();
    for contacts in [&mut twins.world.contacts, &mut twins.device] {
        let mut members = contacts.members().to_vec();
        members.pop();
        contacts.set_members(members).unwrap();
    }
    assert!(fault(&mut twins.device).is_some_and(|error| error.is_lost()));
    for _ in 0..4 {
        twins.step();
        twins.assert_close(10.0);
    }
}

#[test]
fn whoever_only_looks_at_contacts_of_a_lost_device_sees_none() {
    let Some(device) = own_device(&GpuOptions::default()) else {
        return;
    };
    let mut world = heap(20);
    let engine = GpuContactSolver::new(Arc::clone(&device)).unwrap();
    world.contacts.set_device_solver(Box::new(engine), true);
    for _ in 0..3 {
        world.step(SUBSTEP);
    }
    device.raw().destroy();
    assert!(world.contacts.contacts().is_empty());
    let mut contacts = std::mem::take(&mut world.contacts);
    gather(&world, &mut contacts);
    contacts.detect().unwrap();
    contacts.respond(SUBSTEP);
    assert!(contacts.contacts().len() > 10);
    assert!(fault(&mut contacts).is_some_and(|error| error.is_lost()));
}
