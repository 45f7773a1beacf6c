//! Pairs grouped on the device against those of the CPU: the same groups and kept pairs, bit for
//! bit.

use std::sync::Arc;

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::dynamics::{GroupSearch, MovingBody, PairGrouper, PairGroups};
use bevy_rapier_molecules::gpu::{GpuDevice, GpuGroupSearch, GpuOptions};
use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::scenes::{VesicleConfig, VesicleSize, VesicleStart, vesicle};
use bevy_rapier_molecules::search::{RigidSpheres, SearchError, UniformGrid};
use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use crate::common::gpu_device::{device, unless_required};

/// Prediction distance of a crowd, nm.
const MARGIN: f32 = 0.02;

fn search(device: &Arc<GpuDevice>) -> GpuGroupSearch {
    GpuGroupSearch::new(Arc::clone(device)).unwrap()
}

/// Rigid molecules and their bodies.
type Scene = (Vec<Arc<RigidSpheres>>, Vec<MovingBody>);

fn find(search: &mut dyn GroupSearch, (molecules, bodies): &Scene, margin: f32) -> PairGroups {
    let mut found = PairGroups::default();
    search.set_molecules(molecules).unwrap();
    search.find_groups(bodies, margin, &mut found).unwrap();
    found
}

/// The groups of the CPU.
fn expected(scene: &Scene, margin: f32) -> PairGroups {
    let mut grouper = PairGrouper::new(Box::new(UniformGrid::new()));
    find(&mut grouper, scene, margin)
}

/// Asserts equality without printing thousands of pairs.
#[track_caller]
fn assert_same(search: &mut GpuGroupSearch, scene: &Scene, margin: f32) -> PairGroups {
    let (found, expected) = (find(search, scene, margin), expected(scene, margin));
    assert_eq!(found.candidates, expected.candidates);
    assert_eq!(found.groups.len(), expected.groups.len());
    for (own, reference) in found.groups.iter().zip(&expected.groups) {
        assert_eq!(own, reference);
    }
    assert!(found.kept == expected.kept, "the kept pairs differ");
    found
}

fn body(position: Vec3, rotation: Quat) -> MovingBody {
    MovingBody {
        pose: Pose::new(position, rotation),
        center: position,
        ..MovingBody::default()
    }
}

fn rigid(spheres: impl IntoIterator<Item = (Vec3, f32)>) -> Arc<RigidSpheres> {
    Arc::new(RigidSpheres::new(spheres).unwrap())
}

