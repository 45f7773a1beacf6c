//! Pairs grouped on the device against those of the CPU: the same groups and kept pairs, bit for
//! bit.

use std::sync::Arc;

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::dynamics::{GroupSearch, PairGrouper, PairGroups};
use bevy_rapier_molecules::gpu::{GpuDevice, GpuGroupSearch, GpuOptions};
use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::scenes::{VesicleConfig, VesicleSize, VesicleStart, vesicle};
use bevy_rapier_molecules::search::{SearchError, UniformGrid};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use crate::common::gpu_device::{device, unless_required};

/// Prediction distance of a crowd, nm.
const MARGIN: f32 = 0.02;

fn search(device: &Arc<GpuDevice>) -> GpuGroupSearch {
    GpuGroupSearch::new(Arc::clone(device)).unwrap()
}

fn find(search: &mut dyn GroupSearch, spheres: &SphereSet, margin: f32) -> PairGroups {
    let mut found = PairGroups::default();
    search.find_groups(spheres, margin, &mut found).unwrap();
    found
}

/// The groups of the CPU.
fn expected(spheres: &SphereSet, margin: f32) -> PairGroups {
    find(
        &mut PairGrouper::new(Box::new(UniformGrid::new())),
        spheres,
        margin,
    )
}

/// Asserts equality without printing thousands of pairs.
#[track_caller]
fn assert_same(search: &mut GpuGroupSearch, spheres: &SphereSet, margin: f32) -> PairGroups {
    let (found, expected) = (find(search, spheres, margin), expected(spheres, margin));
    assert_eq!(found.candidates, expected.candidates);
    assert_eq!(found.groups.len(), expected.groups.len());
    for (own, reference) in found.groups.iter().zip(&expected.groups) {
        assert_eq!(own, reference);
    }
    assert!(found.kept == expected.kept, "the kept pairs differ");
    found
}

/// Overlapping clusters of `size` spheres each, with radii that differ by up to `spread`, nm.
fn balls(molecules: u32, size: u32, spread: f32) -> SphereSet {
    let mut random = Pcg32::seed_from_u64(u64::from(molecules * 1000 + size));
    let mut spheres = SphereSet::new();
    let across = f64::from(molecules).cbrt() as f32;
    for owner in 0..molecules {
        let mut point = || Vec3::from_array(std::array::from_fn(|_| random.random::<f32>()));
        let center = point() * across * 0.7;
        for _ in 0..size {
            let center = center + point() - 0.5;
            let radius = 0.1 + spread * point().x;
            spheres.push(center, radius, owner).unwrap();
        }
    }
    spheres
}

#[test]
fn groups_equal_those_of_the_cpu() {
    let Some(device) = device() else { return };
    let mut search = search(&device);
    let mut kept = std::collections::BTreeSet::new();
    for (molecules, size, spread) in [
        (2, 1, 0.0),
        (40, 5, 0.0),
        (30, 40, 0.0),
        (300, 12, 0.05),
        (12, 150, 0.1),
        (700, 2, 0.0),
    ] {
        let found = assert_same(&mut search, &balls(molecules, size, spread), MARGIN);
        kept.extend(found.groups.iter().map(|group| group.kept));
    }
    // Few and many pairs, with all and with some buckets.
    assert!(kept.len() >= 14 && kept.contains(&16), "{kept:?}");
}

#[test]
fn no_spheres_and_no_pairs_give_no_groups() {
    let Some(device) = device() else { return };
    let mut search = search(&device);
    assert_same(&mut search, &SphereSet::new(), MARGIN);
    assert_same(&mut search, &balls(1, 50, 0.0), MARGIN);
    let mut apart = SphereSet::new();
    for owner in 0..100 {
        apart.push(Vec3::X * owner as f32, 0.1, owner).unwrap();
    }
    let found = assert_same(&mut search, &apart, MARGIN);
    assert!(found.groups.is_empty() && found.candidates == 0);
    // The search stays usable.
    assert!(
        !assert_same(&mut search, &balls(30, 5, 0.0), MARGIN)
            .groups
            .is_empty()
    );
}

