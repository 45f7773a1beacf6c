//! Molecules with a bound on their acceleration are told when they meet.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::docking::{DockingMolecule, is_free};
use bevy_rapier_molecules::plugin::MoleculeWorld;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::log;
use super::test_app::*;

#[derive(Resource, Default)]
struct Met(Vec<MoleculeCollision>);

fn watching_app() -> App {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    app.init_resource::<Met>().add_systems(
        Last,
        |mut messages: MessageReader<MoleculeCollision>, mut met: ResMut<Met>| {
            met.0.extend(messages.read());
        },
    );
    app
}

fn met(app: &App) -> &[MoleculeCollision] {
    &app.world().resource::<Met>().0
}

fn fly(app: &mut App, template: &Handle<MoleculeTemplate>, from: Vec3, velocity: Vec3) -> Entity {
    let molecule = spawn(app, template, from);
    let bundle = (AccelerationBound(0.0), Velocity::linear(velocity));
    app.world_mut().entity_mut(molecule).insert(bundle);
    molecule
}

/// Seconds that the context has seen.
fn clock(app: &mut App) -> f64 {
    let world = app.world_mut();
    let mut worlds = world.query::<&MoleculeWorld>();
    worlds.single(world).unwrap().clock()
}

#[test]
fn two_that_fly_at_each_other_meet_when_their_atoms_do() {
    for speed in [5.0, 60.0] {
        let mut app = watching_app();
        let template = add(&mut app, real("1ubq.cif"));
        run(&mut app, 1);
        let before = clock(&mut app);
        let off = Vec3::new(0.3, 0.2, 0.0);
        let left = fly(&mut app, &template, Vec3::X * -6.0, Vec3::X * speed);
        let right = fly(
            &mut app,
            &template,
            Vec3::X * 6.0 + off,
            Vec3::X * (-0.5 * speed),
        );
        run(&mut app, (90.0 * 5.0 / speed) as usize + 10);
        let body = DockingMolecule::new(Arc::new(real("1ubq.cif")));
        let free = |time: f64| {
            let time = time as f32;
            let one = Pose::from_translation(Vec3::X * (speed * time - 6.0));
            let other = Pose::from_translation(Vec3::X * (6.0 - 0.5 * speed * time) + off);
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
        let meeting = met(&app).first().expect("they met");
        let pair = (left.min(right), left.max(right));
        assert_eq!((meeting.molecule, meeting.other), pair);
        assert_eq!(meeting.outcome, CollisionOutcome::Bounce);
        // A thousandth of a nanometer is as good as touching, and the solver may have
        // slowed them down in the substep before.
        let late = meeting.time - before - low;
        let substep = f64::from(FRAME) / 4.0;
        assert!((-4.0e-4..substep).contains(&late), "{late} at {speed}");
    }
}

#[test]
fn those_that_pass_by_do_not_meet() {
    let mut app = watching_app();
    // Bars along x, one above the other: their bounding spheres overlap, no atom does.
    let template = add(&mut app, bar());
    fly(&mut app, &template, Vec3::X * -2.0, Vec3::X * 3.0);
    fly(
        &mut app,
        &template,
        Vec3::new(2.0, 0.3, 0.0),
        Vec3::X * -3.0,
    );
    run(&mut app, 80);
    assert!(met(&app).is_empty(), "{:?}", met(&app));
}

#[test]
fn in_a_hail_everyone_is_told_in_the_order_of_time_and_the_same_every_time() {
    let hail = || {
        let mut app = watching_app();
        let world = app.world_mut();
        let mut configurations = world.query::<&mut RapierConfiguration>();
        for mut configuration in configurations.iter_mut(world) {
            configuration.gravity = Vec3::NEG_Y * 9.81;
        }
        let template = add(&mut app, bar());
        spawn_floor(&mut app);
        for k in 0..24 {
            let place = Vec3::new(0.31 * (k % 4) as f32, 1.0 + 0.4 * k as f32, 0.0);
            let molecule = spawn(&mut app, &template, place);
            app.world_mut()
                .entity_mut(molecule)
                .insert(AccelerationBound::default());
        }
        run(&mut app, 150);
        met(&app).to_vec()
    };
    let first = hail();
    assert!(first.len() > 10, "{}", first.len());
    assert!(first.is_sorted_by_key(|met| met.time));
    assert!(first.iter().all(|met| met.molecule < met.other));
    assert_eq!(first, hail());
}

#[test]
fn molecules_that_stick_fly_on_together() {
    let mut app = watching_app();
    let template = add(&mut app, real("1ubq.cif"));
    let left = fly(&mut app, &template, Vec3::X * -3.5, Vec3::X * 4.0);
    let right = fly(&mut app, &template, Vec3::X * 3.5, Vec3::ZERO);
    for molecule in [left, right] {
        app.world_mut()
            .entity_mut(molecule)
            .insert(CollisionOutcome::Stick);
    }
    run(&mut app, 90);
    assert_eq!(met(&app).len(), 1);
    assert_eq!(met(&app)[0].outcome, CollisionOutcome::Stick);
    let apart = |app: &App| (position(app, right) - position(app, left)).length();
    let before = apart(&app);
    assert!(before < 5.0, "{before}");
    run(&mut app, 60);
    assert!((apart(&app) - before).abs() < 0.05, "{}", apart(&app));
    let sum = velocity(&app, left) + velocity(&app, right);
    assert!((sum.x - 4.0).abs() < 0.05, "{sum}");
}

#[test]
fn a_bound_that_is_no_number_leaves_out_its_own_molecule_only() {
    log::listen();
    let mut app = watching_app();
    let template = add(&mut app, bar());
    let left = fly(&mut app, &template, Vec3::X * -2.0, Vec3::X * 4.0);
    let right = fly(&mut app, &template, Vec3::X * 2.0, Vec3::X * -4.0);
    let unwatched = spawn(&mut app, &template, Vec3::Y * 30.0);
    app.world_mut()
        .entity_mut(unwatched)
        .insert(AccelerationBound(f32::NAN));
    run(&mut app, 40);
    let pair = (left.min(right), left.max(right));
    assert!(!met(&app).is_empty());
    for meeting in met(&app) {
        assert_eq!((meeting.molecule, meeting.other), pair);
    }
    // One that comes later makes all be collected anew.
    fly(&mut app, &template, Vec3::Y * 60.0, Vec3::ZERO);
    run(&mut app, 3);
    assert_eq!(log::count(&["its AccelerationBound is NaN"]), 1);
}
