//! Reading buffers back to the CPU.

use std::ops::Range;

use bytemuck::Pod;

use super::device::{GpuDevice, Mapping, Work};
use super::gpu_vec::GpuVec;
use super::memory_budget::Allocation;
use crate::backend::DeviceError;

/// Minimum size of a staging buffer, bytes: counters of any kind fit.
const MIN_BYTES: u64 = 256;

const USAGE: wgpu::BufferUsages = wgpu::BufferUsages::MAP_READ.union(wgpu::BufferUsages::COPY_DST);

/// A staging buffer, reused from read to read.
///
/// [`record`](Self::record) the copy, submit, then [`read`](Self::read).
#[derive(Debug, Default)]
pub(crate) struct Readback {
    buffer: Option<(wgpu::Buffer, Allocation)>,
    bytes: u64,
}

impl Readback {
    /// Without memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Records a copy of elements `range` of `source`.
    ///
    /// # Errors
    /// [`DeviceError`] if there is no memory for them.
    ///
    /// # Panics
    /// If `range` exceeds the capacity of `source`.
    pub fn record<T: Pod>(
        &mut self,
        device: &GpuDevice,
        encoder: &mut wgpu::CommandEncoder,
        source: &GpuVec<T>,
        range: Range<usize>,
    ) -> Result<(), DeviceError> {
        assert!(range.start <= range.end && range.end <= source.capacity());
        let element = size_of::<T>() as u64;
        let bytes = range.start as u64 * element..range.end as u64 * element;
        self.record_all(device, encoder, &[(source.buffer(), bytes)])
    }

    /// Records copies of ranges of bytes of several buffers, one after the other.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    pub fn record_all(
        &mut self,
        device: &GpuDevice,
        encoder: &mut wgpu::CommandEncoder,
        sources: &[(&wgpu::Buffer, Range<u64>)],
    ) -> Result<(), DeviceError> {
        self.bytes = sources
            .iter()
            .map(|(_, range)| range.end - range.start)
            .sum();
        if self.bytes == 0 {
            return Ok(());
        }
        let buffer = self.reserve(device)?;
        let mut to = 0;
        for (source, range) in sources {
            let bytes = range.end - range.start;
            if bytes > 0 {
                encoder.copy_buffer_to_buffer(source, range.start, buffer, to, bytes);
                to += bytes;
            }
        }
        Ok(())
    }

    /// Waits for the device and passes the copied elements to `take`.
    ///
    /// # Errors
    /// [`DeviceError`] if the device is lost or rejects the mapping.
    pub fn read<T: Pod, R>(
        &self,
        device: &GpuDevice,
        take: impl FnOnce(&[T]) -> R,
    ) -> Result<R, DeviceError> {
        let Some((buffer, _)) = self.buffer.as_ref().filter(|_| self.bytes > 0) else {
            return Ok(take(&[]));
        };
        let slice = buffer.slice(..self.bytes);
        device.count(Work::Waits, 1);
        let mapping = device.guarded(|| Mapping::begin(&slice))?;
        // Wait outside the guard, so that other threads can use the device.
        if !mapping.finish(device.raw()) {
            // Mapping fails without an error only if the device is lost.
            return Err(device.mark_lost());
        }
        device.count(Work::BytesRead, self.bytes);
        let view = slice.get_mapped_range();
        let result = match bytemuck::try_cast_slice(&view) {
            Ok(values) => take(values),
            // Mapped memory is aligned in practice; copy it if a driver disagrees.
            Err(_) => take(&bytemuck::pod_collect_to_vec(&view)),
        };
        drop(view);
        buffer.unmap();
        Ok(result)
    }

    fn reserve(&mut self, device: &GpuDevice) -> Result<&wgpu::Buffer, DeviceError> {
        let capacity = self.bytes.max(MIN_BYTES).next_power_of_two();
        let capacity = capacity
            .min(device.limits().max_buffer_size)
            .max(self.bytes);
        let large_enough = |(buffer, _): &(wgpu::Buffer, _)| buffer.size() >= self.bytes;
        let memory = match self.buffer.take().filter(large_enough) {
            Some(memory) => memory,
            None => device.allocate("readback", capacity, USAGE)?,
        };
        Ok(&self.buffer.insert(memory).0)
    }
}
