//! Stable counting sort of items into bins.

use bytemuck::{Pod, Zeroable};

use super::device::GpuDevice;
use super::gpu_vec::GpuVec;
use super::kernel::{Kernel, Length, uniform};
use super::prefix_sum::{PrefixSum, PrefixSumPlan};
use super::shader::{COUNTING_SORT, HISTOGRAM};
use super::shader_constants::OCCUPANCY_SLOT;
use super::sum_max::{GpuSumMax, Reduced, SumMaxPlan, SumMaxReducer};
use crate::backend::DeviceError;

/// Indices of the number of items and of bins in `lengths`; `SortParams` in WGSL.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct GpuSortParams {
    /// Index of the number of items.
    pub item_slot: u32,
    /// Index of the number of bins plus one.
    pub bin_slot: u32,
}

/// Size of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortSize {
    /// Number of items.
    pub items: u32,
    /// Number of bins.
    pub bins: u32,
}

/// Input of a sort.
#[derive(Clone, Copy, Debug)]
pub struct SortInput<'a> {
    /// Bin of each item; must be less than the number of bins.
    pub keys: &'a GpuVec<u32>,
    /// Buffer with the number of items, and the number of bins plus one.
    pub lengths: &'a GpuVec<u32>,
    /// Indices into `lengths`: a `gpu::shader_types::GpuSortParams`.
    pub slots: GpuSortParams,
    /// Maximum number of items and bins.
    pub max: SortSize,
    /// Receives the occupancy of the bins in its first element.
    pub occupancy: &'a GpuVec<GpuSumMax>,
}

/// Stable counting sort of items into bins.
///
/// 1. count the items of each bin with atomics; the returned count is the provisional rank of
///    an item in its bin, in arbitrary order;
/// 2. prefix sum: the start of each bin;
/// 3. scatter the items to their bins;
/// 4. rank: sort the items of each bin by index, which makes the order that of the CPU and
///    the same in every run.
///
/// Step 4 compares all items of a bin with each other. It is skipped if bins are so full that
/// it would take too long ([`GpuSumMax::is_overcrowded`]).
#[derive(Debug)]
pub struct CountingSorter {
    clear: Kernel,
    count: Kernel,
    scatter: Kernel,
    rank: Kernel,
    scanner: PrefixSum,
    reducer: SumMaxReducer,
}

/// A sort of one buffer, ready to be recorded any number of times.
#[derive(Debug)]
pub struct SortPlan {
    starts: GpuVec<u32>,
    scattered: GpuVec<u32>,
    order: GpuVec<u32>,
    clear: wgpu::BindGroup,
    count: wgpu::BindGroup,
    scatter: wgpu::BindGroup,
    rank: wgpu::BindGroup,
    scan: PrefixSumPlan,
    occupancy: SumMaxPlan,
}

impl CountingSorter {
    /// Compiles the kernels.
    ///
    /// # Errors
    /// [`DeviceError`] if the device rejects them or is lost.
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            clear: Kernel::new(device, &HISTOGRAM, "clear_bins")?,
            count: Kernel::new(device, &HISTOGRAM, "count_items")?,
            scatter: Kernel::new(device, &COUNTING_SORT, "scatter_items")?,
            rank: Kernel::new(device, &COUNTING_SORT, "rank_items")?,
            scanner: PrefixSum::new(device)?,
            reducer: SumMaxReducer::new(device)?,
        })
    }

    /// Prepares a sort. The plan is valid until a buffer grows.
    ///
    /// # Errors
    /// [`DeviceError`] if there is no memory for the bins and the order.
    pub fn plan(&self, device: &GpuDevice, input: SortInput<'_>) -> Result<SortPlan, DeviceError> {
        let SortSize { items, bins } = input.max;
        let buffer = |label, count: u32| GpuVec::<u32>::zeroed(device, label, count as usize);
        let starts = buffer("bin starts", bins.saturating_add(1))?;
        let places = buffer("ranks in bins", items)?;
        let scattered = buffer("scattered items", items)?;
        let order = buffer("sorted items", items)?;
        let params = uniform(device, "sort", &input.slots)?;
        let bin_count = Length::Device {
            counts: input.lengths,
            slot: input.slots.bin_slot,
            max: bins.saturating_add(1),
        };
        let params = (0, &params);
        let lengths = (1, input.lengths.buffer());
        let keys = (2, input.keys.buffer());
        let bins = (3, starts.buffer());
        let places = (4, places.buffer());
        let target = (5, scattered.buffer());
        let ranked = (6, order.buffer());
        let occupancy = (7, input.occupancy.buffer());
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
                &[params, lengths, keys, bins, target, ranked, occupancy],
            )?,
            scan: self.scanner.plan(device, &starts, bin_count)?,
            occupancy: self.reducer.plan(
                device,
                (&starts, bin_count),
                Reduced::BinSizes,
                (input.occupancy, OCCUPANCY_SLOT),
            )?,
            starts,
            scattered,
            order,
        })
    }

    /// Records the sort of at most `size`.
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>, plan: &SortPlan, size: SortSize) {
        self.record_count(pass, plan, size);
        self.record_sum(pass, plan, size);
        self.record_scatter(pass, plan, size);
    }

    /// Records step 1.
    pub fn record_count(&self, pass: &mut wgpu::ComputePass<'_>, plan: &SortPlan, size: SortSize) {
        self.clear
            .record_threads(pass, &plan.clear, size.bins.saturating_add(1));
        self.count.record_threads(pass, &plan.count, size.items);
    }

    /// Records step 2, and the occupancy of the bins.
    pub fn record_sum(&self, pass: &mut wgpu::ComputePass<'_>, plan: &SortPlan, size: SortSize) {
        let entries = size.bins.saturating_add(1);
        self.scanner.record_up_to(pass, &plan.scan, entries);
        self.reducer.record_up_to(pass, &plan.occupancy, entries);
    }

    /// Records steps 3 and 4.
    pub fn record_scatter(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        plan: &SortPlan,
        size: SortSize,
    ) {
        self.scatter.record_threads(pass, &plan.scatter, size.items);
        self.rank.record_threads(pass, &plan.rank, size.items);
    }
}

impl SortPlan {
    /// Start of each bin in the order, and the number of items at the end.
    #[must_use]
    pub fn starts(&self) -> &GpuVec<u32> {
        &self.starts
    }

    /// Items by bin, sorted by index within each bin. Not written if the bins are
    /// overcrowded.
    #[must_use]
    pub fn order(&self) -> &GpuVec<u32> {
        &self.order
    }

    /// Items by bin, in arbitrary order within each bin.
    #[must_use]
    pub fn scattered(&self) -> &GpuVec<u32> {
        &self.scattered
    }
}
