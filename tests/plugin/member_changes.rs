//! Molecules that are spawned, changed and despawned while others stay.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_rapier_molecules::plugin::MoleculeWorld;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::test_app::*;

/// Length of a tick of the fixed schedule, in frames: more than Bevy keeps the messages of
/// removed components.
const FRAMES_PER_TICK: usize = 5;

/// An app in which Rapier runs in the fixed schedule, once in five frames.
fn slow_ticks(model: ContactModel) -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        TransformPlugin,
        AssetPlugin::default(),
        RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule(),
        MoleculePlugins::default()
            .with_contacts(model)
            .with_backend(Backend::Cpu),
    ))
    .insert_resource(Time::<Fixed>::from_seconds(f64::from(FRAME)))
    .insert_resource(TimestepMode::Fixed {
        dt: FRAME,
        substeps: 4,
    })
    .insert_resource(TimeUpdateStrategy::ManualDuration(
        Duration::from_secs_f32(FRAME) / FRAMES_PER_TICK as u32,
    ));
    start(&mut app);
    app
}

fn run_ticks(app: &mut App, ticks: usize) {
    run(app, ticks * FRAMES_PER_TICK);
}

fn world(app: &mut App) -> &MoleculeWorld {
    let world = app.world_mut();
    let mut worlds = world.query::<&MoleculeWorld>();
    worlds.single(world).unwrap()
}

fn body_count(app: &mut App) -> (usize, usize) {
    let world = app.world_mut();
    let mut sets = world.query::<(&RapierRigidBodySet, &RapierContextColliders)>();
    let (bodies, colliders) = sets.single(world).unwrap();
    (bodies.bodies.len(), colliders.colliders.len())
}

fn is_asleep(app: &App, molecule: Entity) -> bool {
    app.world().get::<Sleeping>(molecule).unwrap().sleeping
}

fn put_to_sleep(app: &mut App, molecules: &[Entity]) {
    for molecule in molecules {
        let sleeping = Sleeping {
            sleeping: true,
            ..default()
        };
        app.world_mut().entity_mut(*molecule).insert(sleeping);
    }
}

#[test]
fn a_molecule_that_is_despawned_between_ticks_leaves_the_contacts() {
    let mut app = slow_ticks(ContactModel::Crowd);
    let template = add(&mut app, bar());
    let [one, other] = [0.0, 0.15].map(|y| spawn(&mut app, &template, Vec3::Y * y));
    run_ticks(&mut app, 3);
    assert!(app.world().get::<Colliding>(one).unwrap().any());
    app.world_mut().despawn(other);
    run_ticks(&mut app, 3);
    assert_eq!(world(&mut app).molecules().collect::<Vec<_>>(), [one]);
    assert!(!app.world().get::<Colliding>(one).unwrap().any());
}

#[test]
fn a_molecule_that_loses_its_file_between_ticks_leaves_the_contacts() {
    let mut app = slow_ticks(ContactModel::Crowd);
    let template = add(&mut app, bar());
    let [one, other] = [0.0, 3.0].map(|y| spawn(&mut app, &template, Vec3::Y * y));
    run_ticks(&mut app, 3);
    app.world_mut().entity_mut(other).remove::<Molecule>();
    run_ticks(&mut app, 3);
    assert_eq!(world(&mut app).molecules().collect::<Vec<_>>(), [one]);
}

#[test]
fn a_sleeping_neighbor_of_a_molecule_that_is_despawned_between_ticks_falls() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        let mut app = slow_ticks(model);
        let template = add(&mut app, bar());
        let support = spawn(&mut app, &template, Vec3::ZERO);
        app.world_mut().entity_mut(support).insert(StaticMolecule);
        let above = spawn(&mut app, &template, Vec3::Y * 0.199);
        app.world_mut()
            .entity_mut(above)
            .insert(LockedAxes::ROTATION_LOCKED);
        run_ticks(&mut app, 60);
        put_to_sleep(&mut app, &[above]);
        run_ticks(&mut app, 3);
        assert!(is_asleep(&app, above), "{model:?}");
        let before = position(&app, above).y;
        assert!(before > 0.15, "{model:?}: {before}");
        app.world_mut().despawn(support);
        run_ticks(&mut app, 30);
        let after = position(&app, above).y;
        assert!(after < before - 0.5, "{model:?}: from {before} to {after}");
    }
}

