//! [`GrowableBuffer`]: a GPU buffer that is reallocated when its content outgrows it.

use bevy::render::render_resource::{Buffer, BufferDescriptor, BufferUsages};
use bytemuck::Pod;

use super::instanced_molecules::DrawError;
use super::mirrored_list::MirroredList;
use super::view_draws::Gpu;

/// Minimum size of a buffer, bytes: bindings must not be empty.
const MIN_BYTES: u64 = 256;

/// A uniform or storage buffer that the CPU writes.
#[derive(Debug)]
pub(super) struct GrowableBuffer {
    label: &'static str,
    usage: BufferUsages,
    buffer: Option<Buffer>,
}

impl GrowableBuffer {
    /// An empty buffer; `label` names its content in error messages.
    pub fn new(label: &'static str, usage: BufferUsages) -> Self {
        Self {
            label,
            usage: usage | BufferUsages::COPY_DST,
            buffer: None,
        }
    }

    pub fn buffer(&self) -> Option<&Buffer> {
        self.buffer.as_ref()
    }

    /// Writes what has changed in a list, which no other buffer mirrors. Returns whether the buffer
    /// was reallocated and must be bound again.
    ///
    /// # Errors
    /// [`DrawError::TooLarge`] if the content exceeds the limits of the device.
    pub fn write<T: Pod>(
        &mut self,
        gpu: &Gpu,
        list: &mut MirroredList<T>,
    ) -> Result<bool, DrawError> {
        let reallocated = self.reserve(gpu, size_of_val(&**list) as u64)?;
        if let Some(buffer) = &self.buffer {
            list.write_changes(reallocated, |first, elements| {
                let offset = (first * size_of::<T>()) as u64;
                gpu.write(buffer, offset, bytemuck::cast_slice(elements));
            });
        }
        Ok(reallocated)
    }

    /// Replaces the content; otherwise like [`write`](Self::write).
    pub fn replace<T: Pod>(&mut self, gpu: &Gpu, elements: &[T]) -> Result<bool, DrawError> {
        let reallocated = self.reserve(gpu, size_of_val(elements) as u64)?;
        if let Some(buffer) = &self.buffer
            && !elements.is_empty()
        {
            gpu.write(buffer, 0, bytemuck::cast_slice(elements));
        }
        Ok(reallocated)
    }

    /// Reallocates the buffer if it has less than `bytes` bytes.
    fn reserve(&mut self, gpu: &Gpu, bytes: u64) -> Result<bool, DrawError> {
        let needed = bytes.max(MIN_BYTES);
        if self.buffer.as_ref().is_some_and(|b| b.size() >= needed) {
            return Ok(false);
        }
        let limits = gpu.device.limits();
        let limit = limits
            .max_buffer_size
            .min(limits.max_storage_buffer_binding_size);
        if needed > limit {
            return Err(DrawError::TooLarge {
                what: self.label,
                bytes: needed,
                limit,
            });
        }
        // Half as much again, so that growing content is not reallocated every frame.
        let size = (needed + needed / 2).next_multiple_of(MIN_BYTES);
        self.buffer = Some(gpu.device.create_buffer(&BufferDescriptor {
            label: Some(self.label),
            size: size.min(limit & !3),
            usage: self.usage,
            mapped_at_creation: false,
        }));
        Ok(true)
    }
}
