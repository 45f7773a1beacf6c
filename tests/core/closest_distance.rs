//! The closest pair of spheres of different owners is that of brute force.

use bevy_rapier_molecules::contact::closest_distance;
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;
use rand::{RngExt, SeedableRng};

fn brute_force(spheres: &SphereSet) -> Option<f64> {
    let mut best: Option<f64> = None;
    for a in 0..spheres.len() {
        for b in a + 1..spheres.len() {
            if spheres.owner(a) != spheres.owner(b) {
                let (ca, cb) = (spheres.center(a), spheres.center(b));
                let distance = ca.as_dvec3().distance(cb.as_dvec3());
                best = Some(best.map_or(distance, |best| best.min(distance)));
            }
        }
    }
    best
}

fn random(count: usize, owners: u32, seed: u64) -> SphereSet {
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
    let mut spheres = SphereSet::new();
    for k in 0..count {
        let center = Vec3::from_array([(); 3].map(|()| random.random_range(-5.0..5.0)));
        spheres.push(center, 0.1, k as u32 % owners).unwrap();
    }
    spheres
}

#[test]
fn the_closest_pair_is_that_of_brute_force() {
    for (seed, count) in [0, 1, 2, 17, 100, 3_000].into_iter().enumerate() {
        for owners in [1, 2, 7, 4_000] {
            let spheres = random(count, owners, seed as u64);
            let found = closest_distance(&spheres);
            assert_eq!(found, brute_force(&spheres), "{count} {owners}");
        }
    }
}

#[test]
fn two_clouds_far_apart_are_found_without_comparing_all() {
    let mut spheres = SphereSet::new();
    for k in 0..40_000_u32 {
        let far = if k % 2 == 0 { 0.0 } else { 5_000.0 };
        let center = Vec3::new(far + (k % 100) as f32, (k / 100) as f32, 0.0);
        spheres.push(center, 0.1, k % 2).unwrap();
    }
    let found = closest_distance(&spheres).unwrap();
    assert_eq!(found, 5_000.0 + 1.0 - 98.0);
}

#[test]
fn coincident_spheres_are_at_distance_zero() {
    let mut spheres = SphereSet::new();
    for k in 0..1_000 {
        spheres.push(Vec3::ONE, 0.1, k).unwrap();
    }
    assert_eq!(closest_distance(&spheres), Some(0.0));
}
