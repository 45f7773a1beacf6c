//! The renderer's device, lent to who computes what is drawn.

use std::sync::Arc;

use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::renderer::{RenderDevice, RenderQueue};

use crate::gpu::GpuDevice;

/// The renderer's device. Molecules of a relaxer
/// [on it](crate::relax::Relaxer::on_device) can be drawn where they are, with
/// [`InstancedMolecules::device_poses`](super::InstancedMolecules::device_poses).
///
/// Inserted by [`MoleculeRenderPlugin`](super::MoleculeRenderPlugin): it is there from the
/// first frame on, unless the device lacks what kernels need, and is replaced with the
/// device.
#[derive(Clone, Debug, Resource)]
pub struct SharedGpuDevice(Arc<GpuDevice>);

impl SharedGpuDevice {
    /// The device.
    #[must_use]
    pub fn device(&self) -> &Arc<GpuDevice> {
        &self.0
    }
}

/// Lends a device that is new.
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
        Ok(lent) => commands.insert_resource(SharedGpuDevice(Arc::new(lent))),
        Err(error) => {
            info!("the renderer's device is for drawing only: {error}");
            commands.remove_resource::<SharedGpuDevice>();
        }
    }
}

/// The device that is lent, for the renderer.
#[derive(Debug, Default, Resource)]
pub(super) struct ExtractedDevice(Option<Arc<GpuDevice>>);

impl ExtractedDevice {
    pub fn lends(&self, device: &Arc<GpuDevice>) -> bool {
        self.0.as_ref().is_some_and(|own| Arc::ptr_eq(own, device))
    }
}

pub(super) fn extract_device(
    mut lender: ResMut<ExtractedDevice>,
    lent: Extract<Option<Res<SharedGpuDevice>>>,
) {
    lender.0 = lent.as_ref().map(|lent| Arc::clone(lent.device()));
}
