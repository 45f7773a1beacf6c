//! Recorders write the molecules of the world to files.

use std::fs;
use std::path::{Path, PathBuf};

use bevy::prelude::*;
use bevy_rapier_molecules::plugin::{
    MoleculeWorld, RecordEvery, RecordingState, TrajectoryFailed, TrajectoryRecorder,
};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use serde_json::Value;

use super::log;
use super::test_app::*;

/// Half a step of 0.001 nm, and single-precision rounding.
const ROUNDING_NM: f32 = 0.000_51;

/// Numbers of a molecule in a frame.
const AGENT: usize = 11;

/// An empty folder for the files of a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("recorders")
        .join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// A molecule in a frame.
struct Agent {
    id: u64,
    kind: u64,
    position: Vec3,
}

/// Time (ns) and molecules of each frame.
fn frames(path: &Path) -> Vec<(f64, Vec<Agent>)> {
    let file = read(path);
    let frames = file["spatialData"]["bundleData"].as_array().unwrap();
    let frame = |frame: &Value| {
        let data = frame["data"].as_array().unwrap();
        let data: Vec<f64> = data.iter().map(|value| value.as_f64().unwrap()).collect();
        let agents = data.chunks(AGENT).map(|agent| Agent {
            id: agent[1] as u64,
            kind: agent[2] as u64,
            position: Vec3::new(agent[3] as f32, agent[4] as f32, agent[5] as f32),
        });
        (frame["time"].as_f64().unwrap(), agents.collect())
    };
    frames.iter().map(frame).collect()
}

fn record(app: &mut App, recorder: TrajectoryRecorder) -> Entity {
    app.world_mut().spawn(recorder).id()
}

fn state(app: &App, recorder: Entity) -> RecordingState {
    let state = app.world().get::<RecordingState>(recorder);
    state.unwrap().clone()
}

fn clock(app: &mut App) -> f64 {
    let world = app.world_mut();
    let mut contexts = world.query::<&MoleculeWorld>();
    contexts.single(world).unwrap().clock()
}

#[derive(Resource, Default)]
struct Failures {
    messages: Vec<TrajectoryFailed>,
    events: Vec<Entity>,
}

fn collect_failures(app: &mut App) {
    app.init_resource::<Failures>()
        .add_systems(
            Last,
            |mut messages: MessageReader<TrajectoryFailed>, mut failures: ResMut<Failures>| {
                failures.messages.extend(messages.read().cloned());
            },
        )
        .add_observer(
            |failed: On<TrajectoryFailed>, mut failures: ResMut<Failures>| {
                failures.events.push(failed.recorder);
            },
        );
}

fn failures(app: &App) -> &Failures {
    app.world().resource::<Failures>()
}

#[test]
fn a_falling_molecule_is_recorded_in_every_step() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        let mut app = app(model);
        let path = folder(&format!("falling_{model:?}")).join("run.simularium");
        let recorder = record(&mut app, TrajectoryRecorder::new(&path));
        run(&mut app, 2);
        assert_eq!(state(&app, recorder), RecordingState::Waiting);
        assert!(!path.exists());
        let template = add(&mut app, bar());
        let molecule = spawn(&mut app, &template, Vec3::new(1.0, 5.0, -2.0));
        let mut expected = Vec::new();
        for frame in 1..=10 {
            run(&mut app, 1);
            assert_eq!(
                state(&app, recorder),
                RecordingState::Recording { frames: frame }
            );
            let time = clock(&mut app);
            expected.push((time, position(&app, molecule)));
        }
        let frames = frames(&path);
        assert_eq!(frames.len(), 10);
        for ((time, agents), (clock, position)) in frames.iter().zip(&expected) {
            // A second of the world is a nanosecond.
            assert!((time - clock).abs() < 1.0e-6, "{time} {clock}");
            let [agent] = &agents[..] else {
                panic!("{} molecules", agents.len());
            };
            assert_eq!((agent.id, agent.kind), (0, 0));
            let error = (agent.position - *position).abs().max_element();
            assert!(error <= ROUNDING_NM, "{} {position}", agent.position);
        }
        assert!(expected[9].1.y < expected[0].1.y - 0.05);
    }
}

