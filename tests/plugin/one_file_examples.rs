//! The one-file examples do what they promise.
//!
//! A new example needs a module here and a test that calls its `example`.

#![allow(dead_code, reason = "`main` of the examples is not called")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};

use bevy::app::{PluginGroupBuilder, TerminalCtrlCHandlerPlugin};
use bevy::input::ButtonState;
use bevy::input::keyboard::{Key, KeyboardInput, NativeKey};
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::settings::{RenderCreation, WgpuSettings};
use bevy::time::TimeUpdateStrategy;
use bevy::winit::WinitPlugin;
use bevy_rapier_molecules::molecule::ModelChoice;
use bevy_rapier_molecules::plugin::{
    MoleculeBackend, MoleculeBackendFailed, MoleculeLoadFailed, MoleculeStateError,
    PreparedMolecule, StickJoint,
};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::offscreen::{Offscreen, OffscreenPlugin, offscreen_plugins};

use super::log;
use super::render::render_app::finish_plugins;
use super::test_app::{FRAME, run, wait_for};
use crate::common::gpu_device::device;

#[path = "../../examples/brownian_motion.rs"]
mod brownian_motion;
#[path = "../../examples/colors.rs"]
mod colors;
#[path = "../../examples/compartment.rs"]
mod compartment;
#[path = "../../examples/contact_events.rs"]
mod contact_events;
#[path = "../../examples/falling_molecule.rs"]
mod falling_molecule;
#[path = "../../examples/fixed_schedule.rs"]
mod fixed_schedule;
#[path = "../../examples/gpu_backend.rs"]
mod gpu_backend;
#[path = "../../examples/headless_server.rs"]
mod headless_server;
#[path = "../../examples/load_settings.rs"]
mod load_settings;
#[path = "../../examples/meetings.rs"]
mod meetings;
#[cfg(feature = "picking")]
#[path = "../../examples/picking.rs"]
mod picking;
#[path = "../../examples/ray_cast.rs"]
mod ray_cast;
#[path = "../../examples/reactions.rs"]
mod reactions;
#[cfg(feature = "recipe")]
#[path = "../../examples/recipe.rs"]
mod recipe;
#[path = "../../examples/relax_vesicle.rs"]
mod relax_vesicle;
#[path = "../../examples/spawn_crowd.rs"]
mod spawn_crowd;

/// Files of `examples` that are programs with a command line, tested in `tests/examples`.
const COMMAND_LINES: [&str; 3] = ["clashes", "docking_path", "proxies"];

/// Frames of each example: one second.
const FRAMES: usize = 60;

/// Maximum time to load the files.
const MAX_LOADING_TIME: Duration = Duration::from_secs(60);

/// Maximum frames until the picture is saved.
const MAX_SCREENSHOT_FRAMES: usize = 50;

#[test]
fn every_one_file_example_is_tested() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let names = files.filter_map(|file| {
        let name = file.file_name().into_string().unwrap();
        name.strip_suffix(".rs").map(str::to_string)
    });
    let found: BTreeSet<String> = names.collect();
    let this = include_str!("one_file_examples.rs");
    for name in &found {
        let is_tested = this.contains(&format!("{name}::example"));
        let is_program = COMMAND_LINES.contains(&name.as_str());
        assert!(is_tested != is_program, "examples/{name}.rs is not tested");
    }
    assert!(found.len() > COMMAND_LINES.len());
}

/// Errors that the plugin reports as messages.
#[derive(Resource, Default)]
struct Errors(Vec<String>);

fn record_errors(
    mut files: MessageReader<MoleculeLoadFailed>,
    mut states: MessageReader<MoleculeStateError>,
    mut backends: MessageReader<MoleculeBackendFailed>,
    mut errors: ResMut<Errors>,
) {
    let files = files.read().map(|error| format!("{error:?}"));
    let states = states.read().map(|error| format!("{error:?}"));
    let backends = backends.read().map(|error| format!("{error:?}"));
    errors.0.extend(files.chain(states).chain(backends));
}

