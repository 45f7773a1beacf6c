//! Poses that a relaxer keeps on the renderer's device are drawn without a copy.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::SharedGpuDevice;
use bevy_rapier_molecules::scenes::{Vesicle, VesicleConfig, VesicleSize, VesicleStart, vesicle};

use super::render_app::{
    finish_plugins, headlit, render_app, screenshot, spawn_camera_at, template,
};
use crate::common::gpu_device::device;

/// Not a multiple of the interval at which a relaxer reads its poses back.
const ITERATIONS: usize = 11;

fn small_vesicle() -> Vesicle {
    let config = VesicleConfig {
        size: VesicleSize::Counts {
            outer: 90,
            inner: 10,
            radius: 3.0,
        },
        start: VesicleStart::Uniform,
        ..VesicleConfig::default()
    };
    vesicle(template("popc.pdb"), &config).unwrap()
}

fn scene() -> (App, Handle<Image>) {
    let mut app = render_app();
    finish_plugins(&mut app);
    app.insert_resource(headlit(ColorMode::Molecule));
    let image = spawn_camera_at(&mut app, 14.0);
    (app, image)
}

/// A relaxer that has iterated on a device.
fn relaxed_on(device: &Arc<GpuDevice>) -> Relaxer {
    let crowd = small_vesicle().crowd;
    let mut relaxer = Relaxer::on_device(crowd, RelaxConfig::default(), device).unwrap();
    for _ in 0..ITERATIONS {
        relaxer.step().unwrap();
    }
    assert_eq!(relaxer.device_error(), None);
    relaxer
}

#[test]
fn poses_on_the_same_device_are_drawn_without_a_copy() {
    if device().is_none() {
        return;
    }
    let (mut app, image) = scene();
    app.update();
    let shared = app.world().resource::<SharedGpuDevice>();
    let mut relaxer = relaxed_on(shared.device());
    // The component has the initial poses only.
    let mut instances = InstancedMolecules::from_crowd(&small_vesicle().crowd);
    let drawn = app.world_mut().spawn(instances.clone()).id();
    let start = screenshot(&mut app, &image);
    instances.device_poses = relaxer.device_poses();
    assert!(instances.device_poses.is_some());
    app.world_mut().entity_mut(drawn).insert(instances.clone());
    let on_device = screenshot(&mut app, &image);
    // Drawn molecules move with the relaxer, although the component does not change.
    relaxer.step().unwrap();
    let moved = screenshot(&mut app, &image);
    instances.device_poses = None;
    for (molecule, member) in instances
        .molecules
        .iter_mut()
        .zip(relaxer.crowd().members())
    {
        molecule.pose = member.pose;
    }
    app.world_mut().entity_mut(drawn).insert(instances);
    let uploaded = screenshot(&mut app, &image);
    assert!(moved.pixels == uploaded.pixels);
    assert!(on_device.pixels != start.pixels);
    assert!(on_device.pixels != moved.pixels);
}

#[test]
fn poses_of_another_device_or_of_other_molecules_are_ignored() {
    if device().is_none() {
        return;
    }
    let (mut app, image) = scene();
    let mut instances = InstancedMolecules::from_crowd(&small_vesicle().crowd);
    let drawn = app.world_mut().spawn(instances.clone()).id();
    let start = screenshot(&mut app, &image);
    let own = Arc::new(GpuDevice::headless(&GpuOptions::default()).unwrap());
    instances.device_poses = relaxed_on(&own).device_poses();
    app.world_mut().entity_mut(drawn).insert(instances.clone());
    assert!(screenshot(&mut app, &image).pixels == start.pixels);
    // One molecule less than poses.
    instances.molecules.pop();
    app.world_mut().entity_mut(drawn).insert(instances.clone());
    let fewer = screenshot(&mut app, &image);
    instances.device_poses = None;
    app.world_mut().entity_mut(drawn).insert(instances);
    assert!(screenshot(&mut app, &image).pixels == fewer.pixels);
}

#[test]
fn a_relaxer_on_the_cpu_has_no_device_poses() {
    let crowd = small_vesicle().crowd;
    let relaxer = Relaxer::new(crowd, RelaxConfig::default()).unwrap();
    assert!(relaxer.device_poses().is_none());
}
