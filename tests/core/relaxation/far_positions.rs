//! Rounding of atoms that are far from the origin.

use std::path::Path;

use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::spheres::SphereSet;
use glam::{DQuat, DVec3, Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Radius of a vesicle of a million lipids, nm.
const RADIUS: f32 = 200.0;

/// Spacing of `f32` at that radius, nm: 2^-16.
const SPACING: f64 = 1.0 / 65_536.0;

/// Gap to which the relaxer separates atoms, nm.
const CLEARANCE: f64 = 5.0e-4;

#[test]
fn atoms_of_a_large_vesicle_are_rounded_by_far_less_than_the_clearance() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/lipids/dppc_conformers.pdb");
    let lipid = load(path, &LoadOptions::default()).unwrap();
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let poses = (0..3_000).map(|_| {
        let [x, y, z, a, b, c] = [(); 6].map(|()| random.random_range(-1.0..1.0_f32));
        let position = Vec3::new(x, y, z).normalize() * RADIUS;
        Pose::new(
            position,
            Quat::from_scaled_axis(6.0 * Vec3::new(a, b, c)).normalize(),
        )
    });
    let poses: Vec<Pose> = poses.collect();
    let atoms = SphereSet::from_molecules(poses.iter().map(|pose| (&lipid, *pose))).unwrap();
    let (mut largest, mut squares) = (0.0_f64, 0.0);
    for (molecule, pose) in poses.iter().enumerate() {
        let rotation: DQuat = pose.rotation.as_dquat().normalize();
        for (index, point) in lipid.positions().iter().enumerate() {
            let exact: DVec3 = rotation * point.as_dvec3() + pose.position.as_dvec3();
            let rounded = atoms.center(molecule * lipid.atom_count() + index);
            let error = exact.distance(rounded.as_dvec3());
            largest = largest.max(error);
            squares += error * error;
        }
    }
    let mean = (squares / atoms.len() as f64).sqrt();
    // Measured: at most 1.1e-5 nm, 5.2e-6 nm in the root mean square.
    assert!(largest < SPACING, "{largest} nm");
    assert!(mean < 0.6 * SPACING, "{mean} nm");
    // Two atoms that are the clearance apart do not overlap.
    assert!(2.0 * largest < CLEARANCE / 10.0);
}