/// Bevy's default plugins without a window, and without a renderer if there is no adapter.
fn plugins(has_adapter: bool) -> PluginGroupBuilder {
    let plugins = offscreen_plugins()
        .set(AssetPlugin {
            file_path: assets().to_string_lossy().into_owned(),
            ..default()
        })
        .disable::<WinitPlugin>()
        .disable::<TerminalCtrlCHandlerPlugin>()
        .disable::<PipelinedRenderingPlugin>()
        .disable::<LogPlugin>();
    if has_adapter {
        return plugins;
    }
    let no_renderer = WgpuSettings {
        backends: None,
        ..default()
    };
    plugins.set(RenderPlugin {
        render_creation: RenderCreation::Automatic(Box::new(no_renderer)),
        ..default()
    })
}

fn assets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets")
}

/// Where the last frame of an example is saved.
fn picture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"))
}

/// An app with an example that is loaded but has not moved. With an adapter, each frame is drawn.
fn start(name: &str, example: fn(&mut App)) -> App {
    let mut app = App::new();
    let has_adapter = device().is_some();
    app.add_plugins(plugins(has_adapter));
    if has_adapter {
        let offscreen = OffscreenPlugin::new(picture(name));
        let frames = FRAMES as u32;
        app.add_plugins(offscreen.with_size(320, 180).with_frames(frames));
    }
    add_and_load(&mut app, example);
    app
}

/// Adds an example to an app and loads its files. Time starts after that.
fn add_and_load(app: &mut App, example: fn(&mut App)) {
    log::capture();
    set_frame_time(app, Duration::ZERO);
    app.add_plugins(example)
        .init_resource::<Errors>()
        .add_systems(Last, record_errors);
    finish_plugins(app);
    hold_picture(app, true);
    let start = Instant::now();
    loop {
        app.update();
        let world = app.world_mut();
        let mut molecules = world.query::<&Molecule>();
        let assets = world.resource::<Assets<MoleculeTemplate>>();
        if molecules.iter(world).all(|it| assets.contains(&it.0)) {
            break;
        }
        assert!(start.elapsed() < MAX_LOADING_TIME, "files are not loaded");
        thread::sleep(Duration::from_millis(1));
    }
    hold_picture(app, false);
    set_frame_time(app, Duration::from_secs_f32(FRAME));
}

fn set_frame_time(app: &mut App, time: Duration) {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(time));
}

fn hold_picture(app: &mut App, hold: bool) {
    if let Some(mut offscreen) = app.world_mut().get_resource_mut::<Offscreen>() {
        offscreen.hold = hold;
    }
}

/// Frames that are drawn in the beginning and at the end; software renderers are slow.
const DRAWN: usize = 5;

/// Turns all cameras on or off.
fn set_drawing(app: &mut App, is_active: bool) {
    let world = app.world_mut();
    for mut camera in world.query::<&mut Camera>().iter_mut(world) {
        camera.is_active = is_active;
    }
}

/// Runs a second of an example. Nothing fails, and the picture shows something.
fn run_second(app: &mut App) {
    run(app, DRAWN);
    set_drawing(app, false);
    run(app, FRAMES - 2 * DRAWN);
    set_drawing(app, true);
    run(app, DRAWN);
    let Errors(errors) = app.world().resource();
    assert!(errors.is_empty(), "{errors:?}");
    let Some(offscreen) = app.world().get_resource::<Offscreen>() else {
        return;
    };
    let file = offscreen.file.clone();
    // The scene rests until the picture is saved.
    set_frame_time(app, Duration::ZERO);
    for _ in 0..MAX_SCREENSHOT_FRAMES {
        if app.should_exit().is_some() {
            break;
        }
        app.update();
    }
    set_frame_time(app, Duration::from_secs_f32(FRAME));
    set_drawing(app, false);
    let picture = image::open(&file).unwrap().to_rgb8();
    let colors: BTreeSet<[u8; 3]> = picture.pixels().map(|pixel| pixel.0).collect();
    assert!(colors.len() > 100, "{} colors", colors.len());
}

