//! Devices that fail while they solve contacts. The CPU continues within the same substep: with
//! the contacts of the device if they can still be read, else with cold ones (no warm start).

use std::sync::Arc;

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::dynamics::{CrowdContacts, MemberIndex};
use bevy_rapier_molecules::gpu::{GpuContactSolver, GpuDevice, GpuOptions};

use super::crowd::{floor, pile};
use super::crowd_reference::{Comparison, SUBSTEP, heap, lipids};
use crate::common::gpu_device::unless_required;
use crate::common::small_world::SmallWorld;

/// A separate device, because the test destroys it.
#[track_caller]
fn own_device(options: &GpuOptions) -> Option<Arc<GpuDevice>> {
    unless_required(GpuDevice::headless(options)).map(Arc::new)
}

fn use_device(contacts: &mut CrowdContacts, device: &Arc<GpuDevice>, report_touches: bool) {
    let solver = GpuContactSolver::new(Arc::clone(device)).unwrap();
    contacts.set_device_solver(Box::new(solver), report_touches);
}

fn gather(world: &SmallWorld, contacts: &mut CrowdContacts) {
    let (molecules, gravity) = (&world.molecules, world.gravity);
    contacts
        .gather(|member| Some(molecules[member.index()].body(gravity)))
        .unwrap();
}

/// Drops the contacts, so that the next substep starts cold.
fn make_cold(contacts: &mut CrowdContacts) {
    contacts.respond(0.0);
}

#[track_caller]
fn assert_lost(contacts: &mut CrowdContacts) {
    let error = contacts.take_device_error();
    assert!(matches!(error, Some(DeviceError::Lost { .. })), "{error:?}");
}

fn is_finite(world: &SmallWorld) -> bool {
    let mut molecules = world.molecules.iter();
    molecules.all(|one| one.momentum.is_finite() && one.spin.is_finite())
}

#[test]
fn a_device_lost_between_substeps_restarts_cold_on_the_cpu() {
    for after in [0, 1, 20] {
        let Some(device) = own_device(&GpuOptions::default()) else {
            return;
        };
        let mut both = Comparison::new(heap(40), &device);
        for _ in 0..after {
            both.step();
        }
        assert_eq!(both.device.take_device_error(), None);
        device.raw().destroy();
        make_cold(&mut both.world.contacts);
        both.step();
        both.assert_equal();
        assert_lost(&mut both.device);
        assert_eq!(both.device.search_name(), "molecule-search");
        for _ in 0..5 {
            both.step();
            both.assert_equal();
        }
        assert_eq!(both.device.take_device_error(), None);
    }
}

#[test]
fn a_heap_stays_stable_when_its_device_is_lost() {
    let Some(device) = own_device(&GpuOptions::default()) else {
        return;
    };
    let mut failing = heap(40);
    use_device(&mut failing.contacts, &device, true);
    let mut reference = heap(40);
    for step in 0..120 {
        if step == 60 {
            device.raw().destroy();
        }
        failing.step(SUBSTEP);
        reference.step(SUBSTEP);
        let (depth, expected) = (failing.deepest(), reference.deepest());
        assert!(depth < expected + 0.02, "step {step}: {depth} {expected}");
        assert!(is_finite(&failing), "step {step}");
    }
    assert_lost(&mut failing.contacts);
    let energies = [&failing, &reference].map(SmallWorld::kinetic_energy);
    assert!(energies[0] < 1.5 * energies[1] + 10.0, "{energies:?}");
}

#[test]
fn momentum_is_conserved_when_a_device_is_lost() {
    let Some(device) = own_device(&GpuOptions::default()) else {
        return;
    };
    let mut world = lipids(40, 4, 2.6);
    use_device(&mut world.contacts, &device, true);
    let mut max_momentum = 0.0_f64;
    for step in 0..40 {
        if step == 10 {
            device.raw().destroy();
        }
        world.step(SUBSTEP);
        assert!(is_finite(&world), "step {step}");
        let momenta = world.molecules.iter().map(|one| one.momentum.length());
        max_momentum = max_momentum.max(momenta.sum());
    }
    assert_lost(&mut world.contacts);
    assert!(max_momentum > 1.0, "{max_momentum}");
    let [linear, angular] = [world.momentum(), world.angular_momentum()].map(glam::DVec3::length);
    assert!(linear < 1.0e-5 * max_momentum, "{linear} {max_momentum}");
    assert!(angular < 1.0e-4 * max_momentum, "{angular} {max_momentum}");
}