/// On a lattice most pairs are equally deep, so that their order decides.
#[test]
fn the_first_of_equally_deep_pairs_is_kept() {
    let Some(device) = device() else { return };
    let mut spheres = SphereSet::new();
    for owner in 0..8_u32 {
        let corner = Vec3::new(
            (owner % 2) as f32,
            (owner / 2 % 2) as f32,
            (owner / 4) as f32,
        );
        for k in 0..64_u32 {
            let cell = Vec3::new((k % 4) as f32, (k / 4 % 4) as f32, (k / 16) as f32);
            let center = (cell + corner) * 0.25;
            spheres.push(center, 0.25, owner).unwrap();
        }
    }
    let found = assert_same(&mut search(&device), &spheres, MARGIN);
    assert_eq!(found.groups.len(), 28);
    assert!(found.groups.iter().all(|group| group.kept < 16));
}

#[test]
fn groups_of_a_vesicle_are_the_same_in_every_run() {
    let Some(device) = device() else { return };
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/popc.pdb");
    let lipid = load(path, &LoadOptions::default()).unwrap();
    let size = VesicleSize::Counts {
        outer: 60,
        inner: 6,
        radius: 3.2,
    };
    let config = VesicleConfig {
        size,
        start: VesicleStart::Uniform,
        ..VesicleConfig::default()
    };
    let lipid = Arc::new(lipid);
    let vesicle = vesicle(Arc::clone(&lipid), &config).unwrap();
    let mut spheres = SphereSet::new();
    for (molecule, owner) in vesicle.crowd.members().iter().zip(0..) {
        for (position, radius) in lipid.positions().iter().zip(lipid.radii()) {
            let center = molecule.pose.transform_point(*position);
            spheres.push(center, *radius, owner).unwrap();
        }
    }
    let mut search = search(&device);
    let found = assert_same(&mut search, &spheres, MARGIN);
    assert!(found.candidates > 3000, "{}", found.candidates);
    for _ in 0..20 {
        assert!(find(&mut search, &spheres, MARGIN) == found);
    }
}

#[test]
fn a_group_search_that_runs_out_of_memory_stays_usable() {
    for memory_bytes in [60_000, 150_000, 400_000, 700_000] {
        let options = GpuOptions {
            memory_bytes: Some(memory_bytes),
            ..GpuOptions::default()
        };
        let Some(device) = unless_required(GpuDevice::headless(&options)) else {
            return;
        };
        let mut search = search(&Arc::new(device));
        assert_same(&mut search, &balls(10, 5, 0.0), MARGIN);
        let mut found = PairGroups::default();
        let error = search
            .find_groups(&balls(300, 60, 0.05), 0.1, &mut found)
            .expect_err("there is not enough memory");
        let SearchError::Device(error) = error else {
            panic!("{error}");
        };
        assert!(error.is_out_of_space(), "{error}");
        assert!(found == PairGroups::default());
        assert_same(&mut search, &balls(12, 5, 0.0), MARGIN);
    }
}

#[test]
fn more_pairs_than_a_binding_holds_are_an_error() {
    let options = GpuOptions {
        max_limits: Some(wgpu::Limits {
            max_storage_buffer_binding_size: 64 << 10,
            ..wgpu::Limits::default()
        }),
        ..GpuOptions::default()
    };
    let Some(device) = unless_required(GpuDevice::headless(&options)) else {
        return;
    };
    let mut search = search(&Arc::new(device));
    let spheres = balls(40, 60, 0.0);
    let mut found = PairGroups::default();
    let error = search.find_groups(&spheres, 0.2, &mut found).unwrap_err();
    assert!(matches!(
        error,
        SearchError::Device(DeviceError::BindingTooLarge { fits: 8192, .. })
    ));
}

#[test]
fn a_group_search_on_a_lost_device_is_an_error() {
    let Some(device) = unless_required(GpuDevice::headless(&GpuOptions::default())) else {
        return;
    };
    let device = Arc::new(device);
    let mut search = search(&device);
    let spheres = balls(20, 10, 0.0);
    assert_same(&mut search, &spheres, MARGIN);
    device.raw().destroy();
    let mut found = PairGroups::default();
    for _ in 0..2 {
        let error = search
            .find_groups(&spheres, MARGIN, &mut found)
            .unwrap_err();
        assert!(matches!(
            error,
            SearchError::Device(DeviceError::Lost { .. })
        ));
        assert!(found == PairGroups::default());
    }
}
