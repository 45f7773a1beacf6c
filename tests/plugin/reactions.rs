//! Reactions of molecules that meet.

use bevy::prelude::*;
use bevy_rapier_molecules::docking::{DockingMolecule, overlapping_atoms};
use bevy_rapier_molecules::motion::Reaction;
use bevy_rapier_molecules::motion::brownian::BrownianSteps;
use bevy_rapier_molecules::plugin::{
    BrownianMotionConfig, CollisionRule, CompartmentRegion, MoleculeReactions, MoleculeWorld,
    MoleculesReacted,
};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use std::sync::Arc;

use super::test_app::*;
use crate::common::thread_pool::with_threads;

#[derive(Resource, Default)]
struct Log {
    reactions: Vec<MoleculesReacted>,
    collisions: Vec<MoleculeCollision>,
}

fn record(app: &mut App) {
    app.init_resource::<Log>().add_systems(
        Last,
        |mut reactions: MessageReader<MoleculesReacted>,
         mut collisions: MessageReader<MoleculeCollision>,
         mut log: ResMut<Log>| {
            log.reactions.extend(reactions.read().cloned());
            log.collisions.extend(collisions.read());
        },
    );
}

fn reactions(app: &App) -> &[MoleculesReacted] {
    &app.world().resource::<Log>().reactions
}

fn blocked(app: &mut App) -> u64 {
    let world = app.world_mut();
    let mut worlds = world.query::<&MoleculeWorld>();
    worlds
        .iter(world)
        .map(MoleculeWorld::blocked_reactions)
        .sum()
}

fn molecules_of(app: &mut App, template: &Handle<MoleculeTemplate>) -> Vec<Entity> {
    let world = app.world_mut();
    let mut molecules = world.query::<(Entity, &Molecule)>();
    let all = molecules.iter(world);
    let mut found: Vec<Entity> = all
        .filter(|(_, molecule)| molecule.0 == *template)
        .map(|(entity, _)| entity)
        .collect();
    found.sort_unstable();
    found
}

/// Reactants, products and probability.
type Listed<'a> = (
    [&'a Handle<MoleculeTemplate>; 2],
    &'a [&'a Handle<MoleculeTemplate>],
    f64,
);

fn set_reactions(app: &mut App, list: &[Listed]) {
    let list = list
        .iter()
        .map(|(reactants, products, probability)| Reaction {
            reactants: reactants.map(Clone::clone),
            products: products.iter().map(|&one| one.clone()).collect(),
            probability: *probability,
        });
    let reactions = MoleculeReactions::new(list).unwrap();
    app.insert_resource(reactions);
}

/// `count` carbons in a row, and those after the first `count` above them.
fn row(count: usize, above: usize) -> MoleculeTemplate {
    let at = |k: usize, y: f32| Vec3::new(0.15 * k as f32, y, 0.0);
    let first = (0..count).map(|k| at(k, 0.0));
    let positions: Vec<Vec3> = first.chain((0..above).map(|k| at(k, 0.15))).collect();
    carbons(&positions)
}

/// Two molecules, A on the left and B on the right, that meet head-on at the origin.
fn head_on(app: &mut App, kinds: [&Handle<MoleculeTemplate>; 2]) -> [Entity; 2] {
    weightless(app);
    let speeds = [2.0, -3.0];
    [0, 1].map(|k| {
        let x = -0.5 * speeds[k];
        let molecule = spawn(app, kinds[k], Vec3::new(x, 0.05 * k as f32, 0.0));
        let spin = 0.5 * Vec3::new(1.0, 2.0, 3.0);
        let velocity = Velocity {
            linear: Vec3::X * speeds[k],
            angular: spin,
        };
        let bundle = (
            velocity,
            AccelerationBound(0.0),
            CollisionOutcome::React,
            Friction::coefficient(0.3),
        );
        app.world_mut().entity_mut(molecule).insert(bundle);
        molecule
    })
}