#[test]
fn external_contacts_continue_when_a_device_is_lost() {
    for (after, report_touches) in [(5, true), (20, true), (20, false)] {
        let Some(device) = own_device(&GpuOptions::default()) else {
            return;
        };
        let mut both = Comparison::new(pile(), &device);
        use_device(&mut both.device, &device, report_touches);
        for substep in 0..after + 6 {
            if substep == after {
                device.raw().destroy();
                make_cold(&mut both.world.contacts);
            }
            let (bodies, external) = floor(&both.world, substep);
            both.solve_with(&bodies, &external);
            if substep < after {
                both.assert_close(10.0);
            } else {
                both.assert_equal();
            }
            both.world.advance(SUBSTEP);
        }
        assert_lost(&mut both.device);
    }
}

/// Nothing is known about previous neighbors then.
#[test]
fn a_lost_device_that_does_not_report_touches_wakes_all_members() {
    let Some(device) = own_device(&GpuOptions::default()) else {
        return;
    };
    let mut world = heap(20);
    use_device(&mut world.contacts, &device, false);
    world.step(SUBSTEP);
    device.raw().destroy();
    world.step(SUBSTEP);
    let members = 0..world.molecules.len() as u32;
    let all: Vec<_> = members.map(MemberIndex).collect();
    assert_eq!(world.contacts.to_wake(), all);
    world.step(SUBSTEP);
    assert_ne!(world.contacts.to_wake(), all);
}

#[test]
fn a_device_lost_between_detection_and_response_is_replaced() {
    for after in [0, 5] {
        let Some(device) = own_device(&GpuOptions::default()) else {
            return;
        };
        let mut both = Comparison::new(heap(40), &device);
        for _ in 0..after {
            both.step();
        }
        make_cold(&mut both.world.contacts);
        let mut cpu = std::mem::take(&mut both.world.contacts);
        for contacts in [&mut cpu, &mut both.device] {
            gather(&both.world, contacts);
            contacts.detect().unwrap();
        }
        both.world.contacts = cpu;
        device.raw().destroy();
        for contacts in [&mut both.world.contacts, &mut both.device] {
            contacts.respond(SUBSTEP);
        }
        both.assert_equal();
        both.assert_same_touches();
        assert_lost(&mut both.device);
    }
}

/// Contacts can be read from a device that is out of memory: the warm start is kept.
#[test]
fn a_device_without_memory_is_replaced_without_loss() {
    let mut failures = 0;
    for memory_bytes in [40_000, 150_000, 400_000, 800_000, 1_600_000] {
        let options = GpuOptions {
            memory_bytes: Some(memory_bytes),
            ..GpuOptions::default()
        };
        let Some(device) = own_device(&options) else {
            return;
        };
        let mut both = Comparison::new(lipids(24, 4, 2.2), &device);
        let mut errors = Vec::new();
        for _ in 0..10 {
            both.step();
            both.assert_close(10.0);
            errors.extend(both.device.take_device_error());
        }
        assert!(errors.len() <= 1, "{errors:?}");
        assert!(
            errors
                .iter()
                .all(|error| *error == DeviceError::OutOfMemory)
        );
        failures += errors.len();
    }
    assert!(failures >= 2, "only {failures} devices ran out of memory");
}

#[test]
fn a_device_lost_when_members_change_is_replaced() {
    let Some(device) = own_device(&GpuOptions::default()) else {
        return;
    };
    let mut both = Comparison::new(heap(40), &device);
    for _ in 0..6 {
        both.step();
    }
    device.raw().destroy();
    make_cold(&mut both.world.contacts);
    both.world.molecules.pop();
    for contacts in [&mut both.world.contacts, &mut both.device] {
        let mut members = contacts.members().to_vec();
        members.pop();
        contacts.set_members(members).unwrap();
    }
    assert_lost(&mut both.device);
    for _ in 0..4 {
        both.step();
        both.assert_equal();
    }
}

#[test]
fn a_lost_device_has_no_contacts_to_read() {
    let Some(device) = own_device(&GpuOptions::default()) else {
        return;
    };
    let mut world = heap(20);
    use_device(&mut world.contacts, &device, true);
    for _ in 0..3 {
        world.step(SUBSTEP);
    }
    device.raw().destroy();
    assert!(world.contacts.contacts().is_empty());
    world.step(SUBSTEP);
    assert!(world.contacts.contacts().len() > 10);
    assert_lost(&mut world.contacts);
}
