//! The closest pair of spheres of different owners is that of brute force.

use bevy_rapier_molecules::contact::{closest_distance, closest_periodic_distance};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::spheres::SphereSet;
use glam::{DVec3, Vec3};
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

/// The shortest distance of different owners, or of images, in 64 bits.
fn periodic_brute_force(spheres: &SphereSet, size: Vec3) -> Option<f64> {
    let size = size.as_dvec3();
    let mut best = f64::from(size.as_vec3().min_element());
    for a in 0..spheres.len() {
        for b in a + 1..spheres.len() {
            let vector = (spheres.center(a) - spheres.center(b)).as_dvec3();
            let near = (vector / size).round();
            for x in [-1.0, 0.0, 1.0] {
                for y in [-1.0, 0.0, 1.0] {
                    for z in [-1.0, 0.0, 1.0] {
                        let image = near + DVec3::new(x, y, z);
                        let distance = (vector - image * size).length();
                        if spheres.owner(a) != spheres.owner(b) || image != DVec3::ZERO {
                            best = best.min(distance);
                        }
                    }
                }
            }
        }
    }
    (!spheres.is_empty()).then_some(best)
}

#[test]
fn the_closest_image_is_that_of_brute_force() {
    for (seed, count) in [0, 1, 2, 3, 17, 300].into_iter().enumerate() {
        for owners in [1, 2, 4_000] {
            for size in [
                Vec3::splat(20.0),
                Vec3::splat(9.0),
                Vec3::new(3.0, 11.0, 4.0),
                Vec3::new(0.01, 20.0, 5.0),
            ] {
                let spheres = random(count, owners, 50 + seed as u64);
                let periodic = PeriodicBox::new(size).unwrap();
                let found = closest_periodic_distance(&spheres, &periodic).unwrap();
                let expected = periodic_brute_force(&spheres, size);
                let difference = found.unwrap_or(0.0) - expected.unwrap_or(0.0);
                assert_eq!(found.is_some(), expected.is_some());
                // The vectors of the reference are rounded to 32 bits.
                assert!(
                    difference.abs() < 2.0e-6,
                    "{count} {owners} {size}: {found:?} {expected:?}"
                );
            }
        }
    }
}
