//! Iterations of the relaxer on the device against those of the CPU.

use std::ops::ControlFlow;
use std::sync::Arc;

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::compartment::{Leaflet, Placement, SphereShell};
use bevy_rapier_molecules::crowd::{Crowd, CrowdMember};
use bevy_rapier_molecules::force::{Projection, Push, ThesisSteps};
use bevy_rapier_molecules::gpu::GpuDevice;
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{
    DeviceSearch, GpuRelaxer, ReactionLaw, RelaxConfig, RelaxError, RelaxStatus, Relaxer,
    StopReason,
};
use bevy_rapier_molecules::scenes::{VesicleConfig, VesicleSize, VesicleStart, vesicle};
use bevy_rapier_molecules::search::BruteForce;
use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::common::carbons::{carbon, free_crowd, rod, template};
use crate::common::gpu_device::device;

/// Maximum median of the relative differences of pushes.
const MAX_MEDIAN_DIFFERENCE: f32 = 3.0e-6;

/// Maximum difference, as a fraction of the largest push.
const MAX_DIFFERENCE: f32 = 1.0e-4;

fn popc() -> Arc<MoleculeTemplate> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/popc.pdb");
    Arc::new(load(path, &LoadOptions::default()).unwrap())
}

pub fn popc_vesicle(outer: u32, inner: u32, radius: f32) -> Crowd {
    let size = VesicleSize::Counts {
        outer,
        inner,
        radius,
    };
    let config = VesicleConfig {
        size,
        start: VesicleStart::Uniform,
        ..VesicleConfig::default()
    };
    vesicle(popc(), &config).unwrap().crowd
}

pub fn shell(leaflet: Leaflet, depth: f32) -> Placement {
    Placement {
        leaflet,
        depth,
        up: Vec3::new(0.3, 1.0, -0.2),
        leeway: 0.1,
        tilt_leeway: 0.2,
    }
}

