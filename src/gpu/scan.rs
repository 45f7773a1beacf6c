//! Exclusive prefix sum of 32-bit numbers.

use bytemuck::{Pod, Zeroable};

use super::buffer::GpuVec;
use super::constants::SCAN_BLOCK;
use super::device::GpuDevice;
use super::kernel::{Kernel, Length, uniform};
use super::shader::SCAN;
use crate::backend::DeviceError;

/// Which part of a sum a pass works on; `ScanParams` in WGSL.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct GpuScanParams {
    /// How often blocks have been summed up: at level 1 the values are sums of blocks.
    pub level: u32,
    /// Where in `counts` the number of values at level 0 is.
    pub slot: u32,
    /// Whether `sums` holds where each block begins; if not, there is one block.
    pub based: u32,
}

/// Exclusive prefix sum of 32-bit numbers: reduce, then scan, level by level.
///
/// 1. every block of values is summed up;
/// 2. the sums are scanned the same way, until they are one block;
/// 3. every block is scanned, starting from its sum.
///
/// Each value is read twice and written once. No group ever waits for another, which
/// some GPUs would not survive. Sums wrap around at 2³², as does the twin on
/// the processor, [`scan_on_cpu`].
///
/// ```
/// use bevy_rapier_molecules::backend::DeviceError;
/// use bevy_rapier_molecules::gpu::{///     GpuDevice, GpuOptions, GpuVec, Length, Scanner, begin_pass, ///};
///
/// let Ok(device) = GpuDevice::headless(&GpuOptions::default()) else {
///     return Ok(());
/// };
/// let scanner = Scanner::new(&device)?;
/// let values = GpuVec::from_slice(&device, "values", &[3_u32, 1, 4])?;
/// let plan = scanner.plan(&device, &values, Length::Host(3))?;
/// let mut encoder = device.encoder("sum up");
/// scanner.record(&mut begin_pass(&mut encoder, "sum up"), &plan);
/// device.submit(encoder)?;
/// assert_eq!(values.read(&device)?, [0, 3, 4]);
/// assert_eq!(plan.total().read(&device)?, [8]);
/// # Ok::<(), DeviceError>(())
/// ```
#[derive(Debug)]
pub struct Scanner {
    reduce: Kernel,
    scan: Kernel,
}

/// A prefix sum of one array, ready to be recorded any number of times.
#[derive(Debug)]
pub struct ScanPlan {
    levels: Vec<Level>,
    total: GpuVec<u32>,
    at_most: u32,
}

/// One level of blocks.
#[derive(Debug)]
struct Level {
    /// None at the last level, which is one block.
    reduce: Option<wgpu::BindGroup>,
    scan: wgpu::BindGroup,
}

impl Scanner {
    /// Compiles the kernels.
    ///
    /// # Errors
    /// [`DeviceError`] if the device refuses them or is lost.
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            reduce: Kernel::new(device, &SCAN, "reduce_blocks")?,
            scan: Kernel::new(device, &SCAN, "scan_blocks")?,
        })
    }

    /// Prepares the sum of the first `length` of `values`, in place. The plan is for this
    /// array as it is now: when it grows, a new one is needed.
    ///
    /// # Errors
    /// [`DeviceError`] if there is no memory for the sums of the blocks.
    pub fn plan(
        &self,
        device: &GpuDevice,
        values: &GpuVec<u32>,
        length: Length<'_>,
    ) -> Result<ScanPlan, DeviceError> {
        let at_most = length.at_most();
        let (counts, slot) = length.bind(device)?;
        let total = GpuVec::from_slice(device, "scan total", &[0])?;
        let mut levels = Vec::new();
        let mut current = values.buffer().clone();
        let mut count = at_most;
        let mut level = 0;
        loop {
            let params = |based| {
                let params = GpuScanParams { level, slot, based };
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
                return Ok(ScanPlan {
                    levels,
                    total,
                    at_most,
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

    /// Records the sum. Afterwards each value is the sum of those before it.
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>, plan: &ScanPlan) {
        self.record_up_to(pass, plan, plan.at_most);
    }

    /// As [`record`](Self::record), where the processor knows that there are at most
    /// `at_most` values this time, so that fewer groups are started.
    pub fn record_up_to(&self, pass: &mut wgpu::ComputePass<'_>, plan: &ScanPlan, at_most: u32) {
        let mut blocks = Vec::with_capacity(plan.levels.len());
        let mut count = at_most.min(plan.at_most);
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

impl ScanPlan {
    /// Where the sum of all values is written: one element.
    #[must_use]
    pub fn total(&self) -> &GpuVec<u32> {
        &self.total
    }
}

/// The twin on the processor: each value becomes the sum of those before it; returns the
/// sum of all.
pub fn scan_on_cpu(values: &mut [u32]) -> u32 {
    let mut sum = 0_u32;
    for value in values {
        let next = sum.wrapping_add(*value);
        *value = std::mem::replace(&mut sum, next);
    }
    sum
}
