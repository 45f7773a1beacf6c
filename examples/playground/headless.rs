//! The playground without a window: a number of steps, then a report.

use std::thread;
use std::time::{Duration, Instant};

use bevy::ecs::schedule::{Schedules, SingleThreadedExecutor};
use bevy::log::{Level, LogPlugin};
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_rapier_molecules::plugin::{MoleculeBackend, MoleculeBackendFailed, MoleculeWorld};

use super::arguments::Arguments;
use super::common::{AnyError, Device, Head, Progress};
use super::measurements::Measurements;
use super::report::{self, Report, StepTimes};
use super::scene::{self, ASSETS, STEP, ScenePlan, ScenePlugin};

/// Time between two checks whether the files are loaded.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Runs the scene, writes the report and prints the summary.
pub fn run(arguments: &Arguments) -> Result<(), AnyError> {
    let mut app = app(arguments);
    while !app.world().contains_resource::<ScenePlan>() {
        if let Some(error) = scene::loading_error(app.world()) {
            return Err(error.into());
        }
        thread::sleep(POLL_INTERVAL);
        app.update();
    }
    let common = &arguments.scene.common;
    let mut progress = Progress::new(common.quiet);
    let mut times = StepTimes::default();
    let begin = Instant::now();
    let steps = arguments.steps;
    for step in 1..=steps {
        let start = Instant::now();
        app.update();
        let world = app.world_mut();
        let mut worlds = world.query::<&MoleculeWorld>();
        for molecules in worlds.iter(world) {
            times.add(&molecules.times());
        }
        times.total += start.elapsed();
        progress.update(f64::from(step) / f64::from(steps), || {
            format!("step {step} of {steps}")
        });
    }
    let time = begin.elapsed();
    progress.clear();

    let measurements = Measurements::of(app.world_mut())?;
    let seed = arguments.scene.seed.get();
    let head = Head::new(Some(seed), device(app.world()), time);
    let report = Report::new(head, arguments, &measurements, &times);
    common.write_report(&report)?;
    common.print(|out| report::write_summary(out, &report))
}

/// Why the CPU finds the contacts instead of the requested GPU.
#[derive(Resource, Default)]
struct FellBack(Option<String>);

fn record_fallback(
    mut faults: MessageReader<MoleculeBackendFailed>,
    mut fell_back: ResMut<FellBack>,
) {
    for fault in faults.read() {
        fell_back.0 = Some(fault.error.to_string());
    }
}

/// The device that found the contacts of the crowd.
fn device(world: &World) -> Device {
    let backend = world.resource::<MoleculeBackend>();
    Device {
        backend: backend.active(),
        adapter: backend.adapter().map(str::to_owned),
        fell_back: world.resource::<FellBack>().0.clone(),
    }
}

/// An app without a window, ready for updates.
fn app(arguments: &Arguments) -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins.set(super::task_pools(arguments)),
        // Warnings about molecules and from Rapier, on standard error.
        LogPlugin {
            level: Level::WARN,
            ..default()
        },
        TransformPlugin,
        AssetPlugin {
            file_path: ASSETS.into(),
            ..default()
        },
        ScenePlugin::from(arguments),
    ));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(
        STEP,
    )));
    app.init_resource::<FellBack>()
        .add_systems(Last, record_fallback);
    app.finish();
    app.cleanup();
    if arguments.scene.common.threads == 1 {
        // A task pool of one thread still runs next to the main thread.
        let mut schedules = app.world_mut().resource_mut::<Schedules>();
        for (_, schedule) in schedules.iter_mut() {
            schedule.set_executor(SingleThreadedExecutor::new());
        }
    }
    app
}
