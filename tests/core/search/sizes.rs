//! Scenes of all sizes, at the density of a liquid.

use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::search::oracle::assert_exact;

/// Approximate number of atoms per nm³ of a liquid.
const DENSITY: f32 = 100.0;

/// Spheres per molecule.
const SPHERES_PER_OWNER: u32 = 50;

/// `count` spheres in a cube of liquid density, radii 0.1 nm or between 0.05 and 0.15.
pub fn liquid(count: u32, mixed: bool, seed: u64) -> SphereSet {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let edge = (count as f32 / DENSITY).cbrt();
    let mut spheres = SphereSet::new();
    for k in 0..count {
        let center = Vec3::from_array(std::array::from_fn(|_| edge * random.random::<f32>()));
        let radius = if mixed {
            0.05 + 0.1 * random.random::<f32>()
        } else {
            0.1
        };
        spheres
            .push(center - edge / 2.0, radius, k / SPHERES_PER_OWNER)
            .expect("the scene is finite");
    }
    spheres
}

#[test]
fn an_empty_set_has_no_pairs() {
    assert_eq!(assert_exact(&SphereSet::new(), 0.1), 0);
}

#[test]
fn a_single_sphere_has_no_pairs() {
    let mut spheres = SphereSet::new();
    spheres.push(Vec3::ONE, 0.2, 7).unwrap();
    assert_eq!(assert_exact(&spheres, 10.0), 0);
}

#[test]
fn spheres_of_the_same_molecule_are_no_pair() {
    for (owner, pairs) in [(0, 0), (1, 1)] {
        let mut spheres = SphereSet::new();
        spheres.push(Vec3::ZERO, 0.2, 0).unwrap();
        spheres.push(Vec3::X * 0.3, 0.2, owner).unwrap();
        assert_eq!(assert_exact(&spheres, 0.0), pairs);
    }
}

#[test]
fn a_hundred_spheres_are_exact() {
    for seed in 0..20 {
        for mixed in [false, true] {
            for margin in [0.0, 0.05, 1.0] {
                assert_exact(&liquid(100, mixed, seed), margin);
            }
        }
    }
}

#[test]
fn ten_thousand_spheres_are_exact() {
    for mixed in [false, true] {
        let pairs = assert_exact(&liquid(10_000, mixed, 1), 0.05);
        assert!(pairs > 10_000, "{pairs} pairs are too few");
    }
}
