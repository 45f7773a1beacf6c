//! Touching molecules: the same pairs in both contact models, reported in order.

use std::collections::BTreeSet;

use bevy::diagnostic::{Diagnostic, DiagnosticPath, DiagnosticsStore};
use bevy::ecs::system::RunSystemOnce;
use bevy::prelude::*;
use bevy_rapier_molecules::plugin::MoleculeWorld;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::test_app::*;

#[derive(Resource, Default)]
struct Pairs(BTreeSet<(Entity, Entity)>);

fn record_pairs(touching: TouchingMolecules, mut pairs: ResMut<Pairs>) {
    pairs.0 = touching.iter().map(|pair| (pair.a, pair.b)).collect();
}

/// Molecules at random poses, some of which overlap.
fn overlapping_scene(model: ContactModel) -> (App, Vec<Entity>) {
    let mut app = app(model);
    app.init_resource::<Pairs>().add_systems(Last, record_pairs);
    weightless(&mut app);
    let templates = [add(&mut app, real("1ubq.cif")), add(&mut app, bar())];
    let mut random = Pcg64Mcg::seed_from_u64(11);
    let molecules = (0..40)
        .map(|k| {
            let position: [f32; 3] = std::array::from_fn(|_| random.random_range(-5.0..5.0));
            let rotation: [f32; 3] = std::array::from_fn(|_| random.random_range(-3.0..3.0));
            let transform = Transform::from_translation(position.into())
                .with_rotation(Quat::from_scaled_axis(rotation.into()));
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
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        let (mut app, molecules) = overlapping_scene(model);
        let expected = oracle(&app, &molecules);
        assert!(expected.len() > 10);
        // With this timestep the molecules do not move.
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
struct Received {
    started: Vec<(Entity, Entity)>,
    stopped: Vec<(Entity, Entity)>,
    events: Vec<(Entity, Entity)>,
}

fn record_messages(app: &mut App) {
    app.init_resource::<Received>()
        .add_systems(
            Last,
            |mut started: MessageReader<MoleculeContactStarted>,
             mut stopped: MessageReader<MoleculeContactStopped>,
             mut received: ResMut<Received>| {
                received
                    .started
                    .extend(started.read().map(|m| (m.molecule, m.other)));
                received
                    .stopped
                    .extend(stopped.read().map(|m| (m.molecule, m.other)));
            },
        )
        .add_observer(
            |event: On<MoleculeContactStarted>, mut received: ResMut<Received>| {
                received.events.push((event.molecule, event.other));
            },
        );
}

#[test]
fn contact_start_and_stop_are_reported_once() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        let mut app = app(model);
        record_messages(&mut app);
        weightless(&mut app);
        let template = add(&mut app, bar());
        let left = spawn(&mut app, &template, Vec3::X * -1.0);
        let right = spawn(&mut app, &template, Vec3::X * 1.0);
        let bouncy = Restitution::coefficient(1.0);
        for (molecule, speed) in [(left, 3.0), (right, -3.0)] {
            let velocity = Velocity::linear(Vec3::X * speed);
            app.world_mut()
                .entity_mut(molecule)
                .insert((velocity, bouncy, MoleculeEventsEnabled));
        }
        for _ in 0..120 {
            app.update();
            let colliding = app.world().get::<Colliding>(left).unwrap().any();
            let received = app.world().resource::<Received>();
            assert_eq!(colliding, received.started.len() > received.stopped.len());
        }
        let received = app.world().resource::<Received>();
        let (a, b) = (left.min(right), left.max(right));
        assert_eq!(received.started, [(a, b)], "{model:?}");
        assert_eq!(received.stopped, [(a, b)], "{model:?}");
        assert_eq!(received.events, [(a, b), (b, a)], "{model:?}");
        assert!(velocity(&app, left).x < 0.0, "{model:?}");
    }
}

#[test]
fn a_molecule_observes_its_own_contacts() {
    #[derive(Resource, Default)]
    struct Others(Vec<Entity>);
    let mut app = app(ContactModel::Crowd);
    app.init_resource::<Others>();
    record_messages(&mut app);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let [one, other] = [0.0, 0.15].map(|y| spawn(&mut app, &template, Vec3::Y * y));
    for molecule in [one, other] {
        app.world_mut()
            .entity_mut(molecule)
            .insert(MoleculeEventsEnabled);
    }
    app.world_mut().entity_mut(other).observe(
        |started: On<MoleculeContactStarted>, mut others: ResMut<Others>| {
            others.0.push(started.other);
        },
    );
    run(&mut app, 2);
    let received = app.world().resource::<Received>();
    let (a, b) = (one.min(other), one.max(other));
    assert_eq!(received.started, [(a, b)]);
    assert_eq!(received.events, [(a, b), (b, a)]);
    assert_eq!(app.world().resource::<Others>().0, [one]);
    for molecule in [one, other] {
        let colliding = app.world().get::<Colliding>(molecule);
        assert_eq!(colliding, Some(&Colliding { molecules: 1 }));
    }
}

#[test]
fn initial_overlaps_are_reported_in_the_order_of_entities() {
    let messages = |model| {
        let (mut app, _) = overlapping_scene(model);
        record_messages(&mut app);
        app.insert_resource(TimestepMode::Fixed {
            dt: 1.0e-7,
            substeps: 2,
        });
        run(&mut app, 3);
        app.world().resource::<Received>().clone()
    };
    let received = messages(ContactModel::Crowd);
    let mut sorted = received.started.clone();
    sorted.sort();
    assert!(received.started.len() > 10);
    assert_eq!(received.started, sorted);
    assert_eq!(received, messages(ContactModel::Crowd));
    assert_eq!(received.started, messages(ContactModel::Solver).started);
}

#[test]
fn despawning_a_molecule_ends_its_contacts() {
    let mut app = app(ContactModel::Crowd);
    record_messages(&mut app);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let kept = spawn(&mut app, &template, Vec3::ZERO);
    let despawned = spawn(&mut app, &template, Vec3::Y * 0.15);
    run(&mut app, 2);
    assert_eq!(app.world().resource::<Received>().started.len(), 1);
    assert!(app.world().get::<Colliding>(kept).unwrap().any());
    app.world_mut().despawn(despawned);
    run(&mut app, 2);
    let pair = (kept.min(despawned), kept.max(despawned));
    assert_eq!(app.world().resource::<Received>().stopped, [pair]);
    assert!(!app.world().get::<Colliding>(kept).unwrap().any());
}

#[test]
fn despawning_a_context_ends_the_contacts_of_its_molecules() {
    let mut app = app(ContactModel::Crowd);
    record_messages(&mut app);
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
    let colliding =
        |app: &App| molecules.map(|one| app.world().get::<Colliding>(one).unwrap().any());
    assert_eq!(colliding(&app), [true; 2]);
    app.world_mut().despawn(context);
    assert_eq!(colliding(&app), [false; 2]);
    // Move them to another context, apart from each other.
    let world = app.world_mut();
    let mut default = world.query_filtered::<Entity, With<DefaultRapierContext>>();
    let default = RapierContextEntityLink(default.single(world).unwrap());
    for (molecule, y) in molecules.into_iter().zip([0.0, 9.0]) {
        world
            .entity_mut(molecule)
            .insert((default, Transform::from_xyz(0.0, y, 0.0)));
    }
    run(&mut app, 3);
    assert_eq!(colliding(&app), [false; 2]);
    let received = app.world().resource::<Received>();
    let [one, other] = molecules;
    let pair = (one.min(other), one.max(other));
    assert_eq!(
        (&received.started[..], &received.stopped[..]),
        (&[pair][..], &[pair][..])
    );
}

#[test]
fn molecules_of_filtered_groups_do_not_touch() {
    let mut app = app(ContactModel::Crowd);
    app.init_resource::<Pairs>().add_systems(Last, record_pairs);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let one = spawn(&mut app, &template, Vec3::ZERO);
    let other = spawn(&mut app, &template, Vec3::Y * 0.1);
    for (molecule, filter) in [(one, Group::GROUP_2), (other, Group::ALL)] {
        app.world_mut()
            .entity_mut(molecule)
            .insert(CollisionGroups::new(Group::GROUP_1, filter));
    }
    run(&mut app, 5);
    assert!(app.world().resource::<Pairs>().0.is_empty());
    assert_eq!(position(&app, one), Vec3::ZERO);
}

#[test]
fn the_contact_model_can_change_while_molecules_touch() {
    let mut app = app(ContactModel::Crowd);
    spawn_floor(&mut app);
    let template = add(&mut app, bar());
    let low = spawn(&mut app, &template, Vec3::Y * 0.1);
    let high = spawn(&mut app, &template, Vec3::Y * 0.31);
    for k in 0..6 {
        let model = [ContactModel::Crowd, ContactModel::Solver][k % 2];
        app.insert_resource(model);
        run(&mut app, 60);
        for molecule in [low, high] {
            let position = position(&app, molecule);
            let valid = position.y > 0.05 && position.length() < 2.0;
            assert!(valid, "{model:?}: {position}");
        }
    }
}

#[test]
fn a_change_of_the_contact_model_clears_old_contacts() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let [low, high] = [0.0, 0.1].map(|y| spawn(&mut app, &template, Vec3::Y * y));
    let active_contacts = |app: &mut App| {
        let world = app.world_mut();
        let mut worlds = world.query::<&MoleculeWorld>();
        let contacts = worlds.single(world).unwrap().contacts().contacts();
        contacts.iter().filter(|one| one.is_active()).count()
    };
    run(&mut app, 2);
    assert!(active_contacts(&mut app) > 0);
    app.insert_resource(ContactModel::Solver);
    run(&mut app, 1);
    assert_eq!(active_contacts(&mut app), 0);
    // Far apart and approaching: old contacts would stop them.
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
fn diagnostics_count_molecules_spheres_touches_and_candidates() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let [one, other] = [0.0, 0.1].map(|y| spawn(&mut app, &template, Vec3::Y * y));
    let value = |app: &App, path: DiagnosticPath| {
        let store = app.world().resource::<DiagnosticsStore>();
        store.get(&path).and_then(Diagnostic::value).unwrap()
    };
    run(&mut app, 2);
    assert_eq!(value(&app, MoleculeDiagnostics::MOLECULES), 2.0);
    assert_eq!(value(&app, MoleculeDiagnostics::SPHERES), 2.0 * 7.0);
    assert_eq!(value(&app, MoleculeDiagnostics::TOUCHES), 1.0);
    assert!(value(&app, MoleculeDiagnostics::PENETRATION) > 0.0);
    assert!(value(&app, MoleculeDiagnostics::CANDIDATES) > 0.0);
    let touch = move |touching: TouchingMolecules| {
        touching.contains(one, other) && touching.contains(other, one)
    };
    assert!(app.world_mut().run_system_once(touch).unwrap());
    let mut worlds = app.world_mut().query::<&MoleculeWorld>();
    let world = worlds.single(app.world()).unwrap();
    assert_eq!((world.backend(), world.times().substeps), (Backend::Cpu, 4));
    let start = world.clock();
    run(&mut app, 3);
    let elapsed = worlds.single(app.world()).unwrap().clock() - start;
    assert!(
        (elapsed - 3.0 * f64::from(FRAME)).abs() < 1.0e-6,
        "{elapsed} s"
    );
    app.insert_resource(ContactModel::Solver);
    run(&mut app, 1);
    assert_eq!(value(&app, MoleculeDiagnostics::CANDIDATES), 0.0);
}

