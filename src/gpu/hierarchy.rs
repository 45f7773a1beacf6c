//! A hierarchy of grids on the device: the twin of
//! [`HierarchicalGrid`](crate::search::HierarchicalGrid).
//!
//! As in `grid`, with the cells of all levels one behind the other in one sort. Levels are
//! chosen by the code that the CPU uses; cells, order and comparisons are the same, and so
//! are the pairs, index for index.

use std::sync::Arc;
use std::time::Instant;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use super::GpuVec;
use super::device::GpuDevice;
use super::error::GpuError;
use super::kernel::{Kernel, begin_pass, uniform};
use super::search::{
    CELLS_LENGTH, GpuSearchBatch, GpuSearchParams, SPHERES_LENGTH, SearchArrays, write,
};
use super::searched::{Counted, find_crowd};
use super::shader::{BIN, LEVEL_BIN, LEVEL_COUNT, LEVEL_WRITE};
use super::sort::{GpuSortParams, SortInput, SortPlan, SortSize, Sorter};
use crate::search::hierarchical_grid::levels::{Levels, MAX_LEVELS, OCTAVES};
use crate::search::uniform_grid::plan::ReachPlan;
use crate::search::{GridCell, PairBuffer, PairSearch, SearchError, SearchTimes};
use crate::spheres::SphereSet;

/// A grid of the hierarchy; `Level` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuLevel {
    /// Cells along each axis, border included.
    pub cells: [u32; 3],
    /// Whether the grid repeats itself; then `cells` are powers of two.
    pub folded: u32,
    /// Corner of the bounding box, nm.
    pub low: [f32; 3],
    /// Cells per nm.
    pub per_nm: f32,
    /// Number of its first cell among those of all levels.
    pub first_cell: u32,
    /// How far a sphere of no size looks into this level, nm.
    pub look: f32,
    /// Nothing; uniforms are aligned to 16 bytes.
    pub spare: [u32; 2],
}

/// The grids of a hierarchy; `HierarchyParams` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuHierarchyParams {
    /// The grids, the finest first.
    pub levels: [GpuLevel; MAX_LEVELS],
    /// Level of each octave of size, four to a vector.
    pub octaves: [[u32; 4]; OCTAVES / 4],
    /// Number of levels.
    pub count: u32,
    /// Exponent of the longest size.
    pub top: u32,
    /// Margin, nm.
    pub margin: f32,
    /// Nothing.
    pub spare: u32,
}

impl GpuHierarchyParams {
    fn new(levels: &Levels) -> Self {
        let mut params = Self {
            count: levels.all().len() as u32,
            top: levels.top,
            margin: levels.margin,
            ..Self::default()
        };
        for (target, level) in params.levels.iter_mut().zip(levels.all()) {
            *target = GpuLevel {
                cells: level.layout.cells,
                folded: u32::from(level.layout.folded),
                low: level.layout.low.to_array(),
                per_nm: level.layout.per_nm,
                first_cell: level.first_cell,
                look: level.look,
                spare: [0; 2],
            };
        }
        for (octave, &level) in levels.level_of.iter().enumerate() {
            params.octaves[octave / 4][octave % 4] = u32::from(level);
        }
        params
    }
}

/// Counting-sorted grids of several widths on a GPU, searched against each other.
#[derive(Debug)]
pub struct GpuHierarchicalGrid {
    device: Arc<GpuDevice>,
    bin: Kernel,
    gather: Kernel,
    count: Kernel,
    write: Kernel,
    sorter: Sorter,
    arrays: SearchArrays,
    params: wgpu::Buffer,
    /// Cell of each sphere.
    cells: GpuVec<u32>,
    sorted_spheres: GpuVec<[f32; 4]>,
    sorted_owners: GpuVec<u32>,
    levels: Levels,
    /// The sort of the last search, which the pairs are written from.
    sort: Option<SortPlan>,
    last_error: Option<GpuError>,
}

impl GpuHierarchicalGrid {
    /// Compiles the kernels for `device`.
    ///
    /// # Errors
    /// [`GpuError`] if the device refuses them or is lost.
    pub fn new(device: Arc<GpuDevice>) -> Result<Self, GpuError> {
        Ok(Self {
            bin: Kernel::new(&device, &LEVEL_BIN, "bin_levels")?,
            gather: Kernel::new(&device, &BIN, "gather_spheres")?,
            count: Kernel::new(&device, &LEVEL_COUNT, "count_pairs")?,
            write: Kernel::new(&device, &LEVEL_WRITE, "write_pairs")?,
            sorter: Sorter::new(&device)?,
            arrays: SearchArrays::new(&device)?,
            params: uniform(&device, "hierarchy", &GpuHierarchyParams::default())?,
            cells: GpuVec::new(&device, "cells of spheres", 0)?,
            sorted_spheres: GpuVec::new(&device, "sorted spheres", 0)?,
            sorted_owners: GpuVec::new(&device, "sorted owners", 0)?,
            levels: Levels::default(),
            sort: None,
            last_error: None,
            device,
        })
    }

    /// What the device said when it last failed: more than a [`SearchError`] can say.
    #[must_use]
    pub fn last_error(&self) -> Option<&GpuError> {
        self.last_error.as_ref()
    }

