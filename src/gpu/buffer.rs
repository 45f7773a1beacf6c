//! Arrays on the device that grow.

use std::marker::PhantomData;

use bytemuck::Pod;

use super::device::GpuDevice;
use super::memory::Share;
use super::readback::Readback;
use crate::backend::DeviceError;

/// Elements of the smallest array: a binding must not be empty.
const SMALLEST: usize = 16;

/// What every array can be used for.
const USAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_DST)
    .union(wgpu::BufferUsages::COPY_SRC);

/// A typed array in the memory of the device.
///
/// Grows to powers of two, so that a scene that changes a little allocates nothing. When
/// it grows its former content is lost, and what was bound to it must be bound again:
/// methods that may grow say whether they did.
#[derive(Debug)]
pub struct GpuVec<T> {
    buffer: wgpu::Buffer,
    /// Keeps the bytes counted.
    share: Share,
    capacity: usize,
    len: usize,
    label: &'static str,
    element: PhantomData<T>,
}

impl<T: Pod> GpuVec<T> {
    /// An array with room for `capacity` elements, all of them zero, and length 0.
    ///
    /// # Errors
    /// [`DeviceError`] if that is more than a shader may see, or than there is memory.
    pub fn new(
        device: &GpuDevice,
        label: &'static str,
        capacity: usize,
    ) -> Result<Self, DeviceError> {
        let (buffer, share, capacity) = allocate::<T>(device, label, capacity)?;
        Ok(Self {
            buffer,
            share,
            capacity,
            len: 0,
            label,
            element: PhantomData,
        })
    }

    /// An array that holds `values`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_slice(
        device: &GpuDevice,
        label: &'static str,
        values: &[T],
    ) -> Result<Self, DeviceError> {
        let mut array = Self::new(device, label, values.len())?;
        array.upload(device, values)?;
        Ok(array)
    }

    /// Number of elements in use.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no element is in use.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of elements that there is room for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The memory, to be bound.
    #[must_use]
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// How many elements an array of this type may have on `device`.
    #[must_use]
    pub fn most(device: &GpuDevice) -> u64 {
        device.largest_array() / size_of::<T>() as u64
    }

    /// Sets the length; returns whether the array had to grow, and lost its content.
    ///
    /// # Errors
    /// As [`new`](Self::new). The array is unchanged then.
    pub fn resize(&mut self, device: &GpuDevice, len: usize) -> Result<bool, DeviceError> {
        let grows = len > self.capacity;
        if grows {
            (self.buffer, self.share, self.capacity) = allocate::<T>(device, self.label, len)?;
        }
        self.len = len;
        Ok(grows)
    }

    /// Drops all elements and gives the memory back, as far as the device lets us.
    pub fn release(&mut self, device: &GpuDevice) {
        self.len = 0;
        if let Ok(smallest) = Self::new(device, self.label, 0) {
            *self = smallest;
        }
    }

    /// Writes `values` before anything that is submitted from now on runs; returns
    /// whether the array had to grow.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn upload(&mut self, device: &GpuDevice, values: &[T]) -> Result<bool, DeviceError> {
        let grown = self.resize(device, values.len())?;
        if !values.is_empty() {
            device.guarded(|| {
                let bytes = bytemuck::cast_slice(values);
                device.queue().write_buffer(&self.buffer, 0, bytes);
            })?;
        }
        Ok(grown)
    }

    /// Records that all elements in use become zero.
    pub fn record_clear(&self, encoder: &mut wgpu::CommandEncoder) {
        if self.len > 0 {
            let bytes = (self.len * size_of::<T>()) as u64;
            encoder.clear_buffer(&self.buffer, 0, Some(bytes));
        }
    }

    /// Waits for the device and reads all elements in use.
    ///
    /// # Errors
    /// [`DeviceError`] if the device is lost or has no memory left.
    pub fn read(&self, device: &GpuDevice) -> Result<Vec<T>, DeviceError> {
        let mut readback = Readback::new();
        let mut encoder = device.encoder(self.label);
        readback.record(device, &mut encoder, self, 0..self.len)?;
        device.submit(encoder)?;
        readback.read(device, <[T]>::to_vec)
    }
}

/// Memory for `count` elements, rounded up to a power of two where that is allowed.
fn allocate<T>(
    device: &GpuDevice,
    label: &'static str,
    count: usize,
) -> Result<(wgpu::Buffer, Share, usize), DeviceError> {
    // Nothing else can be cleared or copied.
    const { assert!((size_of::<T>() as u64).is_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT)) };
    let element = size_of::<T>() as u64;
    let limit = device.largest_array();
    let fits = limit / element;
    if count as u64 > fits {
        return Err(DeviceError::BindingTooLarge {
            buffer: label,
            bytes: (count as u64).saturating_mul(element),
            limit,
            fits,
        });
    }
    let capacity = (count.max(SMALLEST).next_power_of_two() as u64).min(fits);
    let (buffer, share) = device.allocate(label, capacity * element, USAGE)?;
    Ok((buffer, share, capacity as usize))
}
