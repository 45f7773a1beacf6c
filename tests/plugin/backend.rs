//! Backends: with a GPU that only searches, results are bit for bit those of the CPU.
//!
//! Without an adapter, tests that need one print that they are skipped; with `REQUIRE_GPU=1`
//! in the environment they fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bevy::diagnostic::DiagnosticsStore;
use bevy::prelude::*;
#[cfg(feature = "render")]
use bevy::render::renderer::{RenderDevice, RenderQueue, WgpuWrapper};
use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions};
use bevy_rapier_molecules::plugin::{
    MoleculeBackend, MoleculeBackendFailed, MoleculeSubstep, MoleculeWorld,
};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::test_app::*;
use crate::common::gpu_device;

/// The reported failures.
#[derive(Resource, Default)]
pub struct Failures(pub Vec<MoleculeBackendFailed>);

/// An app on `backend`, where a GPU only searches.
pub fn search_app_on(backend: Backend) -> App {
    let mut app = solving_app_on(backend);
    backend_mut(&mut app).search_only = true;
    app
}

/// An app on `backend`.
pub fn solving_app_on(backend: Backend) -> App {
    let mut app = bare_app();
    app.add_plugins(MoleculePlugins::default().with_backend(backend));
    app.insert_resource(TimestepMode::Fixed {
        dt: FRAME,
        substeps: 4,
    });
    app.init_resource::<Failures>().add_systems(
        Last,
        |mut messages: MessageReader<MoleculeBackendFailed>, mut failures: ResMut<Failures>| {
            failures.0.extend(messages.read().cloned());
        },
    );
    start(&mut app);
    app
}

pub fn failures(app: &App) -> &[MoleculeBackendFailed] {
    &app.world().resource::<Failures>().0
}

pub fn backend(app: &App) -> &MoleculeBackend {
    app.world().resource::<MoleculeBackend>()
}

pub fn backend_mut(app: &mut App) -> Mut<'_, MoleculeBackend> {
    app.world_mut().resource_mut::<MoleculeBackend>()
}

/// Gives an app its own device, which the test may destroy.
#[track_caller]
pub fn share_own_device(app: &mut App, options: &GpuOptions) -> Option<Arc<GpuDevice>> {
    let device = gpu_device::unless_required(GpuDevice::headless(options).map(Arc::new))?;
    backend_mut(app).share_device(Arc::clone(&device));
    Some(device)
}

/// Destroys a device between two sets of the substep with this number, counted from 1.
///
/// The count is not a resource, since resources are entities and would change the order of
/// the molecules.
pub fn destroy_in_substep(
    app: &mut App,
    device: Arc<GpuDevice>,
    number: u32,
    [after, before]: [MoleculeSystems; 2],
) {
    let count = AtomicU32::new(0);
    let destroy = move || {
        if count.fetch_add(1, Ordering::Relaxed) + 1 == number {
            device.raw().destroy();
        }
    };
    app.add_systems(MoleculeSubstep, destroy.after(after).before(before));
}

/// A heap of bars of different materials that falls onto a floor.
pub fn spawn_heap(app: &mut App) -> Vec<Entity> {
    spawn_floor(app);
    let template = add(app, bar());
    let position = |k: u32| {
        let (x, y, z) = (k % 2, k / 4, k / 2 % 2);
        Vec3::new(x as f32 * 0.5, 0.2 + y as f32 * 0.21, z as f32 * 0.17)
    };
    (0..16)
        .map(|k| {
            let transform = Transform::from_translation(position(k))
                .with_rotation(Quat::from_rotation_y(0.4 * k as f32));
            let material = (
                Friction::coefficient(0.1 * (k % 5) as f32),
                Restitution::coefficient(0.2 * (k % 3) as f32),
            );
            let molecule = (Molecule(template.clone()), transform, material);
            app.world_mut().spawn(molecule).id()
        })
        .collect()
}

/// All bits of the poses and velocities, and the numbers of touching molecules.
pub fn state(app: &App, molecules: &[Entity]) -> Vec<u32> {
    let mut bits = Vec::new();
    for &molecule in molecules {
        let molecule = app.world().entity(molecule);
        let transform = molecule.get::<Transform>().unwrap();
        let velocity = molecule.get::<Velocity>().unwrap();
        let numbers = [transform.translation, velocity.linear, velocity.angular]
            .into_iter()
            .flat_map(|vector| vector.to_array())
            .chain(transform.rotation.to_array());
        bits.extend(numbers.map(f32::to_bits));
        bits.push(molecule.get::<Colliding>().unwrap().molecules);
    }
    bits
}