#[test]
fn the_body_of_a_molecule_that_is_despawned_between_ticks_is_removed() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        let mut app = slow_ticks(model);
        let template = add(&mut app, bar());
        let molecules = [0.0, 0.15, 3.0].map(|y| spawn(&mut app, &template, Vec3::Y * y));
        for molecule in molecules {
            let events = ActiveEvents::COLLISION_EVENTS;
            app.world_mut().entity_mut(molecule).insert(events);
        }
        run_ticks(&mut app, 3);
        assert_eq!(body_count(&mut app), (3, 3));
        for molecule in &molecules[1..] {
            app.world_mut().despawn(*molecule);
        }
        run_ticks(&mut app, 4);
        assert_eq!(body_count(&mut app), (1, 1), "{model:?}");
    }
}

/// Molecules that rest on others with a small gap touch by the prediction distance only.
#[test]
fn molecules_wake_when_a_neighbor_is_despawned() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let row = [0.0, 0.1999, 5.0].map(|y| spawn(&mut app, &template, Vec3::Y * y));
    run(&mut app, 5);
    put_to_sleep(&mut app, &row);
    run(&mut app, 2);
    assert!(row.iter().all(|one| is_asleep(&app, *one)));
    app.world_mut().despawn(row[0]);
    run(&mut app, 2);
    assert!(!is_asleep(&app, row[1]), "its neighbor is gone");
    assert!(is_asleep(&app, row[2]), "nothing has changed for it");
}

/// Poses of all molecules as bits, in the order of entities.
fn state(app: &mut App) -> Vec<[u32; 7]> {
    let molecules: Vec<Entity> = world(app).molecules().collect();
    let bits = molecules.iter().map(|molecule| {
        let transform = app.world().get::<Transform>(*molecule).unwrap();
        let [x, y, z] = transform.translation.to_array();
        let [a, b, c, d] = transform.rotation.to_array();
        [x, y, z, a, b, c, d].map(f32::to_bits)
    });
    bits.collect()
}

/// Molecules that come and go in a heap. With `again`, all are collected from scratch in each
/// frame, as if a context were new.
fn changing_heap(again: bool) -> Vec<[u32; 7]> {
    let mut app = app(ContactModel::Crowd);
    spawn_floor(&mut app);
    let templates = [bar(), real("p_xylene.pdb")].map(|template| add(&mut app, template));
    let mut molecules = Vec::new();
    for frame in 0..60_usize {
        if frame % 2 == 0 {
            let place = Vec3::new(0.2 * (frame % 3) as f32, 1.0, 0.3 * (frame % 5) as f32);
            let template = &templates[frame % 4 / 2];
            molecules.push(spawn(&mut app, template, place));
        }
        if frame % 7 == 6 {
            let despawned = molecules.remove(frame % molecules.len());
            app.world_mut().despawn(despawned);
        }
        if frame % 11 == 10 {
            let changed = molecules[frame % molecules.len()];
            app.world_mut()
                .entity_mut(changed)
                .insert(MoleculeDetail::Whole);
        }
        if again {
            // Every molecule counts as changed.
            let world = app.world_mut();
            let mut details = world.query::<&mut MoleculeDetail>();
            details
                .iter_mut(world)
                .for_each(|mut detail| detail.set_changed());
        }
        run(&mut app, 1);
        let mut sorted = molecules.clone();
        sorted.sort();
        assert_eq!(world(&mut app).molecules().collect::<Vec<_>>(), sorted);
    }
    state(&mut app)
}

#[test]
fn changes_give_the_same_result_as_collecting_all_molecules_again() {
    let expected = changing_heap(true);
    assert_eq!(expected.len(), 22);
    assert!(changing_heap(false) == expected);
}

#[test]
fn molecules_that_come_and_go_cost_no_search_from_scratch() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let place = |k: usize| Vec3::new(1.2 * (k % 10) as f32, 0.19 * (k / 10) as f32, 0.0);
    let heap: Vec<_> = (0..200)
        .map(|k| spawn(&mut app, &template, place(k)))
        .collect();
    run(&mut app, 1);
    let pairs = world(&mut app).search_work().molecule_pairs;
    assert!(pairs > 150, "{pairs}");
    app.insert_resource(TimestepMode::Fixed {
        dt: FRAME,
        substeps: 1,
    });
    put_to_sleep(&mut app, &heap);
    run(&mut app, 3);
    assert_eq!(world(&mut app).search_work().renewed, 0);
    app.world_mut().despawn(heap[57]);
    spawn(&mut app, &template, place(57));
    run(&mut app, 1);
    let renewed = world(&mut app).search_work().renewed;
    assert!((1..20).contains(&renewed), "{renewed} of {pairs}");
}