/// Starts an example and runs a second of it.
fn run_example(name: &str, example: fn(&mut App)) -> App {
    let mut app = start(name, example);
    run_second(&mut app);
    app
}

/// Positions of all molecules.
fn positions(app: &mut App) -> Vec<Vec3> {
    let world = app.world_mut();
    let mut molecules = world.query_filtered::<&Transform, With<Molecule>>();
    let transforms = molecules.iter(world);
    transforms.map(|transform| transform.translation).collect()
}

fn press(app: &mut App, key_code: KeyCode) {
    app.world_mut().write_message(KeyboardInput {
        key_code,
        logical_key: Key::Unidentified(NativeKey::Unidentified),
        state: ButtonState::Pressed,
        text: None,
        repeat: false,
        window: Entity::PLACEHOLDER,
    });
}

#[test]
fn falling_molecule_falls_and_space_drops_another() {
    let mut app = start("falling_molecule", falling_molecule::example);
    let before = positions(&mut app);
    run_second(&mut app);
    let after = positions(&mut app);
    assert_eq!([before.len(), after.len()], [1, 1]);
    assert!(after[0].y < before[0].y - 4.0, "{before:?} {after:?}");
    press(&mut app, KeyCode::Space);
    app.update();
    assert_eq!(positions(&mut app).len(), 2);
}

#[test]
fn compartment_keeps_its_proteins() {
    let mut app = run_example("compartment", compartment::example);
    let world = app.world_mut();
    let mut compartments = world.query::<(&Compartment, &Transform)>();
    let (compartment, turned) = compartments.single(world).unwrap();
    let Compartment::Capsule {
        half_height,
        radius,
    } = *compartment
    else {
        panic!("{compartment:?}")
    };
    let turned = turned.rotation;
    assert!(turned.angle_between(Quat::from_rotation_z(1.2)) > 0.3);
    let found = positions(&mut app);
    assert!(found.len() > 10);
    for position in found {
        let local = turned.inverse() * position;
        let on_axis = Vec3::Y * local.y.clamp(-half_height, half_height);
        let distance = local.distance(on_axis);
        assert!(distance < radius - 1.0, "{distance} at {local}");
    }
}

#[test]
fn contact_events_logs_contacts() {
    let mut app = run_example("contact_events", contact_events::example);
    assert!(log::count(&["contact_events", " touches "]) > 0);
    run(&mut app, 180);
    assert!(log::count(&["contact_events", " leaves "]) > 0);
}

#[test]
fn ray_cast_logs_the_residues_that_it_hits() {
    let _ = run_example("ray_cast", ray_cast::example);
    let residues = log::count(&["ray_cast", "the ray hits ", " nm"]);
    assert!((3..60).contains(&residues), "{residues}");
}

#[test]
fn gpu_backend_computes_on_the_gpu_and_g_switches_to_the_cpu() {
    if device().is_none() {
        return;
    }
    let mut app = run_example("gpu_backend", gpu_backend::example);
    let active = |app: &App| app.world().resource::<MoleculeBackend>().active();
    assert_eq!(active(&app), Backend::Gpu);
    press(&mut app, KeyCode::KeyG);
    run(&mut app, 2);
    assert_eq!(active(&app), Backend::Cpu);
}

#[test]
fn fixed_schedule_pulls_the_proteins_together() {
    let mut app = start("fixed_schedule", fixed_schedule::example);
    let spread = |app: &mut App| positions(app).iter().map(|it| it.length()).sum::<f32>();
    let before = spread(&mut app);
    run_second(&mut app);
    let after = spread(&mut app);
    assert!(after < 0.7 * before, "{before} {after}");
}

#[test]
fn brownian_motion_moves_proteins_inside_the_box() {
    let mut app = start("brownian_motion", brownian_motion::example);
    let before = positions(&mut app);
    run_second(&mut app);
    let after = positions(&mut app);
    let world = app.world_mut();
    let mut compartments = world.query::<&Compartment>();
    let Ok(&Compartment::Box { half_extents }) = compartments.single(world) else {
        panic!("no box")
    };
    for (before, after) in before.iter().zip(&after) {
        assert!(before.distance(*after) > 0.1, "{before} {after}");
        let inside = after.abs().cmplt(half_extents).all();
        assert!(inside, "{after}");
    }
}

