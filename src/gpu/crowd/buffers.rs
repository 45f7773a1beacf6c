//! Buffers of the current substep that the next one does not need.

use super::types::{
    GpuCrowdBody, GpuCrowdExternal, GpuCrowdImpulse, GpuCrowdImpulseChange, GpuCrowdSurface,
    GpuCrowdTouch,
};
use crate::backend::DeviceError;
use crate::dynamics::OwnerIndex;
use crate::gpu::device::GpuDevice;
use crate::gpu::gpu_vec::GpuVec;

#[derive(Debug)]
pub(super) struct CrowdBuffers {
    pub bodies: GpuVec<GpuCrowdBody>,
    pub surfaces: GpuVec<GpuCrowdSurface>,
    /// Pairs of owners that never touch, sorted.
    pub ignored: GpuVec<[OwnerIndex; 2]>,
    pub touches: GpuVec<GpuCrowdTouch>,
    pub externals: GpuVec<GpuCrowdExternal>,
    /// Current body of each external body of the previous substep.
    pub relabeled: GpuVec<u32>,
    /// Groups of the previous substep that still exist.
    pub persistent: GpuVec<u32>,
    /// Bodies that wake up.
    pub woken: GpuVec<u32>,
    /// Bodies with contacts in the crowd, and external bodies that support them.
    pub crowded: GpuVec<u32>,
    pub changes: GpuVec<GpuCrowdImpulseChange>,
    pub impulses: GpuVec<GpuCrowdImpulse>,
}

impl CrowdBuffers {
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            bodies: GpuVec::new(device, "bodies", 0)?,
            surfaces: GpuVec::new(device, "surfaces", 0)?,
            ignored: GpuVec::new(device, "ignored pairs", 0)?,
            touches: GpuVec::new(device, "touches", 0)?,
            externals: GpuVec::new(device, "external contacts", 0)?,
            relabeled: GpuVec::new(device, "relabeled external bodies", 0)?,
            persistent: GpuVec::new(device, "persistent groups", 0)?,
            woken: GpuVec::new(device, "woken bodies", 0)?,
            crowded: GpuVec::new(device, "crowded bodies", 0)?,
            changes: GpuVec::new(device, "impulse changes", 0)?,
            impulses: GpuVec::new(device, "impulses", 0)?,
        })
    }

    /// Resizes the buffers to the number of bodies, and of groups in the previous and the
    /// current substep.
    pub fn resize(
        &mut self,
        device: &GpuDevice,
        bodies: usize,
        [previous, current]: [u32; 2],
    ) -> Result<(), DeviceError> {
        self.woken.resize(device, bodies)?;
        self.crowded.resize(device, bodies)?;
        self.impulses.resize(device, bodies)?;
        self.persistent.resize(device, previous as usize)?;
        self.changes
            .resize(device, previous.max(current) as usize)?;
        Ok(())
    }

    /// Records the reset of all marks.
    pub fn record_clear(&self, encoder: &mut wgpu::CommandEncoder) {
        self.woken.record_clear(encoder);
        self.crowded.record_clear(encoder);
        self.persistent.record_clear(encoder);
    }
}
