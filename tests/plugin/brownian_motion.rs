//! Molecules diffuse, and never overlap by an atom.

use bevy::prelude::*;
use bevy_rapier_molecules::docking::{DockingMolecule, overlapping_atoms};
use bevy_rapier_molecules::motion::brownian::{Medium, hydrodynamic_radius};
use bevy_rapier_molecules::plugin::MoleculeWorld;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use std::sync::Arc;

use super::log;
use super::test_app::*;
use crate::common::thread_pool::with_threads;

/// Overlap of atoms that rounding may make, nm.
const ROUNDING_NM: f32 = 1.0e-5;

fn settings(app: &mut App, change: impl FnOnce(&mut BrownianMotionConfig)) {
    change(&mut app.world_mut().resource_mut::<BrownianMotionConfig>());
}

/// Ubiquitins in a box that holds them, `along`³ of them.
fn cell(along: u32, seed: u64) -> (App, Vec<Entity>) {
    let mut app = app(ContactModel::Crowd);
    // A hundred times as fast as by default: substeps have to be split.
    settings(&mut app, |settings| {
        settings.seed = seed;
        settings.pace = 1.0e-7;
    });
    let template = add(&mut app, real("1ubq.cif"));
    let step = 4.4;
    let half = 0.5 * along as f32 * step + 0.5;
    let cell = app.world_mut().spawn(Compartment::Box {
        half_extents: Vec3::splat(half),
    });
    let place = InCompartment::new(cell.id(), CompartmentRegion::Inside);
    let molecules = (0..along.pow(3)).map(|k| {
        let cell = [k % along, k / along % along, k / along / along];
        let at = cell.map(|k| (k as f32 + 0.5 - 0.5 * along as f32) * step);
        let molecule = spawn(&mut app, &template, Vec3::from_array(at));
        let brownian = (BrownianMotion::default(), place, CrowdOnly);
        app.world_mut().entity_mut(molecule).insert(brownian);
        molecule
    });
    let molecules = molecules.collect();
    (app, molecules)
}

fn poses(app: &App, molecules: &[Entity]) -> Vec<Pose> {
    let pose = |molecule: &Entity| {
        let transform = app.world().get::<Transform>(*molecule).unwrap();
        Pose::new(transform.translation, transform.rotation)
    };
    molecules.iter().map(pose).collect()
}

#[derive(Resource, Default)]
struct Met(Vec<MoleculeCollision>);

fn listen(app: &mut App) {
    app.init_resource::<Met>().add_systems(
        Last,
        |mut messages: MessageReader<MoleculeCollision>, mut met: ResMut<Met>| {
            met.0.extend(messages.read());
        },
    );
}

fn met(app: &App) -> &[MoleculeCollision] {
    &app.world().resource::<Met>().0
}

#[test]
fn free_molecules_come_as_far_and_turn_as_much_as_einstein_says() {
    let (diffusion, rotational_diffusion) = (1.0e8, 2.0e8);
    let mut app = app(ContactModel::Crowd);
    let pace = 1.0e-12 / f64::from(FRAME);
    settings(&mut app, |settings| settings.pace = pace);
    let template = add(&mut app, bar());
    let molecules: Vec<Entity> = (0..512)
        .map(|k| {
            let place = [k % 8, k / 8 % 8, k / 64].map(|k| 4.0 * k as f32 - 14.0);
            let molecule = spawn(&mut app, &template, Vec3::from_array(place));
            let brownian = BrownianMotion {
                diffusion: Some(diffusion),
                rotational_diffusion: Some(rotational_diffusion),
                ..default()
            };
            app.world_mut()
                .entity_mut(molecule)
                .insert((brownian, CrowdOnly));
            molecule
        })
        .collect();
    run(&mut app, 3);
    let frames = 60;
    let (mut squares, mut turned) = (0.0, 0.0);
    let mut before = poses(&app, &molecules);
    let start = before.clone();
    for _ in 0..frames {
        run(&mut app, 1);
        let now = poses(&app, &molecules);
        for (now, then) in now.iter().zip(&before) {
            squares += f64::from(now.position.distance_squared(then.position));
            turned += f64::from(1.0 - (now.rotation * Vec3::X).dot(then.rotation * Vec3::X));
        }
        before = now;
    }
    let samples = f64::from(frames) * molecules.len() as f64;
    let dt = 1.0e-12;
    // Directions decay as exp(−2 Dᵣ t).
    let expected = [
        6.0 * diffusion * dt,
        1.0 - (-2.0 * rotational_diffusion * dt).exp(),
    ];
    for (found, expected) in [squares / samples, turned / samples].iter().zip(expected) {
        let ratio = found / expected;
        assert!((ratio - 1.0).abs() < 0.025, "{ratio}");
    }
    // The whole way as well, as far as 512 molecules can tell.
    let ways = before.iter().zip(&start);
    let ways = ways.map(|(now, then)| f64::from(now.position.distance_squared(then.position)));
    let ratio = ways.sum::<f64>() / 512.0 / (6.0 * diffusion * dt * f64::from(frames));
    assert!((ratio - 1.0).abs() < 0.12, "{ratio}");
}

