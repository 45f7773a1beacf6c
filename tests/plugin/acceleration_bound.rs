//! Collisions of molecules with an acceleration bound.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::docking::{DockingMolecule, is_free};
use bevy_rapier_molecules::plugin::{MoleculeWorld, StickJoint};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::log;
use super::test_app::*;

#[derive(Resource, Default)]
struct Collisions(Vec<MoleculeCollision>);

fn recording_app() -> App {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    app.init_resource::<Collisions>().add_systems(
        Last,
        |mut messages: MessageReader<MoleculeCollision>, mut collisions: ResMut<Collisions>| {
            collisions.0.extend(messages.read());
        },
    );
    app
}

fn collisions(app: &App) -> &[MoleculeCollision] {
    &app.world().resource::<Collisions>().0
}

fn spawn_moving(
    app: &mut App,
    template: &Handle<MoleculeTemplate>,
    from: Vec3,
    velocity: Vec3,
) -> Entity {
    let molecule = spawn(app, template, from);
    let bundle = (AccelerationBound(0.0), Velocity::linear(velocity));
    app.world_mut().entity_mut(molecule).insert(bundle);
    molecule
}

/// Simulated time, s.
fn clock(app: &mut App) -> f64 {
    let world = app.world_mut();
    let mut worlds = world.query::<&MoleculeWorld>();
    worlds.single(world).unwrap().clock()
}

