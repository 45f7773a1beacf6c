//! Crowds that a device cannot relax, and devices that fail: the CPU does it instead.

use std::ops::ControlFlow;
use std::sync::Arc;

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::compartment::{Leaflet, ShapeCompartment};
use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{RelaxConfig, Relaxer};
use glam::Vec3;

use super::relaxer::{mixed_crowd, popc_vesicle, shell};
use crate::common::carbons::{free_crowd, rod};
use crate::common::gpu_device::{device, unless_required};

#[test]
fn compartments_that_the_device_does_not_know_are_left_to_the_cpu() {
    let Some(device) = device() else { return };
    let mut crowd = mixed_crowd(5);
    let cuboid = ShapeCompartment::cuboid(Vec3::ONE, Pose::IDENTITY).unwrap();
    let compartment = crowd.add_compartment(Arc::new(cuboid));
    crowd
        .add_placement(compartment, shell(Leaflet::Outer, 0.4))
        .unwrap();
    let mut relaxer = Relaxer::on_device(crowd, RelaxConfig::default(), &device).unwrap();
    assert_eq!(relaxer.backend(), Backend::Cpu);
    let reason = relaxer.fell_back().unwrap().to_owned();
    assert!(reason.contains("other than spheres"), "{reason}");
    let report = relaxer.run(|_| ControlFlow::Break(())).unwrap();
    assert_eq!(
        (report.backend, report.fell_back),
        (Backend::Cpu, Some(reason))
    );
}

/// A device that is lost in mid-run costs time, and nothing else.
#[test]
fn a_device_lost_in_mid_run_is_replaced_by_the_cpu() {
    for after in [0, 1, 15, 16, 21] {
        let Some(device) = unless_required(GpuDevice::headless(&GpuOptions::default())) else {
            return;
        };
        let device = Arc::new(device);
        let crowd = popc_vesicle(24, 4, 2.2);
        let start = RelaxConfig::default();
        let mut relaxer = Relaxer::on_device(crowd, start, &device).unwrap();
        for _ in 0..after {
            relaxer.step().unwrap();
        }
        assert_eq!(relaxer.backend(), Backend::Gpu);
        let before = relaxer.status();
        device.raw().destroy();
        let status = relaxer.step().unwrap();
        assert_eq!(relaxer.iterations(), after + 1, "no iteration is lost");
        assert!(status.unresolved < before.unresolved * 2);
        assert_eq!((relaxer.backend(), relaxer.adapter()), (Backend::Cpu, None));
        let reason = relaxer.fell_back().unwrap();
        assert!(reason.contains("lost"), "{reason}");
        let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
        assert!(
            report.converged() && report.fell_back.is_some(),
            "{report:?}"
        );
    }
}

/// The end of a run, and those who take the molecules away, notice it too.
#[test]
fn a_device_lost_when_poses_are_fetched_is_replaced_by_the_cpu() {
    let Some(device) = unless_required(GpuDevice::headless(&GpuOptions::default())) else {
        return;
    };
    let device = Arc::new(device);
    let crowd = popc_vesicle(24, 4, 2.2);
    let mut cpu = Relaxer::new(crowd.clone(), RelaxConfig::default()).unwrap();
    let mut gpu = Relaxer::on_device(crowd, RelaxConfig::default(), &device).unwrap();
    for _ in 0..5 {
        cpu.step().unwrap();
        gpu.step().unwrap();
    }
    device.raw().destroy();
    // Whoever only looks sees the last poses that came back.
    assert_eq!(gpu.crowd().members().len(), 28);
    let report = gpu.run(|_| ControlFlow::Break(())).unwrap();
    assert!(report.fell_back.is_some());
    assert_eq!(gpu.crowd().members(), cpu.crowd().members());
}

/// What does not fit is relaxed on the CPU, and the reason has the number that would fit.
#[test]
fn a_crowd_too_large_for_the_device_is_left_to_the_cpu() {
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: 32 << 10,
        ..wgpu::Limits::default()
    };
    let small = GpuOptions {
        at_most: Some(limits),
        ..GpuOptions::default()
    };
    let poor = GpuOptions {
        memory_bytes: Some(300_000),
        ..GpuOptions::default()
    };
    for (options, words) in [(small, "2048 would fit"), (poor, "out of GPU memory")] {
        let Some(device) = unless_required(GpuDevice::headless(&options)) else {
            return;
        };
        let device = Arc::new(device);
        let crowd = popc_vesicle(24, 4, 2.2);
        let mut relaxer =
            Relaxer::on_device(crowd.clone(), RelaxConfig::default(), &device).unwrap();
        let reason = relaxer.fell_back().unwrap();
        assert!(reason.contains(words), "{reason}");
        let mut cpu = Relaxer::new(crowd, RelaxConfig::default()).unwrap();
        assert_eq!(relaxer.step().unwrap(), cpu.step().unwrap());
        assert_eq!(relaxer.crowd().members(), cpu.crowd().members());
    }
}

#[test]
fn every_backend_can_be_asked_for() {
    let crowd = free_crowd(rod(2), &[Vec3::ZERO, Vec3::Y * 0.1]);
    let relaxer =
        |backend| Relaxer::with_backend(crowd.clone(), RelaxConfig::default(), backend).unwrap();
    let cpu = relaxer(Backend::Cpu);
    assert_eq!((cpu.backend(), cpu.fell_back()), (Backend::Cpu, None));
    // Without a real GPU this is the processor, and nothing to be told about.
    assert_eq!(relaxer(Backend::Auto).fell_back(), None);
    let gpu = relaxer(Backend::Gpu);
    match device() {
        Some(_) => assert_eq!((gpu.backend(), gpu.fell_back()), (Backend::Gpu, None)),
        None => assert!(gpu.fell_back().is_some()),
    }
}
