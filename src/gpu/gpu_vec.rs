//! Growable typed storage buffers.

use std::marker::PhantomData;

use bytemuck::Pod;

use super::device::{GpuDevice, Work};
use super::memory_budget::Allocation;
use super::readback::Readback;
use crate::backend::DeviceError;

/// Minimum capacity: a binding must not be empty.
const MIN_CAPACITY: usize = 16;

const USAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_DST)
    .union(wgpu::BufferUsages::COPY_SRC);

/// A typed storage buffer on the device that grows.
///
/// Capacities are powers of two, so that a scene of about constant size allocates nothing.
/// Growing discards the content and invalidates bind groups; methods that may grow return
/// whether they did.
#[derive(Debug)]
pub struct GpuVec<T> {
    buffer: wgpu::Buffer,
    allocation: Allocation,
    capacity: usize,
    len: usize,
    label: &'static str,
    element: PhantomData<T>,
}

impl<T: Pod> GpuVec<T> {
    /// Creates an empty buffer with a capacity of `capacity` elements, all zero.
    ///
    /// # Errors
    /// [`DeviceError`] if it exceeds the binding size or the memory.
    pub fn new(
        device: &GpuDevice,
        label: &'static str,
        capacity: usize,
    ) -> Result<Self, DeviceError> {
        Self::with_usage(device, label, capacity, USAGE)
    }

    /// A buffer of `len` sizes of indirect dispatches, which does not grow.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(super) fn indirect(
        device: &GpuDevice,
        label: &'static str,
        len: usize,
    ) -> Result<Self, DeviceError> {
        let usage = USAGE.union(wgpu::BufferUsages::INDIRECT);
        let mut buffer = Self::with_usage(device, label, len, usage)?;
        buffer.len = len;
        Ok(buffer)
    }

    fn with_usage(
        device: &GpuDevice,
        label: &'static str,
        capacity: usize,
        usage: wgpu::BufferUsages,
    ) -> Result<Self, DeviceError> {
        let (buffer, allocation, capacity) = allocate::<T>(device, label, capacity, usage)?;
        Ok(Self {
            buffer,
            allocation,
            capacity,
            len: 0,
            label,
            element: PhantomData,
        })
    }

    /// Creates a buffer with `values`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_slice(
        device: &GpuDevice,
        label: &'static str,
        values: &[T],
    ) -> Result<Self, DeviceError> {
        let mut buffer = Self::new(device, label, values.len())?;
        buffer.upload(device, values)?;
        Ok(buffer)
    }

    /// Creates a buffer of `len` zeros.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn zeroed(
        device: &GpuDevice,
        label: &'static str,
        len: usize,
    ) -> Result<Self, DeviceError> {
        let mut buffer = Self::new(device, label, len)?;
        buffer.len = len;
        Ok(buffer)
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of elements that fit without growing.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The buffer, for binding.
    #[must_use]
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Maximum number of elements on `device`.
    #[must_use]
    pub fn max_len(device: &GpuDevice) -> u64 {
        device.max_storage_bytes() / size_of::<T>() as u64
    }

    /// Sets the length; returns whether the buffer grew, which discards its content.
    ///
    /// # Errors
    /// As [`new`](Self::new). The buffer is unchanged then.
    pub fn resize(&mut self, device: &GpuDevice, len: usize) -> Result<bool, DeviceError> {
        let grows = len > self.capacity;
        if grows {
            (self.buffer, self.allocation, self.capacity) =
                allocate::<T>(device, self.label, len, USAGE)?;
        }
        self.len = len;
        Ok(grows)
    }

    /// Removes all elements and frees their memory.
    pub fn release(&mut self, device: &GpuDevice) {
        self.len = 0;
        if let Ok(empty) = Self::new(device, self.label, 0) {
            *self = empty;
        }
    }

    /// Replaces the content by `values`, before the next submission; returns whether the buffer
    /// grew.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn upload(&mut self, device: &GpuDevice, values: &[T]) -> Result<bool, DeviceError> {
        let grown = self.resize(device, values.len())?;
        if !values.is_empty() {
            device.count(Work::BytesWritten, size_of_val(values) as u64);
            device.guarded(|| {
                let bytes = bytemuck::cast_slice(values);
                device.queue().write_buffer(&self.buffer, 0, bytes);
            })?;
        }
        Ok(grown)
    }

    /// Records that all elements become zero.
    pub fn record_clear(&self, encoder: &mut wgpu::CommandEncoder) {
        if self.len > 0 {
            let bytes = (self.len * size_of::<T>()) as u64;
            encoder.clear_buffer(&self.buffer, 0, Some(bytes));
        }
    }

    /// Waits for the device and reads all elements.
    ///
    /// # Errors
    /// [`DeviceError`] if the device is lost or has no memory left.
    pub fn read(&self, device: &GpuDevice) -> Result<Vec<T>, DeviceError> {
        self.read_first(device, self.len)
    }

    /// Reads the first `count` elements, or all if there are fewer. Waits for the device.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn read_first(
        &self,
        device: &GpuDevice,
        count: usize,
    ) -> Result<Vec<T>, DeviceError> {
        let mut readback = Readback::new();
        let mut encoder = device.encoder(self.label);
        readback.record(device, &mut encoder, self, 0..count.min(self.len))?;
        device.submit(encoder)?;
        readback.read(device, <[T]>::to_vec)
    }
}

/// Allocates `count` elements, rounded up to a power of two within the limits.
fn allocate<T>(
    device: &GpuDevice,
    label: &'static str,
    count: usize,
    usage: wgpu::BufferUsages,
) -> Result<(wgpu::Buffer, Allocation, usize), DeviceError> {
    // Required by clears and copies.
    const { assert!((size_of::<T>() as u64).is_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT)) };
    let element = size_of::<T>() as u64;
    let limit = device.max_storage_bytes();
    let fits = limit / element;
    if count as u64 > fits {
        return Err(DeviceError::BindingTooLarge {
            buffer: label,
            bytes: (count as u64).saturating_mul(element),
            limit,
            fits,
        });
    }
    let capacity = (count.max(MIN_CAPACITY).next_power_of_two() as u64).min(fits);
    let (buffer, allocation) = device.allocate(label, capacity * element, usage)?;
    Ok((buffer, allocation, capacity as usize))
}