/// Overlapping clusters of `size` spheres each, with radii that differ by up to `spread`, nm.
fn balls(molecules: u32, size: u32, spread: f32) -> Scene {
    let mut random = Pcg32::seed_from_u64(u64::from(molecules * 1000 + size));
    let across = f64::from(molecules).cbrt() as f32;
    let mut scene = Scene::default();
    for _ in 0..molecules {
        let mut point = || Vec3::from_array(std::array::from_fn(|_| random.random::<f32>()));
        let center = point() * across * 0.7;
        let turn = point() - 0.5;
        let mut sphere = || (point() - 0.5, 0.1 + spread * point().x);
        let spheres: Vec<_> = (0..size).map(|_| sphere()).collect();
        scene.0.push(rigid(spheres));
        scene
            .1
            .push(body(center, Quat::from_scaled_axis(6.0 * turn)));
    }
    scene
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
    assert_same(&mut search, &Scene::default(), MARGIN);
    assert_same(&mut search, &balls(1, 50, 0.0), MARGIN);
    let sphere = rigid([(Vec3::ZERO, 0.1)]);
    let empty = rigid([]);
    let mut apart = Scene::default();
    for k in 0..100 {
        apart
            .0
            .push(Arc::clone(if k % 7 == 0 { &empty } else { &sphere }));
        apart.1.push(body(Vec3::X * k as f32, Quat::IDENTITY));
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
    let cell = |k: u32| Vec3::new((k % 4) as f32, (k / 4 % 4) as f32, (k / 16) as f32);
    let lattice = rigid((0..64).map(|k| (cell(k) * 0.25, 0.25)));
    let corner = |k: u32| Vec3::new((k % 2) as f32, (k / 2 % 2) as f32, (k / 4) as f32);
    let scene = (
        vec![lattice; 8],
        (0..8)
            .map(|owner| body(corner(owner) * 0.25, Quat::IDENTITY))
            .collect(),
    );
    let found = assert_same(&mut search(&device), &scene, MARGIN);
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
    let atoms = Arc::new(RigidSpheres::atoms(&lipid));
    let members = vesicle.crowd.members();
    let poses = members.iter().map(|member| member.pose);
    let scene = (
        vec![atoms; members.len()],
        poses
            .map(|pose| body(pose.position, pose.rotation))
            .collect(),
    );
    let mut search = search(&device);
    let found = assert_same(&mut search, &scene, MARGIN);
    assert!(found.candidates > 3000, "{}", found.candidates);
    for _ in 0..20 {
        assert!(find(&mut search, &scene, MARGIN) == found);
    }
}

#[test]
fn a_group_search_that_runs_out_of_memory_stays_usable() {
    for memory_bytes in [250_000, 400_000, 550_000, 700_000] {
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
        let (molecules, bodies) = balls(300, 60, 0.05);
        let error = search
            .set_molecules(&molecules)
            .and_then(|()| search.find_groups(&bodies, 0.1, &mut found))
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
fn more_groups_than_a_binding_holds_are_an_error() {
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
    // All of them touch.
    let (molecules, mut bodies) = balls(40, 6, 0.0);
    for body in &mut bodies {
        body.pose.position *= 0.1;
    }
    let mut found = PairGroups::default();
    let error = search
        .set_molecules(&molecules)
        .and_then(|()| search.find_groups(&bodies, 0.2, &mut found))
        .unwrap_err();
    assert!(
        matches!(
            error,
            SearchError::Device(DeviceError::BindingTooLarge {
                buffer: "kept pairs",
                ..
            })
        ),
        "{error}"
    );
}

#[test]
fn a_group_search_on_a_lost_device_is_an_error() {
    let Some(device) = unless_required(GpuDevice::headless(&GpuOptions::default())) else {
        return;
    };
    let device = Arc::new(device);
    let mut search = search(&device);
    let scene = balls(20, 10, 0.0);
    assert_same(&mut search, &scene, MARGIN);
    device.raw().destroy();
    let mut found = PairGroups::default();
    for _ in 0..2 {
        let error = search
            .find_groups(&scene.1, MARGIN, &mut found)
            .unwrap_err();
        assert!(matches!(
            error,
            SearchError::Device(DeviceError::Lost { .. })
        ));
        assert!(found == PairGroups::default());
    }
}

/// Molecules of very different sizes: each size has a grid of its own.
#[test]
fn molecules_of_all_sizes_meet() {
    let Some(device) = device() else { return };
    let mut random = Pcg32::seed_from_u64(5);
    let mut scene = Scene::default();
    for k in 0..260 {
        let mut point = || Vec3::from_array(std::array::from_fn(|_| random.random::<f32>() - 0.5));
        let size = 3.0 * 0.6_f32.powi(k % 13);
        let spheres: Vec<_> = (0..20).map(|_| (point() * size, 0.04 * size)).collect();
        let center = point() * 7.0;
        scene.0.push(rigid(spheres));
        scene.1.push(body(center, Quat::from_scaled_axis(point())));
    }
    let mut search = search(&device);
    let found = assert_same(&mut search, &scene, MARGIN);
    assert!(found.groups.len() > 30, "{}", found.groups.len());
    // Far away, where positions are rounded.
    for offset in [Vec3::splat(1.0e4), Vec3::new(-3.0e5, 1.0, 0.0)] {
        for body in &mut scene.1 {
            body.pose.position += offset;
        }
        assert_same(&mut search, &scene, MARGIN);
    }
}

/// Large molecules have more close pairs than are listed in workgroup memory, and more clusters than
/// are compared at a time.
#[test]
fn large_molecules_that_interpenetrate_are_compared_completely() {
    let Some(device) = device() else { return };
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/2por.pdb");
    let porin = load(path, &LoadOptions::default()).unwrap();
    let atoms = Arc::new(RigidSpheres::atoms(&porin));
    let scene = (
        vec![atoms; 4],
        (0..4)
            .map(|k| {
                let turn = Quat::from_rotation_z(0.4 * k as f32);
                body(Vec3::new(0.6, 0.2, 1.1) * k as f32, turn)
            })
            .collect(),
    );
    let found = assert_same(&mut search(&device), &scene, 0.1);
    assert!(found.candidates > 6 * 512, "{}", found.candidates);
    assert!(
        found.groups.iter().all(|group| group.kept == 4),
        "joined by fours"
    );
}

/// As on the CPU, far too many molecules in one place are an error, which says where.
#[test]
fn molecules_on_top_of_each_other_are_too_crowded() {
    let Some(device) = device() else { return };
    let scene = (
        vec![rigid([(Vec3::ZERO, 0.1)]); 70_000],
        vec![body(Vec3::Y, Quat::IDENTITY); 70_000],
    );
    let mut search = search(&device);
    search.set_molecules(&scene.0).unwrap();
    let mut found = PairGroups::default();
    let error = search
        .find_groups(&scene.1, MARGIN, &mut found)
        .unwrap_err();
    assert!(matches!(error, SearchError::TooCrowded { .. }), "{error}");
    assert!(found == PairGroups::default());
    assert_same(&mut search, &balls(12, 5, 0.0), MARGIN);
}
