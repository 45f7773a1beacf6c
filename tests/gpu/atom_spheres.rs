//! World-space spheres from templates and poses against those of the CPU.

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::gpu::{GpuAtomSpheres, GpuDevice, GpuOptions, GpuPose, begin_pass};
use bevy_rapier_molecules::molecule::BodySpheres;
use bevy_rapier_molecules::pose::Pose;
use glam::{Mat3, Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::common::gpu_device::{device, unless_required};

fn point(random: &mut Pcg64Mcg, size: f32) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| {
        size * (random.random::<f32>() - 0.5)
    }))
}

fn poses(count: usize, size: f32) -> Vec<Pose> {
    let mut random = Pcg64Mcg::seed_from_u64(5);
    let mut pose = || {
        let rotation = Quat::from_scaled_axis(point(&mut random, 9.0)).normalize();
        Pose::new(point(&mut random, size), rotation)
    };
    (0..count).map(|_| pose()).collect()
}

#[test]
fn spheres_equal_those_of_the_cpu_bit_for_bit() {
    let Some(device) = device() else { return };
    let mut random = Pcg64Mcg::seed_from_u64(4);
    let sizes = [7, 1, 300, 0];
    let bodies: Vec<(Vec<Vec3>, Vec<f32>)> = sizes
        .map(|size| {
            let centers = (0..size).map(|_| point(&mut random, 4.0)).collect();
            let radii = (0..size).map(|k| 0.05 + 0.001 * k as f32).collect();
            (centers, radii)
        })
        .into();
    let templates: Vec<_> = bodies
        .iter()
        .map(|(centers, radii)| BodySpheres { centers, radii })
        .collect();
    for count in [0, 1, 100, 2000] {
        let kinds: Vec<u32> = (0..count).map(|k| k as u32 * 7 % 4).collect();
        let mut atoms = GpuAtomSpheres::new(&device, &templates, &kinds).unwrap();
        for size in [10.0, 1.0e6] {
            let poses = poses(count, size);
            let sent: Vec<GpuPose> = poses.iter().copied().map(GpuPose::from).collect();
            atoms.set_poses(&device, &sent).unwrap();
            let mut encoder = device.encoder("test");
            atoms.record(&mut begin_pass(&mut encoder, "transform"));
            device.submit(encoder).unwrap();
            let mut expected = Vec::new();
            for (owner, (pose, &kind)) in poses.iter().zip(&kinds).enumerate() {
                let (centers, radii) = &bodies[kind as usize];
                let rotation = Mat3::from_quat(pose.rotation);
                for (&center, &radius) in centers.iter().zip(radii) {
                    let center = rotation * center + pose.position;
                    expected.push((owner as u32, center.extend(radius).to_array()));
                }
            }
            let owners = atoms.owners().read(&device).unwrap();
            let spheres = atoms.spheres().read(&device).unwrap();
            let found: Vec<_> = owners.into_iter().zip(spheres).collect();
            assert!(found == expected, "{count} molecules within {size} nm");
        }
    }
}

#[test]
fn too_many_spheres_are_an_error_that_says_how_many_fit() {
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: 16 << 10,
        ..wgpu::Limits::default()
    };
    let Some(device) = unless_required(GpuDevice::headless(&GpuOptions {
        max_limits: Some(limits),
        ..GpuOptions::default()
    })) else {
        return;
    };
    let body = ([Vec3::ZERO; 10], [0.1; 10]);
    let template = BodySpheres {
        centers: &body.0,
        radii: &body.1,
    };
    let error = GpuAtomSpheres::new(&device, &[template], &[0; 103]).unwrap_err();
    let expected = DeviceError::TooManySpheres {
        spheres: 1030,
        fit: 1024,
    };
    assert_eq!(error, expected);
    assert!(GpuAtomSpheres::new(&device, &[template], &[0; 102]).is_ok());
}

#[test]
fn unknown_templates_and_wrong_pose_counts_are_errors() {
    let Some(device) = device() else { return };
    let body = ([Vec3::ZERO; 2], [0.1; 2]);
    let template = BodySpheres {
        centers: &body.0,
        radii: &body.1,
    };
    let error = GpuAtomSpheres::new(&device, &[template], &[0, 1]).unwrap_err();
    let expected = DeviceError::UnknownTemplate {
        molecule: 1,
        template: 1,
        count: 1,
    };
    assert_eq!(error, expected);
    let mut atoms = GpuAtomSpheres::new(&device, &[template], &[0, 0]).unwrap();
    for poses in [1, 3] {
        let error = atoms.set_poses(&device, &vec![GpuPose::default(); poses]);
        let molecules = 2;
        assert_eq!(
            error,
            Err(DeviceError::PoseCountMismatch { molecules, poses })
        );
    }
    assert!(atoms.set_poses(&device, &[GpuPose::default(); 2]).is_ok());
}
