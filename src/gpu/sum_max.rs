//! 64-bit sum and maximum of an array.
//!
//! Prefix sums have 32 bits, but some totals exceed them: the pairs of a search, and the
//! comparisons within the bins of a sort.

use bytemuck::{Pod, Zeroable};

use super::device::GpuDevice;
use super::gpu_vec::GpuVec;
use super::kernel::{Kernel, Length, uniform};
use super::shader::SUM_MAX;
use super::shader_constants::SCAN_BLOCK;
use crate::backend::DeviceError;
use crate::search::uniform_grid::MAX_COMPARISONS;

/// A 64-bit sum and the maximum; `SumMax` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuSumMax {
    /// Lower half of the sum.
    pub low: u32,
    /// Upper half of the sum.
    pub high: u32,
    /// The maximum.
    pub max: u32,
}

impl GpuSumMax {
    /// The sum.
    #[must_use]
    pub fn sum(self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }

    /// Whether comparing all items of the same bins would take too long.
    #[must_use]
    pub fn is_overcrowded(self) -> bool {
        self.sum() > MAX_COMPARISONS
    }
}

/// Parameters of a reduction; `SumMaxParams` in WGSL.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct GpuSumMaxParams {
    /// Index of the number of entries in `lengths`.
    pub length_slot: u32,
    /// Whether to reduce differences of neighbors and sum their squares.
    pub squares: u32,
    /// Index of the result.
    pub result_slot: u32,
    /// Capacity of `parts`, blocks.
    pub max_blocks: u32,
}

/// Values to reduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduced {
    /// The entries themselves.
    Values,
    /// Differences of neighboring entries: the items per bin if the entries are bin starts. Their
    /// squares are summed.
    BinSizes,
}

/// The kernels of a reduction.
#[derive(Debug)]
pub(super) struct SumMaxReducer {
    blocks: Kernel,
    all: Kernel,
}

/// A reduction of one buffer, ready to be recorded any number of times.
#[derive(Debug)]
pub(super) struct SumMaxPlan {
    blocks: wgpu::BindGroup,
    all: wgpu::BindGroup,
    max_len: u32,
}

impl SumMaxReducer {
    /// Compiles the kernels.
    ///
    /// # Errors
    /// [`DeviceError`] if the device rejects them or is lost.
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            blocks: Kernel::new(device, &SUM_MAX, "sum_max_blocks")?,
            all: Kernel::new(device, &SUM_MAX, "sum_max_all")?,
        })
    }

    /// Prepares the reduction of the first `length` of `entries` into element `slot` of
    /// `results`.
    ///
    /// # Errors
    /// [`DeviceError`] if there is no memory for the partial results.
    pub fn plan(
        &self,
        device: &GpuDevice,
        (entries, length): (&GpuVec<u32>, Length<'_>),
        reduced: Reduced,
        (results, slot): (&GpuVec<GpuSumMax>, u32),
    ) -> Result<SumMaxPlan, DeviceError> {
        let max_len = length.max();
        let (lengths, length_slot) = length.bind(device)?;
        let max_blocks = max_len.div_ceil(SCAN_BLOCK);
        let parts = GpuVec::<GpuSumMax>::new(device, "partial sums", max_blocks as usize)?;
        let params = GpuSumMaxParams {
            length_slot,
            squares: u32::from(reduced == Reduced::BinSizes),
            result_slot: slot,
            max_blocks,
        };
        let params = uniform(device, "sum and maximum", &params)?;
        Ok(SumMaxPlan {
            blocks: self.blocks.bind(
                device,
                &[
                    (0, &params),
                    (1, &lengths),
                    (2, entries.buffer()),
                    (3, parts.buffer()),
                ],
            )?,
            all: self.all.bind(
                device,
                &[
                    (0, &params),
                    (1, &lengths),
                    (3, parts.buffer()),
                    (4, results.buffer()),
                ],
            )?,
            max_len,
        })
    }

    /// Records the reduction of at most `max_len` entries.
    pub fn record_up_to(&self, pass: &mut wgpu::ComputePass<'_>, plan: &SumMaxPlan, max_len: u32) {
        let blocks = max_len.min(plan.max_len).div_ceil(SCAN_BLOCK);
        self.blocks.record(pass, &plan.blocks, blocks);
        self.all.record(pass, &plan.all, 1);
    }
}
