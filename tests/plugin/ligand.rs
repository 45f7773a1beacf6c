//! A light molecule hits a heavy one: 60 frames per second, 4 substeps.

use bevy::prelude::*;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::test_app::*;

/// Speed of the ligand at the start, nm/s.
const SPEED: f32 = 2.0;

/// Number of frames: three seconds, about one of them before the collision.
const FRAMES: usize = 180;

#[derive(Resource, Default)]
struct Deepest(f32);

fn record_deepest(touching: TouchingMolecules, mut deepest: ResMut<Deepest>) {
    let depths = touching.iter().map(|pair| pair.penetration);
    deepest.0 = depths.fold(deepest.0, f32::max);
}

/// Kinetic energy of two molecules, Da·nm²/s².
fn kinetic_energy(app: &mut App, molecules: [Entity; 2]) -> f32 {
    let world = app.world_mut();
    let handles = molecules.map(|molecule| world.get::<RapierRigidBodyHandle>(molecule).unwrap().0);
    let mut sets = world.query::<&RapierRigidBodySet>();
    let bodies = &sets.single(world).unwrap().bodies;
    handles
        .map(|handle| bodies[handle].kinetic_energy())
        .iter()
        .sum()
}

/// p-Xylene, 18 atoms, thrown at T4 lysozyme from one side.
fn throw(model: ContactModel, side: Vec3) {
    let mut app = app(model);
    app.init_resource::<Deepest>()
        .add_systems(Last, record_deepest);
    weightless(&mut app);
    let (receptor, ligand) = (real("t4_lysozyme_l99a.pdb"), real("p_xylene.pdb"));
    assert_eq!(ligand.atom_count(), 18);
    assert!(receptor.mass() > 100.0 * ligand.mass());
    let smallest = ligand.radii().iter().copied().fold(f32::MAX, f32::min);
    let start = side * (receptor.bounding_radius() + 0.5);
    let [receptor, ligand] = [receptor, ligand].map(|template| add(&mut app, template));
    let receptor = spawn(&mut app, &receptor, Vec3::ZERO);
    let ligand = spawn(&mut app, &ligand, start);
    let thrown = Velocity::linear(side * -SPEED);
    app.world_mut().entity_mut(ligand).insert(thrown);
    // Spawn the bodies.
    run(&mut app, 2);
    let before = kinetic_energy(&mut app, [receptor, ligand]);
    assert!(before > 0.0);
    for _ in 0..FRAMES {
        run(&mut app, 1);
        let now = kinetic_energy(&mut app, [receptor, ligand]);
        assert!(
            now <= before * 1.0001,
            "{model:?}, {side}: {now} of {before}"
        );
    }
    let deepest = app.world().resource::<Deepest>().0;
    let change = velocity(&app, ligand).distance(side * -SPEED);
    assert!(change > 0.1 * SPEED, "{model:?}, {side}: no collision");
    assert!(
        deepest < 0.2 * smallest,
        "{model:?}, {side}: {deepest} of {smallest}"
    );
    assert!(position(&app, ligand).is_finite() && position(&app, receptor).length() < 0.2);
}

#[test]
fn collision_with_a_hundred_times_heavier_receptor_is_stable() {
    for side in [Vec3::X, Vec3::Y, Vec3::NEG_Z] {
        for model in [ContactModel::Crowd, ContactModel::Solver] {
            throw(model, side);
        }
    }
}
