//! [`SharedGpuDevice`]: the renderer's device, shared with compute.

use std::sync::Arc;

use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::renderer::{RenderDevice, RenderQueue};

use crate::gpu::GpuDevice;

/// The renderer's device. The molecules of a relaxer
/// [on this device](crate::relax::Relaxer::on_device) can be drawn without copying their poses:
/// see [`InstancedMolecules::device_poses`](super::InstancedMolecules::device_poses).
///
/// Inserted by [`MoleculeRenderPlugin`](super::MoleculeRenderPlugin) in the first frame, unless
/// the device lacks a feature that the kernels need, and replaced together with the device.
#[derive(Clone, Debug, Resource, Reflect)]
#[reflect(opaque)]
#[reflect(Clone, Debug)]
pub struct SharedGpuDevice(Arc<GpuDevice>);

impl SharedGpuDevice {
    /// The device.
    #[must_use]
    pub fn device(&self) -> &Arc<GpuDevice> {
        &self.0
    }
}

/// Inserts [`SharedGpuDevice`] for a new render device.
pub(super) fn share_render_device(
    mut commands: Commands,
    device: Option<Res<RenderDevice>>,
    queue: Option<Res<RenderQueue>>,
) {
    let (Some(device), Some(queue)) = (device, queue) else {
        return;
    };
    if !device.is_changed() {
        return;
    }
    let queue: &wgpu::Queue = &queue.0;
    match GpuDevice::borrowed(device.wgpu_device().clone(), queue.clone()) {
        Ok(shared) => commands.insert_resource(SharedGpuDevice(Arc::new(shared))),
        Err(error) => {
            info!("the renderer's device is not shared with compute: {error}");
            commands.remove_resource::<SharedGpuDevice>();
        }
    }
}

/// The shared device in the render world.
#[derive(Debug, Default, Resource)]
pub(super) struct ExtractedDevice(Option<Arc<GpuDevice>>);

impl ExtractedDevice {
    /// Whether `device` is the renderer's.
    pub fn is(&self, device: &Arc<GpuDevice>) -> bool {
        self.0.as_ref().is_some_and(|own| Arc::ptr_eq(own, device))
    }
}

pub(super) fn extract_device(
    mut extracted: ResMut<ExtractedDevice>,
    shared: Extract<Option<Res<SharedGpuDevice>>>,
) {
    extracted.0 = shared.as_ref().map(|shared| Arc::clone(shared.device()));
}