#[test]
fn every_n_steps_or_seconds_are_recorded() {
    let folder = folder("every");
    let every = [
        ("steps_3", RecordEvery::Steps(3)),
        ("steps_0", RecordEvery::Steps(0)),
        ("seconds", RecordEvery::Seconds(0.05)),
        ("more_seconds", RecordEvery::Seconds(0.06)),
        ("no_seconds", RecordEvery::Seconds(f64::NAN)),
    ];
    let mut app = app(ContactModel::Crowd);
    let template = add(&mut app, bar());
    spawn(&mut app, &template, Vec3::Y);
    for (name, every) in every {
        let path = folder.join(format!("{name}.simularium"));
        let recorder = TrajectoryRecorder {
            every,
            ..TrajectoryRecorder::new(path)
        };
        record(&mut app, recorder);
    }
    run(&mut app, 19);
    let recorded = |name: &str| -> Vec<u32> {
        let frames = frames(&folder.join(format!("{name}.simularium")));
        let number = |time: f64| (time * 60.0).round() as u32;
        frames.iter().map(|(time, _)| number(*time)).collect()
    };
    assert_eq!(recorded("steps_3"), [1, 4, 7, 10, 13, 16, 19]);
    assert_eq!(recorded("steps_0"), (1..=19).collect::<Vec<u32>>());
    assert_eq!(recorded("seconds"), [1, 4, 7, 10, 13, 16, 19]);
    // 3.6 steps: the delay of a frame does not delay the next one.
    assert_eq!(recorded("more_seconds"), [1, 5, 9, 12, 16, 19]);
    assert_eq!(recorded("no_seconds"), (1..=19).collect::<Vec<u32>>());
}

#[test]
fn a_paused_world_adds_no_frames() {
    let path = folder("paused").join("run.simularium");
    let mut app = app(ContactModel::Crowd);
    let template = add(&mut app, bar());
    spawn(&mut app, &template, Vec3::Y);
    record(&mut app, TrajectoryRecorder::new(&path));
    run(&mut app, 3);
    let pause = |app: &mut App, pause: bool| {
        let world = app.world_mut();
        let mut configurations = world.query::<&mut RapierConfiguration>();
        for mut configuration in configurations.iter_mut(world) {
            configuration.physics_pipeline_active = !pause;
        }
    };
    pause(&mut app, true);
    run(&mut app, 5);
    assert_eq!(frames(&path).len(), 3);
    pause(&mut app, false);
    run(&mut app, 2);
    assert_eq!(frames(&path).len(), 5);
}

