//! Who finds the contacts changes nothing about them: the whole run is the same, bit for
//! bit, on the processor and on a GPU that searches only.
//!
//! Without an adapter the tests that need one say that they are skipped; with
//! `REQUIRE_GPU=1` in the environment they fail instead.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bevy::diagnostic::DiagnosticsStore;
use bevy::prelude::*;
#[cfg(feature = "render")]
use bevy::render::renderer::{RenderDevice, RenderQueue, WgpuWrapper};
use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions};
use bevy_rapier_molecules::plugin::MoleculeWorld;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::test_app::*;
use crate::common::gpu_device;

/// What was told of failures.
#[derive(Resource, Default)]
pub struct Told(pub Vec<MoleculeBackendFailed>);

/// An app that asks for `backend`, which only searches.
pub fn app_on(backend: Backend) -> App {
    let mut app = solving_app_on(backend);
    backend_mut(&mut app).search_only = true;
    app
}

/// An app that asks for `backend`.
pub fn solving_app_on(backend: Backend) -> App {
    let mut app = bare_app();
    app.add_plugins(MoleculePlugins::default().with_backend(backend));
    app.insert_resource(TimestepMode::Fixed {
        dt: FRAME,
        substeps: 4,
    });
    app.init_resource::<Told>().add_systems(
        Last,
        |mut messages: MessageReader<MoleculeBackendFailed>, mut told: ResMut<Told>| {
            told.0.extend(messages.read().cloned());
        },
    );
    start(&mut app);
    app
}

pub fn told(app: &App) -> &[MoleculeBackendFailed] {
    &app.world().resource::<Told>().0
}

pub fn backend(app: &App) -> &MoleculeBackend {
    app.world().resource::<MoleculeBackend>()
}

pub fn backend_mut(app: &mut App) -> Mut<'_, MoleculeBackend> {
    app.world_mut().resource_mut::<MoleculeBackend>()
}

/// Lends an app a device of its own, to be broken.
#[track_caller]
pub fn lend_own_device(app: &mut App, options: &GpuOptions) -> Option<Arc<GpuDevice>> {
    let device = gpu_device::unless_required(GpuDevice::headless(options).map(Arc::new))?;
    backend_mut(app).share_device(Arc::clone(&device));
    Some(device)
}

/// Destroys a device in a substep, with that number from 1, between two sets.
///
/// The count is not a resource: those are entities, and molecules are worked on in the
/// order of theirs.
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

/// A heap of bars that falls onto a floor, with surfaces of all kinds.
pub fn spawn_heap(app: &mut App) -> Vec<Entity> {
    spawn_floor(app);
    let template = add(app, bar());
    let place = |k: u32| {
        let (x, y, z) = (k % 2, k / 4, k / 2 % 2);
        Vec3::new(x as f32 * 0.5, 0.2 + y as f32 * 0.21, z as f32 * 0.17)
    };
    (0..16)
        .map(|k| {
            let turned = Transform::from_translation(place(k))
                .with_rotation(Quat::from_rotation_y(0.4 * k as f32));
            let material = MoleculeMaterial {
                friction: 0.1 * (k % 5) as f32,
                restitution: 0.2 * (k % 3) as f32,
                ..default()
            };
            let molecule = (Molecule(template.clone()), turned, material);
            app.world_mut().spawn(molecule).id()
        })
        .collect()
}

/// Every bit of the poses and velocities, and who touches how many.
pub fn state(app: &App, molecules: &[Entity]) -> Vec<u32> {
    let mut bits = Vec::new();
    for &molecule in molecules {
        let molecule = app.world().entity(molecule);
        let place = molecule.get::<Transform>().unwrap();
        let velocity = molecule.get::<Velocity>().unwrap();
        let numbers = [place.translation, velocity.linear, velocity.angular]
            .into_iter()
            .flat_map(|vector| vector.to_array())
            .chain(place.rotation.to_array());
        bits.extend(numbers.map(f32::to_bits));
        bits.push(molecule.get::<Colliding>().unwrap().molecules);
    }
    bits
}

