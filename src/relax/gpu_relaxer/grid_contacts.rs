//! Contacts found in a uniform grid.

use super::contact_passes::SharedBuffers;
use crate::backend::DeviceError;
use crate::gpu::kernel::{BoundKernel, uniform};
use crate::gpu::shader::{BIN, CONTACT_GATHER, CONTACTS};
use crate::gpu::shader_types::{GpuSearchParams, GpuSortParams};
use crate::gpu::{CountingSorter, SortInput, SortPlan, SortSize};
use crate::gpu::{GpuDevice, GpuSumMax, GpuVec};
use crate::search::uniform_grid::GridLayout;
use crate::search::uniform_grid::ReachPlan;

/// The passes from spheres to the corrections of their contacts: bin, sort, gather, walk.
///
/// The grid is folded (its cells repeat in space), so that spheres may move anywhere without
/// a new layout.
#[derive(Debug)]
pub(super) struct GridContacts {
    bin: BoundKernel,
    sorter: CountingSorter,
    sort: SortPlan,
    gather: BoundKernel,
    walk: BoundKernel,
    pub(super) occupancy: GpuVec<GpuSumMax>,
    size: SortSize,
}

impl GridContacts {
    pub(super) fn new(
        device: &GpuDevice,
        plan: &ReachPlan,
        shared: &SharedBuffers<'_>,
    ) -> Result<Self, DeviceError> {
        let SharedBuffers { atoms, .. } = shared;
        let count = atoms.spheres().len();
        let extent = &plan.extent;
        let layout = GridLayout::fit_anywhere(extent.low, extent.high, plan.longest, count);
        let size = SortSize {
            items: count as u32,
            bins: layout.cell_count() as u32,
        };
        let params = GpuSearchParams::new(size.items, plan.reach).with_cells(&layout);
        let params = uniform(device, "search", &params)?;
        let occupancy = GpuVec::from_slice(device, "cell occupancy", &[GpuSumMax::default()])?;
        let lengths = [size.items, size.bins.saturating_add(1)];
        let lengths = GpuVec::from_slice(device, "lengths", &lengths)?;
        let cells = GpuVec::zeroed(device, "cell of each sphere", count)?;
        let sorted_spheres = GpuVec::<[f32; 4]>::new(device, "sorted spheres", count)?;
        let sorted_ids = GpuVec::<[u32; 2]>::new(device, "sorted owners", count)?;
        let sorter = CountingSorter::new(device)?;
        let slots = GpuSortParams {
            item_slot: 0,
            bin_slot: 1,
        };
        let sort = sorter.plan(
            device,
            SortInput {
                keys: &cells,
                lengths: &lengths,
                slots,
                max: size,
                occupancy: &occupancy,
            },
        )?;
        let params = (0, &params);
        let spheres = (1, atoms.spheres().buffer());
        let binned = [params, spheres, (2, cells.buffer())];
        let bin = BoundKernel::new(device, &BIN, "bin_spheres", &binned)?;
        let gather = BoundKernel::new(
            device,
            &CONTACT_GATHER,
            "gather_contacts",
            &[
                params,
                spheres,
                (2, atoms.owners().buffer()),
                (3, sort.order().buffer()),
                (4, sorted_spheres.buffer()),
                (5, sorted_ids.buffer()),
            ],
        )?;
        let walk = BoundKernel::new(
            device,
            &CONTACTS,
            "sum_contacts",
            &[
                params,
                (1, shared.law),
                (2, sorted_spheres.buffer()),
                (3, sorted_ids.buffer()),
                (4, sort.starts().buffer()),
                (5, occupancy.buffer()),
                (6, shared.bodies.buffer()),
                (7, shared.linear.buffer()),
                (8, shared.angular.buffer()),
                (9, shared.counters.buffer()),
            ],
        )?;
        Ok(Self {
            bin,
            sorter,
            sort,
            gather,
            walk,
            occupancy,
            size,
        })
    }

    /// Records the cell of each sphere and the number of spheres per cell.
    pub(super) fn record_insert(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.bin.record_threads(pass, self.size.items);
        self.sorter.record_count(pass, &self.sort, self.size);
    }

    /// Records the start of each cell.
    pub(super) fn record_sum(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.sorter.record_sum(pass, &self.sort, self.size);
    }

    /// Records the sort of the spheres by cell.
    pub(super) fn record_sort(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.sorter.record_scatter(pass, &self.sort, self.size);
        self.gather.record_threads(pass, self.size.items);
    }

    /// Records the corrections of the contacts of each sphere.
    pub(super) fn record_walk(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.walk.record_threads(pass, self.size.items);
    }
}
