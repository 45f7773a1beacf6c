//! A GPU that is absent, too small or lost costs no frame, no contact and no bit: the
//! processor goes on from the same state, and it is said once.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions};
use bevy_rapier_molecules::plugin::MoleculeWorld;
use bevy_rapier_molecules::prelude::*;

use super::backend::*;
use super::test_app::*;
use crate::common::gpu_device;

/// Runs the heap with a GPU wanted and compares each frame with the processor's;
/// `before` is called with the number of each frame.
fn assert_same_bits(app: &mut App, frames: usize, mut before: impl FnMut(&mut App, usize)) {
    let expected = run_on_the_processor(frames);
    let heap = spawn_heap(app);
    for (frame, expected) in expected.iter().enumerate() {
        before(app, frame);
        app.update();
        assert!(state(app, &heap) == *expected, "frame {frame}");
    }
}

/// An app that wants a GPU, with a device of its own to be broken.
fn app_with(options: &GpuOptions) -> Option<(App, Arc<GpuDevice>)> {
    let mut app = app_on(Backend::Gpu);
    let device = lend_own_device(&mut app, options)?;
    Some((app, device))
}

/// The one failure that was told.
#[track_caller]
fn only_fault(app: &App) -> &MoleculeBackendFailed {
    match told(app) {
        [fault] => fault,
        others => panic!("{others:?}"),
    }
}

#[test]
fn without_an_adapter_the_processor_does_it() {
    let mut app = app_on(Backend::Gpu);
    backend_mut(&mut app).set_options(GpuOptions {
        interfaces: wgpu::Backends::empty(),
        ..default()
    });
    assert_same_bits(&mut app, 10, |_, _| {});
    let fault = only_fault(&app);
    assert_eq!(fault.context, None);
    assert!(
        matches!(fault.error, DeviceError::NoAdapter { .. }),
        "{fault:?}"
    );
    assert_eq!(backend(&app).active(), Backend::Cpu);
    assert_eq!(backend(&app).adapter(), None);
}

#[test]
fn an_adapter_that_is_too_small_is_named_and_left_alone() {
    if gpu_device::device().is_none() {
        return;
    }
    let mut app = app_on(Backend::Gpu);
    backend_mut(&mut app).set_options(GpuOptions {
        at_most: Some(wgpu::Limits {
            max_compute_invocations_per_workgroup: 128,
            ..default()
        }),
        ..default()
    });
    assert_same_bits(&mut app, 10, |_, _| {});
    let fault = only_fault(&app);
    assert_eq!(fault.context, None);
    let limit = "threads of a workgroup";
    assert!(matches!(fault.error, DeviceError::MissingLimit { limit: l, .. } if l == limit));
}

#[test]
fn a_device_lost_between_frames_costs_no_bit() {
    let Some((mut app, device)) = app_with(&GpuOptions::default()) else {
        return;
    };
    assert_same_bits(&mut app, 40, |app, frame| match frame {
        20 => {
            assert_eq!(backend(app).active(), Backend::Gpu);
            device.raw().destroy();
        }
        21 => assert_eq!(backend(app).active(), Backend::Cpu),
        // Somebody plugs it in again.
        30 => backend_mut(app).retry(),
        31 => assert_eq!(backend(app).active(), Backend::Gpu),
        _ => {}
    });
    let fault = only_fault(&app);
    assert_eq!(fault.context, None);
    assert!(fault.error.is_lost(), "{fault:?}");
    let found = backend(&app).device().unwrap();
    assert!(!Arc::ptr_eq(found, &device));
}

#[test]
fn a_device_lost_between_substeps_costs_no_bit() {
    let Some((mut app, device)) = app_with(&GpuOptions::default()) else {
        return;
    };
    // In the second substep of the frame with number 15, each of which has four.
    let between = [MoleculeSystems::Gather, MoleculeSystems::Detect];
    destroy_in_substep(&mut app, device, 4 * 15 + 2, between);
    assert_same_bits(&mut app, 30, |app, frame| {
        let expected = if frame > 15 {
            Backend::Cpu
        } else {
            Backend::Gpu
        };
        assert!(frame == 0 || backend(app).active() == expected, "{frame}");
    });
    assert!(only_fault(&app).error.is_lost());
}

#[test]
fn a_device_that_two_contexts_lose_is_told_once() {
    let Some((mut app, device)) = app_with(&GpuOptions::default()) else {
        return;
    };
    let heap = spawn_heap(&mut app);
    let (context, molecules) = spawn_second_context(&mut app);
    run(&mut app, 5);
    device.raw().destroy();
    run(&mut app, 40);
    assert_eq!(only_fault(&app).context, None);
    let world = app.world().get::<MoleculeWorld>(context).unwrap();
    assert_eq!(world.backend(), Backend::Cpu);
    let apart = position(&app, molecules[1]) - position(&app, molecules[0]);
    assert!(apart.y > 0.195, "{apart}");
    assert!(heap.iter().all(|&bar| position(&app, bar).y > 0.0));
}

#[test]
fn a_context_too_large_for_the_device_is_the_processors_until_it_shrinks() {
    // 64 spheres of 16 bytes: the heap has 112, the other context 14.
    let small = GpuOptions {
        at_most: Some(wgpu::Limits {
            max_storage_buffer_binding_size: 1024,
            ..default()
        }),
        ..default()
    };
    let Some((mut app, _)) = app_with(&small) else {
        return;
    };
    let (other, _) = spawn_second_context(&mut app);
    let heap = spawn_heap(&mut app);
    run(&mut app, 20);
    let fault = only_fault(&app).clone();
    let too_many = DeviceError::TooManySpheres {
        spheres: 112,
        fit: 64,
    };
    assert_eq!(fault.error, too_many);
    let context = fault.context.unwrap();
    assert_ne!(context, other);
    let searched_by = |app: &App, context: Entity| {
        let world = app.world().get::<MoleculeWorld>(context);
        world.unwrap().backend()
    };
    assert_eq!(searched_by(&app, context), Backend::Cpu);
    assert_eq!(searched_by(&app, other), Backend::Gpu);
    assert_eq!(backend(&app).active(), Backend::Gpu);
    for &bar in &heap[..8] {
        app.world_mut().despawn(bar);
    }
    run(&mut app, 5);
    assert_eq!(searched_by(&app, context), Backend::Gpu);
    assert_eq!(told(&app).len(), 1);
}

#[test]
fn a_device_without_memory_costs_no_bit() {
    for memory_bytes in [2_000, 8_000, 20_000] {
        let options = GpuOptions {
            memory_bytes: Some(memory_bytes),
            ..default()
        };
        let Some((mut app, _)) = app_with(&options) else {
            return;
        };
        assert_same_bits(&mut app, 20, |_, _| {});
        let fault = only_fault(&app);
        assert!(fault.error.is_out_of_space(), "{fault:?}, {memory_bytes}");
        assert!(fault.context.is_some());
    }
}
