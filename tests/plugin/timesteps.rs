//! Contacts are fresh in every substep, in every timestep mode, schedule and context.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_rapier_molecules::plugin::MoleculeWorld;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::test_app::*;

#[derive(Resource, Default)]
struct Substeps(Vec<f32>);

fn count_substeps(app: &mut App) {
    app.init_resource::<Substeps>().add_systems(
        MoleculeSubstep,
        (|worlds: Query<&MoleculeWorld>, mut substeps: ResMut<Substeps>| {
            substeps
                .0
                .extend(worlds.iter().filter_map(MoleculeWorld::substep));
        })
        .after(MoleculeSystems::Apply)
        .before(MoleculeSystems::Step),
    );
}

fn substeps_in(mode: TimestepMode, frames: usize) -> Vec<f32> {
    let mut app = bare_app();
    app.add_plugins(MoleculePlugins::default())
        .insert_resource(mode);
    count_substeps(&mut app);
    start(&mut app);
    // The clock starts with the first frame.
    app.update();
    app.world_mut().resource_mut::<Substeps>().0.clear();
    run(&mut app, frames);
    app.world().resource::<Substeps>().0.clone()
}

fn assert_all(substeps: &[f32], count: usize, length: f32) {
    assert_eq!(substeps.len(), count);
    for substep in substeps {
        assert!((substep - length).abs() < 1.0e-6, "{substep}");
    }
}

#[test]
fn each_mode_takes_its_substeps() {
    let fixed = TimestepMode::Fixed {
        dt: 0.02,
        substeps: 5,
    };
    assert_all(&substeps_in(fixed, 3), 15, 0.004);
    let variable = TimestepMode::Variable {
        max_dt: 1.0,
        time_scale: 0.5,
        substeps: 2,
    };
    assert_all(&substeps_in(variable, 3), 6, FRAME / 4.0);
    let interpolated = TimestepMode::Interpolated {
        dt: 1.0 / 120.0,
        time_scale: 1.0,
        substeps: 3,
    };
    let substeps = substeps_in(interpolated, 6);
    assert!((30..=42).contains(&substeps.len()), "{}", substeps.len());
    assert_all(&substeps, substeps.len(), 1.0 / 360.0);
}

/// A ball that falls moves as Rapier alone moves it.
#[test]
fn ordinary_bodies_do_not_notice_us() {
    for mode in [
        TimestepMode::Fixed {
            dt: FRAME,
            substeps: 3,
        },
        TimestepMode::Variable {
            max_dt: FRAME,
            time_scale: 1.0,
            substeps: 2,
        },
        TimestepMode::Interpolated {
            dt: 1.0 / 50.0,
            time_scale: 1.0,
            substeps: 2,
        },
    ] {
        let heights = [false, true].map(|ours| {
            let mut app = bare_app();
            app.insert_resource(mode);
            if ours {
                app.add_plugins(MoleculePlugins::default());
            }
            start(&mut app);
            spawn_floor(&mut app);
            let ball = (
                RigidBody::Dynamic,
                Collider::ball(0.5),
                Transform::from_xyz(0.0, 3.0, 0.0),
                TransformInterpolation::default(),
            );
            let ball = app.world_mut().spawn(ball).id();
            let track = (0..90).map(|_| {
                app.update();
                position(&app, ball).y
            });
            track.collect::<Vec<_>>()
        });
        for (theirs, ours) in heights[0].iter().zip(&heights[1]) {
            assert!((theirs - ours).abs() < 1.0e-6, "{mode:?}: {theirs} {ours}");
        }
    }
}

#[test]
fn the_fixed_schedule_works() {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        TransformPlugin,
        AssetPlugin::default(),
        RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule(),
        MoleculePlugins::default(),
    ))
    .insert_resource(TimestepMode::Fixed {
        dt: 1.0 / 64.0,
        substeps: 4,
    })
    .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(
        FRAME,
    )));
    count_substeps(&mut app);
    start(&mut app);
    spawn_floor(&mut app);
    let template = add(&mut app, bar());
    let low = spawn(&mut app, &template, Vec3::Y * 0.5);
    let high = spawn(&mut app, &template, Vec3::Y * 1.0);
    run(&mut app, 240);
    let substeps = app.world().resource::<Substeps>().0.len();
    assert!((240 * 4..270 * 4).contains(&substeps), "{substeps}");
    for molecule in [low, high] {
        let place = position(&app, molecule);
        assert!((0.05..0.6).contains(&place.y), "{place}");
    }
}

#[test]
fn several_contexts_do_not_mix() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let other = weightless_context(&mut app);
    let template = add(&mut app, bar());
    // Two that overlap here, two that overlap there, all in one place.
    let here = [0.0, 0.15].map(|y| spawn(&mut app, &template, Vec3::Y * y));
    let there = [0.0, 0.15].map(|y| {
        let molecule = spawn(&mut app, &template, Vec3::Y * y);
        app.world_mut()
            .entity_mut(molecule)
            .insert(RapierContextEntityLink(other));
        molecule
    });
    run(&mut app, 1);
    for (pair, others) in [(here, there), (there, here)] {
        let molecules = app.world().get::<Colliding>(pair[0]).unwrap().molecules;
        assert_eq!(molecules, 1, "{others:?} must not count");
    }
    run(&mut app, 60);
    for pair in [here, there] {
        let apart = position(&app, pair[1]) - position(&app, pair[0]);
        assert!(apart.y > 0.195, "{apart}");
    }
}

#[test]
fn a_paused_context_stands_still() {
    let mut app = app(ContactModel::Crowd);
    run(&mut app, 1);
    let world = app.world_mut();
    let mut configurations = world.query::<&mut RapierConfiguration>();
    for mut configuration in configurations.iter_mut(world) {
        configuration.physics_pipeline_active = false;
    }
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::Y);
    run(&mut app, 10);
    assert_eq!(position(&app, molecule), Vec3::Y);
}
