//! If a GPU is missing, too small or lost, the CPU continues bit for bit, and the failure is
//! reported once.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions};
use bevy_rapier_molecules::plugin::{MoleculeBackendFailed, MoleculeWorld};
use bevy_rapier_molecules::prelude::*;

use super::backend::*;
use super::test_app::*;
use crate::common::gpu_device;

/// Asserts that each frame of the heap equals that on the CPU. `before` runs before each
/// frame.
fn assert_as_on_cpu(app: &mut App, frames: usize, mut before: impl FnMut(&mut App, usize)) {
    let expected = run_on_cpu(frames);
    let heap = spawn_heap(app);
    for (frame, expected) in expected.iter().enumerate() {
        before(app, frame);
        app.update();
        assert!(state(app, &heap) == *expected, "frame {frame}");
    }
}

/// An app with its own device, which the test may destroy.
fn app_with(options: &GpuOptions) -> Option<(App, Arc<GpuDevice>)> {
    let mut app = search_app_on(Backend::Gpu);
    let device = share_own_device(&mut app, options)?;
    Some((app, device))
}

/// The single reported failure.
#[track_caller]
fn single_failure(app: &App) -> &MoleculeBackendFailed {
    match failures(app) {
        [failure] => failure,
        others => panic!("{others:?}"),
    }
}

#[test]
fn without_an_adapter_the_cpu_is_used() {
    let mut app = search_app_on(Backend::Gpu);
    backend_mut(&mut app).set_options(GpuOptions {
        interfaces: wgpu::Backends::empty(),
        ..default()
    });
    assert_as_on_cpu(&mut app, 10, |_, _| {});
    let failure = single_failure(&app);
    assert_eq!(failure.context, None);
    assert!(
        matches!(failure.error, DeviceError::NoAdapter { .. }),
        "{failure:?}"
    );
    assert_eq!(backend(&app).active(), Backend::Cpu);
    assert_eq!(backend(&app).adapter(), None);
}

#[test]
fn an_adapter_with_insufficient_limits_is_not_used() {
    if gpu_device::device().is_none() {
        return;
    }
    let mut app = search_app_on(Backend::Gpu);
    backend_mut(&mut app).set_options(GpuOptions {
        max_limits: Some(wgpu::Limits {
            max_compute_invocations_per_workgroup: 128,
            ..default()
        }),
        ..default()
    });
    assert_as_on_cpu(&mut app, 10, |_, _| {});
    let failure = single_failure(&app);
    assert_eq!(failure.context, None);
    let limit = "threads per workgroup";
    assert!(matches!(failure.error, DeviceError::MissingLimit { limit: l, .. } if l == limit));
}

#[test]
fn a_device_lost_between_frames_does_not_change_the_results() {
    let Some((mut app, device)) = app_with(&GpuOptions::default()) else {
        return;
    };
    assert_as_on_cpu(&mut app, 40, |app, frame| match frame {
        20 => {
            assert_eq!(backend(app).active(), Backend::Gpu);
            device.raw().destroy();
        }
        21 => assert_eq!(backend(app).active(), Backend::Cpu),
        // A device is available again.
        30 => backend_mut(app).retry(),
        31 => assert_eq!(backend(app).active(), Backend::Gpu),
        _ => {}
    });
    let failure = single_failure(&app);
    assert_eq!(failure.context, None);
    assert!(failure.error.is_lost(), "{failure:?}");
    let found = backend(&app).device().unwrap();
    assert!(!Arc::ptr_eq(found, &device));
}

#[test]
fn a_device_lost_between_substeps_does_not_change_the_results() {
    let Some((mut app, device)) = app_with(&GpuOptions::default()) else {
        return;
    };
    // The second substep of frame 15; frames have four substeps.
    let between = [MoleculeSystems::Gather, MoleculeSystems::Detect];
    destroy_in_substep(&mut app, device, 4 * 15 + 2, between);
    assert_as_on_cpu(&mut app, 30, |app, frame| {
        let expected = if frame > 15 {
            Backend::Cpu
        } else {
            Backend::Gpu
        };
        assert!(frame == 0 || backend(app).active() == expected, "{frame}");
    });
    assert!(single_failure(&app).error.is_lost());
}

#[test]
fn a_lost_device_is_reported_once_for_all_contexts() {
    let Some((mut app, device)) = app_with(&GpuOptions::default()) else {
        return;
    };
    let heap = spawn_heap(&mut app);
    let (context, molecules) = spawn_second_context(&mut app);
    run(&mut app, 5);
    device.raw().destroy();
    run(&mut app, 40);
    assert_eq!(single_failure(&app).context, None);
    let world = app.world().get::<MoleculeWorld>(context).unwrap();
    assert_eq!(world.backend(), Backend::Cpu);
    let offset = position(&app, molecules[1]) - position(&app, molecules[0]);
    assert!(offset.y > 0.195, "{offset}");
    assert!(heap.iter().all(|&bar| position(&app, bar).y > 0.0));
}

#[test]
fn a_context_too_large_for_the_device_uses_the_cpu_until_it_shrinks() {
    // A pair of molecules has 16 contacts of 144 bytes: 14 pairs fit. The heap has more, the other
    // context one.
    let small = GpuOptions {
        max_limits: Some(wgpu::Limits {
            max_storage_buffer_binding_size: 32 << 10,
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
    let failure = single_failure(&app).clone();
    let error = &failure.error;
    assert!(
        matches!(error, DeviceError::BindingTooLarge { limit, .. } if *limit == 32 << 10),
        "{error}"
    );
    let context = failure.context.unwrap();
    assert_ne!(context, other);
    let backend_of = |app: &App, context: Entity| {
        let world = app.world().get::<MoleculeWorld>(context);
        world.unwrap().backend()
    };
    assert_eq!(backend_of(&app, context), Backend::Cpu);
    assert_eq!(backend_of(&app, other), Backend::Gpu);
    assert_eq!(backend(&app).active(), Backend::Gpu);
    for &bar in &heap[..8] {
        app.world_mut().despawn(bar);
    }
    run(&mut app, 5);
    assert_eq!(backend_of(&app, context), Backend::Gpu);
    assert_eq!(failures(&app).len(), 1);
}

#[test]
fn a_device_without_memory_does_not_change_the_results() {
    for memory_bytes in [2_000, 8_000, 20_000] {
        let options = GpuOptions {
            memory_bytes: Some(memory_bytes),
            ..default()
        };
        let Some((mut app, _)) = app_with(&options) else {
            return;
        };
        assert_as_on_cpu(&mut app, 20, |_, _| {});
        let failure = single_failure(&app);
        assert!(
            failure.error.is_out_of_space(),
            "{failure:?}, {memory_bytes}"
        );
        assert!(failure.context.is_some());
    }
}