    /// Sorts the spheres and counts their pairs.
    fn count(&mut self, spheres: &SphereSet, plan: &ReachPlan) -> Result<Counted, GpuError> {
        let device = Arc::clone(&self.device);
        self.levels = Levels::fit(spheres, plan);
        self.sort = None;
        let size = SortSize {
            items: spheres.len() as u32,
            bins: self.levels.cell_count() as u32,
        };
        let params = GpuSearchParams::new(size.items, plan.reach);
        self.arrays.upload(&device, spheres, size.bins, &params)?;
        write(
            &device,
            &self.params,
            &GpuHierarchyParams::new(&self.levels),
        )?;
        self.cells.resize(&device, spheres.len())?;
        self.sorted_spheres.resize(&device, spheres.len())?;
        self.sorted_owners.resize(&device, spheres.len())?;
        let batch = GpuSearchBatch {
            spheres: size.items + 1,
            ..GpuSearchBatch::default()
        };
        self.arrays.set_batch(&device, &batch)?;
        let sort = self.sorter.plan(
            &device,
            SortInput {
                keys: &self.cells,
                lengths: &self.arrays.lengths,
                slots: GpuSortParams {
                    item_slot: SPHERES_LENGTH,
                    bin_slot: CELLS_LENGTH,
                },
                most: size,
                measured: &self.arrays.measured,
            },
        )?;
        let search = (0, &self.arrays.params);
        let unsorted = (1, self.arrays.spheres.buffer());
        let cells = (2, self.cells.buffer());
        let bin = self
            .bin
            .bind(&device, &[search, unsorted, cells, (9, &self.params)])?;
        let gather = self.gather.bind(
            &device,
            &[
                search,
                unsorted,
                (3, self.arrays.owners.buffer()),
                (4, sort.order().buffer()),
                (5, self.sorted_spheres.buffer()),
                (6, self.sorted_owners.buffer()),
            ],
        )?;
        let mut walked = self.walked(&sort).to_vec();
        walked.push((7, self.arrays.counts.buffer()));
        let count = self.count.bind(&device, &walked)?;
        let mut encoder = device.encoder("hierarchy");
        let mut pass = begin_pass(&mut encoder, "hierarchy");
        self.bin.record_threads(&mut pass, &bin, size.items);
        self.sorter.record(&mut pass, &sort, size);
        self.gather.record_threads(&mut pass, &gather, size.items);
        self.count.record_threads(&mut pass, &count, batch.spheres);
        self.arrays.record_totals(&mut pass);
        drop(pass);
        let [crowding, pairs] = self.arrays.read_measures(&device, encoder)?;
        if crowding.is_crowded() {
            return find_crowd(&device, &sort, crowding);
        }
        self.sort = Some(sort);
        Ok(Counted::Pairs(pairs.sum()))
    }

    /// What both walks read.
    fn walked<'a>(&'a self, sort: &'a SortPlan) -> [(u32, &'a wgpu::Buffer); 7] {
        [
            (0, &self.arrays.params),
            (1, &self.arrays.batch),
            (2, self.sorted_spheres.buffer()),
            (3, self.sorted_owners.buffer()),
            (4, sort.starts().buffer()),
            (5, self.arrays.measured.buffer()),
            (9, &self.params),
        ]
    }

    fn write_pairs(&mut self, total: u64, pairs: &mut PairBuffer) -> Result<(), GpuError> {
        let device = Arc::clone(&self.device);
        let (window, _) = self.arrays.reserve_pairs(&device, total)?;
        let Some(sort) = self.sort.take() else {
            return Ok(());
        };
        let mut walked = self.walked(&sort).to_vec();
        walked.extend([
            (6, sort.order().buffer()),
            (7, self.arrays.counts.buffer()),
            (8, self.arrays.pairs.buffer()),
        ]);
        let bindings = self.write.bind(&device, &walked)?;
        let spheres = self.arrays.spheres.len() as u32;
        let batches = std::iter::once((0, spheres));
        // More pairs than 32 bits can number were refused above.
        let sizes = (total as u32, window);
        let kernel = (&self.write, &bindings);
        self.arrays.collect(&device, kernel, sizes, batches, pairs)
    }

    /// Checks and counts; `None` if no pair is possible.
    fn begin(&mut self, spheres: &SphereSet, margin: f32) -> Result<Option<u64>, SearchError> {
        self.levels = Levels::default();
        let Some(plan) = ReachPlan::new(spheres, margin)? else {
            return Ok(None);
        };
        match self.count(spheres, &plan) {
            Ok(Counted::Pairs(count)) => Ok(Some(count)),
            Ok(Counted::Crowded { sphere, spheres }) => Err(SearchError::TooCrowded {
                sphere,
                spheres,
                reach: plan.longest,
            }),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Remembers an error, and gives the memory back.
    fn failed(&mut self, error: GpuError) -> SearchError {
        self.sort = None;
        self.arrays.release(&self.device);
        self.cells.release(&self.device);
        self.sorted_spheres.release(&self.device);
        self.sorted_owners.release(&self.device);
        let fault = error.as_fault();
        self.last_error = Some(error);
        SearchError::Device(fault)
    }
}

impl PairSearch for GpuHierarchicalGrid {
    fn name(&self) -> &'static str {
        "gpu-hierarchical-grid"
    }

    fn find_pairs(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        pairs.clear();
        let start = Instant::now();
        let Some(total) = self.begin(spheres, margin)? else {
            return Ok(SearchTimes::default());
        };
        let built = Instant::now();
        if let Err(error) = self.write_pairs(total, pairs) {
            pairs.clear();
            return Err(self.failed(error));
        }
        Ok(SearchTimes {
            build: built - start,
            walk: built.elapsed(),
        })
    }

    fn count_pairs(&mut self, spheres: &SphereSet, margin: f32) -> Result<u64, SearchError> {
        Ok(self.begin(spheres, margin)?.unwrap_or(0))
    }

    /// The cell of the finest level.
    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        let finest = self.levels.all().first()?;
        Some(finest.layout.cell_around(point))
    }

    fn trouble(&self) -> Option<String> {
        self.last_error().map(GpuError::to_string)
    }
}
