//! Compute pipelines: bind groups, dispatch, uniforms.

use std::sync::{Mutex, PoisonError};

use bytemuck::Pod;

use super::device::{GpuDevice, Work};
use super::gpu_vec::GpuVec;
use super::shader::Shader;
use super::shader_constants::GROUP_THREADS;
use crate::backend::DeviceError;

/// Number of elements that a kernel processes.
#[derive(Clone, Copy, Debug)]
pub enum Length<'a> {
    /// Known on the CPU.
    Host(u32),
    /// Element `slot` of `counts` when the kernel runs, at most `max`: for counts computed on
    /// the device.
    Device {
        /// Counters on the device. The kernel reads them, so they must not be in a buffer that
        /// it writes.
        counts: &'a GpuVec<u32>,
        /// Index of the counter.
        slot: u32,
        /// Maximum number of elements, which dispatches are sized for.
        max: u32,
    },
}

impl Length<'_> {
    /// Maximum number of elements.
    #[must_use]
    pub fn max(&self) -> u32 {
        match *self {
            Self::Host(count) => count,
            Self::Device { max, .. } => max,
        }
    }

    /// The buffer that holds the count, and its index there.
    pub(crate) fn bind(&self, device: &GpuDevice) -> Result<(wgpu::Buffer, u32), DeviceError> {
        match *self {
            Self::Host(count) => {
                let counts = GpuVec::from_slice(device, "count", &[count])?;
                Ok((counts.buffer().clone(), 0))
            }
            Self::Device { counts, slot, .. } => Ok((counts.buffer().clone(), slot)),
        }
    }
}

/// A compute pipeline with a single bind group.
///
/// wgpu's bounds checks stay enabled, so that no data can cause an access out of bounds.
#[derive(Debug)]
pub(crate) struct Kernel {
    pipeline: wgpu::ComputePipeline,
    label: &'static str,
    max_groups: u32,
    /// Bind groups by their buffers, the newest last.
    kept: Mutex<Vec<(BoundBuffers, wgpu::BindGroup)>>,
}

/// Buffers of a bind group.
type BoundBuffers = Vec<(u32, wgpu::Buffer)>;

/// Number of bind groups that a kernel keeps: two sets of buffers take turns.
const MAX_KEPT_BIND_GROUPS: usize = 4;

impl Kernel {
    /// Compiles entry point `entry` of `shader`.
    ///
    /// # Errors
    /// [`DeviceError`] if the device rejects it or is lost.
    pub fn new(
        device: &GpuDevice,
        shader: &Shader,
        entry: &'static str,
    ) -> Result<Self, DeviceError> {
        let module = device.shader_module(shader)?;
        let pipeline = device.guarded(|| {
            device
                .raw()
                .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
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
            max_groups: device.limits().max_compute_workgroups_per_dimension,
            kept: Mutex::default(),
        })
    }

