//! Who touches whom: the same in both models, told in order.

use std::collections::BTreeSet;

use bevy::diagnostic::{Diagnostic, DiagnosticsStore};
use bevy::prelude::*;
use bevy_rapier_molecules::plugin::MoleculeWorld;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::test_app::*;

#[derive(Resource, Default)]
struct Pairs(BTreeSet<(Entity, Entity)>);

fn note_pairs(touching: TouchingMolecules, mut pairs: ResMut<Pairs>) {
    pairs.0 = touching.iter().map(|pair| (pair.a, pair.b)).collect();
}

/// Fixed molecules at random places, some of which overlap.
fn overlapping_scene(model: ContactModel) -> (App, Vec<Entity>) {
    let mut app = app(model);
    app.init_resource::<Pairs>().add_systems(Last, note_pairs);
    weightless(&mut app);
    let templates = [add(&mut app, real("1ubq.cif")), add(&mut app, bar())];
    let mut random = Pcg64Mcg::seed_from_u64(11);
    let molecules = (0..40)
        .map(|k| {
            let place: [f32; 3] = std::array::from_fn(|_| random.random_range(-5.0..5.0));
            let turn: [f32; 3] = std::array::from_fn(|_| random.random_range(-3.0..3.0));
            let transform = Transform::from_translation(place.into())
                .with_rotation(Quat::from_scaled_axis(turn.into()));
            let bundle = (Molecule(templates[k % 2].clone()), transform);
            app.world_mut().spawn(bundle).id()
        })
        .collect();
    (app, molecules)
}

/// Pairs whose atoms overlap, by brute force over the transforms.
fn oracle(app: &App, molecules: &[Entity]) -> BTreeSet<(Entity, Entity)> {
    let spheres = |molecule: Entity| {
        let transform = *app.world().get::<Transform>(molecule).unwrap();
        let Molecule(handle) = app.world().get::<Molecule>(molecule).unwrap();
        let assets = app.world().resource::<Assets<MoleculeTemplate>>();
        let template = assets.get(handle).unwrap().clone();
        let centers: Vec<Vec3> = template
            .positions()
            .iter()
            .map(|position| transform.transform_point(*position))
            .collect();
        (centers, template)
    };
    let all: Vec<_> = molecules
        .iter()
        .map(|molecule| spheres(*molecule))
        .collect();
    let mut pairs = BTreeSet::new();
    for (i, (centers, template)) in all.iter().enumerate() {
        for (j, (others, other)) in all.iter().enumerate().skip(i + 1) {
            let overlap = centers.iter().zip(template.radii()).any(|(a, r)| {
                let mut near = others.iter().zip(other.radii());
                near.any(|(b, s)| a.distance(*b) < r + s)
            });
            if overlap {
                pairs.insert((
                    molecules[i].min(molecules[j]),
                    molecules[i].max(molecules[j]),
                ));
            }
        }
    }
    pairs
}

#[test]
fn both_models_find_the_same_touching_pairs() {
    let mut found = Vec::new();
    for model in [ContactModel::Crowd, ContactModel::Rapier] {
        let (mut app, molecules) = overlapping_scene(model);
        let expected = oracle(&app, &molecules);
        assert!(expected.len() > 10);
        // Nothing may move: the contacts are those of the first poses.
        app.insert_resource(TimestepMode::Fixed {
            dt: 1.0e-7,
            substeps: 2,
        });
        run(&mut app, 2);
        let pairs = app.world().resource::<Pairs>().0.clone();
        assert_eq!(pairs, expected, "{model:?}");
        found.push(pairs);
    }
    assert_eq!(found[0].len(), found[1].len());
}

#[derive(Resource, Default, PartialEq, Eq, Debug, Clone)]
struct Heard {
    started: Vec<(Entity, Entity)>,
    stopped: Vec<(Entity, Entity)>,
    events: Vec<(Entity, Entity)>,
}

fn listen(app: &mut App) {
    app.init_resource::<Heard>()
        .add_systems(
            Last,
            |mut started: MessageReader<MoleculeContactStarted>,
             mut stopped: MessageReader<MoleculeContactStopped>,
             mut heard: ResMut<Heard>| {
                heard
                    .started
                    .extend(started.read().map(|m| (m.molecule, m.other)));
                heard
                    .stopped
                    .extend(stopped.read().map(|m| (m.molecule, m.other)));
            },
        )
        .add_observer(
            |event: On<MoleculeContactStarted>, mut heard: ResMut<Heard>| {
                heard.events.push((event.molecule, event.other));
            },
        );
}