/// Molecules of 1 to 300 atoms with radii from 0.02 to 0.4 nm, some of them with a placement.
pub fn mixed_crowd(members: usize) -> Crowd {
    let mut random = Pcg64Mcg::seed_from_u64(8);
    let mut crowd = Crowd::new();
    for size in [1, 2, 9, 40, 300] {
        let mut point = |k: usize| {
            let at = std::array::from_fn(|_| random.random::<f32>() - 0.5);
            let radius = if k.is_multiple_of(7) {
                0.4
            } else {
                0.02 + 0.1 * random.random::<f32>()
            };
            carbon(Vec3::from_array(at) * 1.5, radius)
        };
        let atoms = (0..size).map(&mut point).collect();
        crowd.add_template(template(atoms));
    }
    let surface = SphereShell::new(Vec3::new(1.0, -2.0, 0.5), 2.5).unwrap();
    let compartment = crowd.add_compartment(Arc::new(surface));
    crowd
        .add_placement(compartment, shell(Leaflet::Outer, 0.4))
        .unwrap();
    crowd
        .add_placement(compartment, shell(Leaflet::Inner, 0.6))
        .unwrap();
    for k in 0..members {
        let at = std::array::from_fn(|_| 6.0 * (random.random::<f32>() - 0.5));
        let rotation = std::array::from_fn(|_| 6.0 * (random.random::<f32>() - 0.5));
        let rotation = Quat::from_scaled_axis(Vec3::from_array(rotation));
        let member = CrowdMember {
            template: k as u32 % 5,
            placement: [None, Some(0), Some(1)][k % 3],
            pose: Pose::new(Vec3::from_array(at), rotation),
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    }
    crowd
}

/// Both laws without limits and momentum, so that pushes are the sums of contacts and springs.
fn unlimited_laws() -> [ReactionLaw; 2] {
    let projection = Projection {
        momentum: 0.0,
        max_shift: 1.0e9,
        max_turn: 1.0e9,
        ..Projection::default()
    };
    [
        ReactionLaw::Projection(projection),
        ReactionLaw::Thesis(ThesisSteps::default()),
    ]
}

fn config(law: ReactionLaw) -> RelaxConfig {
    RelaxConfig {
        law,
        ..RelaxConfig::default()
    }
}

fn assert_close(kind: &str, pairs: impl Iterator<Item = (Vec3, Vec3)> + Clone) {
    let largest = pairs.clone().map(|(a, _)| a.length()).fold(0.0, f32::max);
    let worst = pairs
        .clone()
        .map(|(a, b)| a.distance(b))
        .fold(0.0, f32::max);
    assert!(largest > 0.0, "{kind}: nothing to compare");
    assert!(
        worst <= MAX_DIFFERENCE * largest,
        "{kind}: {worst} of {largest}"
    );
    let acting = pairs.filter(|(a, _)| *a != Vec3::ZERO);
    let mut relative: Vec<f32> = acting.map(|(a, b)| a.distance(b) / a.length()).collect();
    relative.sort_by(f32::total_cmp);
    let median = relative[relative.len() / 2];
    assert!(median <= MAX_MEDIAN_DIFFERENCE, "{kind}: median {median}");
}

fn assert_same_status(gpu: &RelaxStatus, cpu: &RelaxStatus) {
    // Rounding may decide about pairs at the clearance.
    let slack = cpu.unresolved / 10_000;
    assert!(
        gpu.overlaps.abs_diff(cpu.overlaps) <= slack,
        "{gpu:?} {cpu:?}"
    );
    assert!(
        gpu.unresolved.abs_diff(cpu.unresolved) <= slack,
        "{gpu:?} {cpu:?}"
    );
    let difference = (gpu.max_penetration_nm - cpu.max_penetration_nm).abs();
    assert!(difference <= 1.0e-6, "{gpu:?} {cpu:?}");
    assert_eq!(gpu.out_of_place, cpu.out_of_place);
}

#[test]
fn pushes_equal_those_of_the_cpu() {
    let Some(device) = device() else { return };
    for (name, crowd) in [
        ("POPC", popc_vesicle(60, 6, 3.2)),
        ("mixed radii", mixed_crowd(150)),
    ] {
        for law in unlimited_laws() {
            let mut cpu = Relaxer::new(crowd.clone(), config(law)).unwrap();
            let mut gpu = Relaxer::on_device(crowd.clone(), config(law), &device).unwrap();
            assert_eq!((gpu.backend(), gpu.device_error()), (Backend::Gpu, None));
            assert_same_status(&gpu.status(), &cpu.status());
            assert!(cpu.status().overlaps > 1000);
            cpu.step().unwrap();
            gpu.step().unwrap();
            let (cpu, gpu) = (cpu.pushes().unwrap(), gpu.pushes().unwrap());
            let pairs = cpu.iter().zip(&gpu);
            let kind = format!("{name}, {}", law.name());
            let of = |part: fn(&Push) -> Vec3| pairs.clone().map(move |(a, b)| (part(a), part(b)));
            assert_close(&format!("{kind}, shift"), of(|push| push.linear));
            assert_close(&format!("{kind}, turn"), of(|push| push.angular));
        }
    }
}

/// A relaxer on `device` that finds contacts by brute force.
fn by_brute_force(crowd: Crowd, config: RelaxConfig, device: &Arc<GpuDevice>) -> Relaxer {
    let device = Arc::clone(device);
    let relaxer = Relaxer::with_device_relaxer(crowd, config, move |scene| {
        let search = DeviceSearch::BruteForce;
        let relaxer = GpuRelaxer::with_search(Arc::clone(&device), scene, search)?;
        Ok(Box::new(relaxer))
    });
    let relaxer = relaxer.unwrap();
    assert_eq!(relaxer.device_error(), None);
    relaxer
}

#[test]
fn pushes_by_brute_force_equal_those_of_the_grid_and_of_the_cpu() {
    let Some(device) = device() else { return };
    for (name, crowd) in [
        ("POPC", popc_vesicle(60, 6, 3.2)),
        ("mixed radii", mixed_crowd(150)),
    ] {
        for law in unlimited_laws() {
            let mut brute = by_brute_force(crowd.clone(), config(law), &device);
            let mut grid = Relaxer::on_device(crowd.clone(), config(law), &device).unwrap();
            let mut cpu = Relaxer::new(crowd.clone(), config(law)).unwrap();
            cpu.set_search(Some(Box::new(BruteForce)));
            // The kernels compare the same numbers.
            assert_eq!(brute.status(), grid.status(), "{name}");
            assert_same_status(&brute.status(), &cpu.status());
            assert!(brute.status().overlaps > 1000, "{:?}", brute.status());
            for relaxer in [&mut brute, &mut grid, &mut cpu] {
                relaxer.step().unwrap();
            }
            let brute = brute.pushes().unwrap();
            for (other, pushes) in [
                ("grid", grid.pushes().unwrap()),
                ("CPU", cpu.pushes().unwrap()),
            ] {
                let pairs = pushes.iter().zip(&brute);
                let kind = format!("{name}, {}, {other}", law.name());
                let of =
                    |part: fn(&Push) -> Vec3| pairs.clone().map(move |(a, b)| (part(a), part(b)));
                assert_close(&format!("{kind}, shift"), of(|push| push.linear));
                assert_close(&format!("{kind}, turn"), of(|push| push.angular));
            }
        }
    }
}

/// Few spheres, coincident ones, and some far from the origin.
#[test]
fn brute_force_counts_the_same_overlaps_as_the_grid_and_the_cpu() {
    let Some(device) = device() else { return };
    for (molecules, at, overlaps) in [
        (0, Vec3::ZERO, 0),
        (1, Vec3::ZERO, 0),
        (2, Vec3::ONE, 2),
        (50, Vec3::ONE, 50 * 49 / 2 * 2),
        (50, Vec3::splat(3000.0), 50 * 49 / 2 * 2),
    ] {
        let crowd = free_crowd(rod(2), &vec![at; molecules]);
        let config = RelaxConfig::default();
        let brute = by_brute_force(crowd.clone(), config, &device).status();
        let grid = Relaxer::on_device(crowd.clone(), config, &device).unwrap();
        let cpu = Relaxer::new(crowd, config).unwrap().status();
        assert_eq!((brute, grid.status()), (grid.status(), cpu));
        assert!(brute.overlaps >= overlaps, "{brute:?}");
    }
}

#[test]
fn brute_force_brings_molecules_to_rest() {
    let Some(device) = device() else { return };
    for positions in [&[][..], &[Vec3::ONE][..], &[Vec3::ONE; 6][..]] {
        let crowd = free_crowd(rod(2), positions);
        let mut relaxer = by_brute_force(crowd, RelaxConfig::default(), &device);
        let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
        assert_eq!(
            (report.reason, report.device_error),
            (StopReason::AtRest, None)
        );
        let cpu = Relaxer::new(relaxer.into_crowd(), RelaxConfig::default()).unwrap();
        assert_eq!(cpu.status().unresolved, 0);
    }
}

/// Molecules without contacts at random poses.
#[test]
fn springs_equal_those_of_the_cpu() {
    let Some(device) = device() else { return };
    let mut random = Pcg64Mcg::seed_from_u64(3);
    let mut crowd = Crowd::new();
    let kind = crowd.add_template(rod(2));
    let surface = SphereShell::new(Vec3::ONE, 30.0).unwrap();
    let compartment = crowd.add_compartment(Arc::new(surface));
    for leaflet in [Leaflet::Outer, Leaflet::Inner] {
        crowd
            .add_placement(compartment, shell(leaflet, 1.0))
            .unwrap();
    }
    for k in 0..1000 {
        let at = std::array::from_fn(|_| 80.0 * (random.random::<f32>() - 0.5));
        let rotation = std::array::from_fn(|_| 6.0 * (random.random::<f32>() - 0.5));
        let rotation = Quat::from_scaled_axis(Vec3::from_array(rotation));
        let member = CrowdMember {
            template: kind,
            placement: Some(k % 2),
            pose: Pose::new(Vec3::from_array(at), rotation),
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    }
    for law in unlimited_laws() {
        let mut cpu = Relaxer::new(crowd.clone(), config(law)).unwrap();
        let mut gpu = Relaxer::on_device(crowd.clone(), config(law), &device).unwrap();
        assert_same_status(&gpu.status(), &cpu.status());
        cpu.step().unwrap();
        gpu.step().unwrap();
        let (cpu, gpu) = (cpu.pushes().unwrap(), gpu.pushes().unwrap());
        let pairs = cpu.iter().zip(&gpu);
        assert_close("shift", pairs.clone().map(|(a, b)| (a.linear, b.linear)));
        assert_close("turn", pairs.map(|(a, b)| (a.angular, b.angular)));
    }
}

#[test]
fn a_vesicle_comes_to_rest_as_on_the_cpu() {
    let Some(device) = device() else { return };
    let crowd = popc_vesicle(300, 70, 4.2);
    let mut gpu = Relaxer::on_device(crowd, RelaxConfig::default(), &device).unwrap();
    let report = gpu.run(|_| ControlFlow::Continue(())).unwrap();
    assert_eq!(report.reason, StopReason::AtRest);
    assert_eq!(
        (report.backend, &report.device_error),
        (Backend::Gpu, &None)
    );
    assert_eq!(report.adapter, Some(device.summary().to_string()));
    assert!(report.start.overlaps > 10_000 && report.end.overlaps == 0);
    // The CPU confirms the result.
    let cpu = Relaxer::new(gpu.into_crowd(), RelaxConfig::default()).unwrap();
    assert_eq!(cpu.status().overlaps, 0);
    assert!(cpu.status().is_at_rest(), "{:?}", cpu.status());
}

#[test]
fn repeated_relaxations_are_equal_bit_for_bit() {
    let Some(device) = device() else { return };
    let crowd = popc_vesicle(24, 4, 2.2);
    let run = || {
        let config = RelaxConfig {
            max_iterations: 20,
            ..RelaxConfig::default()
        };
        let mut relaxer = Relaxer::on_device(crowd.clone(), config, &device).unwrap();
        relaxer.run(|_| ControlFlow::Continue(())).unwrap();
        assert_eq!(relaxer.device_error(), None);
        let status = relaxer.status();
        (status, relaxer.into_crowd().members().to_vec())
    };
    let first = run();
    assert_ne!(first.1, crowd.members());
    for k in 1..20 {
        assert!(run() == first, "run {k}");
    }
}

#[test]
fn no_molecules_and_a_single_one_are_at_rest() {
    let Some(device) = device() else { return };
    for positions in [&[][..], &[Vec3::ONE][..]] {
        let crowd = free_crowd(rod(3), positions);
        let mut relaxer = Relaxer::on_device(crowd, RelaxConfig::default(), &device).unwrap();
        assert_eq!(relaxer.device_error(), None);
        relaxer.step().unwrap();
        let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
        assert_eq!(report.reason, StopReason::AtRest);
        assert_eq!(relaxer.into_crowd().members().len(), positions.len());
    }
}

#[test]
fn a_single_molecule_springs_back_to_its_placement() {
    let Some(device) = device() else { return };
    let mut crowd = Crowd::new();
    crowd.add_template(rod(1));
    let surface = SphereShell::new(Vec3::ZERO, 2.0).unwrap();
    let compartment = crowd.add_compartment(Arc::new(surface));
    crowd
        .add_placement(compartment, shell(Leaflet::Outer, 0.0))
        .unwrap();
    let member = CrowdMember {
        placement: Some(0),
        pose: Pose::from_translation(Vec3::X * 1.5),
        ..CrowdMember::default()
    };
    crowd.add_member(member).unwrap();
    let mut relaxer = Relaxer::on_device(crowd, RelaxConfig::default(), &device).unwrap();
    assert_eq!(relaxer.status().out_of_place, 1);
    let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
    assert_eq!(
        (report.reason, report.device_error),
        (StopReason::AtRest, None)
    );
    let distance = relaxer.crowd().members()[0].pose.position.length();
    assert!((distance - 2.0).abs() < 0.102, "{distance}");
}

#[test]
fn coincident_molecules_are_pushed_apart() {
    let Some(device) = device() else { return };
    for law in [
        ReactionLaw::default(),
        ReactionLaw::Thesis(ThesisSteps::default()),
    ] {
        let start = free_crowd(rod(2), &[Vec3::ONE; 6]);
        let mut relaxer = Relaxer::on_device(start, config(law), &device).unwrap();
        assert!(relaxer.status().overlaps >= 15);
        let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
        assert_eq!(
            (report.reason, report.device_error),
            (StopReason::AtRest, None)
        );
    }
}

#[test]
fn a_diverging_step_leaves_the_poses_unchanged() {
    let Some(device) = device() else { return };
    let start = free_crowd(
        rod(3),
        &[Vec3::ZERO, Vec3::new(0.02, 0.05, 0.0), Vec3::Z * 0.08],
    );
    for steps in [
        ThesisSteps {
            torque: 1.0e25,
            ..ThesisSteps::default()
        },
        ThesisSteps {
            force: 1.0e36,
            ..ThesisSteps::default()
        },
    ] {
        let law = ReactionLaw::Thesis(steps);
        let mut relaxer = Relaxer::on_device(start.clone(), config(law), &device).unwrap();
        let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
        assert_eq!(
            (report.reason, report.device_error),
            (StopReason::Diverged, None)
        );
        assert_eq!(relaxer.crowd().members(), start.members());
        let mut cpu = Relaxer::new(start.clone(), config(law)).unwrap();
        let expected = cpu.step().unwrap_err();
        assert!(matches!(
            expected,
            RelaxError::Diverged { iteration: 0, .. }
        ));
        assert_eq!(relaxer.step().unwrap_err(), expected);
    }
}

/// A kick changes a weight that contacts have already been summed with.
#[test]
fn a_kick_takes_effect_in_the_next_iteration() {
    let Some(device) = device() else { return };
    let law = ReactionLaw::Projection(Projection {
        kick_after: 2,
        fade_iterations: 2,
        momentum: 0.0,
        max_shift: 1.0e-7,
        max_turn: 1.0e-7,
        ..Projection::default()
    });
    let crowd = popc_vesicle(24, 4, 2.2);
    let mut cpu = Relaxer::new(crowd.clone(), config(law)).unwrap();
    let mut gpu = Relaxer::on_device(crowd, config(law), &device).unwrap();
    for _ in 0..8 {
        cpu.step().unwrap();
        gpu.step().unwrap();
        let (cpu, gpu) = (cpu.pushes().unwrap(), gpu.pushes().unwrap());
        let pairs = cpu.iter().zip(&gpu);
        assert_close("shift", pairs.map(|(a, b)| (a.linear, b.linear)));
    }
}

#[test]
fn poses_can_be_read_between_iterations() {
    let Some(device) = device() else { return };
    let start = free_crowd(
        rod(3),
        &[Vec3::ZERO, Vec3::new(0.02, 0.05, 0.0), Vec3::Z * 0.08],
    );
    let mut cpu = Relaxer::new(start.clone(), RelaxConfig::default()).unwrap();
    let mut gpu = Relaxer::on_device(start, RelaxConfig::default(), &device).unwrap();
    for _ in 0..3 {
        cpu.step().unwrap();
        gpu.step().unwrap();
        let members = cpu.crowd().members().iter().zip(gpu.crowd().members());
        for (cpu, gpu) in members {
            assert!(cpu.pose.position.distance(gpu.pose.position) < 1.0e-5);
            assert!(cpu.pose.rotation.dot(gpu.pose.rotation).abs() > 0.999_99);
        }
    }
}
