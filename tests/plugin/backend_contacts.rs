//! Contacts solved on a GPU: the results of the CPU up to rounding. When the device fails, the CPU
//! continues within the same substep; after a lost device it starts without a warm start.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::Sleeping;

use super::backend::*;
use super::test_app::*;

/// Number of simulated frames.
const FRAMES: usize = 15;

/// Maximum deviation due to rounding, nm: a tenth of an atom.
const TOLERANCE_NM: f32 = 0.01;

/// How far positions may deviate after the loss of a device, nm. The contacts restart without
/// warm start, and a heap is chaotic, so the deviation grows with the frames: up to 0.11 nm was
/// seen.
const COLD_TOLERANCE_NM: f32 = 0.3;

/// An app with its own device, which the test may destroy.
fn app_with(options: &GpuOptions) -> Option<(App, Arc<GpuDevice>)> {
    let mut app = solving_app_on(Backend::Gpu);
    let device = share_own_device(&mut app, options)?;
    Some((app, device))
}

/// Positions of the bars of the heap after each frame. `before` runs before each frame.
fn paths(app: &mut App, frames: usize, mut before: impl FnMut(&mut App, usize)) -> Vec<Vec3> {
    let heap = spawn_heap(app);
    let mut positions = Vec::new();
    for frame in 0..frames {
        before(app, frame);
        app.update();
        positions.extend(heap.iter().map(|&bar| position(app, bar)));
    }
    positions
}

/// Asserts that the positions are those on the CPU.
#[track_caller]
fn assert_as_on_cpu(positions: &[Vec3]) {
    assert_as_on_cpu_until(FRAMES, positions);
}

/// As [`assert_as_on_cpu`], with a device that is lost in or before frame `lost`: later positions
/// may deviate by [`COLD_TOLERANCE_NM`].
#[track_caller]
fn assert_as_on_cpu_until(lost: usize, positions: &[Vec3]) {
    let mut app = solving_app_on(Backend::Cpu);
    let expected = paths(&mut app, FRAMES, |_, _| {});
    assert_eq!(positions.len(), expected.len());
    let bars = expected.len() / FRAMES;
    for (index, (position, expected)) in positions.iter().zip(&expected).enumerate() {
        let frame = index / bars;
        let tolerance = if frame < lost {
            TOLERANCE_NM
        } else {
            COLD_TOLERANCE_NM
        };
        let close = position.distance(*expected) < tolerance;
        assert!(close, "frame {frame}: {position} {expected}");
    }
}

fn touching(app: &mut App) -> usize {
    let world = app.world_mut();
    let mut colliding = world.query::<&Colliding>();
    colliding
        .iter(world)
        .map(|one| one.molecules as usize)
        .sum()
}

#[test]
fn a_heap_falls_as_on_the_cpu() {
    let Some((mut app, _)) = app_with(&GpuOptions::default()) else {
        return;
    };
    let mut touches = 0;
    let positions = paths(&mut app, FRAMES, |app, frame| {
        if frame > 0 {
            assert_eq!(searches(app), ["gpu-contacts"]);
        }
        touches += touching(app);
    });
    assert_as_on_cpu(&positions);
    assert!(touches > 20, "{touches}");
    assert!(failures(&app).is_empty());
}

/// Lowest position and highest speed of a bar after one second.
fn lowest_and_fastest(mut app: App) -> [f32; 2] {
    let heap = spawn_heap(&mut app);
    run(&mut app, 60);
    assert!(failures(&app).is_empty());
    let lowest = heap.iter().map(|&bar| position(&app, bar).y);
    let fastest = heap.iter().map(|&bar| velocity(&app, bar).length());
    [
        lowest.fold(f32::INFINITY, f32::min),
        fastest.fold(0.0, f32::max),
    ]
}

#[test]
fn a_heap_comes_to_rest_as_on_the_cpu() {
    let Some((app, _)) = app_with(&GpuOptions::default()) else {
        return;
    };
    let [lowest, fastest] = lowest_and_fastest(app);
    let expected = lowest_and_fastest(solving_app_on(Backend::Cpu));
    let found = [lowest, fastest];
    assert!(lowest > expected[0] - 0.05, "{found:?} {expected:?}");
    assert!(fastest < 2.0 * expected[1] + 1.0, "{found:?} {expected:?}");
}

#[test]
fn touches_can_be_skipped() {
    let Some((mut app, _)) = app_with(&GpuOptions::default()) else {
        return;
    };
    backend_mut(&mut app).skip_touches = true;
    let mut touches = 0;
    let positions = paths(&mut app, FRAMES, |app, _| touches += touching(app));
    assert_as_on_cpu(&positions);
    assert_eq!(touches, 0);
    backend_mut(&mut app).skip_touches = false;
    for _ in 0..60 {
        run(&mut app, 1);
        touches += touching(&mut app);
    }
    assert!(touches > 0);
}

#[test]
fn without_touches_all_sleeping_molecules_wake_when_one_is_despawned() {
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
fn the_backend_can_change_between_frames() {
    let Some((mut app, _)) = app_with(&GpuOptions::default()) else {
        return;
    };
    let positions = paths(&mut app, FRAMES, |app, frame| {
        let mut backend = backend_mut(app);
        backend.requested = [Backend::Gpu, Backend::Cpu][frame / 3 % 2];
        backend.search_only = frame / 6 % 2 == 1;
    });
    assert_as_on_cpu(&positions);
    assert!(failures(&app).is_empty());
}

#[test]
fn a_device_lost_between_frames_is_replaced_by_the_cpu() {
    let Some((mut app, device)) = app_with(&GpuOptions::default()) else {
        return;
    };
    let positions = paths(&mut app, FRAMES, |app, frame| match frame {
        8 => {
            assert_eq!(backend(app).active(), Backend::Gpu);
            device.raw().destroy();
        }
        9 => assert_eq!(searches(app), ["molecule-search"]),
        _ => {}
    });
    assert_as_on_cpu_until(8, &positions);
    assert_eq!(failures(&app).len(), 1);
    assert!(failures(&app)[0].error.is_lost());
    assert_eq!(backend(&app).active(), Backend::Cpu);
}

#[test]
fn a_device_lost_in_a_substep_is_replaced_by_the_cpu() {
    let Some((mut app, device)) = app_with(&GpuOptions::default()) else {
        return;
    };
    let between = [MoleculeSystems::Detect, MoleculeSystems::Respond];
    destroy_in_substep(&mut app, device, 29, between);
    let positions = paths(&mut app, FRAMES, |_, _| {});
    // Substep 29 is in frame 7, since a frame has four.
    assert_as_on_cpu_until(7, &positions);
    assert_eq!(failures(&app).len(), 1);
    assert!(failures(&app)[0].error.is_lost());
}

#[test]
fn a_device_without_memory_is_replaced_by_the_cpu() {
    for memory_bytes in [2_000, 20_000, 60_000] {
        let options = GpuOptions {
            memory_bytes: Some(memory_bytes),
            ..default()
        };
        let Some((mut app, _)) = app_with(&options) else {
            return;
        };
        let positions = paths(&mut app, FRAMES, |_, _| {});
        assert_as_on_cpu(&positions);
        for failure in failures(&app) {
            let out_of_space = failure.error.is_out_of_space();
            assert!(out_of_space, "{failure:?}, {memory_bytes}");
        }
        assert_eq!(failures(&app).len(), 1, "{memory_bytes}");
    }
}