#[test]
fn reactants_are_replaced_by_a_product_with_their_momentum() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        let mut app = app(model);
        record(&mut app);
        let [a, b, c] = [row(3, 0), row(2, 0), row(3, 2)].map(|one| add(&mut app, one));
        // Given in the other order.
        set_reactions(&mut app, &[([&b, &a], &[&c], 1.0)]);
        let [one, other] = head_on(&mut app, [&a, &b]);
        let mut frames = 0;
        while reactions(&app).is_empty() {
            run(&mut app, 1);
            frames += 1;
            assert!(frames < 60, "no reaction in {model:?}");
        }
        let found = reactions(&app)[0].clone();
        assert_eq!((found.reaction, found.reactants), (0, [other, one]));
        assert!((found.time - 0.4).abs() < 0.1, "{}", found.time);
        assert!(found.mass_change.abs() < 1.0e-3, "{}", found.mass_change);
        let &[product] = &found.products[..] else {
            panic!("{found:?}")
        };
        assert_eq!(molecules_of(&mut app, &c), [product]);
        for gone in [one, other] {
            assert!(app.world().get_entity(gone).is_err());
        }
        let parts = app.world().entity(product);
        assert_eq!(parts.get(), Some(&AccelerationBound(0.0)));
        assert_eq!(parts.get(), Some(&CollisionOutcome::React));
        assert_eq!(parts.get(), Some(&Friction::coefficient(0.3)));
        assert!(!parts.contains::<BrownianMotion>());
        // Momentum: (3 · 2 − 2 · 3) masses · nm/s.
        let before = position(&app, product);
        assert!(before.length() < 0.3, "{before}");
        run(&mut app, 30);
        assert!(
            velocity(&app, product).length() < 0.02,
            "{}",
            velocity(&app, product)
        );
        assert!((mass_of(&app, product) - 5.0 * 12.011).abs() < 0.1);
        // It rotates, since the reactants did.
        let spin = app.world().get::<Velocity>(product).unwrap().angular;
        assert!(spin.length() > 0.1, "{spin}");
        let collision = app.world().resource::<Log>().collisions[0];
        assert_eq!(collision.outcome, CollisionOutcome::React);
        assert_eq!(reactions(&app).len(), 1);
    }
}

#[test]
fn a_catalyst_is_replaced_by_one_of_its_kind() {
    let mut app = app(ContactModel::Crowd);
    record(&mut app);
    let [e, s, p] = [row(3, 0), row(2, 0), row(4, 4)].map(|one| add(&mut app, one));
    set_reactions(&mut app, &[([&e, &s], &[&e, &p], 1.0)]);
    let both = head_on(&mut app, [&e, &s]);
    run(&mut app, 60);
    let [found] = reactions(&app) else {
        panic!("{:?}", reactions(&app))
    };
    let found = found.clone();
    assert_eq!(found.reactants, both);
    // Six carbons more.
    assert!((found.mass_change - 6.0 * 12.011).abs() < 0.1);
    assert_eq!(molecules_of(&mut app, &e), found.products[..1]);
    assert_eq!(molecules_of(&mut app, &p), found.products[1..]);
    // At the places of the reactants.
    let [one, other] = [0, 1].map(|k| position(&app, found.products[k]));
    assert!(one.x < other.x - 0.1, "{one} {other}");
}

#[test]
fn molecules_bounce_if_they_do_not_react() {
    for case in 0..4 {
        let mut app = app(ContactModel::Crowd);
        record(&mut app);
        let [a, b, c] = [row(3, 0), row(2, 0), row(3, 2)].map(|one| add(&mut app, one));
        let probability = if case == 0 { 0.0 } else { 1.0 };
        set_reactions(&mut app, &[([&a, &b], &[&c], probability)]);
        let kinds = if case == 1 { [&a, &a] } else { [&a, &b] };
        let both = head_on(&mut app, kinds);
        if case == 2 {
            app.insert_resource(CollisionRule::new(|_| CollisionOutcome::Bounce));
        }
        if case == 3 {
            // Only one of the two reacts.
            app.world_mut()
                .entity_mut(both[0])
                .insert(CollisionOutcome::Bounce);
        }
        run(&mut app, 60);
        assert!(reactions(&app).is_empty(), "case {case}");
        let log = app.world().resource::<Log>();
        assert_eq!(log.collisions[0].outcome, CollisionOutcome::Bounce);
        assert!(position(&app, both[0]).x < position(&app, both[1]).x);
        assert_eq!(blocked(&mut app), 0);
    }
}

#[test]
fn a_product_that_does_not_fit_is_blocked() {
    let mut app = app(ContactModel::Crowd);
    record(&mut app);
    let [a, b] = [row(3, 0), row(2, 0)].map(|one| add(&mut app, one));
    // A ball that reaches a neighbor.
    let lattice = (0..11_i32.pow(3)).map(|k| [k % 11, k / 11 % 11, k / 121]);
    let lattice = lattice.map(|cell| Vec3::from_array(cell.map(|k| 0.2 * (k - 5) as f32)));
    let ball: Vec<Vec3> = lattice.filter(|at| at.length() < 1.0).collect();
    let c = add(&mut app, carbons(&ball));
    set_reactions(&mut app, &[([&a, &b], &[&c], 1.0)]);
    let both = head_on(&mut app, [&a, &b]);
    let obstacle = spawn(&mut app, &a, Vec3::Y * 0.8);
    app.world_mut().entity_mut(obstacle).insert(StaticMolecule);
    run(&mut app, 60);
    assert!(reactions(&app).is_empty());
    // They may meet more than once.
    assert!(blocked(&mut app) > 0);
    assert!(molecules_of(&mut app, &c).is_empty());
    let log = app.world().resource::<Log>();
    assert_eq!(log.collisions[0].outcome, CollisionOutcome::Bounce);
    assert!(position(&app, both[0]).x < position(&app, both[1]).x);
}

