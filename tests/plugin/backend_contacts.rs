//! Contacts that a GPU finds and solves: molecules do what they do on the processor, as far
//! as rounding goes, and a device that fails costs nothing else.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::Sleeping;

use super::backend::*;
use super::test_app::*;

/// Frames in which the heap falls.
const FRAMES: usize = 15;

/// What rounding may have grown to by then, nm: a tenth of an atom.
const CLOSE_NM: f32 = 0.01;

/// An app whose contacts a device of its own solves, to be broken.
fn app_with(options: &GpuOptions) -> Option<(App, Arc<GpuDevice>)> {
    let mut app = solving_app_on(Backend::Gpu);
    let device = lend_own_device(&mut app, options)?;
    Some((app, device))
}

/// Where the bars of the heap are after each frame, and how many each touches.
fn paths(app: &mut App, frames: usize, mut before: impl FnMut(&mut App, usize)) -> Vec<Vec3> {
    let heap = spawn_heap(app);
    let mut places = Vec::new();
    for frame in 0..frames {
        before(app, frame);
        app.update();
        places.extend(heap.iter().map(|&bar| position(app, bar)));
    }
    places
}

/// Compares with the processor.
#[track_caller]
fn assert_as_on_the_processor(places: &[Vec3]) {
    let mut app = solving_app_on(Backend::Cpu);
    let expected = paths(&mut app, FRAMES, |_, _| {});
    assert_eq!(places.len(), expected.len());
    for (place, expected) in places.iter().zip(&expected) {
        assert!(place.distance(*expected) < CLOSE_NM, "{place} {expected}");
    }
}

fn touching(app: &mut App) -> usize {
    let world = app.world_mut();
    let mut colliding = world.query::<&Colliding>();
    colliding
        .iter(world)
        .map(|own| own.molecules as usize)
        .sum()
}

#[test]
fn a_heap_falls_as_on_the_processor() {
    let Some((mut app, _)) = app_with(&GpuOptions::default()) else {
        return;
    };
    let mut touches = 0;
    let places = paths(&mut app, FRAMES, |app, frame| {
        if frame > 0 {
            assert_eq!(searches(app), ["gpu-contacts"]);
        }
        touches += touching(app);
    });
    assert_as_on_the_processor(&places);
    assert!(touches > 20, "{touches}");
    assert!(told(&app).is_empty());
}

/// Lowest place of a bar, and fastest speed, when a heap has fallen for a second.
fn fallen(mut app: App) -> [f32; 2] {
    let heap = spawn_heap(&mut app);
    run(&mut app, 60);
    assert!(told(&app).is_empty());
    let lowest = heap.iter().map(|&bar| position(&app, bar).y);
    let fastest = heap.iter().map(|&bar| velocity(&app, bar).length());
    [
        lowest.fold(f32::INFINITY, f32::min),
        fastest.fold(0.0, f32::max),
    ]
}

#[test]
fn a_heap_ends_up_as_on_the_processor() {
    let Some((app, _)) = app_with(&GpuOptions::default()) else {
        return;
    };
    let [lowest, fastest] = fallen(app);
    let expected = fallen(solving_app_on(Backend::Cpu));
    let found = [lowest, fastest];
    assert!(lowest > expected[0] - 0.05, "{found:?} {expected:?}");
    assert!(fastest < 2.0 * expected[1] + 1.0, "{found:?} {expected:?}");
}

#[test]
fn who_touches_whom_is_told_unless_nobody_wants_it() {
    let Some((mut app, _)) = app_with(&GpuOptions::default()) else {
        return;
    };
    backend_mut(&mut app).skip_touches = true;
    let mut touches = 0;
    let places = paths(&mut app, FRAMES, |app, _| touches += touching(app));
    assert_as_on_the_processor(&places);
    assert_eq!(touches, 0);
    backend_mut(&mut app).skip_touches = false;
    run(&mut app, 2);
    assert!(touching(&mut app) > 0);
}

#[test]
fn sleepers_wake_when_one_of_them_is_gone_though_nobody_knows_who_touched_it() {
    let Some((mut app, _)) = app_with(&GpuOptions::default()) else {
        return;
    };
    backend_mut(&mut app).skip_touches = true;
    weightless(&mut app);
    let template = add(&mut app, bar());
    let heap = [0.0, 5.0, 10.0].map(|x| spawn(&mut app, &template, Vec3::X * x));
    run(&mut app, 4);
    let is_asleep = |app: &App, bar: Entity| app.world().get::<Sleeping>(bar).unwrap().sleeping;
    for bar in &heap {
        app.world_mut().entity_mut(*bar).insert(Sleeping {
            sleeping: true,
            ..default()
        });
    }
    run(&mut app, 1);
    let asleep = heap.iter().filter(|bar| is_asleep(&app, **bar)).count();
    assert_eq!(asleep, heap.len());
    app.world_mut().despawn(heap[0]);
    run(&mut app, 2);
    assert!(heap[1..].iter().all(|bar| !is_asleep(&app, *bar)));
}

#[test]
fn the_backend_can_be_switched_in_mid_run() {
    let Some((mut app, _)) = app_with(&GpuOptions::default()) else {
        return;
    };
    let places = paths(&mut app, FRAMES, |app, frame| {
        let mut backend = backend_mut(app);
        backend.requested = [Backend::Gpu, Backend::Cpu][frame / 3 % 2];
        backend.search_only = frame / 6 % 2 == 1;
    });
    assert_as_on_the_processor(&places);
    assert!(told(&app).is_empty());
}

#[test]
fn a_device_lost_between_frames_costs_no_frame() {
    let Some((mut app, device)) = app_with(&GpuOptions::default()) else {
        return;
    };
    let places = paths(&mut app, FRAMES, |app, frame| match frame {
        8 => {
            assert_eq!(backend(app).active(), Backend::Gpu);
            device.raw().destroy();
        }
        9 => assert_eq!(searches(app), ["auto-grid"]),
        _ => {}
    });
    assert_as_on_the_processor(&places);
    assert_eq!(told(&app).len(), 1);
    assert!(told(&app)[0].error.is_lost());
    assert_eq!(backend(&app).active(), Backend::Cpu);
}

#[test]
fn a_device_lost_before_it_answers_costs_no_substep() {
    let Some((mut app, device)) = app_with(&GpuOptions::default()) else {
        return;
    };
    let between = [MoleculeSystems::Detect, MoleculeSystems::Respond];
    destroy_in_substep(&mut app, device, 29, between);
    let places = paths(&mut app, FRAMES, |_, _| {});
    assert_as_on_the_processor(&places);
    assert_eq!(told(&app).len(), 1);
    assert!(told(&app)[0].error.is_lost());
}

#[test]
fn a_device_without_memory_costs_nothing() {
    for memory_bytes in [2_000, 20_000, 60_000] {
        let options = GpuOptions {
            memory_bytes: Some(memory_bytes),
            ..default()
        };
        let Some((mut app, _)) = app_with(&options) else {
            return;
        };
        let places = paths(&mut app, FRAMES, |_, _| {});
        assert_as_on_the_processor(&places);
        for fault in told(&app) {
            assert!(fault.error.is_out_of_space(), "{fault:?}, {memory_bytes}");
        }
        assert_eq!(told(&app).len(), 1, "{memory_bytes}");
    }
}
