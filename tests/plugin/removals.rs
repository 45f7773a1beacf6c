//! Components that are removed between two ticks of a fixed schedule take effect.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_rapier_molecules::plugin::StickJoint;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::test_app::*;

/// Frames per tick.
const FRAMES: usize = 8;

/// An app whose physics run in every eighth frame, without gravity.
fn slow_app() -> App {
    let tick = FRAMES as f32 * FRAME;
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        TransformPlugin,
        AssetPlugin::default(),
        RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule(),
        MoleculePlugins::default(),
    ))
    .insert_resource(TimestepMode::Fixed {
        dt: tick,
        substeps: 8,
    })
    .insert_resource(Time::<Fixed>::from_duration(Duration::from_secs_f32(tick)))
    .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(
        FRAME,
    )));
    start(&mut app);
    weightless(&mut app);
    app
}

/// Runs until the frame after a tick, which moves the molecule.
fn run_to_tick(app: &mut App, moving: Entity) {
    for _ in 0..2 * FRAMES {
        let before = position(app, moving);
        app.update();
        if position(app, moving) != before {
            return;
        }
    }
    panic!("nothing moves");
}

#[test]
fn a_molecule_without_brownian_motion_stops() {
    let mut app = slow_app();
    let template = add(&mut app, bar());
    let [stopped, other] = [0.0, 5.0].map(|x| {
        let molecule = spawn(&mut app, &template, Vec3::X * x);
        let mut entity = app.world_mut().entity_mut(molecule);
        entity.insert(BrownianMotion::default());
        molecule
    });
    run_to_tick(&mut app, other);
    app.world_mut()
        .entity_mut(stopped)
        .remove::<BrownianMotion>();
    let before = [stopped, other].map(|molecule| position(&app, molecule));
    run(&mut app, 10 * FRAMES);
    let after = [stopped, other].map(|molecule| position(&app, molecule));
    assert_eq!(before[0], after[0]);
    assert_ne!(before[1], after[1]);
}

#[test]
fn collisions_without_a_bound_are_not_reported() {
    #[derive(Resource, Default)]
    struct Collisions(usize);
    for (removed, expected) in [(false, 1), (true, 0)] {
        let mut app = slow_app();
        app.init_resource::<Collisions>().add_systems(
            Last,
            |mut messages: MessageReader<MoleculeCollision>, mut count: ResMut<Collisions>| {
                count.0 += messages.read().count();
            },
        );
        let template = add(&mut app, bar());
        let [left, _] = [-1.0, 1.0].map(|side| {
            let molecule = spawn(&mut app, &template, Vec3::X * 2.0 * side);
            let moving = (AccelerationBound(0.0), Velocity::linear(Vec3::X * -side));
            app.world_mut().entity_mut(molecule).insert(moving);
            molecule
        });
        run_to_tick(&mut app, left);
        if removed {
            app.world_mut()
                .entity_mut(left)
                .remove::<AccelerationBound>();
        }
        run(&mut app, 180);
        assert_eq!(app.world().resource::<Collisions>().0, expected);
    }
}

#[test]
fn collision_types_of_the_app_are_replaced() {
    let mut app = slow_app();
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::ZERO);
    let types = |app: &App| {
        let molecule = app.world().entity(molecule);
        let handle = molecule.get::<RapierColliderHandle>().unwrap();
        let link = molecule.get::<RapierContextEntityLink>().unwrap();
        let context = app.world().get::<RapierContextColliders>(link.0).unwrap();
        context.colliders[handle.0].active_collision_types()
    };
    let velocity = Velocity::linear(Vec3::X);
    let own = (ActiveCollisionTypes::default(), velocity);
    app.world_mut().entity_mut(molecule).insert(own);
    run(&mut app, 3 * FRAMES);
    run_to_tick(&mut app, molecule);
    assert!(!types(&app).is_empty());
    app.world_mut()
        .entity_mut(molecule)
        .remove::<ActiveCollisionTypes>();
    run(&mut app, 2 * FRAMES);
    assert!(types(&app).is_empty());
}

#[test]
fn a_despawned_joint_breaks() {
    let mut app = slow_app();
    let template = add(&mut app, bar());
    let a = spawn(&mut app, &template, Vec3::ZERO);
    let b = spawn(&mut app, &template, Vec3::Y * 0.3);
    app.world_mut()
        .entity_mut(b)
        .insert(Velocity::linear(Vec3::Y * 0.5));
    let joint = StickJoint {
        a,
        b,
        position: Vec3::Y * 0.3,
        rotation: Quat::IDENTITY,
    };
    let joint = app.world_mut().spawn(joint).id();
    let distance = |app: &App| position(app, a).distance(position(app, b));
    run(&mut app, 5 * FRAMES);
    assert!((distance(&app) - 0.3).abs() < 0.01, "{}", distance(&app));
    run_to_tick(&mut app, b);
    app.world_mut().despawn(joint);
    app.world_mut()
        .entity_mut(b)
        .insert(Velocity::linear(Vec3::Y * 2.0));
    run(&mut app, 5 * FRAMES);
    assert!(distance(&app) > 0.6, "{}", distance(&app));
}
