//! k-means on the device against the CPU: integer arithmetic, so that both are equal.

use std::sync::Arc;

use bevy_rapier_molecules::gpu::{GpuDevice, GpuKMeans};
use bevy_rapier_molecules::molecule::{AssemblyChoice, BodySpheres, LoadOptions, load};
use bevy_rapier_molecules::proxy::{
    ClusterEngine, CpuClusterEngine, LATTICE_STEPS, LatticePoint, ProxySet, SEED_BLOCK,
};
use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::common::gpu_device::device;

fn random_points(count: usize, seed: u64) -> Vec<LatticePoint> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let max = LATTICE_STEPS as u16;
    let mut point = || LatticePoint([(); 3].map(|()| random.random_range(0..=max)));
    (0..count).map(|_| point()).collect()
}

#[test]
fn every_step_equals_that_of_the_cpu() {
    let Some(device) = device() else { return };
    for count in [1, 2, 255, 1024, 1025, 5000] {
        let points = random_points(count, count as u64);
        let mut gpu = GpuKMeans::new(device.clone(), &points).unwrap();
        let mut cpu = CpuClusterEngine::new(&points);
        for seed in [points[0], points[count / 2], LatticePoint([0; 3])] {
            assert_eq!(gpu.add_seed(seed).unwrap(), cpu.add_seed(seed).unwrap());
            for block in 0..count.div_ceil(SEED_BLOCK) {
                assert_eq!(gpu.weights(block).unwrap(), cpu.weights(block).unwrap());
            }
        }
        // The same center twice: the first of equally near ones wins.
        for centers in [&points[..1], &[points[0], points[0], points[count - 1]]] {
            assert_eq!(gpu.assign(centers).unwrap(), cpu.assign(centers).unwrap());
            assert_eq!(gpu.assignment().unwrap(), cpu.assignment().unwrap());
        }
    }
}

/// Compares the proxies of both.
fn compare(device: &Arc<GpuDevice>, atoms: BodySpheres<'_>, count: usize, seed: u64) {
    let cpu = ProxySet::from_atoms(atoms, count, seed);
    let gpu = device.proxies(atoms, count, seed).unwrap();
    assert_eq!(gpu, cpu, "{count} proxies, seed {seed}");
}

#[test]
fn proxies_of_a_protein_equal_those_of_the_cpu() {
    let Some(device) = device() else { return };
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/1gzx.pdb");
    let molecule = load(path, &LoadOptions::default()).unwrap();
    for (count, seed) in [(1, 1), (17, 1), (17, 2), (300, 3)] {
        compare(&device, (&molecule).into(), count, seed);
    }
    // Coincident atoms: empty clusters are repaired the same way.
    let heap = BodySpheres {
        centers: &[Vec3::ONE; 60],
        radii: &[0.1; 60],
    };
    compare(&device, heap, 20, 1);
    assert!(device.proxies(&molecule, 0, 1).unwrap().is_err());
}

/// Two helices of 49 coat proteins.
#[test]
fn proxies_of_a_hundred_thousand_atoms_equal_those_of_the_cpu() {
    let Some(device) = device() else { return };
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/4udv.pdb");
    let options = LoadOptions {
        assembly: AssemblyChoice::OneBody("1".into()),
        ..LoadOptions::default()
    };
    let helix = load(path, &options).unwrap();
    let shift = Vec3::Z * 2.0 * helix.bounding_radius();
    let second = helix.positions().iter().map(|&position| position + shift);
    let positions: Vec<Vec3> = helix.positions().iter().copied().chain(second).collect();
    let radii = [helix.radii(), helix.radii()].concat();
    assert!(positions.len() > 100_000, "{} atoms", positions.len());
    let atoms = BodySpheres {
        centers: &positions,
        radii: &radii,
    };
    compare(&device, atoms, 17, 1);
}