#[test]
fn the_time_of_impact_is_that_of_the_atoms() {
    for speed in [5.0, 60.0] {
        let mut app = recording_app();
        let template = add(&mut app, real("1ubq.cif"));
        run(&mut app, 1);
        let before = clock(&mut app);
        let offset = Vec3::new(0.3, 0.2, 0.0);
        let left = spawn_moving(&mut app, &template, Vec3::X * -6.0, Vec3::X * speed);
        let right = spawn_moving(
            &mut app,
            &template,
            Vec3::X * 6.0 + offset,
            Vec3::X * (-0.5 * speed),
        );
        run(&mut app, (90.0 * 5.0 / speed) as usize + 10);
        let body = DockingMolecule::new(Arc::new(real("1ubq.cif")));
        let free = |time: f64| {
            let time = time as f32;
            let one = Pose::from_translation(Vec3::X * (speed * time - 6.0));
            let other = Pose::from_translation(Vec3::X * (6.0 - 0.5 * speed * time) + offset);
            is_free(&body, &one, &body, &other)
        };
        let (mut low, mut high) = (0.0, 9.0 / f64::from(speed));
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if free(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        let collision = collisions(&app).first().expect("a collision");
        let pair = (left.min(right), left.max(right));
        assert_eq!((collision.molecule, collision.other), pair);
        assert_eq!(collision.outcome, CollisionOutcome::Bounce);
        // Gaps below 0.001 nm count as touching, and the solver may have slowed them in the
        // previous substep.
        let delay = collision.time - before - low;
        let substep = f64::from(FRAME) / 4.0;
        assert!((-4.0e-4..substep).contains(&delay), "{delay} at {speed}");
    }
}

#[test]
fn a_molecule_observes_its_own_collisions() {
    #[derive(Resource, Default)]
    struct Events(Vec<(Entity, MoleculeCollision)>);
    let mut app = recording_app();
    app.init_resource::<Events>();
    let template = add(&mut app, bar());
    let before = clock(&mut app);
    let left = spawn_moving(&mut app, &template, Vec3::X * -2.0, Vec3::X * 4.0);
    let right = spawn_moving(&mut app, &template, Vec3::X * 2.0, Vec3::X * -4.0);
    for molecule in [left, right] {
        app.world_mut()
            .entity_mut(molecule)
            .insert(MoleculeEventsEnabled)
            .observe(
                move |collision: On<MoleculeCollision>, mut events: ResMut<Events>| {
                    events.0.push((molecule, *collision));
                },
            );
    }
    run(&mut app, 40);
    let [message] = *collisions(&app) else {
        panic!("{:?}", collisions(&app))
    };
    let (a, b) = (left.min(right), left.max(right));
    assert_eq!((message.molecule, message.other), (a, b));
    // The bars are 0.92 nm long, so 3.08 nm apart.
    let delay = message.time - before - 3.08 / 8.0;
    assert!(delay.abs() < f64::from(FRAME) / 4.0, "{delay}");
    let swapped = MoleculeCollision {
        molecule: b,
        other: a,
        ..message
    };
    let events = &app.world().resource::<Events>().0;
    assert_eq!(events[..], [(a, message), (b, swapped)]);
}

#[test]
fn a_near_miss_is_not_a_collision() {
    let mut app = recording_app();
    // Bars along x, one above the other: their bounding spheres overlap, their atoms do not.
    let template = add(&mut app, bar());
    spawn_moving(&mut app, &template, Vec3::X * -2.0, Vec3::X * 3.0);
    spawn_moving(
        &mut app,
        &template,
        Vec3::new(2.0, 0.3, 0.0),
        Vec3::X * -3.0,
    );
    run(&mut app, 80);
    assert!(collisions(&app).is_empty(), "{:?}", collisions(&app));
}

#[test]
fn collisions_are_sorted_by_time_and_reproducible() {
    let simulate = || {
        let mut app = recording_app();
        let world = app.world_mut();
        let mut configurations = world.query::<&mut RapierConfiguration>();
        for mut configuration in configurations.iter_mut(world) {
            configuration.gravity = Vec3::NEG_Y * 9.81;
        }
        let template = add(&mut app, bar());
        spawn_floor(&mut app);
        for k in 0..24 {
            let position = Vec3::new(0.31 * (k % 4) as f32, 1.0 + 0.4 * k as f32, 0.0);
            let molecule = spawn(&mut app, &template, position);
            app.world_mut()
                .entity_mut(molecule)
                .insert(AccelerationBound::default());
        }
        run(&mut app, 150);
        collisions(&app).to_vec()
    };
    let first = simulate();
    assert!(first.len() > 10, "{}", first.len());
    assert!(first.is_sorted_by_key(|one| one.time));
    assert!(first.iter().all(|one| one.molecule < one.other));
    assert_eq!(first, simulate());
}

#[test]
fn sticking_molecules_stay_together() {
    let mut app = recording_app();
    let template = add(&mut app, real("1ubq.cif"));
    let left = spawn_moving(&mut app, &template, Vec3::X * -3.5, Vec3::X * 4.0);
    let right = spawn_moving(&mut app, &template, Vec3::X * 3.5, Vec3::ZERO);
    for molecule in [left, right] {
        app.world_mut()
            .entity_mut(molecule)
            .insert(CollisionOutcome::Stick);
    }
    run(&mut app, 90);
    let [collision] = collisions(&app) else {
        panic!("{:?}", collisions(&app))
    };
    assert_eq!(collision.outcome, CollisionOutcome::Stick);
    let distance = |app: &App| (position(app, right) - position(app, left)).length();
    let before = distance(&app);
    assert!(before < 5.0, "{before}");
    run(&mut app, 60);
    assert!((distance(&app) - before).abs() < 0.05);
    let sum = velocity(&app, left) + velocity(&app, right);
    assert!((sum.x - 4.0).abs() < 0.05, "{sum}");
}

/// Two ubiquitins that stick, and their joint.
fn stuck() -> (App, [Entity; 2], Entity) {
    let mut app = recording_app();
    let template = add(&mut app, real("1ubq.cif"));
    let molecules = [(-2.5, 4.0), (2.5, 0.0)].map(|(x, speed)| {
        let molecule = spawn_moving(&mut app, &template, Vec3::X * x, Vec3::X * speed);
        let mut entity = app.world_mut().entity_mut(molecule);
        entity.insert(CollisionOutcome::Stick);
        molecule
    });
    run(&mut app, 60);
    let joint = stick_joints(&mut app)[0].0;
    (app, molecules, joint)
}

fn stick_joints(app: &mut App) -> Vec<(Entity, StickJoint)> {
    let world = app.world_mut();
    let mut joints = world.query::<(Entity, &StickJoint)>();
    let joints = joints.iter(world);
    joints.map(|(entity, joint)| (entity, *joint)).collect()
}

/// Number of joints in Rapier.
fn rapier_joints(app: &mut App) -> usize {
    let world = app.world_mut();
    let mut contexts = world.query::<&RapierContextJoints>();
    contexts.single(world).unwrap().impulse_joints.len()
}

#[test]
fn molecules_that_stick_have_one_joint_entity_until_it_is_despawned() {
    let (mut app, [left, right], _) = stuck();
    let [(entity, joint)] = stick_joints(&mut app)[..] else {
        panic!("{:?}", stick_joints(&mut app))
    };
    let pair = (left.min(right), left.max(right));
    assert_eq!((joint.a, joint.b), pair);
    assert!(app.world().get::<ImpulseJoint>(entity).is_some());
    assert_eq!(rapier_joints(&mut app), 1);
    let distance = |app: &App| position(app, left).distance(position(app, right));
    let before = distance(&app);
    assert!((before - joint.position.length()).abs() < 0.02);
    let part = |app: &mut App| {
        for (molecule, x) in [(left, -3.0), (right, 3.0)] {
            app.world_mut()
                .entity_mut(molecule)
                .insert(Velocity::linear(Vec3::X * x));
        }
        run(app, 30);
    };
    part(&mut app);
    assert!((distance(&app) - before).abs() < 0.05);
    app.world_mut().despawn(entity);
    assert_eq!(rapier_joints(&mut app), 0);
    part(&mut app);
    assert!(distance(&app) > before + 2.0, "{}", distance(&app));
}

#[test]
fn removing_the_component_breaks_the_joint() {
    let (mut app, _, joint) = stuck();
    app.world_mut().entity_mut(joint).remove::<StickJoint>();
    run(&mut app, 3);
    assert_eq!(rapier_joints(&mut app), 0);
    assert!(app.world().get::<ImpulseJoint>(joint).is_none());
}

#[test]
fn a_joint_is_despawned_with_either_molecule() {
    for removed in [0, 1] {
        let (mut app, molecules, joint) = stuck();
        app.world_mut().despawn(molecules[removed]);
        app.update();
        assert!(app.world().get_entity(joint).is_err(), "{removed}");
        assert_eq!(rapier_joints(&mut app), 0);
        let other = molecules[1 - removed];
        assert!(app.world().get::<Transform>(other).is_some());
    }
}

#[test]
fn an_invalid_bound_affects_only_its_own_molecule() {
    log::capture();
    let mut app = recording_app();
    let template = add(&mut app, bar());
    let left = spawn_moving(&mut app, &template, Vec3::X * -2.0, Vec3::X * 4.0);
    let right = spawn_moving(&mut app, &template, Vec3::X * 2.0, Vec3::X * -4.0);
    let invalid = spawn(&mut app, &template, Vec3::Y * 30.0);
    app.world_mut()
        .entity_mut(invalid)
        .insert(AccelerationBound(f32::NAN));
    run(&mut app, 40);
    let pair = (left.min(right), left.max(right));
    assert!(!collisions(&app).is_empty());
    for collision in collisions(&app) {
        assert_eq!((collision.molecule, collision.other), pair);
    }
    // Another molecule triggers a new collection.
    spawn_moving(&mut app, &template, Vec3::Y * 60.0, Vec3::ZERO);
    run(&mut app, 3);
    assert_eq!(log::count(&["its AccelerationBound is NaN"]), 1);
}