#[test]
fn coefficients_come_from_the_molecule_unless_they_are_given() {
    let medium = Medium::default();
    let mass = f64::from(real("1ubq.cif").mass());
    let own = BrownianMotion::default().coefficients(mass, &medium);
    let radius = hydrodynamic_radius(mass);
    assert_eq!(
        own,
        [medium.translational(radius), medium.rotational(radius)]
    );
    // 150 µm²/s are measured.
    assert!((own[0] * 1.0e-6 - 150.0).abs() < 15.0, "{}", own[0]);
    let given = BrownianMotion {
        diffusion: Some(3.0),
        radius: Some(1.0),
        ..default()
    };
    assert_eq!(
        given.coefficients(mass, &medium),
        [3.0, medium.rotational(1.0)]
    );
}

#[test]
fn a_crowd_in_a_compartment_stays_there_and_nothing_overlaps() {
    let (mut app, molecules) = cell(3, 1);
    listen(&mut app);
    run(&mut app, 2);
    let start = poses(&app, &molecules);
    let body = DockingMolecule::new(Arc::new(real("1ubq.cif")));
    let reach = 0.5 * 3.0 * 4.4 + 0.5 - real("1ubq.cif").bounding_radius() - 0.1;
    for _ in 0..10 {
        run(&mut app, 1);
        let now = poses(&app, &molecules);
        for (k, one) in now.iter().enumerate() {
            assert!(one.position.abs().max_element() < reach + 1.0e-3);
            for other in &now[k + 1..] {
                let deepest = overlapping_atoms(&body, one, &body, other);
                let deepest = deepest.iter().map(|pair| -pair.gap);
                assert!(deepest.fold(0.0, f32::max) < ROUNDING_NM);
            }
        }
    }
    assert!(met(&app).len() > 20, "{}", met(&app).len());
    let moved = poses(&app, &molecules).into_iter().zip(&start);
    let moved: f32 = moved
        .map(|(now, then)| now.position.distance_squared(then.position))
        .sum::<f32>()
        / 27.0;
    // In 17 ns they would come 15 nm² far alone.
    assert!((0.1..14.0).contains(&moved), "{moved}");
}

#[test]
fn the_same_seed_gives_the_same_bits_for_one_thread_and_two() {
    let run = |threads: usize, seed: u64| {
        with_threads(threads, || {
            let (mut app, molecules) = cell(2, seed);
            listen(&mut app);
            run(&mut app, 8);
            let bits = |pose: &Pose| {
                (
                    pose.position.to_array().map(f32::to_bits),
                    pose.rotation.to_array().map(f32::to_bits),
                )
            };
            let poses: Vec<_> = poses(&app, &molecules).iter().map(bits).collect();
            (poses, met(&app).to_vec())
        })
    };
    let one = run(1, 5);
    assert!(!one.1.is_empty());
    assert_eq!(one, run(2, 5));
    assert_ne!(one, run(1, 6));
    // Substeps follow each other, in each one a pair meets once, and the smaller entity
    // comes first.
    let order = |met: &MoleculeCollision| (met.time, met.molecule, met.other);
    assert!(one.1.is_sorted_by(|one, other| order(one) < order(other)));
    assert!(one.1.iter().all(|met| met.molecule < met.other));
}

#[test]
fn molecules_that_stick_diffuse_as_one() {
    let (mut app, molecules) = cell(2, 3);
    for molecule in &molecules[..4] {
        app.world_mut()
            .entity_mut(*molecule)
            .insert(CollisionOutcome::Stick);
    }
    listen(&mut app);
    for _ in 0..200 {
        run(&mut app, 1);
        if !clusters(&mut app).is_empty() {
            break;
        }
    }
    let stuck = |met: &&MoleculeCollision| met.outcome == CollisionOutcome::Stick;
    let first = met(&app).iter().find(stuck).unwrap();
    let pair = [first.molecule, first.other];
    assert!(pair.iter().all(|one| molecules[..4].contains(one)));
    let cluster = clusters(&mut app)[0].clone();
    assert!(pair.iter().all(|one| cluster.contains(one)));
    // They move, and keep their places to each other; also when someone leaves.
    let seen = |app: &App| {
        let [one, other] = [0, 1].map(|k| poses(app, &pair)[k]);
        one.inverse_transform_point(other.position)
    };
    let (before, place) = (seen(&app), poses(&app, &pair)[0].position);
    app.world_mut().entity_mut(molecules[7]).despawn();
    run(&mut app, 20);
    assert!(seen(&app).distance(before) < 1.0e-3);
    assert!(poses(&app, &pair)[0].position.distance(place) > 0.05);
}

fn clusters(app: &mut App) -> Vec<Vec<Entity>> {
    let world = app.world_mut();
    let mut worlds = world.query::<&MoleculeWorld>();
    worlds.single(world).unwrap().clusters()
}

