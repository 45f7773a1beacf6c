//! What all contacts of a substep share on the device: arrays that it does not leave to the next.

use super::types::{
    GpuCrowdBody, GpuCrowdExternal, GpuCrowdImpulse, GpuCrowdImpulseDelta, GpuCrowdSurface,
    GpuCrowdTouch,
};
use crate::backend::DeviceError;
use crate::gpu::buffer::GpuVec;
use crate::gpu::device::GpuDevice;

#[derive(Debug)]
pub(super) struct CrowdBuffers {
    pub bodies: GpuVec<GpuCrowdBody>,
    pub surfaces: GpuVec<GpuCrowdSurface>,
    /// Pairs of members that do not touch, sorted.
    pub exempt: GpuVec<[u32; 2]>,
    pub touches: GpuVec<GpuCrowdTouch>,
    pub supports: GpuVec<GpuCrowdExternal>,
    /// Body that each obstacle of the substep before is now.
    pub renamed: GpuVec<u32>,
    /// Groups of the substep before that are there still.
    pub lasting: GpuVec<u32>,
    /// Bodies that something wakes.
    pub woken: GpuVec<u32>,
    /// Bodies that touch in the crowd, or hold those that do.
    pub crowded: GpuVec<u32>,
    pub changes: GpuVec<GpuCrowdImpulseDelta>,
    pub impulses: GpuVec<GpuCrowdImpulse>,
}

impl CrowdBuffers {
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            bodies: GpuVec::new(device, "bodies", 0)?,
            surfaces: GpuVec::new(device, "surfaces", 0)?,
            exempt: GpuVec::new(device, "pairs that do not touch", 0)?,
            touches: GpuVec::new(device, "touches", 0)?,
            supports: GpuVec::new(device, "supports", 0)?,
            renamed: GpuVec::new(device, "renamed obstacles", 0)?,
            lasting: GpuVec::new(device, "lasting groups", 0)?,
            woken: GpuVec::new(device, "woken bodies", 0)?,
            crowded: GpuVec::new(device, "crowded bodies", 0)?,
            changes: GpuVec::new(device, "changes", 0)?,
            impulses: GpuVec::new(device, "impulses", 0)?,
        })
    }

    /// Room for so many bodies, and for groups of the substep before and of this one.
    pub fn hold(
        &mut self,
        device: &GpuDevice,
        bodies: usize,
        [before, now]: [u32; 2],
    ) -> Result<(), DeviceError> {
        self.woken.resize(device, bodies)?;
        self.crowded.resize(device, bodies)?;
        self.impulses.resize(device, bodies)?;
        self.lasting.resize(device, before as usize)?;
        self.changes.resize(device, before.max(now) as usize)?;
        Ok(())
    }

    /// Records that nothing is marked.
    pub fn record_clear(&self, encoder: &mut wgpu::CommandEncoder) {
        self.woken.record_clear(encoder);
        self.crowded.record_clear(encoder);
        self.lasting.record_clear(encoder);
    }
}
