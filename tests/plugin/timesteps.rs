//! Substeps in all timestep modes, schedules and contexts.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_rapier_molecules::plugin::{MoleculeSubstep, MoleculeWorld};
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
    // Time starts in the first frame.
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
fn all_timestep_modes_run_their_substeps() {
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

/// A ball falls as in Rapier alone.
#[test]
fn the_plugin_does_not_affect_ordinary_bodies() {
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
        let heights = [false, true].map(|with_plugin| {
            let mut app = bare_app();
            app.insert_resource(mode);
            if with_plugin {
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
        for (without, with) in heights[0].iter().zip(&heights[1]) {
            assert!(
                (without - with).abs() < 1.0e-6,
                "{mode:?}: {without} {with}"
            );
        }
    }
}

#[test]
fn rapier_may_run_in_the_fixed_schedule() {
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
        let position = position(&app, molecule);
        assert!((0.05..0.6).contains(&position.y), "{position}");
    }
}

#[test]
fn molecules_of_different_contexts_do_not_collide() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let second = weightless_context(&mut app);
    let template = add(&mut app, bar());
    // Two overlapping molecules in each context, all in one place.
    let in_first = [0.0, 0.15].map(|y| spawn(&mut app, &template, Vec3::Y * y));
    let in_second = [0.0, 0.15].map(|y| {
        let molecule = spawn(&mut app, &template, Vec3::Y * y);
        app.world_mut()
            .entity_mut(molecule)
            .insert(RapierContextEntityLink(second));
        molecule
    });
    run(&mut app, 1);
    for pair in [in_first, in_second] {
        let molecules = app.world().get::<Colliding>(pair[0]).unwrap().molecules;
        assert_eq!(molecules, 1);
    }
    run(&mut app, 60);
    for pair in [in_first, in_second] {
        let offset = position(&app, pair[1]) - position(&app, pair[0]);
        assert!(offset.y > 0.195, "{offset}");
    }
}

#[test]
fn a_paused_context_does_not_move() {
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