#[test]
fn meeting_and_parting_are_told_once() {
    for model in [ContactModel::Crowd, ContactModel::Rapier] {
        let mut app = app(model);
        listen(&mut app);
        weightless(&mut app);
        let template = add(&mut app, bar());
        let left = spawn(&mut app, &template, Vec3::X * -1.0);
        let right = spawn(&mut app, &template, Vec3::X * 1.0);
        let bouncy = MoleculeMaterial {
            restitution: 1.0,
            ..default()
        };
        for (molecule, speed) in [(left, 3.0), (right, -3.0)] {
            app.world_mut()
                .entity_mut(molecule)
                .insert((Velocity::linear(Vec3::X * speed), bouncy));
        }
        let mut touched = false;
        for _ in 0..120 {
            app.update();
            let colliding = app.world().get::<Colliding>(left).unwrap().any();
            let heard = app.world().resource::<Heard>();
            assert_eq!(colliding, heard.started.len() > heard.stopped.len());
            touched |= heard.started.len() == 1;
        }
        let heard = app.world().resource::<Heard>();
        // A bounce may be too short to overlap at any substep; if they did, it is told.
        if touched {
            let (a, b) = (left.min(right), left.max(right));
            assert_eq!(heard.started, [(a, b)], "{model:?}");
            assert_eq!(heard.stopped, [(a, b)], "{model:?}");
            assert_eq!(heard.events, [(a, b), (b, a)], "{model:?}");
        }
        assert!(velocity(&app, left).x < 0.0, "{model:?}");
    }
}

#[test]
fn overlaps_at_the_start_are_told_in_the_order_of_entities() {
    let hear = |model| {
        let (mut app, _) = overlapping_scene(model);
        listen(&mut app);
        app.insert_resource(TimestepMode::Fixed {
            dt: 1.0e-7,
            substeps: 2,
        });
        run(&mut app, 3);
        app.world().resource::<Heard>().clone()
    };
    let heard = hear(ContactModel::Crowd);
    let mut sorted = heard.started.clone();
    sorted.sort();
    assert!(heard.started.len() > 10);
    assert_eq!(heard.started, sorted);
    assert_eq!(heard, hear(ContactModel::Crowd));
    assert_eq!(heard.started, hear(ContactModel::Rapier).started);
}

#[test]
fn a_despawned_molecule_stops_touching() {
    let mut app = app(ContactModel::Crowd);
    listen(&mut app);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let stays = spawn(&mut app, &template, Vec3::ZERO);
    let goes = spawn(&mut app, &template, Vec3::Y * 0.15);
    run(&mut app, 2);
    assert_eq!(app.world().resource::<Heard>().started.len(), 1);
    assert!(app.world().get::<Colliding>(stays).unwrap().any());
    app.world_mut().despawn(goes);
    run(&mut app, 2);
    let pair = (stays.min(goes), stays.max(goes));
    assert_eq!(app.world().resource::<Heard>().stopped, [pair]);
    assert!(!app.world().get::<Colliding>(stays).unwrap().any());
}

#[test]
fn molecules_that_outlive_their_context_touch_no_more() {
    let mut app = app(ContactModel::Crowd);
    listen(&mut app);
    weightless(&mut app);
    let context = weightless_context(&mut app);
    let template = add(&mut app, bar());
    let molecules = [0.0, 0.05].map(|y| {
        let molecule = spawn(&mut app, &template, Vec3::Y * y);
        let link = RapierContextEntityLink(context);
        app.world_mut().entity_mut(molecule).insert(link);
        molecule
    });
    run(&mut app, 2);
    let touched = |app: &App| molecules.map(|one| app.world().get::<Colliding>(one).unwrap().any());
    assert_eq!(touched(&app), [true; 2]);
    app.world_mut().despawn(context);
    assert_eq!(touched(&app), [false; 2]);
    // They go on in another one, apart from each other.
    let world = app.world_mut();
    let mut home = world.query_filtered::<Entity, With<DefaultRapierContext>>();
    let home = RapierContextEntityLink(home.single(world).unwrap());
    for (molecule, y) in molecules.into_iter().zip([0.0, 9.0]) {
        world
            .entity_mut(molecule)
            .insert((home, Transform::from_xyz(0.0, y, 0.0)));
    }
    run(&mut app, 3);
    assert_eq!(touched(&app), [false; 2]);
    let heard = app.world().resource::<Heard>();
    let [one, other] = molecules;
    let pair = (one.min(other), one.max(other));
    assert_eq!(
        (&heard.started[..], &heard.stopped[..]),
        (&[pair][..], &[pair][..])
    );
}

