//! Poses that a relaxer keeps on the renderer's device are drawn from there.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::SharedGpuDevice;
use bevy_rapier_molecules::scenes::{Vesicle, VesicleConfig, VesicleSize, vesicle};

use super::stage::{bright, eye_before, real, shoot, stage, start};
use crate::common::gpu_device::device;

/// Iterations: not a multiple of those after which a relaxer fetches its poses.
const ITERATIONS: usize = 11;

fn small_vesicle() -> Vesicle {
    let config = VesicleConfig {
        size: VesicleSize::Counts {
            outer: 90,
            inner: 10,
            radius: 3.0,
        },
        ..VesicleConfig::default()
    };
    vesicle(real("popc.pdb"), &config).unwrap()
}

fn scene() -> (App, Handle<Image>) {
    let mut app = stage();
    start(&mut app);
    app.insert_resource(bright(ColorMode::Molecule));
    let picture = eye_before(&mut app, 14.0);
    (app, picture)
}

/// A relaxer that has moved its molecules on a device.
fn relaxed_on(device: &Arc<GpuDevice>) -> Relaxer {
    let crowd = small_vesicle().crowd;
    let mut relaxer = Relaxer::on_device(crowd, RelaxConfig::default(), device).unwrap();
    for _ in 0..ITERATIONS {
        relaxer.step().unwrap();
    }
    assert_eq!(relaxer.fell_back(), None);
    relaxer
}

#[test]
fn poses_on_the_same_device_are_drawn_without_a_copy() {
    if device().is_none() {
        return;
    }
    let (mut app, picture) = scene();
    app.update();
    let lent = app.world().resource::<SharedGpuDevice>();
    let mut relaxer = relaxed_on(lent.device());
    // The component knows the poses of the start only.
    let mut crowd = InstancedMolecules::from_crowd(&small_vesicle().crowd);
    let drawn = app.world_mut().spawn(crowd.clone()).id();
    let start = shoot(&mut app, &picture);
    crowd.device_poses = relaxer.device_poses();
    assert!(crowd.device_poses.is_some());
    app.world_mut().entity_mut(drawn).insert(crowd.clone());
    let on_device = shoot(&mut app, &picture);
    // What is drawn moves with the relaxer, and nobody tells the component.
    relaxer.step().unwrap();
    let moved = shoot(&mut app, &picture);
    crowd.device_poses = None;
    let poses = relaxer.crowd().members().iter().map(|member| member.pose);
    crowd.set_poses(poses);
    app.world_mut().entity_mut(drawn).insert(crowd);
    let sent = shoot(&mut app, &picture);
    assert!(moved.pixels == sent.pixels);
    assert!(on_device.pixels != start.pixels);
    assert!(on_device.pixels != moved.pixels);
}

#[test]
fn poses_of_another_device_or_of_other_molecules_are_not_used() {
    if device().is_none() {
        return;
    }
    let (mut app, picture) = scene();
    let mut crowd = InstancedMolecules::from_crowd(&small_vesicle().crowd);
    let drawn = app.world_mut().spawn(crowd.clone()).id();
    let start = shoot(&mut app, &picture);
    let own = Arc::new(GpuDevice::headless(&GpuOptions::default()).unwrap());
    crowd.device_poses = relaxed_on(&own).device_poses();
    app.world_mut().entity_mut(drawn).insert(crowd.clone());
    assert!(shoot(&mut app, &picture).pixels == start.pixels);
    // One molecule less than there are poses.
    crowd.molecules.pop();
    app.world_mut().entity_mut(drawn).insert(crowd.clone());
    let fewer = shoot(&mut app, &picture);
    crowd.device_poses = None;
    app.world_mut().entity_mut(drawn).insert(crowd);
    assert!(shoot(&mut app, &picture).pixels == fewer.pixels);
}

#[test]
fn who_relaxes_on_the_processor_has_no_poses_elsewhere() {
    let crowd = small_vesicle().crowd;
    let relaxer = Relaxer::new(crowd, RelaxConfig::default()).unwrap();
    assert!(relaxer.device_poses().is_none());
}