/// The search counts nothing while nothing moves, and its work in a collision.
#[test]
fn the_work_of_the_search_is_counted() {
    use MoleculeDiagnostics as D;
    let mut app = app(ContactModel::Crowd);
    // The counts are those of the last substep.
    app.insert_resource(TimestepMode::Fixed {
        dt: FRAME,
        substeps: 1,
    });
    weightless(&mut app);
    let template = add(&mut app, bar());
    let [left, right] = [-2.0, 2.0].map(|x| spawn(&mut app, &template, Vec3::X * x));
    let value = |app: &App, path: DiagnosticPath| {
        let store = app.world().resource::<DiagnosticsStore>();
        store.get(&path).and_then(Diagnostic::value).unwrap()
    };
    const COUNTS: [DiagnosticPath; 4] = [
        D::MOLECULE_PAIRS,
        D::RENEWED_PAIRS,
        D::CLUSTER_PAIRS,
        D::SPHERE_PAIRS,
    ];
    run(&mut app, 3);
    for count in COUNTS {
        assert_eq!(value(&app, count.clone()), 0.0, "{count}: nothing is close");
    }
    for (molecule, speed) in [(left, 6.0), (right, -6.0)] {
        let velocity = Velocity::linear(Vec3::X * speed);
        app.world_mut().entity_mut(molecule).insert(velocity);
    }
    let mut largest = [0.0_f64; 4];
    for _ in 0..60 {
        run(&mut app, 1);
        for (largest, count) in largest.iter_mut().zip(COUNTS) {
            *largest = largest.max(value(&app, count));
        }
        let compared = value(&app, D::SPHERE_PAIRS);
        assert!(compared <= 7.0 * 7.0, "{compared} pairs of two bars");
        // What does not move keeps its candidates.
        let found = value(&app, D::CANDIDATES);
        assert!(
            compared == 0.0 || found <= compared,
            "{found} of {compared}"
        );
        let pairs = value(&app, D::MOLECULE_PAIRS);
        assert!(value(&app, D::RENEWED_PAIRS) <= pairs, "{pairs} pairs");
        if value(&app, D::CLUSTER_PAIRS) > 0.0 {
            assert!(value(&app, D::REMEMBERED) > 0.0);
        }
    }
    assert_eq!(largest[..2], [1.0, 1.0]);
    assert!(largest[2] > 0.0 && largest[3] > 0.0, "{largest:?}");

    // At rest in contact, only what is remembered is counted.
    for (molecule, x) in [(left, -0.455), (right, 0.455)] {
        let rest = (Transform::from_xyz(x, 0.0, 0.0), Velocity::zero());
        app.world_mut()
            .entity_mut(molecule)
            .insert((rest, StaticMolecule));
    }
    run(&mut app, 3);
    assert_eq!(value(&app, D::MOLECULE_PAIRS), 1.0);
    assert!(value(&app, D::CLUSTER_PAIRS) > 0.0);
    assert_eq!(value(&app, D::RENEWED_PAIRS), 0.0);
    assert_eq!(value(&app, D::SPHERE_PAIRS), 0.0);

    app.insert_resource(ContactModel::Solver);
    run(&mut app, 1);
    for count in [&COUNTS[..], &[D::REMEMBERED]].concat() {
        assert_eq!(value(&app, count.clone()), 0.0, "{count} in the solver");
    }
}