#[test]
fn molecules_keep_their_numbers_while_others_come_and_go() {
    let path = folder("changes").join("run.simularium");
    let mut app = app(ContactModel::Crowd);
    let bars = add(&mut app, bar());
    let atoms = add(&mut app, carbons(&[Vec3::ZERO]));
    let places = [0.0, 10.0, 20.0].map(|x| Vec3::new(x, 50.0, 0.0));
    let molecules = places.map(|place| spawn(&mut app, &bars, place));
    record(&mut app, TrajectoryRecorder::new(&path));
    run(&mut app, 1);
    app.world_mut().despawn(molecules[1]);
    let tinted = spawn(&mut app, &atoms, Vec3::new(30.0, 50.0, 0.0));
    let tint = MoleculeTint::from(Color::srgb(1.0, 0.0, 0.0));
    app.world_mut().entity_mut(tinted).insert(tint);
    run(&mut app, 1);
    // Components of a molecule do not change its number, nor do later tints its color.
    let blue = MoleculeTint::from(Color::srgb(0.0, 0.0, 1.0));
    app.world_mut()
        .entity_mut(molecules[0])
        .insert((MoleculeEventsEnabled, blue));
    spawn(&mut app, &bars, Vec3::new(40.0, 50.0, 0.0));
    run(&mut app, 1);
    for molecule in [molecules[0], molecules[2], tinted] {
        app.world_mut().despawn(molecule);
    }
    run(&mut app, 1);
    let found: Vec<Vec<(u64, u64, f32)>> = frames(&path)
        .iter()
        .map(|(_, agents)| {
            let agents = agents.iter();
            agents
                .map(|agent| (agent.id, agent.kind, agent.position.x.round()))
                .collect()
        })
        .collect();
    // The order of entities that are new in one frame is not that of their places.
    let id = |x: f32| found[0].iter().find(|agent| agent.2 == x).unwrap().0;
    let [left, right] = [id(0.0), id(20.0)];
    let sorted = |mut agents: Vec<(u64, u64, f32)>| {
        agents.sort_by_key(|agent| agent.0);
        agents
    };
    assert_eq!(found[0].len(), 3);
    let both = vec![(left, 0, 0.0), (right, 0, 20.0), (3, 1, 30.0)];
    assert_eq!(found[1], sorted(both.clone()));
    let all = [both, vec![(4, 0, 40.0)]].concat();
    assert_eq!(found[2], sorted(all));
    assert_eq!(found[3], [(4, 0, 40.0)]);
    let types = &read(&path)["trajectoryInfo"]["typeMapping"];
    assert_eq!(types.as_object().unwrap().len(), 2);
    assert_eq!(types["0"]["geometry"]["color"], "");
    assert_eq!(types["1"]["geometry"]["color"], "#ff0000");
}

#[test]
fn another_path_starts_another_file() {
    let folder = folder("paths");
    let [one, other] = ["one.simularium", "other.simularium"].map(|name| folder.join(name));
    let mut app = app(ContactModel::Crowd);
    let template = add(&mut app, bar());
    spawn(&mut app, &template, Vec3::Y);
    let recorder = record(&mut app, TrajectoryRecorder::new(&one));
    run(&mut app, 3);
    let change = |app: &mut App, change: &dyn Fn(&mut TrajectoryRecorder)| {
        let mut entity = app.world_mut().entity_mut(recorder);
        change(&mut entity.get_mut::<TrajectoryRecorder>().unwrap());
    };
    // A change of the interval does not.
    change(&mut app, &|recorder| recorder.every = RecordEvery::Steps(2));
    run(&mut app, 2);
    assert_eq!(frames(&one).len(), 4);
    change(&mut app, &|recorder| recorder.path.clone_from(&other));
    run(&mut app, 2);
    assert_eq!((frames(&one).len(), frames(&other).len()), (4, 1));
    app.world_mut()
        .entity_mut(recorder)
        .remove::<TrajectoryRecorder>();
    run(&mut app, 4);
    assert_eq!((frames(&one).len(), frames(&other).len()), (4, 1));
}

#[test]
fn a_file_that_cannot_be_written_is_reported_once_and_the_app_goes_on() {
    log::capture();
    let path = folder("failure").join("nowhere/run_of_the_failure_test.simularium");
    let mut app = app(ContactModel::Crowd);
    collect_failures(&mut app);
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::Y);
    let recorder = record(&mut app, TrajectoryRecorder::new(&path));
    run(&mut app, 10);
    let failures = failures(&app);
    assert_eq!(failures.messages.len(), 1);
    assert_eq!(failures.events, [recorder]);
    let failed = &failures.messages[0];
    assert_eq!(failed.recorder, recorder);
    assert!(
        failed.error.contains("run_of_the_failure_test"),
        "{failed:?}"
    );
    let error = failed.error.clone();
    assert_eq!(state(&app, recorder), RecordingState::Failed { error });
    assert_eq!(log::count(&["ERROR", "run_of_the_failure_test"]), 1);
    assert!(position(&app, molecule).y < 0.95);
    // Once the folder exists, a change starts again.
    fs::create_dir(path.parent().unwrap()).unwrap();
    let mut entity = app.world_mut().entity_mut(recorder);
    entity.get_mut::<TrajectoryRecorder>().unwrap().pace = 1.0;
    run(&mut app, 2);
    assert_eq!(
        state(&app, recorder),
        RecordingState::Recording { frames: 2 }
    );
    assert_eq!(frames(&path).len(), 2);
}

