//! Stable counting sort: items into bins, by index within each bin.

use bytemuck::{Pod, Zeroable};

use super::buffer::GpuVec;
use super::constants::CROWDING_SLOT;
use super::device::GpuDevice;
use super::kernel::{Kernel, Length, uniform};
use super::measure::{GpuMeasure, MeasurePlan, Measured, Measurer};
use super::scan::{ScanPlan, Scanner};
use super::shader::{HISTOGRAM, SORT};
use crate::backend::DeviceError;

/// Where in `lengths` the numbers of items and of bins are; `SortParams` in WGSL.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct GpuSortParams {
    /// Slot of the number of items.
    pub item_slot: u32,
    /// Slot of the number of bins plus one.
    pub bin_slot: u32,
}

/// How much there is to sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortSize {
    /// Number of items.
    pub items: u32,
    /// Number of bins.
    pub bins: u32,
}

/// What to sort.
#[derive(Clone, Copy, Debug)]
pub struct SortInput<'a> {
    /// Bin of each item; each less than the number of bins.
    pub keys: &'a GpuVec<u32>,
    /// Array that holds the number of items, and the number of bins plus one.
    pub lengths: &'a GpuVec<u32>,
    /// Which of the lengths: a `gpu::tables::GpuSortParams`.
    pub slots: GpuSortParams,
    /// Most items and bins that there can be.
    pub most: SortSize,
    /// Its first element becomes the measure of the bins.
    pub measured: &'a GpuVec<GpuMeasure>,
}

/// Stable counting sort: items into bins, by index within each bin.
///
/// 1. count the items of each bin, with atomics: every item learns how many of its bin
///    were counted before it, in an order that nobody can predict;
/// 2. prefix sum: where each bin starts;
/// 3. scatter the items to their bins;
/// 4. rank: every item moves behind those of its bin that have smaller indices, which
///    makes the order that of the processor, and the same in every run.
///
/// The last step compares all items of a bin with each other. Bins so full that this
/// would not end are *crowded*: the step is left out, and the measure says so.
#[derive(Debug)]
pub struct Sorter {
    clear: Kernel,
    count: Kernel,
    scatter: Kernel,
    rank: Kernel,
    scanner: Scanner,
    measurer: Measurer,
}

/// A sort of one array, ready to be recorded any number of times.
#[derive(Debug)]
pub struct SortPlan {
    starts: GpuVec<u32>,
    scattered: GpuVec<u32>,
    order: GpuVec<u32>,
    clear: wgpu::BindGroup,
    count: wgpu::BindGroup,
    scatter: wgpu::BindGroup,
    rank: wgpu::BindGroup,
    scan: ScanPlan,
    measure: MeasurePlan,
}

impl Sorter {
    /// Compiles the kernels.
    ///
    /// # Errors
    /// [`DeviceError`] if the device refuses them or is lost.
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            clear: Kernel::new(device, &HISTOGRAM, "clear_bins")?,
            count: Kernel::new(device, &HISTOGRAM, "count_items")?,
            scatter: Kernel::new(device, &SORT, "scatter_items")?,
            rank: Kernel::new(device, &SORT, "rank_items")?,
            scanner: Scanner::new(device)?,
            measurer: Measurer::new(device)?,
        })
    }

    /// Prepares a sort. The plan is for these arrays as they are now.
    ///
    /// # Errors
    /// [`DeviceError`] if there is no memory for the bins and the order.
    pub fn plan(&self, device: &GpuDevice, input: SortInput<'_>) -> Result<SortPlan, DeviceError> {
        let SortSize { items, bins } = input.most;
        let array = |label, count: u32| -> Result<GpuVec<u32>, DeviceError> {
            let mut array = GpuVec::new(device, label, count as usize)?;
            array.resize(device, count as usize)?;
            Ok(array)
        };
        let starts = array("bin starts", bins.saturating_add(1))?;
        let places = array("places in bins", items)?;
        let scattered = array("scattered items", items)?;
        let order = array("sorted items", items)?;
        let params = uniform(device, "sort", &input.slots)?;
        let bin_count = Length::Device {
            counts: input.lengths,
            slot: input.slots.bin_slot,
            at_most: bins.saturating_add(1),
        };
        let params = (0, &params);
        let lengths = (1, input.lengths.buffer());
        let keys = (2, input.keys.buffer());
        let bins = (3, starts.buffer());
        let places = (4, places.buffer());
        let target = (5, scattered.buffer());
        let ranked = (6, order.buffer());
        let measured = (7, input.measured.buffer());
        Ok(SortPlan {
            clear: self.clear.bind(device, &[params, lengths, bins])?,
            count: self
                .count
                .bind(device, &[params, lengths, keys, bins, places])?,
            scatter: self
                .scatter
                .bind(device, &[params, lengths, keys, bins, places, target])?,
            rank: self.rank.bind(
                device,
                &[params, lengths, keys, bins, target, ranked, measured],
            )?,
            scan: self.scanner.plan(device, &starts, bin_count)?,
            measure: self.measurer.plan(
                device,
                (&starts, bin_count),
                Measured::Bins,
                (input.measured, CROWDING_SLOT),
            )?,
            starts,
            scattered,
            order,
        })
    }

    /// Records the whole sort, where there is at most `size` to sort this time.
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>, plan: &SortPlan, size: SortSize) {
        self.record_count(pass, plan, size);
        self.record_sum(pass, plan, size);
        self.record_place(pass, plan, size);
    }

    /// Records step 1.
    pub fn record_count(&self, pass: &mut wgpu::ComputePass<'_>, plan: &SortPlan, size: SortSize) {
        self.clear
            .record_threads(pass, &plan.clear, size.bins.saturating_add(1));
        self.count.record_threads(pass, &plan.count, size.items);
    }

    /// Records step 2, and measures the bins.
    pub fn record_sum(&self, pass: &mut wgpu::ComputePass<'_>, plan: &SortPlan, size: SortSize) {
        let entries = size.bins.saturating_add(1);
        self.scanner.record_up_to(pass, &plan.scan, entries);
        self.measurer.record_up_to(pass, &plan.measure, entries);
    }

    /// Records steps 3 and 4.
    pub fn record_place(&self, pass: &mut wgpu::ComputePass<'_>, plan: &SortPlan, size: SortSize) {
        self.scatter.record_threads(pass, &plan.scatter, size.items);
        self.rank.record_threads(pass, &plan.rank, size.items);
    }
}

impl SortPlan {
    /// First item of each bin in the order, and behind the last bin the number of items.
    #[must_use]
    pub fn starts(&self) -> &GpuVec<u32> {
        &self.starts
    }

    /// Indices of the items, bin by bin, in index order within each bin. Not written if
    /// the bins are crowded.
    #[must_use]
    pub fn order(&self) -> &GpuVec<u32> {
        &self.order
    }

    /// Indices of the items, bin by bin, in any order within each bin.
    #[must_use]
    pub fn scattered(&self) -> &GpuVec<u32> {
        &self.scattered
    }
}
