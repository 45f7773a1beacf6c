//! Time per manifold call. Prints the times, and asserts only against gross regressions.
//!
//! On a busy machine wall-clock times are unreliable. So calls alternate, the best time of
//! each counts, and the reference is measured in between: a brute-force overlap test of all
//! 23 million pairs of atoms of two hemoglobins.

use std::hint::black_box;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::rapier::MoleculeShape;
use glam::Vec3;
use rapier3d::parry::math::Pose3;
use rapier3d::parry::query::{
    ContactManifold, NonlinearRigidMotion, PersistentQueryDispatcher, QueryDispatcher,
};
use rapier3d::parry::shape::{Cuboid, Shape};

use crate::molecule_shape::fixtures::{dispatcher, from_file};

/// Repetitions of each call, of which the best counts.
const REPETITIONS: usize = 15;

/// Maximum time of a call for a hemoglobin, relative to the reference.
const LARGE: f64 = 0.2;

/// Maximum time of a call for a lipid, relative to the reference.
const SMALL: f64 = 0.05;

/// A timed call, and its maximum time relative to the reference.
struct Call<'a> {
    name: String,
    max_ratio: f64,
    run: Box<dyn FnMut() + 'a>,
    best: Duration,
}

impl<'a> Call<'a> {
    fn new(name: String, max_ratio: f64, run: impl FnMut() + 'a) -> Self {
        Self {
            name,
            max_ratio,
            run: Box::new(run),
            best: Duration::MAX,
        }
    }

    fn time_once(&mut self) {
        let start = Instant::now();
        (self.run)();
        self.best = self.best.min(start.elapsed());
    }
}

/// Number of overlapping pairs of atoms of two copies, the second shifted along x by `shift`
/// nm.
fn all_pairs(template: &MoleculeTemplate, shift: f32) -> usize {
    let atoms = || template.positions().iter().zip(template.radii());
    let overlaps = |(&a, &one): (&Vec3, &f32)| {
        let near = |&(&b, &other): &(&Vec3, &f32)| {
            a.distance_squared(b + Vec3::X * shift) < (one + other) * (one + other)
        };
        atoms().filter(near).count()
    };
    atoms().map(overlaps).sum()
}

/// Asserts that the calls are fast relative to the reference.
fn assert_fast(hemoglobin: &MoleculeShape, mut calls: Vec<Call>) {
    let shift = 2.0 * hemoglobin.aabb().half_extents().x;
    let mut pairs = Call::new("all pairs".into(), 1.0, || {
        black_box(all_pairs(black_box(hemoglobin.template()), shift));
    });
    for _ in 0..REPETITIONS {
        pairs.time_once();
        for call in &mut calls {
            call.time_once();
        }
    }
    for Call {
        name,
        max_ratio,
        best,
        ..
    } in &calls
    {
        let ratio = best.as_secs_f64() / pairs.best.as_secs_f64();
        #[expect(clippy::print_stdout, reason = "this is what the measurement is for")]
        {
            println!("{name}: {best:?}, {ratio:.5} of {:?}", pairs.best);
        }
        assert!(
            ratio < *max_ratio,
            "{name} takes {ratio} of {:?}",
            pairs.best
        );
    }
}

/// Distance along x between the centers of two shapes that just touch, nm.
fn touching_distance(a: &MoleculeShape, b: &dyn Shape) -> f32 {
    let dispatcher = dispatcher();
    let half_width = |shape: &dyn Shape| shape.compute_local_aabb().half_extents().x;
    let mut distance = 2.0 * (half_width(a) + half_width(b));
    while dispatcher
        .distance(&Pose3::translation(distance, 0.0, 0.0), a, b)
        .is_ok_and(|gap| gap > 0.0)
    {
        distance -= 0.01;
    }
    distance
}

#[test]
fn manifolds_of_large_molecules_take_well_under_a_frame() {
    let hemoglobin = from_file("assets/molecules/1gzx.pdb");
    let lipid = from_file("assets/molecules/popc.pdb");
    let (other_hemoglobin, other_lipid) = (hemoglobin.clone(), lipid.clone());
    let floor = Cuboid::new(Vec3::new(1.0, 50.0, 50.0));
    let pairs: [(&str, &MoleculeShape, &dyn Shape, f64); 4] = [
        (
            "hemoglobin on hemoglobin",
            &hemoglobin,
            &other_hemoglobin,
            LARGE,
        ),
        ("lipid on lipid", &lipid, &other_lipid, SMALL),
        ("hemoglobin on a floor", &hemoglobin, &floor, LARGE),
        ("lipid on a floor", &lipid, &floor, SMALL),
    ];
    let dispatcher = &dispatcher();
    let mut calls = Vec::new();
    for (name, a, b, max_ratio) in pairs {
        let distance = touching_distance(a, b);
        for overlap in [0.01, 0.1, 0.5] {
            let pose = Pose3::translation(distance - overlap, 0.0, 0.0);
            let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
            let mut workspace = None;
            let name = format!("{name}, {overlap} nm deep");
            calls.push(Call::new(name, max_ratio, move || {
                dispatcher
                    .contact_manifolds(&pose, a, b, 0.02, &mut manifolds, &mut workspace)
                    .unwrap();
                assert!(manifolds.iter().any(|manifold| !manifold.points.is_empty()));
            }));
        }
    }
    assert_fast(&hemoglobin, calls);
}

/// A hemoglobin falls on a floor at a hundred times its radius per second.
#[test]
fn nonlinear_casts_of_large_molecules_take_well_under_a_frame() {
    let hemoglobin = from_file("assets/molecules/1gzx.pdb");
    let floor = Cuboid::new(Vec3::new(50.0, 1.0, 50.0));
    let still = NonlinearRigidMotion::constant_position(Pose3::IDENTITY);
    let height = 1.5 - hemoglobin.aabb().mins.y;
    let falling = NonlinearRigidMotion::new(
        Pose3::translation(0.0, height, 0.0),
        Vec3::ZERO,
        Vec3::NEG_Y * 300.0,
        Vec3::new(5.0, 3.0, -4.0),
    );
    let cast = Call::new("hemoglobin cast on a floor".into(), LARGE, || {
        let hit = dispatcher().cast_shapes_nonlinear(
            &falling,
            &hemoglobin,
            &still,
            &floor,
            0.0,
            1.0 / 60.0,
            false,
        );
        assert!(hit.unwrap().is_some());
    });
    assert_fast(&hemoglobin, vec![cast]);
}
