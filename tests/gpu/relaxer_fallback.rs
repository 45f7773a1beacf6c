//! Relaxation continues on the CPU if the device cannot do it or fails.

use std::ops::ControlFlow;
use std::sync::Arc;

use bevy_rapier_molecules::backend::{Backend, DeviceError};
use bevy_rapier_molecules::compartment::{Leaflet, ShapeCompartment};
use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{CoarseStart, CountedSpheres, RelaxConfig, Relaxer};
use glam::Vec3;

use super::relaxer::{mixed_crowd, popc_vesicle, shell};
use crate::common::carbons::{free_crowd, rod};
use crate::common::gpu_device::{device, unless_required};

#[test]
fn unsupported_compartments_are_relaxed_on_the_cpu() {
    let Some(device) = device() else { return };
    let mut crowd = mixed_crowd(5);
    let cuboid = ShapeCompartment::cuboid(Vec3::ONE, Pose::IDENTITY).unwrap();
    let compartment = crowd.add_compartment(Arc::new(cuboid));
    crowd
        .add_placement(compartment, shell(Leaflet::Outer, 0.4))
        .unwrap();
    let mut relaxer = Relaxer::on_device(crowd, RelaxConfig::default(), &device).unwrap();
    assert_eq!(relaxer.backend(), Backend::Cpu);
    let error = relaxer.device_error().unwrap().clone();
    assert!(matches!(error, DeviceError::Unsupported { .. }), "{error}");
    let report = relaxer.run(|_| ControlFlow::Break(())).unwrap();
    assert_eq!(
        (report.backend, report.device_error),
        (Backend::Cpu, Some(error))
    );
}

#[test]
fn a_device_lost_during_a_run_is_replaced_by_the_cpu() {
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
        assert!(status.unresolved < 2 * before.unresolved.max(10));
        assert_eq!((relaxer.backend(), relaxer.adapter()), (Backend::Cpu, None));
        assert!(relaxer.device_error().unwrap().is_lost());
        let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
        assert!(
            report.converged() && report.device_error.is_some(),
            "{report:?}"
        );
    }
}

#[test]
fn a_device_lost_during_readback_is_replaced_by_the_cpu() {
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
    // A shared reference sees the poses of the last checkpoint.
    assert_eq!(gpu.crowd().members().len(), 28);
    let report = gpu.run(|_| ControlFlow::Break(())).unwrap();
    assert!(report.device_error.is_some());
    assert_eq!(gpu.crowd().members(), cpu.crowd().members());
}

#[test]
fn a_crowd_too_large_for_the_device_is_relaxed_on_the_cpu() {
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: 32 << 10,
        ..wgpu::Limits::default()
    };
    let small = GpuOptions {
        max_limits: Some(limits),
        ..GpuOptions::default()
    };
    let little_memory = GpuOptions {
        memory_bytes: Some(300_000),
        ..GpuOptions::default()
    };
    for (options, words) in [
        (small, "2048 would fit"),
        (little_memory, "out of GPU memory"),
    ] {
        let Some(device) = unless_required(GpuDevice::headless(&options)) else {
            return;
        };
        let device = Arc::new(device);
        let crowd = popc_vesicle(24, 4, 2.2);
        let mut relaxer =
            Relaxer::on_device(crowd.clone(), RelaxConfig::default(), &device).unwrap();
        let reason = relaxer.device_error().unwrap().to_string();
        assert!(reason.contains(words), "{reason}");
        let mut cpu = Relaxer::new(crowd, RelaxConfig::default()).unwrap();
        assert_eq!(relaxer.step().unwrap(), cpu.step().unwrap());
        assert_eq!(relaxer.crowd().members(), cpu.crowd().members());
    }
}

#[test]
fn every_backend_can_be_requested() {
    let crowd = free_crowd(rod(2), &[Vec3::ZERO, Vec3::Y * 0.1]);
    let relaxer =
        |backend| Relaxer::with_backend(crowd.clone(), RelaxConfig::default(), backend).unwrap();
    let cpu = relaxer(Backend::Cpu);
    assert_eq!((cpu.backend(), cpu.device_error()), (Backend::Cpu, None));
    // Without a hardware GPU this is the CPU, which is not an error.
    assert_eq!(relaxer(Backend::Auto).device_error(), None);
    let gpu = relaxer(Backend::Gpu);
    match device() {
        Some(_) => assert_eq!((gpu.backend(), gpu.device_error()), (Backend::Gpu, None)),
        None => assert!(gpu.device_error().is_some()),
    }
}

/// Law and leeways change on the device: it is neither left nor restarted from rest.
#[test]
fn changes_of_config_and_placements_stay_on_the_device() {
    let Some(device) = device() else { return };
    let crowd = popc_vesicle(24, 4, 2.2);
    let mut cpu = Relaxer::new(crowd.clone(), RelaxConfig::default()).unwrap();
    let mut gpu = Relaxer::on_device(crowd, RelaxConfig::default(), &device).unwrap();
    let clearance = RelaxConfig {
        clearance: 0.01,
        ..RelaxConfig::default()
    };
    for relaxer in [&mut cpu, &mut gpu] {
        for _ in 0..3 {
            relaxer.step().unwrap();
        }
        relaxer.set_config(clearance).unwrap();
        relaxer.step().unwrap();
        relaxer
            .update_placements(|place| place.placement_mut().unwrap().leeway = 0.05)
            .unwrap();
        relaxer.step().unwrap();
        assert_eq!(relaxer.iterations(), 5);
    }
    assert_eq!((gpu.backend(), gpu.device_error()), (Backend::Gpu, None));
    for (cpu, gpu) in cpu.crowd().members().iter().zip(gpu.crowd().members()) {
        let distance = cpu.pose.position.distance(gpu.pose.position);
        assert!(distance < 1.0e-3, "{distance} nm");
    }
}

#[test]
fn a_device_that_fails_at_the_start_does_not_skip_the_coarse_start() {
    let crowd = popc_vesicle(24, 4, 2.2);
    let config = RelaxConfig {
        coarse: Some(CoarseStart::PLACED),
        ..RelaxConfig::default()
    };
    let mut relaxer =
        Relaxer::with_device_relaxer(crowd.clone(), config, |_| Err(DeviceError::OutOfMemory))
            .unwrap();
    let mut cpu = Relaxer::new(crowd, config).unwrap();
    assert!(relaxer.is_coarse() && cpu.is_coarse());
    assert_eq!(relaxer.status().spheres, CountedSpheres::Proxies);
    assert_eq!(relaxer.start_status().spheres, CountedSpheres::Atoms);
    assert_eq!(relaxer.step().unwrap(), cpu.step().unwrap());
    assert_eq!(relaxer.device_error(), Some(&DeviceError::OutOfMemory));
}