/// Ubiquitins that become lysozymes in pairs, in a box.
fn box_of_proteins(steps: BrownianSteps) -> (App, [Handle<MoleculeTemplate>; 2]) {
    let mut app = app(ContactModel::Crowd);
    record(&mut app);
    app.insert_resource(BrownianMotionConfig {
        pace: 1.0e-7,
        steps,
        ..default()
    });
    let kinds = ["1ubq.cif", "t4_lysozyme_l99a.pdb"].map(real);
    let kinds = kinds.map(|kind| add(&mut app, kind));
    set_reactions(&mut app, &[([&kinds[0], &kinds[0]], &[&kinds[1]], 0.5)]);
    let half_extents = Vec3::splat(8.0);
    let cell = app
        .world_mut()
        .spawn(Compartment::Box { half_extents })
        .id();
    let confined = InCompartment::new(cell, CompartmentRegion::Inside);
    for k in 0..27 {
        let cell = [k % 3, k / 3 % 3, k / 9].map(|k| 4.5 * (k as f32 - 1.0));
        let molecule = spawn(&mut app, &kinds[0], Vec3::from_array(cell));
        let brownian = (BrownianMotion::default(), CollisionOutcome::React);
        app.world_mut()
            .entity_mut(molecule)
            .insert((brownian, confined, CrowdOnly));
    }
    (app, kinds)
}

fn shapes(app: &mut App) -> Vec<(Entity, DockingMolecule, Pose)> {
    let world = app.world_mut();
    let mut molecules = world.query::<(Entity, &Molecule, &Transform)>();
    let templates = world.resource::<Assets<MoleculeTemplate>>();
    let all = molecules.iter(world);
    let mut all: Vec<_> = all
        .map(|(entity, molecule, transform)| {
            let shape = DockingMolecule::new(Arc::new(templates.get(&molecule.0).unwrap().clone()));
            let pose = Pose::new(transform.translation, transform.rotation);
            (entity, shape, pose)
        })
        .collect();
    all.sort_by_key(|one| one.0);
    all
}

#[test]
fn brownian_reactions_never_make_atoms_overlap_and_products_diffuse_in_the_compartment() {
    for steps in [BrownianSteps::Coarse, BrownianSteps::Fine] {
        let (mut app, [one, product]) = box_of_proteins(steps);
        for _ in 0..15 {
            run(&mut app, 2);
            let all = shapes(&mut app);
            for (k, (_, shape, pose)) in all.iter().enumerate() {
                assert!(pose.position.abs().max_element() < 8.0);
                for (_, other, other_pose) in &all[..k] {
                    assert!(overlapping_atoms(shape, pose, other, other_pose).is_empty());
                }
            }
        }
        let count = reactions(&app).len();
        assert!(count > 2, "{steps:?} {count}");
        assert_eq!(molecules_of(&mut app, &product).len(), count);
        assert_eq!(molecules_of(&mut app, &one).len(), 27 - 2 * count);
        let first = molecules_of(&mut app, &product)[0];
        let parts = app.world().entity(first);
        assert!(parts.contains::<BrownianMotion>() && parts.contains::<CrowdOnly>());
        assert!(parts.contains::<InCompartment>());
        let before = position(&app, first);
        run(&mut app, 5);
        assert_ne!(position(&app, first), before);
        let mass = |file: &str| real(file).mass();
        let change = mass("t4_lysozyme_l99a.pdb") - 2.0 * mass("1ubq.cif");
        assert!((reactions(&app)[0].mass_change - change).abs() < 1.0);
    }
}

#[test]
fn reactions_are_the_same_on_any_number_of_threads() {
    let run = |threads: usize| {
        with_threads(threads, || {
            let (mut app, _) = box_of_proteins(BrownianSteps::Fine);
            run(&mut app, 20);
            let poses = shapes(&mut app).into_iter().map(|(entity, _, pose)| {
                let Pose { position, rotation } = pose;
                let bits = position.to_array().map(f32::to_bits);
                (entity, bits, rotation.to_array().map(f32::to_bits))
            });
            let poses: Vec<_> = poses.collect();
            (poses, reactions(&app).to_vec())
        })
    };
    let first = run(1);
    assert!(!first.1.is_empty());
    assert_eq!(first, run(2));
}