/// Runs the heap on the processor, and notes its state after each frame.
pub fn run_on_the_processor(frames: usize) -> Vec<Vec<u32>> {
    run_heap(app_on(Backend::Cpu), frames)
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
fn auto_takes_a_real_gpu_only() {
    let mut app = app_on(Backend::Auto);
    let template = add(&mut app, bar());
    spawn(&mut app, &template, Vec3::ZERO);
    run(&mut app, 3);
    let real = GpuDevice::headless(&GpuOptions {
        allow_software: false,
        ..default()
    });
    let expected = match real {
        Ok(_) => Backend::Gpu,
        Err(_) => Backend::Cpu,
    };
    assert_eq!(backend(&app).active(), expected);
    assert_eq!(backend(&app).adapter().is_some(), expected == Backend::Gpu);
    assert!(told(&app).is_empty(), "it was not asked for");
    // Seven atoms are not worth a GPU.
    assert_eq!(searches(&mut app), ["auto-grid"]);
}

#[test]
fn a_gpu_that_is_asked_for_is_used_and_named() {
    let Some(device) = gpu_device::device() else {
        return;
    };
    let mut app = app_on(Backend::Gpu);
    spawn_heap(&mut app);
    run(&mut app, 2);
    assert_eq!(backend(&app).active(), Backend::Gpu);
    let adapter = backend(&app).adapter().unwrap();
    assert_eq!(adapter, device.summary().to_string());
    assert_eq!(searches(&mut app), ["gpu-groups"]);
    let store = app.world().resource::<DiagnosticsStore>();
    let diagnostic = store.get(&MoleculeDiagnostics::BACKEND).unwrap();
    assert_eq!(diagnostic.value(), Some(1.0));
    assert!(told(&app).is_empty());
}

#[test]
fn a_run_has_the_same_bits_on_a_gpu() {
    let Some(device) = gpu_device::device() else {
        return;
    };
    let frames = 60;
    let expected = run_on_the_processor(frames);
    let mut app = app_on(Backend::Gpu);
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
fn the_backend_can_be_switched_in_mid_run_and_no_bit_changes() {
    let Some(device) = gpu_device::device() else {
        return;
    };
    let frames = 40;
    let expected = run_on_the_processor(frames);
    let mut app = app_on(Backend::Cpu);
    backend_mut(&mut app).share_device(device);
    let heap = spawn_heap(&mut app);
    for (frame, expected) in expected.iter().enumerate() {
        let wanted = [Backend::Cpu, Backend::Gpu][frame / 8 % 2];
        backend_mut(&mut app).requested = wanted;
        app.update();
        assert!(state(&app, &heap) == *expected, "frame {frame}");
        assert_eq!(backend(&app).active(), wanted);
        let name = ["auto-grid", "gpu-groups"][frame / 8 % 2];
        assert_eq!(searches(&mut app), [name]);
    }
    assert!(told(&app).is_empty());
}

#[test]
fn each_context_is_searched_on_the_gpu() {
    let Some(device) = gpu_device::device() else {
        return;
    };
    let mut app = app_on(Backend::Gpu);
    backend_mut(&mut app).share_device(device);
    weightless(&mut app);
    let (there, molecules) = spawn_second_context(&mut app);
    let template = add(&mut app, bar());
    let here = [0.0, 0.15].map(|y| spawn(&mut app, &template, Vec3::Y * y));
    run(&mut app, 60);
    assert_eq!(searches(&mut app), ["gpu-groups", "gpu-groups"]);
    let second = app.world().get::<MoleculeWorld>(there).unwrap();
    assert_eq!(second.backend(), Backend::Gpu);
    for pair in [here, molecules] {
        let apart = position(&app, pair[1]) - position(&app, pair[0]);
        assert!(apart.y > 0.195, "{apart}");
    }
}

/// A context without gravity, and two molecules in it that overlap.
pub fn spawn_second_context(app: &mut App) -> (Entity, [Entity; 2]) {
    let context = (
        RapierContextSimulation::default(),
        RapierConfiguration {
            gravity: Vec3::ZERO,
            ..RapierConfiguration::new(1.0)
        },
    );
    let context = app.world_mut().spawn(context).id();
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
fn where_rapier_solves_no_device_is_looked_for() {
    let Some(device) = gpu_device::device() else {
        return;
    };
    let mut app = app_on(Backend::Gpu);
    app.insert_resource(ContactModel::Rapier);
    backend_mut(&mut app).share_device(device);
    spawn_heap(&mut app);
    run(&mut app, 2);
    assert_eq!(backend(&app).active(), Backend::Cpu);
    app.insert_resource(ContactModel::Crowd);
    run(&mut app, 2);
    assert_eq!(backend(&app).active(), Backend::Gpu);
    assert_eq!(searches(&mut app), ["gpu-groups"]);
}

/// As Bevy's renderer leaves its device in the world.
#[cfg(feature = "render")]
fn render_with(app: &mut App, device: &GpuDevice) {
    let queue = WgpuWrapper::new(device.queue().clone());
    app.insert_resource(RenderDevice::from(device.raw().clone()))
        .insert_resource(RenderQueue(Arc::new(queue)));
}

#[test]
#[cfg(feature = "render")]
fn the_device_of_the_renderer_is_borrowed_and_so_is_its_next() {
    let options = GpuOptions::default();
    let Some(first) = gpu_device::unless_required(GpuDevice::headless(&options)) else {
        return;
    };
    // Resources are entities, and a run has the same bits only among the same entities.
    let mut on_the_processor = app_on(Backend::Cpu);
    render_with(&mut on_the_processor, &first);
    let expected = run_heap(on_the_processor, 16);
    let mut app = app_on(Backend::Gpu);
    render_with(&mut app, &first);
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
                // What a renderer does that recovers.
                let next = GpuDevice::headless(&options).unwrap();
                render_with(&mut app, &next);
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
    // Whoever destroys the renderer's device destroys ours: it is the same.
    assert_eq!(backend(&app).active(), Backend::Cpu);
    assert_eq!(told(&app).len(), 2);
}
