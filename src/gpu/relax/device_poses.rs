//! Poses that stay on the device, for who draws them there.

use std::sync::Arc;

use super::GpuRelaxEngine;
use crate::gpu::GpuDevice;
use crate::relax::Relaxer;

/// Poses of a relaxer's molecules as they are on its device, iteration after iteration:
/// who draws with the same device needs no copy of them.
///
/// An array of [`GpuPose`](crate::gpu::GpuPose), in which pose `k` is that of member
/// `order()[k]` of the crowd.
#[derive(Clone, Debug)]
pub struct DevicePoses {
    buffer: wgpu::Buffer,
    device: Arc<GpuDevice>,
    order: Arc<[u32]>,
}

impl DevicePoses {
    /// The array.
    #[must_use]
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// The device that they are on. Two of `wgpu`'s devices may be equal and yet not the
    /// same: compare this by its address.
    #[must_use]
    pub fn device(&self) -> &Arc<GpuDevice> {
        &self.device
    }

    /// For each pose the index of its member in the crowd.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        &self.order
    }
}

impl Relaxer {
    /// Where the poses are if a GPU does the iterations, else none. They change with each
    /// iteration; after a failure of the device they stay as they were.
    #[must_use]
    pub fn device_poses(&self) -> Option<DevicePoses> {
        self.ask_engine(|engine: &GpuRelaxEngine, order| DevicePoses {
            buffer: engine.atoms.poses().buffer().clone(),
            device: Arc::clone(&engine.device),
            order: order.into(),
        })
    }
}