#[test]
fn meetings_logs_meetings_and_space_breaks_the_bonds() {
    let mut app = run_example("meetings", meetings::example);
    let bonds = |app: &mut App| {
        let world = app.world_mut();
        let mut joints = world.query::<&StickJoint>();
        joints.iter(world).count()
    };
    run(&mut app, 120);
    for outcome in ["Stick", "Bounce"] {
        assert!(log::count(&["meetings", " meet after ", outcome]) > 0);
    }
    assert!(bonds(&mut app) > 0);
    press(&mut app, KeyCode::Space);
    app.update();
    assert_eq!(bonds(&mut app), 0);
}

#[test]
fn reactions_assemble_hemoglobin_and_space_switches_them_off() {
    let mut app = start("reactions", reactions::example);
    let counts = |app: &mut App| {
        let world = app.world_mut();
        let mut molecules = world.query::<&Molecule>();
        let name = |molecule: &Molecule| molecule.0.path().unwrap().to_string();
        let names: Vec<String> = molecules.iter(world).map(name).collect();
        let count = |end: &str| names.iter().filter(|name| name.ends_with(end)).count();
        ["#ChainA", "#ChainB", "4hhb.bcif.gz", "1gzx.pdb"].map(count)
    };
    run_second(&mut app);
    let [alpha, beta, pairs, proteins] = counts(&mut app);
    assert!(pairs + proteins > 0);
    assert_eq!([alpha, beta], [12 - pairs - 2 * proteins; 2]);
    let lines = log::count(&["reactions", " react to "]);
    assert_eq!(lines, pairs + 3 * proteins);
    press(&mut app, KeyCode::Space);
    let before = counts(&mut app);
    run(&mut app, 60);
    assert_eq!(counts(&mut app), before);
}

#[test]
fn load_settings_loads_parts_of_files() {
    let mut app = run_example("load_settings", load_settings::example);
    // The scene may take longer to load than its file.
    wait_for(&mut app, |world| {
        let mut molecules = world.query::<&PreparedMolecule>();
        molecules.iter(world).count() == 3 + 49
    });
    let chain = LoadOptions {
        chains: Some(vec!["A".to_string()]),
        ..default()
    };
    let model = LoadOptions {
        model: ModelChoice::Number(2),
        ..default()
    };
    for (name, label, options, count) in [
        ("1ubq.cif", "", default(), 1),
        ("multi.pdb", "", model, 1),
        ("1gzx.pdb", "#ChainA", chain, 1),
        ("4udv.pdb", "#Assembly1/Part1", default(), 49),
    ] {
        let template = load(assets().join("molecules").join(name), &options).unwrap();
        let line = format!("{name}{label}: {} atoms", template.atom_count());
        assert_eq!(log::count(&["load_settings", &line]), count, "{line}");
    }
}

#[test]
fn colors_shows_the_next_mode_when_space_is_pressed() {
    let mut app = run_example("colors", colors::example);
    let mode = |app: &App| app.world().resource::<MoleculeStyle>().color;
    assert_eq!(mode(&app), ColorMode::Chain);
    press(&mut app, KeyCode::Space);
    app.update();
    assert_eq!(mode(&app), ColorMode::Template);
    assert_eq!(log::count(&["colors", "colors show: Template"]), 1);
}

