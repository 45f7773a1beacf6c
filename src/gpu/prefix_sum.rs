//! Exclusive prefix sum of 32-bit integers.

use bytemuck::{Pod, Zeroable};

use super::device::GpuDevice;
use super::gpu_vec::GpuVec;
use super::kernel::{Kernel, Length, uniform};
use super::shader::SCAN;
use super::shader_constants::SCAN_BLOCK;
use crate::backend::DeviceError;

/// Parameters of one level; `ScanParams` in WGSL.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct GpuPrefixSumParams {
    /// Level: the values of level 1 are sums of blocks of level 0.
    pub level: u32,
    /// Index of the number of values of level 0 in `counts`.
    pub slot: u32,
    /// Whether `sums` holds the start of each block; if not, there is one block.
    pub based: u32,
}

/// Exclusive prefix sum of 32-bit integers: reduce, then scan, level by level.
///
/// 1. sum every block of values;
/// 2. scan the sums the same way, until they are one block;
/// 3. scan every block, starting from its sum.
///
/// Each value is read twice and written once. No workgroup waits for another, since forward
/// progress is not guaranteed. Sums wrap at 2³².
#[derive(Debug)]
pub struct PrefixSum {
    reduce: Kernel,
    scan: Kernel,
}

/// A prefix sum of one buffer, ready to be recorded any number of times.
#[derive(Debug)]
pub struct PrefixSumPlan {
    levels: Vec<Level>,
    total: GpuVec<u32>,
    max_len: u32,
}

/// One level of blocks.
#[derive(Debug)]
struct Level {
    /// None at the last level, which is one block.
    reduce: Option<wgpu::BindGroup>,
    scan: wgpu::BindGroup,
}

impl PrefixSum {
    /// Compiles the kernels.
    ///
    /// # Errors
    /// [`DeviceError`] if the device rejects them or is lost.
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            reduce: Kernel::new(device, &SCAN, "reduce_blocks")?,
            scan: Kernel::new(device, &SCAN, "scan_blocks")?,
        })
    }

    /// Prepares the prefix sum of the first `length` of `values`, in place. The plan is valid
    /// until the buffer grows.
    ///
    /// # Errors
    /// [`DeviceError`] if there is no memory for the block sums.
    pub fn plan(
        &self,
        device: &GpuDevice,
        values: &GpuVec<u32>,
        length: Length<'_>,
    ) -> Result<PrefixSumPlan, DeviceError> {
        let max_len = length.max();
        let (counts, slot) = length.bind(device)?;
        let total = GpuVec::from_slice(device, "scan total", &[0])?;
        let mut levels = Vec::new();
        let mut current = values.buffer().clone();
        let mut count = max_len;
        let mut level = 0;
        loop {
            let params = |based| {
                let params = GpuPrefixSumParams { level, slot, based };
                uniform(device, "scan level", &params)
            };
            if count <= SCAN_BLOCK {
                let params = params(0)?;
                let buffers = [
                    (0, &params),
                    (1, &counts),
                    (2, &current),
                    (3, total.buffer()),
                ];
                levels.push(Level {
                    reduce: None,
                    scan: self.scan.bind(device, &buffers)?,
                });
                return Ok(PrefixSumPlan {
                    levels,
                    total,
                    max_len,
                });
            }
            count = count.div_ceil(SCAN_BLOCK);
            let sums = GpuVec::<u32>::new(device, "block sums", count as usize)?;
            let params = params(1)?;
            let buffers = [
                (0, &params),
                (1, &counts),
                (2, &current),
                (3, sums.buffer()),
            ];
            levels.push(Level {
                reduce: Some(self.reduce.bind(device, &buffers)?),
                scan: self.scan.bind(device, &buffers)?,
            });
            current = sums.buffer().clone();
            level += 1;
        }
    }

    /// Records the prefix sum: each value becomes the sum of those before it.
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>, plan: &PrefixSumPlan) {
        self.record_up_to(pass, plan, plan.max_len);
    }

    /// As [`record`](Self::record) for at most `max_len` values, with fewer workgroups.
    pub fn record_up_to(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        plan: &PrefixSumPlan,
        max_len: u32,
    ) {
        let mut blocks = Vec::with_capacity(plan.levels.len());
        let mut count = max_len.min(plan.max_len);
        for level in &plan.levels {
            count = count.div_ceil(SCAN_BLOCK).max(1);
            blocks.push(count);
            if let Some(bindings) = &level.reduce {
                self.reduce.record(pass, bindings, count);
            }
        }
        for (level, &count) in plan.levels.iter().zip(&blocks).rev() {
            self.scan.record(pass, &level.scan, count);
        }
    }
}

impl PrefixSumPlan {
    /// Sum of all values: one element.
    #[must_use]
    pub fn total(&self) -> &GpuVec<u32> {
        &self.total
    }
}