#[test]
fn an_invalid_pace_is_reported() {
    let path = folder("pace").join("run.simularium");
    let mut app = app(ContactModel::Crowd);
    collect_failures(&mut app);
    let template = add(&mut app, bar());
    spawn(&mut app, &template, Vec3::Y);
    let recorder = TrajectoryRecorder {
        pace: f64::NAN,
        ..TrajectoryRecorder::new(&path)
    };
    record(&mut app, recorder);
    run(&mut app, 3);
    assert_eq!(failures(&app).messages.len(), 1);
    assert!(!path.exists());
}

#[cfg(feature = "xtc")]
mod xtc {
    use bevy_rapier_molecules::plugin::PreparedMolecule;
    use molly::XTCReader;

    use super::*;

    #[test]
    fn the_atoms_of_all_loaded_molecules_are_recorded() {
        let folder = folder("xtc");
        let path = folder.join("run.xtc");
        let mut app = app(ContactModel::Crowd);
        let recorder = record(&mut app, TrajectoryRecorder::new(&path));
        let template = add(&mut app, bar());
        spawn(&mut app, &template, Vec3::new(0.0, 9.0, 0.0));
        // One that takes a while to load, and one that never does.
        let files = ["assets/molecules/popc.pdb", "assets/molecules/nothing.pdb"];
        let loaded = files.map(|file| {
            let template = app.world().resource::<AssetServer>().load(file);
            spawn(&mut app, &template, Vec3::new(5.0, 9.0, 0.0))
        });
        wait_for(&mut app, |world| {
            let state = world.get::<RecordingState>(recorder);
            !matches!(state, Some(RecordingState::Waiting))
        });
        run(&mut app, 4);
        assert_eq!(
            state(&app, recorder),
            RecordingState::Recording { frames: 5 }
        );
        let prepared = app.world().get::<PreparedMolecule>(loaded[0]).unwrap();
        let atoms = 7 + prepared.template().atom_count();
        let structure = load(folder.join("run.first.pdb"), &LoadOptions::default());
        assert_eq!(structure.unwrap().atom_count(), atoms);
        let frames = XTCReader::open(&path).unwrap().read_all_frames().unwrap();
        assert_eq!(frames.len(), 5);
        for pair in frames.windows(2) {
            assert_eq!(pair[0].natoms(), atoms);
            // 1/60 s is 1/60 ns.
            assert!((pair[1].time - pair[0].time - 1000.0 / 60.0).abs() < 0.1);
        }
    }

    #[test]
    fn a_molecule_that_goes_ends_the_file() {
        let path = folder("xtc_despawn").join("run.xtc");
        let mut app = app(ContactModel::Crowd);
        collect_failures(&mut app);
        let template = add(&mut app, bar());
        let molecules = [0.0, 5.0, 10.0].map(|x| spawn(&mut app, &template, Vec3::X * x));
        let recorder = record(&mut app, TrajectoryRecorder::new(&path));
        run(&mut app, 4);
        app.world_mut().despawn(molecules[1]);
        run(&mut app, 4);
        let messages = &failures(&app).messages;
        assert_eq!(messages.len(), 1);
        assert!(
            messages[0].error.contains("use .simularium"),
            "{messages:?}"
        );
        assert!(matches!(
            state(&app, recorder),
            RecordingState::Failed { .. }
        ));
        let frames = XTCReader::open(&path).unwrap().read_all_frames().unwrap();
        assert_eq!(frames.len(), 4);
        assert!(frames.iter().all(|frame| frame.natoms() == 21));
        let fallen = position(&app, molecules[0]).y;
        assert!(fallen < -0.05, "{fallen}");
    }
}
