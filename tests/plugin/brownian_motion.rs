//! Brownian motion of molecules without overlaps.

use bevy::prelude::*;
use bevy_rapier_molecules::docking::{DockingMolecule, overlapping_atoms};
use bevy_rapier_molecules::motion::brownian::{Medium, hydrodynamic_radius};
use bevy_rapier_molecules::plugin::{
    BrownianMotionConfig, CollisionRule, CompartmentRegion, MoleculeWorld,
};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use std::sync::Arc;

use super::log;
use super::test_app::*;
use crate::common::thread_pool::with_threads;

/// Maximum overlap due to rounding, nm.
const ROUNDING_NM: f32 = 1.0e-5;

fn change_config(app: &mut App, change: impl FnOnce(&mut BrownianMotionConfig)) {
    change(&mut app.world_mut().resource_mut::<BrownianMotionConfig>());
}

/// `side`³ ubiquitins confined to a box.
fn cell(side: u32, seed: u64) -> (App, Vec<Entity>) {
    let mut app = app(ContactModel::Crowd);
    // A hundred times the default, so that substeps are split.
    change_config(&mut app, |config| {
        config.seed = seed;
        config.pace = 1.0e-7;
    });
    let template = add(&mut app, real("1ubq.cif"));
    let step = 4.4;
    let half = 0.5 * side as f32 * step + 0.5;
    let cell = app.world_mut().spawn(Compartment::Box {
        half_extents: Vec3::splat(half),
    });
    let confined = InCompartment::new(cell.id(), CompartmentRegion::Inside);
    let molecules = (0..side.pow(3)).map(|k| {
        let cell = [k % side, k / side % side, k / side / side];
        let position = cell.map(|k| (k as f32 + 0.5 - 0.5 * side as f32) * step);
        let molecule = spawn(&mut app, &template, Vec3::from_array(position));
        let brownian = (BrownianMotion::default(), confined, CrowdOnly);
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
struct Collisions(Vec<MoleculeCollision>);

fn record_collisions(app: &mut App) {
    app.init_resource::<Collisions>().add_systems(
        Last,
        |mut messages: MessageReader<MoleculeCollision>, mut collisions: ResMut<Collisions>| {
            collisions.0.extend(messages.read());
        },
    );
}

fn collisions(app: &App) -> &[MoleculeCollision] {
    &app.world().resource::<Collisions>().0
}

#[test]
fn free_diffusion_follows_the_einstein_relation() {
    let (diffusion, rotational_diffusion) = (1.0e8, 2.0e8);
    let mut app = app(ContactModel::Crowd);
    let pace = 1.0e-12 / f64::from(FRAME);
    change_config(&mut app, |config| config.pace = pace);
    let template = add(&mut app, bar());
    let molecules: Vec<Entity> = (0..512)
        .map(|k| {
            let position = [k % 8, k / 8 % 8, k / 64].map(|k| 4.0 * k as f32 - 14.0);
            let molecule = spawn(&mut app, &template, Vec3::from_array(position));
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
    let (mut squares, mut decay) = (0.0, 0.0);
    let mut previous = poses(&app, &molecules);
    let start = previous.clone();
    for _ in 0..frames {
        run(&mut app, 1);
        let current = poses(&app, &molecules);
        for (new, old) in current.iter().zip(&previous) {
            squares += f64::from(new.position.distance_squared(old.position));
            decay += f64::from(1.0 - (new.rotation * Vec3::X).dot(old.rotation * Vec3::X));
        }
        previous = current;
    }
    assert!(
        molecules
            .iter()
            .all(|&molecule| velocity(&app, molecule) == Vec3::ZERO)
    );
    let samples = f64::from(frames) * molecules.len() as f64;
    let dt = 1.0e-12;
    // Directions decay as exp(−2 Dᵣ t).
    let expected = [
        6.0 * diffusion * dt,
        1.0 - (-2.0 * rotational_diffusion * dt).exp(),
    ];
    for (found, expected) in [squares / samples, decay / samples].iter().zip(expected) {
        let ratio = found / expected;
        assert!((ratio - 1.0).abs() < 0.025, "{ratio}");
    }
    // The total displacement too, within the statistics of 512 molecules.
    let total = previous.iter().zip(&start);
    let total = total.map(|(new, old)| f64::from(new.position.distance_squared(old.position)));
    let ratio = total.sum::<f64>() / 512.0 / (6.0 * diffusion * dt * f64::from(frames));
    assert!((ratio - 1.0).abs() < 0.12, "{ratio}");
}

#[test]
fn coefficients_default_to_those_of_the_molecule() {
    let medium = Medium::default();
    let mass = f64::from(real("1ubq.cif").mass());
    let default = BrownianMotion::default().coefficients(mass, &medium);
    let radius = hydrodynamic_radius(mass);
    assert_eq!(
        default,
        [medium.translational(radius), medium.rotational(radius)]
    );
    // The measured value is 150 µm²/s.
    assert!((default[0] * 1.0e-6 - 150.0).abs() < 15.0, "{}", default[0]);
    let given = BrownianMotion {
        diffusion: Some(3.0),
        radius: Some(1.0),
        ..BrownianMotion::default()
    };
    assert_eq!(
        given.coefficients(mass, &medium),
        [3.0, medium.rotational(1.0)]
    );
}

#[test]
fn a_confined_crowd_stays_in_its_compartment_without_overlaps() {
    let (mut app, molecules) = cell(3, 1);
    record_collisions(&mut app);
    run(&mut app, 2);
    let start = poses(&app, &molecules);
    let body = DockingMolecule::new(Arc::new(real("1ubq.cif")));
    let max_coordinate = 0.5 * 3.0 * 4.4 + 0.5 - real("1ubq.cif").bounding_radius() - 0.1;
    for _ in 0..10 {
        run(&mut app, 1);
        let current = poses(&app, &molecules);
        for (k, one) in current.iter().enumerate() {
            assert!(one.position.abs().max_element() < max_coordinate + 1.0e-3);
            for other in &current[k + 1..] {
                let deepest = overlapping_atoms(&body, one, &body, other);
                let deepest = deepest.iter().map(|pair| -pair.gap);
                assert!(deepest.fold(0.0, f32::max) < ROUNDING_NM);
            }
        }
    }
    let count = collisions(&app).len();
    assert!(count > 20, "{count}");
    let moved = poses(&app, &molecules).into_iter().zip(&start);
    let moved: f32 = moved
        .map(|(new, old)| new.position.distance_squared(old.position))
        .sum::<f32>()
        / 27.0;
    // Free molecules would have a mean square displacement of 15 nm² in 17 ns.
    assert!((0.1..14.0).contains(&moved), "{moved}");
}

#[test]
fn a_seed_gives_bit_for_bit_the_same_motion_on_any_number_of_threads() {
    let run = |threads: usize, seed: u64| {
        with_threads(threads, || {
            let (mut app, molecules) = cell(2, seed);
            record_collisions(&mut app);
            run(&mut app, 8);
            let bits = |pose: &Pose| {
                (
                    pose.position.to_array().map(f32::to_bits),
                    pose.rotation.to_array().map(f32::to_bits),
                )
            };
            let poses: Vec<_> = poses(&app, &molecules).iter().map(bits).collect();
            (poses, collisions(&app).to_vec())
        })
    };
    let one = run(1, 5);
    assert!(!one.1.is_empty());
    assert_eq!(one, run(2, 5));
    assert_ne!(one, run(1, 6));
    // Sorted by substep; one collision per pair and substep, with the smaller entity first.
    let order = |one: &MoleculeCollision| (one.time, one.molecule, one.other);
    assert!(one.1.is_sorted_by(|one, other| order(one) < order(other)));
    assert!(one.1.iter().all(|it| it.molecule < it.other));
}

#[test]
fn sticking_molecules_diffuse_as_one() {
    let (mut app, molecules) = cell(2, 3);
    for molecule in &molecules[..4] {
        app.world_mut()
            .entity_mut(*molecule)
            .insert(CollisionOutcome::Stick);
    }
    record_collisions(&mut app);
    for _ in 0..200 {
        run(&mut app, 1);
        if !clusters(&mut app).is_empty() {
            break;
        }
    }
    let sticks = |one: &&MoleculeCollision| one.outcome == CollisionOutcome::Stick;
    let first = collisions(&app).iter().find(sticks).unwrap();
    let pair = [first.molecule, first.other];
    assert!(pair.iter().all(|one| molecules[..4].contains(one)));
    let cluster = clusters(&mut app)[0].clone();
    assert!(pair.iter().all(|one| cluster.contains(one)));
    // The cluster moves and stays rigid, even when another molecule is despawned.
    let relative_position = |app: &App| {
        let [one, other] = [0, 1].map(|k| poses(app, &pair)[k]);
        one.inverse_transform_point(other.position)
    };
    let (before, start) = (relative_position(&app), poses(&app, &pair)[0].position);
    app.world_mut().entity_mut(molecules[7]).despawn();
    run(&mut app, 20);
    assert!(relative_position(&app).distance(before) < 1.0e-3);
    assert!(poses(&app, &pair)[0].position.distance(start) > 0.05);
    // A molecule without Brownian motion leaves its cluster.
    app.world_mut()
        .entity_mut(pair[0])
        .remove::<BrownianMotion>();
    run(&mut app, 1);
    let rest = poses(&app, &pair);
    run(&mut app, 20);
    assert!(!clusters(&mut app).concat().contains(&pair[0]));
    let after = poses(&app, &pair);
    assert!(after[0].position.distance(rest[0].position) < 1.0e-3);
    assert!(after[1].position.distance(rest[1].position) > 0.05);
}

fn clusters(app: &mut App) -> Vec<Vec<Entity>> {
    let world = app.world_mut();
    let mut worlds = world.query::<&MoleculeWorld>();
    worlds.single(world).unwrap().clusters()
}

#[test]
fn a_collision_rule_overrides_the_components() {
    #[derive(Resource, Default)]
    struct Events(u32);
    let (mut app, molecules) = cell(2, 3);
    for molecule in &molecules {
        app.world_mut()
            .entity_mut(*molecule)
            .insert((CollisionOutcome::Stick, MoleculeEventsEnabled))
            .observe(|_: On<MoleculeCollision>, mut events: ResMut<Events>| events.0 += 1);
    }
    app.init_resource::<Events>()
        .insert_resource(CollisionRule::new(|collision| match collision.outcome {
            CollisionOutcome::Stick => CollisionOutcome::Bounce,
            other => other,
        }));
    record_collisions(&mut app);
    run(&mut app, 30);
    assert!(clusters(&mut app).is_empty());
    let events = app.world().resource::<Events>().0;
    assert!(events > 0, "{events}");
    assert_eq!(events as usize, 2 * collisions(&app).len());
}

#[test]
fn passing_molecules_overlap_without_contact_forces() {
    let (mut app, molecules) = cell(2, 3);
    for molecule in &molecules {
        app.world_mut()
            .entity_mut(*molecule)
            .insert(CollisionOutcome::Pass);
    }
    record_collisions(&mut app);
    let body = DockingMolecule::new(Arc::new(real("1ubq.cif")));
    let mut overlapping = 0;
    for _ in 0..20 {
        run(&mut app, 1);
        let current = poses(&app, &molecules);
        for (k, one) in current.iter().enumerate() {
            let others = current[k + 1..].iter();
            let inside =
                others.filter(|other| !overlapping_atoms(&body, one, &body, other).is_empty());
            overlapping += inside.count();
        }
        for molecule in &molecules {
            let velocity = app.world().get::<Velocity>(*molecule).unwrap();
            assert_eq!(velocity.linear, Vec3::ZERO);
        }
    }
    assert!(overlapping > 10, "{overlapping}");
    assert!(
        collisions(&app)
            .iter()
            .all(|one| one.outcome == CollisionOutcome::Pass)
    );
}

#[test]
fn a_static_molecule_does_not_diffuse() {
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
fn a_molecule_without_brownian_motion_stays_at_rest() {
    let (mut app, molecules) = cell(2, 4);
    app.world_mut()
        .entity_mut(molecules[0])
        .remove::<(BrownianMotion, InCompartment)>();
    record_collisions(&mut app);
    let start = poses(&app, &molecules);
    run(&mut app, 30);
    let end = poses(&app, &molecules);
    assert_eq!(end[0], start[0]);
    assert_eq!(velocity(&app, molecules[0]), Vec3::ZERO);
    for (new, old) in end.iter().zip(&start).skip(1) {
        let distance = new.position.distance(old.position);
        assert!((0.01..5.0).contains(&distance), "{distance}");
    }
    // Others bounce off it.
    let resting = molecules[0];
    let hits = collisions(&app)
        .iter()
        .filter(|one| one.molecule == resting || one.other == resting);
    let count = hits.count();
    assert!(count > 20, "{count} of {}", collisions(&app).len());
}

#[test]
fn excess_time_is_skipped_so_that_molecules_do_not_tunnel() {
    let mut app = app(ContactModel::Crowd);
    change_config(&mut app, |config| {
        config.pace = 1.0;
        config.max_steps = 2;
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
    // Eight steps of about a tenth of a radius each, not the millimeter of a full second.
    assert!(longest > 0.05 && longest < 5.0, "{longest}");
}

#[test]
fn an_invalid_configuration_stops_the_motion() {
    let (mut app, molecules) = cell(2, 1);
    run(&mut app, 3);
    change_config(&mut app, |config| config.medium.viscosity = -1.0);
    run(&mut app, 2);
    let before = poses(&app, &molecules);
    run(&mut app, 2);
    assert_eq!(poses(&app, &molecules), before);
    change_config(&mut app, |config| *config = default());
    run(&mut app, 2);
    assert_ne!(poses(&app, &molecules), before);
}

#[test]
fn invalid_coefficients_are_logged_once_per_occurrence() {
    log::capture();
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
    let logged = || log::count(&["diffusion coefficients", "-7.25"]);
    diffuse(&mut app, -7.25);
    assert_eq!(position(&app, molecule), Vec3::ZERO);
    // Another molecule triggers a new collection.
    spawn(&mut app, &template, Vec3::Y * 30.0);
    run(&mut app, 3);
    assert_eq!(logged(), 1);
    diffuse(&mut app, 1.0e8);
    assert_ne!(position(&app, molecule), Vec3::ZERO);
    diffuse(&mut app, -7.25);
    assert_eq!(logged(), 2);
}