#[test]
fn groups_keep_molecules_apart_from_each_other_in_the_crowd() {
    let mut app = app(ContactModel::Crowd);
    app.init_resource::<Pairs>().add_systems(Last, note_pairs);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let one = spawn(&mut app, &template, Vec3::ZERO);
    let other = spawn(&mut app, &template, Vec3::Y * 0.1);
    for (molecule, filter) in [(one, Group::GROUP_2), (other, Group::ALL)] {
        app.world_mut()
            .entity_mut(molecule)
            .insert(MoleculeMaterial {
                memberships: Group::GROUP_1,
                filter,
                ..default()
            });
    }
    run(&mut app, 5);
    assert!(app.world().resource::<Pairs>().0.is_empty());
    assert_eq!(position(&app, one), Vec3::ZERO);
}

#[test]
fn the_model_can_be_switched_while_molecules_touch() {
    let mut app = app(ContactModel::Crowd);
    spawn_floor(&mut app);
    let template = add(&mut app, bar());
    let low = spawn(&mut app, &template, Vec3::Y * 0.1);
    let high = spawn(&mut app, &template, Vec3::Y * 0.31);
    for k in 0..6 {
        let model = [ContactModel::Crowd, ContactModel::Rapier][k % 2];
        app.insert_resource(model);
        run(&mut app, 60);
        for molecule in [low, high] {
            let place = position(&app, molecule);
            assert!(place.y > 0.05 && place.length() < 2.0, "{model:?}: {place}");
        }
    }
}

#[test]
fn contacts_from_before_another_model_are_forgotten() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let [low, high] = [0.0, 0.1].map(|y| spawn(&mut app, &template, Vec3::Y * y));
    let solved = |app: &mut App| {
        let world = app.world_mut();
        let mut worlds = world.query::<&MoleculeWorld>();
        let contacts = worlds.single(world).unwrap().contacts().contacts();
        contacts.iter().filter(|one| one.is_active()).count()
    };
    run(&mut app, 2);
    assert!(solved(&mut app) > 0);
    app.insert_resource(ContactModel::Rapier);
    run(&mut app, 1);
    assert_eq!(solved(&mut app), 0);
    // Far from each other, and on the way back: old contacts would stop them.
    for (molecule, side) in [(low, -1.0), (high, 1.0)] {
        let transform = Transform::from_xyz(0.0, 20.0 * side, 0.0);
        let velocity = Velocity::linear(Vec3::Y * -3.0 * side);
        app.world_mut()
            .entity_mut(molecule)
            .insert((transform, velocity));
    }
    run(&mut app, 1);
    app.insert_resource(ContactModel::Crowd);
    run(&mut app, 2);
    for (molecule, speed) in [(low, 3.0), (high, -3.0)] {
        let velocity = velocity(&app, molecule);
        assert!(velocity.distance(Vec3::Y * speed) < 1.0e-5, "{velocity}");
    }
}

#[test]
fn candidates_are_counted_while_there_is_a_crowd() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = add(&mut app, bar());
    for y in [0.0, 0.1] {
        spawn(&mut app, &template, Vec3::Y * y);
    }
    let candidates = |app: &App| {
        let store = app.world().resource::<DiagnosticsStore>();
        let candidates = store.get(&MoleculeDiagnostics::CANDIDATES);
        candidates.and_then(Diagnostic::value).unwrap()
    };
    run(&mut app, 2);
    assert!(candidates(&app) > 0.0);
    app.insert_resource(ContactModel::Rapier);
    run(&mut app, 1);
    assert_eq!(candidates(&app), 0.0);
}

/// As in Rapier: a joint may turn off the contacts between its bodies.
#[test]
fn molecules_on_a_joint_without_contacts_overlap_in_peace() {
    for model in [ContactModel::Crowd, ContactModel::Rapier] {
        for contacts in [true, false] {
            let mut app = app(model);
            weightless(&mut app);
            let template = add(&mut app, bar());
            let [one, other] = [0.0, 0.05].map(|y| spawn(&mut app, &template, Vec3::Y * y));
            let mut joint = RopeJointBuilder::new(1.0).build();
            joint.set_contacts_enabled(contacts);
            let joint = ImpulseJoint::new(one, joint);
            app.world_mut().entity_mut(other).insert(joint);
            run(&mut app, 2);
            let state = app.world().get::<Colliding>(one).unwrap();
            assert_eq!(state.molecules > 0, contacts, "{model:?}");
            run(&mut app, 60);
            let apart = position(&app, one).distance(position(&app, other));
            assert_eq!(apart > 0.1, contacts, "{model:?}: {apart} nm");
        }
    }
}
