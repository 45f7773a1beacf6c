//! How long a manifold call takes. Prints; asserts only against gross mistakes.

use std::time::Instant;

use bevy_rapier_molecules::rapier::MoleculeShape;
use glam::Vec3;
use rapier3d::parry::math::Pose3;
use rapier3d::parry::query::{
    ContactManifold, NonlinearRigidMotion, PersistentQueryDispatcher, QueryDispatcher,
};
use rapier3d::parry::shape::{Cuboid, Shape};

use crate::fixtures::{dispatcher, from_file};

/// Microseconds for one call of a pair that overlaps by some nm along x.
fn measure(name: &str, a: &MoleculeShape, b: &dyn Shape, overlap: f32) -> f64 {
    let dispatcher = dispatcher();
    // Moves the second towards the first until they touch.
    let reach = |shape: &dyn Shape| shape.compute_local_aabb().half_extents().x;
    let mut apart = 2.0 * (reach(a) + reach(b));
    while dispatcher
        .distance(&Pose3::translation(apart, 0.0, 0.0), a, b)
        .is_ok_and(|distance| distance > 0.0)
    {
        apart -= 0.01;
    }
    let pose = Pose3::translation(apart - overlap, 0.0, 0.0);
    let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
    let mut workspace = None;
    let rounds = 50;
    let start = Instant::now();
    for _ in 0..rounds {
        dispatcher
            .contact_manifolds(&pose, a, b, 0.02, &mut manifolds, &mut workspace)
            .unwrap();
    }
    let each = start.elapsed().as_secs_f64() * 1.0e6 / f64::from(rounds);
    let points: usize = manifolds.iter().map(|manifold| manifold.points.len()).sum();
    assert!(points > 0);
    #[expect(clippy::print_stdout, reason = "this is what the measurement is for")]
    {
        println!(
            "{name}, {overlap} nm deep: {each:.1} µs, {} manifolds, {points} points",
            manifolds.len()
        );
    }
    each
}

#[test]
fn manifolds_of_large_molecules_take_well_under_a_frame() {
    let haemoglobin = from_file("assets/molecules/1gzx.pdb");
    let lipid = from_file("assets/molecules/popc.pdb");
    let floor = Cuboid::new(Vec3::new(1.0, 50.0, 50.0));
    for overlap in [0.01, 0.1, 0.5] {
        let twin: &dyn Shape = &haemoglobin.clone();
        assert!(measure("haemoglobin on haemoglobin", &haemoglobin, twin, overlap) < 5000.0);
        assert!(measure("lipid on lipid", &lipid, &lipid.clone(), overlap) < 1000.0);
        assert!(measure("haemoglobin on a floor", &haemoglobin, &floor, overlap) < 5000.0);
        assert!(measure("lipid on a floor", &lipid, &floor, overlap) < 1000.0);
    }
}

/// A haemoglobin that falls on a floor at a hundred times its radius a second.
#[test]
fn a_sweep_of_a_large_molecule_takes_well_under_a_frame() {
    let haemoglobin = from_file("assets/molecules/1gzx.pdb");
    let floor = Cuboid::new(Vec3::new(50.0, 1.0, 50.0));
    let still = NonlinearRigidMotion::constant_position(Pose3::IDENTITY);
    let height = 1.5 - haemoglobin.aabb().mins.y;
    let falling = NonlinearRigidMotion::new(
        Pose3::translation(0.0, height, 0.0),
        Vec3::ZERO,
        Vec3::NEG_Y * 300.0,
        Vec3::new(5.0, 3.0, -4.0),
    );
    let rounds = 20;
    let start = Instant::now();
    for _ in 0..rounds {
        let hit = dispatcher().cast_shapes_nonlinear(
            &falling,
            &haemoglobin,
            &still,
            &floor,
            0.0,
            1.0 / 60.0,
            false,
        );
        assert!(hit.unwrap().is_some());
    }
    let each = start.elapsed().as_secs_f64() * 1.0e6 / f64::from(rounds);
    #[expect(clippy::print_stdout, reason = "this is what the measurement is for")]
    {
        println!("haemoglobin swept on a floor: {each:.1} µs");
    }
    assert!(each < 5000.0);
}
