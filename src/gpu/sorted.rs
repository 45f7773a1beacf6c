//! Spheres in the order of their cells: what the grids have in common.

use super::buffer::GpuVec;
use super::device::GpuDevice;
use super::kernel::Kernel;
use super::search::{CELLS_LENGTH, SPHERES_LENGTH, SearchArrays};
use super::shader::BIN;
use super::sort::{GpuSortParams, SortInput, SortPlan, SortSize, Sorter};
use crate::backend::DeviceError;

/// Cells of spheres, the sort by cells, and the spheres in that order.
#[derive(Debug)]
pub(super) struct SortedArrays {
    pub(super) sorter: Sorter,
    /// Moves spheres to their places.
    pub(super) gather: Kernel,
    /// Cell of each sphere.
    pub(super) cells: GpuVec<u32>,
    spheres: GpuVec<[f32; 4]>,
    owners: GpuVec<u32>,
}

impl SortedArrays {
    pub(super) fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            sorter: Sorter::new(device)?,
            gather: Kernel::new(device, &BIN, "gather_spheres")?,
            cells: GpuVec::new(device, "cells of spheres", 0)?,
            spheres: GpuVec::new(device, "sorted spheres", 0)?,
            owners: GpuVec::new(device, "sorted owners", 0)?,
        })
    }

    /// Makes room for `count` spheres; returns whether arrays grew.
    pub(super) fn resize(&mut self, device: &GpuDevice, count: usize) -> Result<bool, DeviceError> {
        let mut grown = self.cells.resize(device, count)?;
        grown |= self.spheres.resize(device, count)?;
        grown |= self.owners.resize(device, count)?;
        Ok(grown)
    }

    /// Prepares the sort of the spheres of a search: at most so many items, which are
    /// spheres, and bins, which are cells.
    pub(super) fn plan(
        &self,
        device: &GpuDevice,
        search: &SearchArrays,
        most: SortSize,
    ) -> Result<SortPlan, DeviceError> {
        self.sorter.plan(
            device,
            SortInput {
                keys: &self.cells,
                lengths: &search.lengths,
                slots: GpuSortParams {
                    item_slot: SPHERES_LENGTH,
                    bin_slot: CELLS_LENGTH,
                },
                most,
                measured: &search.measured,
            },
        )
    }

    /// What [`gather`](Self::gather) binds.
    pub(super) fn bind_gather(
        &self,
        device: &GpuDevice,
        search: &SearchArrays,
        sort: &SortPlan,
    ) -> Result<wgpu::BindGroup, DeviceError> {
        self.gather.bind(
            device,
            &[
                (0, &search.params),
                (1, search.spheres.buffer()),
                (3, search.owners.buffer()),
                (4, sort.order().buffer()),
                (5, self.spheres.buffer()),
                (6, self.owners.buffer()),
            ],
        )
    }

    /// What a walk that counts pairs binds, beside what is its own.
    pub(super) fn counted<'a>(
        &'a self,
        search: &'a SearchArrays,
        sort: &'a SortPlan,
    ) -> [(u32, &'a wgpu::Buffer); 7] {
        [
            (0, &search.params),
            (1, &search.batch),
            (2, self.spheres.buffer()),
            (3, self.owners.buffer()),
            (4, sort.starts().buffer()),
            (5, search.measured.buffer()),
            (7, search.counts.buffer()),
        ]
    }

    /// What a walk that writes pairs binds, beside what is its own.
    pub(super) fn written<'a>(
        &'a self,
        search: &'a SearchArrays,
        sort: &'a SortPlan,
    ) -> [(u32, &'a wgpu::Buffer); 9] {
        let [params, batch, spheres, owners, starts, measured, counts] = self.counted(search, sort);
        let order = (6, sort.order().buffer());
        let pairs = (8, search.pairs.buffer());
        [
            params, batch, spheres, owners, starts, measured, counts, order, pairs,
        ]
    }

    /// Gives the memory back.
    pub(super) fn release(&mut self, device: &GpuDevice) {
        self.cells.release(device);
        self.spheres.release(device);
        self.owners.release(device);
    }
}
