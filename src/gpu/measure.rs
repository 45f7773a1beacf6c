//! Sum and largest of many numbers, in 64 bits.
//!
//! A prefix sum has 32 bits, and some totals have more: the pairs of a search, and the
//! comparisons within the bins of a sort, which say when a sort or a walk would not end.

use bytemuck::{Pod, Zeroable};

use super::buffer::GpuVec;
use super::constants::SCAN_BLOCK;
use super::device::GpuDevice;
use super::kernel::{Kernel, Length, uniform};
use super::shader::MEASURE;
use crate::backend::DeviceError;
use crate::search::uniform_grid::MAX_COMPARISONS;

/// A sum of 64 bits, and the largest number; `Measure` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuMeasure {
    /// Lower half of the sum.
    pub low: u32,
    /// Upper half of the sum.
    pub high: u32,
    /// The largest number.
    pub most: u32,
}

impl GpuMeasure {
    /// The sum.
    #[must_use]
    pub fn sum(self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }

    /// Whether so many items share bins that comparing them would not end.
    #[must_use]
    pub fn is_crowded(self) -> bool {
        self.sum() > MAX_COMPARISONS
    }
}

/// What is measured; `MeasureParams` in WGSL.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct GpuMeasureParams {
    /// Where in `lengths` the number of entries is.
    pub length_slot: u32,
    /// Whether differences are measured and their squares summed up.
    pub squares: u32,
    /// Where the result goes.
    pub result_slot: u32,
    /// Number of blocks that `parts` has room for.
    pub most_blocks: u32,
}

/// What to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measured {
    /// The numbers themselves.
    Numbers,
    /// Differences of neighbors, which are the items of the bins whose starts are given;
    /// their squares are summed up.
    Bins,
}

/// The kernels of a measure.
#[derive(Debug)]
pub(super) struct Measurer {
    blocks: Kernel,
    all: Kernel,
}

/// A measure of one array, ready to be recorded any number of times.
#[derive(Debug)]
pub(super) struct MeasurePlan {
    blocks: wgpu::BindGroup,
    all: wgpu::BindGroup,
    at_most: u32,
}

impl Measurer {
    /// Compiles the kernels.
    ///
    /// # Errors
    /// [`DeviceError`] if the device refuses them or is lost.
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            blocks: Kernel::new(device, &MEASURE, "measure_blocks")?,
            all: Kernel::new(device, &MEASURE, "measure_all")?,
        })
    }

    /// Prepares the measure of the first `length` of `entries`, to be written to element
    /// `slot` of `results`.
    ///
    /// # Errors
    /// [`DeviceError`] if there is no memory for what is in between.
    pub fn plan(
        &self,
        device: &GpuDevice,
        (entries, length): (&GpuVec<u32>, Length<'_>),
        what: Measured,
        (results, slot): (&GpuVec<GpuMeasure>, u32),
    ) -> Result<MeasurePlan, DeviceError> {
        let at_most = length.at_most();
        let (lengths, length_slot) = length.bind(device)?;
        let most_blocks = at_most.div_ceil(SCAN_BLOCK);
        let parts = GpuVec::<GpuMeasure>::new(device, "measured blocks", most_blocks as usize)?;
        let params = GpuMeasureParams {
            length_slot,
            squares: u32::from(what == Measured::Bins),
            result_slot: slot,
            most_blocks,
        };
        let params = uniform(device, "measure", &params)?;
        Ok(MeasurePlan {
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
            at_most,
        })
    }

    /// Records the measure, where there are at most `at_most` entries this time.
    pub fn record_up_to(&self, pass: &mut wgpu::ComputePass<'_>, plan: &MeasurePlan, at_most: u32) {
        let blocks = at_most.min(plan.at_most).div_ceil(SCAN_BLOCK);
        self.blocks.record(pass, &plan.blocks, blocks);
        self.all.record(pass, &plan.all, 1);
    }
}