#[test]
fn a_rule_has_the_last_word_and_entities_are_told() {
    #[derive(Resource, Default)]
    struct Told(u32);
    let (mut app, molecules) = cell(2, 3);
    for molecule in &molecules {
        app.world_mut()
            .entity_mut(*molecule)
            .insert(CollisionOutcome::Stick)
            .observe(|_: On<MoleculeCollision>, mut told: ResMut<Told>| told.0 += 1);
    }
    app.init_resource::<Told>()
        .insert_resource(CollisionRule::new(|meeting| match meeting.outcome {
            CollisionOutcome::Stick => CollisionOutcome::Bounce,
            other => other,
        }));
    listen(&mut app);
    run(&mut app, 30);
    assert!(clusters(&mut app).is_empty());
    let told = app.world().resource::<Told>().0;
    assert!(told > 0 && told as usize == 2 * met(&app).len(), "{told}");
}

#[test]
fn molecules_that_pass_go_through_each_other_and_nobody_pushes_them() {
    let (mut app, molecules) = cell(2, 3);
    for molecule in &molecules {
        app.world_mut()
            .entity_mut(*molecule)
            .insert(CollisionOutcome::Pass);
    }
    listen(&mut app);
    let body = DockingMolecule::new(Arc::new(real("1ubq.cif")));
    let mut overlapping = 0;
    for _ in 0..20 {
        run(&mut app, 1);
        let now = poses(&app, &molecules);
        for (k, one) in now.iter().enumerate() {
            let others = now[k + 1..].iter();
            let inside =
                others.filter(|other| !overlapping_atoms(&body, one, &body, other).is_empty());
            overlapping += inside.count();
        }
        for molecule in &molecules {
            let velocity = app.world().get::<Velocity>(*molecule).unwrap();
            assert_eq!(velocity.linear, Vec3::ZERO, "somebody pushed");
        }
    }
    assert!(overlapping > 10, "{overlapping}");
    assert!(
        met(&app)
            .iter()
            .all(|met| met.outcome == CollisionOutcome::Pass)
    );
}

#[test]
fn a_static_molecule_is_in_the_way_and_stays() {
    let (mut app, molecules) = cell(2, 4);
    app.world_mut()
        .entity_mut(molecules[0])
        .insert(StaticMolecule);
    run(&mut app, 2);
    let start = poses(&app, &molecules)[0];
    run(&mut app, 10);
    assert_eq!(poses(&app, &molecules)[0], start);
    assert!(app.world().get::<Velocity>(molecules[1]).unwrap().linear == Vec3::ZERO);
}

#[test]
fn time_is_cut_short_rather_than_anyone_jumping_through_another() {
    let mut app = app(ContactModel::Crowd);
    settings(&mut app, |settings| {
        settings.pace = 1.0;
        settings.max_steps = 2;
    });
    let template = add(&mut app, real("1ubq.cif"));
    let molecule = spawn(&mut app, &template, Vec3::ZERO);
    app.world_mut()
        .entity_mut(molecule)
        .insert(BrownianMotion::default());
    run(&mut app, 3);
    let mut longest: f32 = 0.0;
    for _ in 0..20 {
        let before = position(&app, molecule);
        run(&mut app, 1);
        longest = longest.max(position(&app, molecule).distance(before));
    }
    // Eight steps of about a tenth of a radius each, and not the millimeter of a second.
    assert!(longest > 0.05 && longest < 5.0, "{longest}");
}

#[test]
fn settings_that_are_none_stop_the_motion_and_not_the_app() {
    let (mut app, molecules) = cell(2, 1);
    run(&mut app, 3);
    settings(&mut app, |settings| settings.medium.viscosity = -1.0);
    run(&mut app, 2);
    let before = poses(&app, &molecules);
    run(&mut app, 2);
    assert_eq!(poses(&app, &molecules), before);
    settings(&mut app, |settings| *settings = default());
    run(&mut app, 2);
    assert_ne!(poses(&app, &molecules), before);
}

#[test]
fn impossible_coefficients_are_told_once_for_each_time_that_they_come() {
    log::listen();
    let mut app = app(ContactModel::Crowd);
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::ZERO);
    let diffuse = |app: &mut App, diffusion: f64| {
        let diffusion = Some(diffusion);
        let brownian = BrownianMotion {
            diffusion,
            ..default()
        };
        app.world_mut().entity_mut(molecule).insert(brownian);
        run(app, 3);
    };
    let told = || log::count(&["diffusion coefficients", "-7.25"]);
    diffuse(&mut app, -7.25);
    assert_eq!(position(&app, molecule), Vec3::ZERO);
    // One that comes later makes all be collected anew.
    spawn(&mut app, &template, Vec3::Y * 30.0);
    run(&mut app, 3);
    assert_eq!(told(), 1);
    diffuse(&mut app, 1.0e8);
    assert_ne!(position(&app, molecule), Vec3::ZERO);
    diffuse(&mut app, -7.25);
    assert_eq!(told(), 2);
}