#[test]
fn molecules_with_a_joint_without_contacts_do_not_collide() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
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
            let distance = position(&app, one).distance(position(&app, other));
            assert_eq!(distance > 0.1, contacts, "{model:?}: {distance} nm");
        }
    }
}

/// Overlapping molecules that do not collide, by their groups or by a joint, fall asleep and
/// stay asleep.
#[test]
fn overlapping_molecules_that_do_not_collide_stay_asleep() {
    for jointed in [false, true] {
        let mut app = app(ContactModel::Crowd);
        weightless(&mut app);
        let template = add(&mut app, bar());
        let pair = [0.0, 0.05].map(|y| {
            let molecule = spawn(&mut app, &template, Vec3::Y * y);
            app.world_mut()
                .entity_mut(molecule)
                .insert(Sleeping::default());
            molecule
        });
        if jointed {
            let mut joint = FixedJointBuilder::new()
                .local_anchor1(Vec3::Y * 0.05)
                .build();
            joint.set_contacts_enabled(false);
            let joint = ImpulseJoint::new(pair[0], joint);
            app.world_mut().entity_mut(pair[1]).insert(joint);
        } else {
            let groups = CollisionGroups::new(Group::GROUP_1, Group::GROUP_2);
            for molecule in pair {
                app.world_mut().entity_mut(molecule).insert(groups);
            }
        }
        // Rapier puts a body to sleep after two seconds of rest.
        run(&mut app, 180);
        for frame in 0..30 {
            run(&mut app, 1);
            for molecule in pair {
                let sleeping = app.world().get::<Sleeping>(molecule).unwrap().sleeping;
                assert!(sleeping, "jointed: {jointed}, frame {frame}");
            }
        }
    }
}

