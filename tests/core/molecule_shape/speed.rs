//! How long a manifold call takes. Prints; asserts only against gross mistakes.
//!
//! On a busy machine the clock on the wall is also that of others. So calls are timed one by
//! one and take turns, the best of each counts, and what they are compared with is measured
//! between them: which atoms of two hemoglobins overlap, asked of all 23 million pairs.

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

/// Turns of each, of which the best counts.
const TURNS: usize = 15;

/// How much of the time of all pairs of hemoglobins a call for a hemoglobin may take.
const LARGE: f64 = 0.2;

/// How much of it a call for a lipid may take.
const SMALL: f64 = 0.05;

/// Something that is called, and how much of the time of all pairs it may take.
struct Call<'a> {
    name: String,
    most: f64,
    run: Box<dyn FnMut() + 'a>,
    best: Duration,
}

impl<'a> Call<'a> {
    fn new(name: String, most: f64, run: impl FnMut() + 'a) -> Self {
        Self {
            name,
            most,
            run: Box::new(run),
            best: Duration::MAX,
        }
    }

    fn take_a_turn(&mut self) {
        let start = Instant::now();
        (self.run)();
        self.best = self.best.min(start.elapsed());
    }
}

/// Pairs of atoms that overlap if the second of two twins is moved along x, nm.
fn all_pairs(template: &MoleculeTemplate, by: f32) -> usize {
    let atoms = || template.positions().iter().zip(template.radii());
    let overlaps = |(&a, &one): (&Vec3, &f32)| {
        let near = |&(&b, &other): &(&Vec3, &f32)| {
            a.distance_squared(b + Vec3::X * by) < (one + other) * (one + other)
        };
        atoms().filter(near).count()
    };
    atoms().map(overlaps).sum()
}

/// Times the calls, and all pairs of hemoglobins between them; none takes too much of that.
fn assert_short(hemoglobin: &MoleculeShape, mut calls: Vec<Call>) {
    let by = 2.0 * hemoglobin.aabb().half_extents().x;
    let mut pairs = Call::new("all pairs".into(), 1.0, || {
        black_box(all_pairs(black_box(hemoglobin.template()), by));
    });
    for _ in 0..TURNS {
        pairs.take_a_turn();
        for call in &mut calls {
            call.take_a_turn();
        }
    }
    for Call {
        name, most, best, ..
    } in &calls
    {
        let part = best.as_secs_f64() / pairs.best.as_secs_f64();
        #[expect(clippy::print_stdout, reason = "this is what the measurement is for")]
        {
            println!("{name}: {best:?}, {part:.5} of {:?}", pairs.best);
        }
        assert!(part < *most, "{name} takes {part} of {:?}", pairs.best);
    }
}

/// How far apart along x the centers of two shapes are that just touch, nm.
fn touching(a: &MoleculeShape, b: &dyn Shape) -> f32 {
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
    apart
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
    for (name, a, b, most) in pairs {
        let apart = touching(a, b);
        for overlap in [0.01, 0.1, 0.5] {
            let pose = Pose3::translation(apart - overlap, 0.0, 0.0);
            let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
            let mut workspace = None;
            let name = format!("{name}, {overlap} nm deep");
            calls.push(Call::new(name, most, move || {
                dispatcher
                    .contact_manifolds(&pose, a, b, 0.02, &mut manifolds, &mut workspace)
                    .unwrap();
                assert!(manifolds.iter().any(|manifold| !manifold.points.is_empty()));
            }));
        }
    }
    assert_short(&hemoglobin, calls);
}

/// A hemoglobin that falls on a floor at a hundred times its radius a second.
#[test]
fn a_sweep_of_a_large_molecule_takes_well_under_a_frame() {
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
    let sweep = Call::new("hemoglobin swept on a floor".into(), LARGE, || {
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
    assert_short(&hemoglobin, vec![sweep]);
}
