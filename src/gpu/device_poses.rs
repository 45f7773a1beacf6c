//! Poses that stay on the device.

use std::sync::Arc;

use super::GpuDevice;

/// Poses of a relaxer's molecules on its device, updated by every iteration. A renderer on
/// the same device needs no copy of them.
///
/// The buffer is an array of [`GpuPose`](super::GpuPose): pose `k` is that of member
/// `order()[k]` of the crowd.
#[derive(Clone, Debug)]
pub struct DevicePoses {
    pub(crate) buffer: wgpu::Buffer,
    pub(crate) device: Arc<GpuDevice>,
    pub(crate) order: Arc<[u32]>,
}

impl DevicePoses {
    /// The buffer.
    #[must_use]
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// The device of the buffer. Compare devices by address: two `wgpu` devices may be equal
    /// without being the same.
    #[must_use]
    pub fn device(&self) -> &Arc<GpuDevice> {
        &self.device
    }

    /// Member of the crowd of each pose.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        &self.order
    }
}