/// Pairs of two molecules in Rapier's narrow phase, whether they touch or not.
fn rapier_pairs(app: &mut App) -> usize {
    let world = app.world_mut();
    let mut contexts = world.query::<&RapierContextSimulation>();
    let contexts = contexts.iter(world);
    contexts
        .map(|simulation| simulation.narrow_phase.contact_pairs().count())
        .sum()
}

/// Rapier would otherwise update the pairs of molecules in every step for nothing.
#[test]
fn rapier_has_no_pairs_of_molecules_in_the_crowd_model() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let [a, _] = [0.0, 0.15].map(|y| spawn(&mut app, &template, Vec3::Y * y));
    run(&mut app, 3);
    assert_eq!(rapier_pairs(&mut app), 0);
    assert!(app.world().get::<Colliding>(a).unwrap().any());
    // They do not move, so only a change of the model can make Rapier find them.
    *app.world_mut().resource_mut::<ContactModel>() = ContactModel::Solver;
    run(&mut app, 1);
    assert_eq!(rapier_pairs(&mut app), 1);
}

#[test]
fn collision_types_of_the_app_are_kept() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let [a, b] = [0.0, 0.15].map(|y| spawn(&mut app, &template, Vec3::Y * y));
    let types = ActiveCollisionTypes::DYNAMIC_DYNAMIC;
    app.world_mut().entity_mut(a).insert(types);
    run(&mut app, 3);
    assert_eq!(app.world().get::<ActiveCollisionTypes>(a), Some(&types));
    assert_eq!(app.world().get::<ActiveCollisionTypes>(b), None);
    // Rapier has the pair, but molecules push each other only once.
    assert_eq!(rapier_pairs(&mut app), 1);
}

/// In Rapier it is enough if one of two colliders has the types of both bodies.
#[test]
fn molecules_meet_colliders_with_few_collision_types() {
    for types in [
        ActiveCollisionTypes::default(),
        ActiveCollisionTypes::empty(),
    ] {
        let mut app = app(ContactModel::Crowd);
        let template = add(&mut app, bar());
        let floor = Collider::cuboid(5.0, 0.5, 5.0);
        let floor = (floor, types, Transform::from_xyz(0.0, -0.5, 0.0));
        app.world_mut().spawn(floor);
        let molecule = spawn(&mut app, &template, Vec3::Y * 0.3);
        run(&mut app, 120);
        let height = app
            .world()
            .get::<Transform>(molecule)
            .unwrap()
            .translation
            .y;
        assert!(height > 0.0, "{types:?}: {height}");
    }
}