#[test]
#[cfg(feature = "picking")]
fn picking_selects_the_molecule_that_is_clicked() {
    use bevy::asset::uuid::Uuid;
    use bevy::camera::NormalizedRenderTarget;
    use bevy::picking::pointer::{Location, PointerAction, PointerButton, PointerId, PointerInput};
    use bevy::window::PrimaryWindow;
    use bevy_rapier_molecules::render::MoleculeHighlight;

    if device().is_none() {
        return;
    }
    let mut app = run_example("picking", picking::example);
    set_drawing(&mut app, true);
    // Bevy compares targets with that of the primary window, even if there is none.
    app.world_mut().spawn(PrimaryWindow);
    let pointer = PointerId::Custom(Uuid::from_u128(22));
    app.world_mut().spawn(pointer);
    app.update();
    let target = app.world().resource::<Offscreen>().target.clone();
    let world = app.world_mut();
    let mut molecules = world.query_filtered::<(Entity, &Transform), With<Molecule>>();
    let centers = molecules.iter(world).map(|(it, at)| (it, at.translation));
    let clicked = centers.max_by(|one, other| one.1.x.total_cmp(&other.1.x));
    let (clicked, center) = clicked.unwrap();
    let mut cameras = world.query::<(&Camera, &GlobalTransform)>();
    let (camera, transform) = cameras.single(world).unwrap();
    let position = camera.world_to_viewport(transform, center).unwrap();
    let button = PointerButton::Primary;
    for action in [
        PointerAction::Move { delta: Vec2::ONE },
        PointerAction::Press(button),
        PointerAction::Release(button),
    ] {
        let location = Location {
            target: NormalizedRenderTarget::Image(target.clone().into()),
            position,
        };
        let input = PointerInput::new(pointer, location, action);
        app.world_mut().write_message(input);
        app.update();
    }
    let world = app.world_mut();
    let mut selected = world.query_filtered::<Entity, With<MoleculeHighlight>>();
    assert_eq!(selected.iter(world).collect::<Vec<_>>(), [clicked]);
}

#[test]
fn headless_server_logs_its_state() {
    let mut app = App::new();
    let assets = AssetPlugin {
        file_path: assets().to_string_lossy().into_owned(),
        ..default()
    };
    app.add_plugins((MinimalPlugins, TransformPlugin, assets));
    add_and_load(&mut app, headless_server::example);
    run_second(&mut app);
    assert_eq!(log::count(&["headless_server", "50 proteins, "]), 1);
}

#[test]
#[cfg(feature = "recipe")]
fn recipe_packs_proteins_that_fall_to_the_bottom() {
    let mut app = start("recipe", recipe::example);
    hold_picture(&mut app, true);
    set_drawing(&mut app, false);
    wait_for(&mut app, |world| {
        let mut molecules = world.query::<&PreparedMolecule>();
        molecules.iter(world).count() == 28
    });
    set_drawing(&mut app, true);
    hold_picture(&mut app, false);
    let height = |app: &mut App| positions(app).iter().map(|it| it.y).sum::<f32>() / 28.0;
    let before = height(&mut app);
    run_second(&mut app);
    assert!(height(&mut app) < before - 2.0);
    for position in positions(&mut app) {
        assert!(position.abs().max_element() < 8.0, "{position}");
    }
    assert_eq!(
        log::count(&["recipe", "28 molecules added, 0 removed, 0 kept"]),
        1
    );
    assert!(log::count(&["recipe", "the recipe is Ready { complete: true }"]) > 0);
}

#[test]
fn relax_vesicle_leaves_no_overlaps() {
    let size = VesicleSize::Counts {
        outer: 60,
        inner: 6,
        radius: 3.2,
    };
    let config = VesicleConfig { size, ..default() };
    let (crowd, report) = relax_vesicle::example(&config).unwrap();
    assert_eq!(crowd.members().len(), 66);
    assert!(report.converged() && report.start.overlaps > 0 && report.end.overlaps == 0);
}

#[test]
fn spawn_crowd_spawns_a_vesicle_that_stays_whole() {
    let mut app = start("spawn_crowd", spawn_crowd::example);
    let before = positions(&mut app);
    assert_eq!(before.len(), 66);
    run_second(&mut app);
    let after = positions(&mut app);
    for (before, after) in before.iter().zip(&after) {
        assert!(before.distance(*after) < 1.0, "{before} {after}");
    }
    press(&mut app, KeyCode::Space);
    app.update();
    assert_eq!(positions(&mut app).len(), 67);
}
