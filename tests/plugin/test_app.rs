//! Headless apps, and helpers to fill and inspect them.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_rapier_molecules::molecule::{Atom, Element, Residue};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

/// Length of a frame, s.
pub const FRAME: f32 = 1.0 / 60.0;

/// A headless app with molecules: 60 frames per second, 4 substeps each.
pub fn app(model: ContactModel) -> App {
    let mut app = bare_app();
    app.add_plugins(MoleculePlugins::default().with_contacts(model));
    app.insert_resource(TimestepMode::Fixed {
        dt: FRAME,
        substeps: 4,
    });
    start(&mut app);
    app
}

/// The app without the plugins of this crate.
pub fn bare_app() -> App {
    let mut app = App::new();
    let assets = AssetPlugin {
        file_path: env!("CARGO_MANIFEST_DIR").into(),
        ..default()
    };
    add_bare_plugins(&mut app, assets);
    app
}

/// Adds the plugins of other crates.
pub fn add_bare_plugins(app: &mut App, assets: AssetPlugin) {
    app.add_plugins((
        MinimalPlugins,
        TransformPlugin,
        assets,
        RapierPhysicsPlugin::<NoUserData>::default(),
    ));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(
        FRAME,
    )));
}

pub fn start(app: &mut App) {
    app.finish();
    app.cleanup();
}

pub fn run(app: &mut App, frames: usize) {
    for _ in 0..frames {
        app.update();
    }
}

/// Runs frames until `done`, for work in other threads such as loading a file.
pub fn wait_for(app: &mut App, done: impl Fn(&mut World) -> bool) {
    const MAX_FRAMES: usize = 2000;
    for _ in 0..MAX_FRAMES {
        app.update();
        if done(app.world_mut()) {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("timed out");
}

/// A template of carbon atoms with 0.1 nm radius at `positions`, nm.
pub fn carbons(positions: &[Vec3]) -> MoleculeTemplate {
    let atoms = positions.iter().map(|&position| Atom {
        position,
        radius: 0.1,
        element: Element::C,
        name: "C".into(),
        residue: 0,
    });
    MoleculeTemplate::new("carbons", atoms.collect(), vec![Residue::default()]).unwrap()
}

/// A bar of seven carbons along x, 0.9 nm long.
pub fn bar() -> MoleculeTemplate {
    let positions: Vec<Vec3> = (-3..=3).map(|k| Vec3::X * 0.12 * k as f32).collect();
    carbons(&positions)
}

/// One of the bundled structures.
pub fn real(file: &str) -> MoleculeTemplate {
    let path = format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"));
    load(path, &LoadOptions::default()).unwrap()
}

/// Adds a template to the assets.
pub fn add(app: &mut App, template: MoleculeTemplate) -> Handle<MoleculeTemplate> {
    app.world_mut()
        .resource_mut::<Assets<MoleculeTemplate>>()
        .add(template)
}

/// Spawns a molecule at `position`.
pub fn spawn(app: &mut App, template: &Handle<MoleculeTemplate>, position: Vec3) -> Entity {
    let bundle = (
        Molecule(template.clone()),
        Transform::from_translation(position),
    );
    app.world_mut().spawn(bundle).id()
}

/// A floor whose top is at y = 0.
pub fn spawn_floor(app: &mut App) -> Entity {
    let floor = (
        RigidBody::Fixed,
        Collider::cuboid(10.0, 1.0, 10.0),
        Transform::from_xyz(0.0, -1.0, 0.0),
    );
    app.world_mut().spawn(floor).id()
}

pub fn position(app: &App, entity: Entity) -> Vec3 {
    app.world().get::<Transform>(entity).unwrap().translation
}

/// Mass of the Rapier body of a molecule, Da.
pub fn mass_of(app: &App, molecule: Entity) -> f32 {
    let link = app
        .world()
        .get::<RapierContextEntityLink>(molecule)
        .unwrap();
    let bodies = app.world().get::<RapierRigidBodySet>(link.0).unwrap();
    let handle = app.world().get::<RapierRigidBodyHandle>(molecule).unwrap();
    bodies.bodies[handle.0].mass()
}

pub fn velocity(app: &App, entity: Entity) -> Vec3 {
    app.world().get::<Velocity>(entity).unwrap().linear
}

/// Disables gravity in all contexts.
pub fn weightless(app: &mut App) {
    run(app, 1);
    let world = app.world_mut();
    let mut configurations = world.query::<&mut RapierConfiguration>();
    for mut configuration in configurations.iter_mut(world) {
        configuration.gravity = Vec3::ZERO;
    }
}

/// Spawns another Rapier context, without gravity.
pub fn weightless_context(app: &mut App) -> Entity {
    let configuration = RapierConfiguration {
        gravity: Vec3::ZERO,
        ..RapierConfiguration::new(1.0)
    };
    let context = (RapierContextSimulation::default(), configuration);
    app.world_mut().spawn(context).id()
}
