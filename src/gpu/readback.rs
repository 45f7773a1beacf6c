//! Arrays on their way back from the device.

use std::ops::Range;

use bytemuck::Pod;

use super::buffer::GpuVec;
use super::device::{GpuDevice, Mapping};
use super::memory::Share;
use crate::backend::DeviceError;

/// Fewest bytes of memory that the processor can map; saves growing for counters.
const SMALLEST: u64 = 256;

/// What the memory is used for.
const USAGE: wgpu::BufferUsages = wgpu::BufferUsages::MAP_READ.union(wgpu::BufferUsages::COPY_DST);

/// Memory that the device copies into and the processor reads; kept from read to read.
///
/// First [`record`](Self::record) the copy, then submit, then [`read`](Self::read).
#[derive(Debug, Default)]
pub(super) struct Readback {
    buffer: Option<(wgpu::Buffer, Share)>,
    bytes: u64,
}

impl Readback {
    /// No memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Records that elements `range` of `source` are copied.
    ///
    /// # Errors
    /// [`DeviceError`] if there is no memory for them.
    ///
    /// # Panics
    /// If the range is not within `source`, which is a fault of the caller.
    pub fn record<T: Pod>(
        &mut self,
        device: &GpuDevice,
        encoder: &mut wgpu::CommandEncoder,
        source: &GpuVec<T>,
        range: Range<usize>,
    ) -> Result<(), DeviceError> {
        assert!(range.start <= range.end && range.end <= source.capacity());
        let element = size_of::<T>() as u64;
        let bytes = range.len() as u64 * element;
        self.bytes = bytes;
        if bytes == 0 {
            return Ok(());
        }
        let buffer = self.reserve(device)?;
        let from = range.start as u64 * element;
        encoder.copy_buffer_to_buffer(source.buffer(), from, buffer, 0, bytes);
        Ok(())
    }

    /// Waits for the device, and passes what was copied to `take`.
    ///
    /// # Errors
    /// [`DeviceError`] if the device is lost or refuses.
    pub fn read<T: Pod, R>(
        &self,
        device: &GpuDevice,
        take: impl FnOnce(&[T]) -> R,
    ) -> Result<R, DeviceError> {
        let Some((buffer, _)) = self.buffer.as_ref().filter(|_| self.bytes > 0) else {
            return Ok(take(&[]));
        };
        let slice = buffer.slice(..self.bytes);
        let mapping = device.guarded(|| Mapping::begin(&slice))?;
        // Outside, so that other threads can go on meanwhile.
        if !mapping.finish(device.raw()) {
            // A map that fails without an error fails because the device is lost.
            return Err(device.lose("it does not answer any more"));
        }
        device.count_read(self.bytes);
        let view = slice.get_mapped_range();
        let result = match bytemuck::try_cast_slice(&view) {
            Ok(values) => take(values),
            // Mapped memory is aligned to more than any element in practice; if a
            // driver disagrees, a copy is.
            Err(_) => take(&bytemuck::pod_collect_to_vec(&view)),
        };
        drop(view);
        buffer.unmap();
        Ok(result)
    }

    fn reserve(&mut self, device: &GpuDevice) -> Result<&wgpu::Buffer, DeviceError> {
        let room = self.bytes.max(SMALLEST).next_power_of_two();
        let room = room.min(device.limits().max_buffer_size).max(self.bytes);
        let large_enough = |(buffer, _): &(wgpu::Buffer, _)| buffer.size() >= self.bytes;
        let memory = match self.buffer.take().filter(large_enough) {
            Some(memory) => memory,
            None => device.allocate("readback", room, USAGE)?,
        };
        Ok(&self.buffer.insert(memory).0)
    }
}