    /// As [`bind`](Self::bind), but keeps the bind group for the next call with the same buffers.
    /// They stay allocated until [`forget`](Self::forget).
    pub fn bind_kept(
        &self,
        device: &GpuDevice,
        buffers: &[(u32, &wgpu::Buffer)],
    ) -> Result<wgpu::BindGroup, DeviceError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let own = buffers.iter().copied();
        let known = kept.iter().find(|(bound, _)| {
            let bound = bound.iter().map(|(binding, buffer)| (*binding, buffer));
            bound.eq(own.clone())
        });
        if let Some((_, group)) = known {
            return Ok(group.clone());
        }
        let group = self.bind(device, buffers)?;
        if kept.len() == MAX_KEPT_BIND_GROUPS {
            kept.remove(0);
        }
        let own = own.map(|(binding, buffer)| (binding, buffer.clone()));
        kept.push((own.collect(), group.clone()));
        Ok(group)
    }

    /// Drops the bind groups that were kept.
    pub fn forget(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clear();
    }

    /// Binds each of `buffers` to its binding number. They must be exactly the bindings that the
    /// entry point uses.
    ///
    /// # Errors
    /// [`DeviceError`] if they do not match the shader, or the device is lost.
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
        device.count(Work::BindGroups, 1);
        device.guarded(|| {
            device.raw().create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(self.label),
                layout: &self.pipeline.get_bind_group_layout(0),
                entries: &entries,
            })
        })
    }

    /// Records a dispatch of `groups` workgroups; nothing if that is zero.
    ///
    /// More groups than one dimension allows are split over two, which may add a few. Kernels
    /// number the groups with `group_number` and skip those beyond the end.
    pub fn record(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        bindings: &wgpu::BindGroup,
        groups: u32,
    ) {
        if groups == 0 {
            return;
        }
        let (columns, rows) = split_dispatch(groups, self.max_groups);
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, bindings, &[]);
        pass.dispatch_workgroups(columns, rows, 1);
    }

    /// Records a dispatch whose size is in a buffer, at an offset in bytes.
    pub fn record_indirect(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        bindings: &wgpu::BindGroup,
        (size, offset): (&wgpu::Buffer, u64),
    ) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, bindings, &[]);
        pass.dispatch_workgroups_indirect(size, offset);
    }

    /// Records a dispatch with a thread for each of `count` elements.
    pub fn record_threads(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        bindings: &wgpu::BindGroup,
        count: u32,
    ) {
        self.record(pass, bindings, count.div_ceil(GROUP_THREADS));
    }
}

/// A kernel with its bind group.
#[derive(Debug)]
pub(crate) struct BoundKernel {
    kernel: Kernel,
    bindings: wgpu::BindGroup,
}

impl BoundKernel {
    /// Compiles entry point `entry` of `shader` and binds `buffers`.
    pub fn new(
        device: &GpuDevice,
        shader: &Shader,
        entry: &'static str,
        buffers: &[(u32, &wgpu::Buffer)],
    ) -> Result<Self, DeviceError> {
        let kernel = Kernel::new(device, shader, entry)?;
        let bindings = kernel.bind(device, buffers)?;
        Ok(Self { kernel, bindings })
    }

    /// Records a dispatch with a thread for each of `count` elements.
    pub fn record_threads(&self, pass: &mut wgpu::ComputePass<'_>, count: u32) {
        self.kernel.record_threads(pass, &self.bindings, count);
    }
}

/// Begins an untimed pass.
pub fn begin_pass<'a>(encoder: &'a mut wgpu::CommandEncoder, label: &str) -> wgpu::ComputePass<'a> {
    encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
        label: Some(label),
        timestamp_writes: None,
    })
}

/// Creates a uniform buffer.
pub(crate) fn uniform<P: Pod>(
    device: &GpuDevice,
    label: &'static str,
    value: &P,
) -> Result<wgpu::Buffer, DeviceError> {
    device.guarded(|| {
        let buffer = device.raw().create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: size_of::<P>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let bytes = bytemuck::bytes_of(value);
        device.queue().write_buffer(&buffer, 0, bytes);
        buffer
    })
}

/// Overwrites a uniform buffer.
pub(crate) fn write_uniform<P: Pod>(
    device: &GpuDevice,
    buffer: &wgpu::Buffer,
    value: &P,
) -> Result<(), DeviceError> {
    device.count(Work::BytesWritten, size_of::<P>() as u64);
    device.guarded(|| {
        let bytes = bytemuck::bytes_of(value);
        device.queue().write_buffer(buffer, 0, bytes);
    })
}

/// Columns and rows of at least `groups` workgroups, with at most `max` per row.
fn split_dispatch(groups: u32, max: u32) -> (u32, u32) {
    let rows = groups.div_ceil(max);
    (groups.div_ceil(rows), rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_dispatches_cover_all_groups_with_few_to_spare() {
        for groups in [1, 2, 65_534, 65_535, 65_536, 131_071, 1 << 24, u32::MAX] {
            let (columns, rows) = split_dispatch(groups, 65_535);
            assert!(columns <= 65_535);
            let total = u64::from(columns) * u64::from(rows);
            let needed = u64::from(groups);
            assert!(total >= needed && total < needed + u64::from(rows));
        }
    }
}
