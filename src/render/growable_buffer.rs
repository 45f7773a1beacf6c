//! Arrays on the renderer's device that grow as they need to.

use bevy::render::render_resource::{Buffer, BufferDescriptor, BufferUsages};
use bevy::render::renderer::{RenderDevice, RenderQueue};

use super::instanced_molecules::DrawError;

/// Fewest bytes of an array: bindings must not be empty.
const LEAST_BYTES: u64 = 256;

/// An array of the shader's that the app writes.
#[derive(Debug)]
pub(super) struct GrowableBuffer {
    what: &'static str,
    usage: BufferUsages,
    buffer: Option<Buffer>,
}

impl GrowableBuffer {
    /// A storage array; `what` names its content in error messages.
    pub fn storage(what: &'static str) -> Self {
        Self {
            what,
            usage: BufferUsages::STORAGE | BufferUsages::COPY_DST,
            buffer: None,
        }
    }

    /// A uniform.
    pub fn uniform(what: &'static str) -> Self {
        Self {
            what,
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            buffer: None,
        }
    }

    pub fn buffer(&self) -> Option<&Buffer> {
        self.buffer.as_ref()
    }

    /// Makes `bytes` its content. Returns whether it is a new buffer now, which must be
    /// bound again.
    ///
    /// # Errors
    /// [`DrawError::TooLarge`] if the device cannot have an array of that size.
    pub fn write(
        &mut self,
        device: &RenderDevice,
        queue: &RenderQueue,
        bytes: &[u8],
    ) -> Result<bool, DrawError> {
        let needed = (bytes.len() as u64).max(LEAST_BYTES);
        let limits = device.limits();
        let limit = limits
            .max_buffer_size
            .min(limits.max_storage_buffer_binding_size);
        if needed > limit {
            return Err(DrawError::TooLarge {
                what: self.what,
                bytes: needed,
                limit,
            });
        }
        let fits = self.buffer.as_ref().is_some_and(|b| b.size() >= needed);
        if !fits {
            // Half as much again, so that a growing crowd does not need a new one each time.
            let size = (needed + needed / 2).next_multiple_of(LEAST_BYTES);
            self.buffer = Some(device.create_buffer(&BufferDescriptor {
                label: Some(self.what),
                size: size.min(limit & !3),
                usage: self.usage,
                mapped_at_creation: false,
            }));
        }
        if let Some(buffer) = &self.buffer
            && !bytes.is_empty()
        {
            queue.write_buffer(buffer, 0, bytes);
        }
        Ok(!fits)
    }
}
