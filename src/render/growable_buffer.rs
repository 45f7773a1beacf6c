//! [`GrowableBuffer`]: a GPU buffer that is reallocated when its content outgrows it.

use bevy::render::render_resource::{Buffer, BufferDescriptor, BufferUsages};

use super::instanced_molecules::DrawError;
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

    /// Replaces the content. Returns whether the buffer was reallocated and must be bound again.
    ///
    /// # Errors
    /// [`DrawError::TooLarge`] if the content exceeds the limits of the device.
    pub fn write(&mut self, gpu: &Gpu, bytes: &[u8]) -> Result<bool, DrawError> {
        let needed = (bytes.len() as u64).max(MIN_BYTES);
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
        let fits = self.buffer.as_ref().is_some_and(|b| b.size() >= needed);
        if !fits {
            // Half as much again, so that growing content is not reallocated every frame.
            let size = (needed + needed / 2).next_multiple_of(MIN_BYTES);
            self.buffer = Some(gpu.device.create_buffer(&BufferDescriptor {
                label: Some(self.label),
                size: size.min(limit & !3),
                usage: self.usage,
                mapped_at_creation: false,
            }));
        }
        if let Some(buffer) = &self.buffer
            && !bytes.is_empty()
        {
            gpu.queue.write_buffer(buffer, 0, bytes);
        }
        Ok(!fits)
    }
}
