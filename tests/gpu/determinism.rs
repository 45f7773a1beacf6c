//! The same input gives the same bits in every run.

use std::sync::Arc;

use bevy_rapier_molecules::gpu::{GpuBruteForce, GpuUniformGrid};
use bevy_rapier_molecules::search::{Pair, PairBuffer, PairSearch, UniformGrid};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::common::gpu_device::device;

/// Number of runs to compare.
const RUNS: usize = 20;

/// Spheres of mixed radii in a box, 50 per molecule, at the density of a liquid.
fn liquid(count: u32) -> SphereSet {
    let mut random = Pcg64Mcg::seed_from_u64(11);
    let edge = (count as f32 / 100.0).cbrt();
    let mut spheres = SphereSet::new();
    for k in 0..count {
        let center = Vec3::from_array(std::array::from_fn(|_| edge * random.random::<f32>()));
        let radius = 0.05 + 0.1 * random.random::<f32>();
        spheres.push(center, radius, k / 50).unwrap();
    }
    spheres
}

fn sequence(search: &mut dyn PairSearch, spheres: &SphereSet) -> Vec<Pair> {
    let mut pairs = PairBuffer::new();
    search.find_pairs(spheres, 0.05, &mut pairs).unwrap();
    pairs.iter().collect()
}

#[test]
fn repeated_searches_equal_each_other_and_the_cpu() {
    let Some(device) = device() else { return };
    let spheres = liquid(60_000);
    let expected = sequence(&mut UniformGrid::new(), &spheres);
    assert!(expected.len() > 100_000);
    let mut grid = GpuUniformGrid::new(device).unwrap();
    for run in 0..RUNS {
        assert!(sequence(&mut grid, &spheres) == expected, "run {run}");
    }
}

#[test]
fn repeated_brute_force_searches_are_equal() {
    let Some(device) = device() else { return };
    let spheres = liquid(3000);
    let mut search = GpuBruteForce::new(device).unwrap();
    let first = sequence(&mut search, &spheres);
    assert!(first.is_sorted() && first.len() > 3000);
    for run in 1..RUNS {
        assert!(sequence(&mut search, &spheres) == first, "run {run}");
    }
}

#[test]
fn searches_on_several_threads_can_share_a_device() {
    let Some(device) = device() else { return };
    let spheres = liquid(5000);
    let expected = sequence(&mut UniformGrid::new(), &spheres);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut grid = GpuUniformGrid::new(Arc::clone(&device)).unwrap();
                for _ in 0..5 {
                    assert!(sequence(&mut grid, &spheres) == expected);
                }
            });
        }
    });
}
