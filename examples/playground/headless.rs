//! The playground without a window: so many steps, then a report.

use std::thread;
use std::time::{Duration, Instant};

use bevy::ecs::schedule::{Schedules, SingleThreadedExecutor};
use bevy::log::{Level, LogPlugin};
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_rapier_molecules::plugin::{MoleculeBackend, MoleculeBackendFailed, MoleculeWorld};

use super::arguments::Arguments;
use super::common::{AnyError, Device, Head};
use super::measure::measure;
use super::progress::Progress;
use super::report::{self, Report, StepTimes};
use super::scene::{self, ASSETS, STEP, ScenePlugin, Standing};

/// Time between two looks at whether the files are loaded.
const LOAD_INTERVAL: Duration = Duration::from_millis(2);

/// Runs the scene, then reports and sums up.
pub fn run(arguments: &Arguments) -> Result<(), AnyError> {
    let mut app = app(arguments);
    while !app.world().contains_resource::<Standing>() {
        if let Some(failure) = scene::failure(app.world()) {
            return Err(failure.into());
        }
        thread::sleep(LOAD_INTERVAL);
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

    let figures = measure(app.world_mut())?;
    let seed = arguments.scene.seed.or(None);
    let head = Head::new(Some(seed), device(app.world()), time);
    let report = Report::new(head, arguments, &figures, &times);
    common.write(&report)?;
    common.tell(|out| report::write_summary(out, &report))
}

/// Why the processor finds the contacts that a GPU was to find.
#[derive(Resource, Default)]
struct FellBack(Option<String>);

fn remember_fault(
    mut faults: MessageReader<MoleculeBackendFailed>,
    mut fell_back: ResMut<FellBack>,
) {
    for fault in faults.read() {
        fell_back.0 = Some(fault.error.to_string());
    }
}

/// Who found the contacts of the crowd.
fn device(world: &World) -> Device {
    let backend = world.resource::<MoleculeBackend>();
    Device {
        backend: backend.chosen(),
        adapter: backend.adapter().map(|adapter| adapter.description.clone()),
        fell_back: world.resource::<FellBack>().0.clone(),
    }
}

/// An app without a window, ready to be updated.
fn app(arguments: &Arguments) -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins.set(super::task_pools(arguments)),
        // Faults of molecules and Rapier's complaints, on standard error.
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
        .add_systems(Last, remember_fault);
    app.finish();
    app.cleanup();
    if arguments.scene.common.threads == 1 {
        // A pool of one still runs beside the main thread.
        let mut schedules = app.world_mut().resource_mut::<Schedules>();
        for (_, schedule) in schedules.iter_mut() {
            schedule.set_executor(SingleThreadedExecutor::new());
        }
    }
    app
}