/// Runs the heap on the CPU and returns its state after each frame.
pub fn run_on_cpu(frames: usize) -> Vec<Vec<u32>> {
    run_heap(search_app_on(Backend::Cpu), frames)
}

fn run_heap(mut app: App, frames: usize) -> Vec<Vec<u32>> {
    let heap = spawn_heap(&mut app);
    (0..frames)
        .map(|_| {
            app.update();
            state(&app, &heap)
        })
        .collect()
}

/// Name of the search of each context.
pub fn searches(app: &mut App) -> Vec<&'static str> {
    let world = app.world_mut();
    let mut worlds = world.query::<&MoleculeWorld>();
    let names = worlds.iter(world);
    names.map(|world| world.contacts().search_name()).collect()
}

#[test]
fn the_cpu_is_active_until_a_device_is_chosen() {
    let app = solving_app_on(Backend::Gpu);
    for backend in [backend(&app), &MoleculeBackend::new(Backend::Gpu)] {
        assert_eq!(backend.requested, Backend::Gpu);
        assert_eq!((backend.active(), backend.adapter()), (Backend::Cpu, None));
        assert!(!backend.search_only && !backend.skip_touches);
    }
}

#[test]
fn auto_uses_hardware_gpus_only() {
    let mut app = search_app_on(Backend::Auto);
    let template = add(&mut app, bar());
    spawn(&mut app, &template, Vec3::ZERO);
    run(&mut app, 3);
    let hardware = GpuDevice::headless(&GpuOptions {
        allow_software: false,
        ..default()
    });
    let expected = match hardware {
        Ok(_) => Backend::Gpu,
        Err(_) => Backend::Cpu,
    };
    assert_eq!(backend(&app).active(), expected);
    assert_eq!(backend(&app).adapter().is_some(), expected == Backend::Gpu);
    assert!(failures(&app).is_empty());
    // Seven atoms stay on the CPU.
    assert_eq!(searches(&mut app), ["molecule-search"]);
}

#[test]
fn a_requested_gpu_is_used() {
    let Some(device) = gpu_device::device() else {
        return;
    };
    let mut app = search_app_on(Backend::Gpu);
    spawn_heap(&mut app);
    run(&mut app, 2);
    assert_eq!(backend(&app).active(), Backend::Gpu);
    let adapter = backend(&app).adapter().unwrap();
    assert_eq!(adapter, device.summary().to_string());
    assert_eq!(searches(&mut app), ["gpu-groups"]);
    let store = app.world().resource::<DiagnosticsStore>();
    let diagnostic = store.get(&MoleculeDiagnostics::BACKEND).unwrap();
    assert_eq!(diagnostic.value(), Some(1.0));
    assert!(failures(&app).is_empty());
}

#[test]
fn a_gpu_search_gives_the_results_of_the_cpu() {
    let Some(device) = gpu_device::device() else {
        return;
    };
    let frames = 60;
    let expected = run_on_cpu(frames);
    let mut app = search_app_on(Backend::Gpu);
    backend_mut(&mut app).share_device(device);
    let heap = spawn_heap(&mut app);
    let mut contacts = 0;
    for (frame, expected) in expected.iter().enumerate() {
        app.update();
        assert!(state(&app, &heap) == *expected, "frame {frame}");
        let store = app.world().resource::<DiagnosticsStore>();
        let diagnostic = store.get(&MoleculeDiagnostics::TOUCHES).unwrap();
        contacts += diagnostic.value().unwrap() as usize;
    }
    assert!(contacts > 100, "{contacts} contacts");
    assert_eq!(searches(&mut app), ["gpu-groups"]);
}

#[test]
fn the_backend_can_change_without_changing_the_results() {
    let Some(device) = gpu_device::device() else {
        return;
    };
    let frames = 40;
    let expected = run_on_cpu(frames);
    let mut app = search_app_on(Backend::Cpu);
    backend_mut(&mut app).share_device(device);
    let heap = spawn_heap(&mut app);
    for (frame, expected) in expected.iter().enumerate() {
        let requested = [Backend::Cpu, Backend::Gpu][frame / 8 % 2];
        backend_mut(&mut app).requested = requested;
        app.update();
        assert!(state(&app, &heap) == *expected, "frame {frame}");
        assert_eq!(backend(&app).active(), requested);
        let name = ["molecule-search", "gpu-groups"][frame / 8 % 2];
        assert_eq!(searches(&mut app), [name]);
    }
    assert!(failures(&app).is_empty());
}

