//! A compute shader, bound and dispatched.

use bytemuck::Pod;

use super::buffer::GpuVec;
use super::constants::GROUP_THREADS;
use super::device::GpuDevice;
use super::shader::Shader;
use crate::backend::DeviceError;

/// How many elements a kernel works on.
#[derive(Clone, Copy, Debug)]
pub enum Length<'a> {
    /// As many as the processor says.
    Host(u32),
    /// As many as element `slot` of `counts` says when the kernel runs, and no more than
    /// `at_most`: for what the device has counted itself.
    Device {
        /// Counters on the device. The kernel only reads them, so that they must be in
        /// another array than what it writes.
        counts: &'a GpuVec<u32>,
        /// Which of the counters.
        slot: u32,
        /// Most elements that there can be; what dispatches are made for.
        at_most: u32,
    },
}

impl Length<'_> {
    /// Most elements that there can be.
    #[must_use]
    pub fn at_most(&self) -> u32 {
        match *self {
            Self::Host(count) => count,
            Self::Device { at_most, .. } => at_most,
        }
    }

    /// The array that holds the count and its place there.
    pub(super) fn bind(&self, device: &GpuDevice) -> Result<(wgpu::Buffer, u32), DeviceError> {
        match *self {
            Self::Host(count) => {
                let counts = GpuVec::from_slice(device, "count", &[count])?;
                Ok((counts.buffer().clone(), 0))
            }
            Self::Device { counts, slot, .. } => Ok((counts.buffer().clone(), slot)),
        }
    }
}

/// A compute pipeline; all that it binds is in group 0.
///
/// Shaders keep wgpu's checks, so that no index leads out of an array whatever the data.
#[derive(Debug)]
pub(super) struct Kernel {
    pipeline: wgpu::ComputePipeline,
    label: &'static str,
    most_groups: u32,
}

impl Kernel {
    /// Compiles entry point `entry` of `shader`.
    ///
    /// # Errors
    /// [`DeviceError`] if the device refuses it or is lost.
    pub fn new(
        device: &GpuDevice,
        shader: &Shader,
        entry: &'static str,
    ) -> Result<Self, DeviceError> {
        let pipeline = device.guarded(|| {
            let raw = device.raw();
            let module = raw.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(shader.name),
                source: wgpu::ShaderSource::Wgsl(shader.source()),
            });
            raw.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry),
                layout: None,
                module: &module,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            })
        })?;
        Ok(Self {
            pipeline,
            label: entry,
            most_groups: device.limits().max_compute_workgroups_per_dimension,
        })
    }

    /// Binds each of `buffers` to its number in group 0: those that the kernel uses, and
    /// no others.
    ///
    /// # Errors
    /// [`DeviceError`] if they do not fit the shader, or the device is lost.
    pub fn bind(
        &self,
        device: &GpuDevice,
        buffers: &[(u32, &wgpu::Buffer)],
    ) -> Result<wgpu::BindGroup, DeviceError> {
        let entries: Vec<_> = buffers
            .iter()
            .map(|&(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        device.guarded(|| {
            device.raw().create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(self.label),
                layout: &self.pipeline.get_bind_group_layout(0),
                entries: &entries,
            })
        })
    }

    /// Records one run of `groups` workgroups; none if that is zero.
    ///
    /// Beyond what one dimension may have they are folded into a second, which may make
    /// a few groups too many: kernels number them with `group_number` and leave those
    /// beyond the end idle.
    pub fn record(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        bindings: &wgpu::BindGroup,
        groups: u32,
    ) {
        if groups == 0 {
            return;
        }
        let (columns, rows) = fold(groups, self.most_groups);
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, bindings, &[]);
        pass.dispatch_workgroups(columns, rows, 1);
    }

    /// Records one run with a thread for each of `count` elements.
    pub fn record_threads(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        bindings: &wgpu::BindGroup,
        count: u32,
    ) {
        self.record(pass, bindings, count.div_ceil(GROUP_THREADS));
    }
}

/// Begins a pass without timing.
pub fn begin_pass<'a>(encoder: &'a mut wgpu::CommandEncoder, label: &str) -> wgpu::ComputePass<'a> {
    encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
        label: Some(label),
        timestamp_writes: None,
    })
}

/// A small block of parameters that a shader sees as `var<uniform>`.
pub(super) fn uniform<P: Pod>(
    device: &GpuDevice,
    label: &'static str,
    parameters: &P,
) -> Result<wgpu::Buffer, DeviceError> {
    device.guarded(|| {
        let buffer = device.raw().create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: size_of::<P>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let bytes = bytemuck::bytes_of(parameters);
        device.queue().write_buffer(&buffer, 0, bytes);
        buffer
    })
}

/// Columns and rows of at least `groups` workgroups, with at most `most` in a row.
fn fold(groups: u32, most: u32) -> (u32, u32) {
    let rows = groups.div_ceil(most);
    (groups.div_ceil(rows), rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_dispatches_have_room_for_all_groups_and_few_more() {
        for groups in [1, 2, 65_534, 65_535, 65_536, 131_071, 1 << 24, u32::MAX] {
            let (columns, rows) = fold(groups, 65_535);
            assert!(columns <= 65_535);
            let total = u64::from(columns) * u64::from(rows);
            let needed = u64::from(groups);
            assert!(total >= needed && total < needed + u64::from(rows));
        }
    }
}