#[test]
fn all_contexts_use_the_gpu() {
    let Some(device) = gpu_device::device() else {
        return;
    };
    let mut app = search_app_on(Backend::Gpu);
    backend_mut(&mut app).share_device(device);
    weightless(&mut app);
    let (context, in_second) = spawn_second_context(&mut app);
    let template = add(&mut app, bar());
    let in_first = [0.0, 0.15].map(|y| spawn(&mut app, &template, Vec3::Y * y));
    run(&mut app, 60);
    assert_eq!(searches(&mut app), ["gpu-groups", "gpu-groups"]);
    let second = app.world().get::<MoleculeWorld>(context).unwrap();
    assert_eq!(second.backend(), Backend::Gpu);
    for pair in [in_first, in_second] {
        let offset = position(&app, pair[1]) - position(&app, pair[0]);
        assert!(offset.y > 0.195, "{offset}");
    }
}

/// A context without gravity, and two overlapping molecules in it.
pub fn spawn_second_context(app: &mut App) -> (Entity, [Entity; 2]) {
    let context = weightless_context(app);
    let template = add(app, bar());
    let molecules = [0.0, 0.15].map(|y| {
        let molecule = spawn(app, &template, Vec3::Y * y);
        app.world_mut()
            .entity_mut(molecule)
            .insert(RapierContextEntityLink(context));
        molecule
    });
    (context, molecules)
}

#[test]
fn the_rapier_model_uses_no_device() {
    let Some(device) = gpu_device::device() else {
        return;
    };
    let mut app = search_app_on(Backend::Gpu);
    app.insert_resource(ContactModel::Solver);
    backend_mut(&mut app).share_device(device);
    spawn_heap(&mut app);
    run(&mut app, 2);
    assert_eq!(backend(&app).active(), Backend::Cpu);
    app.insert_resource(ContactModel::Crowd);
    run(&mut app, 2);
    assert_eq!(backend(&app).active(), Backend::Gpu);
    assert_eq!(searches(&mut app), ["gpu-groups"]);
}

/// Inserts a device as Bevy's renderer does.
#[cfg(feature = "render")]
fn insert_render_device(app: &mut App, device: &GpuDevice) {
    let queue = WgpuWrapper::new(device.queue().clone());
    app.insert_resource(RenderDevice::from(device.raw().clone()))
        .insert_resource(RenderQueue(Arc::new(queue)));
}

#[test]
#[cfg(feature = "render")]
fn the_device_of_the_renderer_is_used_and_replaced() {
    let options = GpuOptions::default();
    let Some(first) = gpu_device::unless_required(GpuDevice::headless(&options)) else {
        return;
    };
    // Resources are entities, and results depend on the order of entities.
    let mut on_cpu = search_app_on(Backend::Cpu);
    insert_render_device(&mut on_cpu, &first);
    let expected = run_heap(on_cpu, 16);
    let mut app = search_app_on(Backend::Gpu);
    insert_render_device(&mut app, &first);
    let heap = spawn_heap(&mut app);
    let mut second = None;
    for (frame, expected) in expected.iter().enumerate() {
        match frame {
            4 => {
                assert_eq!(backend(&app).active(), Backend::Gpu);
                first.raw().destroy();
            }
            8 => {
                assert_eq!(backend(&app).active(), Backend::Cpu);
                // The renderer recovers.
                let next = GpuDevice::headless(&options).unwrap();
                insert_render_device(&mut app, &next);
                second = Some(next);
            }
            12 => {
                assert_eq!(backend(&app).active(), Backend::Gpu);
                assert_eq!(searches(&mut app), ["gpu-groups"]);
                second.take().unwrap().raw().destroy();
            }
            _ => {}
        }
        app.update();
        assert!(state(&app, &heap) == *expected, "frame {frame}");
    }
    assert_eq!(backend(&app).active(), Backend::Cpu);
    assert_eq!(failures(&app).len(), 2);
}
