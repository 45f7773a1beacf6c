//! FFRNN on the device: the twin of [`UniformGrid`](crate::search::UniformGrid).
//!
//! 1. bin: the cell of each sphere;
//! 2. count the spheres of each cell, sum up, sort (see `sort`);
//! 3. gather: spheres move to where their cells are;
//! 4. walk, counting: each sphere against the following half of the cells around it;
//! 5. prefix sum of the counts: where each sphere writes its pairs;
//! 6. walk again, writing.
//!
//! Steps 1 to 5 are one submission; then the counts come back, memory for the pairs is
//! made, and step 6 follows, in several windows if there are very many.
//!
//! The grid is laid out by the code that the CPU uses, cells, order and comparisons are
//! the same, and so the pairs are the same in the same order, index for index. That
//! holds wherever 32-bit addition and multiplication round to nearest, as they do on all
//! desktop GPUs; products are kept from being fused with additions (see `rounded.wgsl`).
//! Differences could only concern pairs whose distance equals their reach to the last
//! bits.

use std::sync::Arc;
use std::time::Instant;

use glam::Vec3;

use super::GpuVec;
use super::device::GpuDevice;
use super::error::GpuError;
use super::kernel::{Kernel, begin_pass};
use super::search::{
    CELLS_LENGTH, GpuSearchBatch, GpuSearchParams, SPHERES_LENGTH, SearchArrays, spheres_that_fit,
};
use super::searched::{Counted, Searched, find_crowd};
use super::shader::{BIN, GRID_COUNT, GRID_WRITE};
use super::sort::{GpuSortParams, SortInput, SortPlan, SortSize, Sorter};
use super::timer::{PassTime, PassTimer};
use crate::search::uniform_grid::layout::GridLayout;
use crate::search::uniform_grid::plan::ReachPlan;
use crate::search::{GridCell, PairBuffer, PairSearch, SearchError, SearchTimes};
use crate::spheres::SphereSet;

/// Counting-sorted uniform grid on a GPU.
#[derive(Debug)]
pub struct GpuGrid {
    device: Arc<GpuDevice>,
    kernels: GridKernels,
    sorter: Sorter,
    arrays: SearchArrays,
    /// Cell of each sphere.
    cells: GpuVec<u32>,
    sorted_spheres: GpuVec<[f32; 4]>,
    sorted_owners: GpuVec<u32>,
    bound: Option<Bound>,
    /// How space was cut in the last search.
    layout: Option<GridLayout>,
    last_error: Option<GpuError>,
    timer: Option<PassTimer>,
    stages: Vec<PassTime>,
}

#[derive(Debug)]
struct GridKernels {
    bin: Kernel,
    gather: Kernel,
    count: Kernel,
    write: Kernel,
}

/// What depends on where the arrays are.
#[derive(Debug)]
struct Bound {
    sort: SortPlan,
    bin: wgpu::BindGroup,
    gather: wgpu::BindGroup,
    count: wgpu::BindGroup,
    write: Option<wgpu::BindGroup>,
}

impl GpuGrid {
    /// Compiles the kernels for `device`.
    ///
    /// # Errors
    /// [`GpuError`] if the device refuses them or is lost.
    pub fn new(device: Arc<GpuDevice>) -> Result<Self, GpuError> {
        Ok(Self {
            kernels: GridKernels {
                bin: Kernel::new(&device, &BIN, "bin_spheres")?,
                gather: Kernel::new(&device, &BIN, "gather_spheres")?,
                count: Kernel::new(&device, &GRID_COUNT, "count_pairs")?,
                write: Kernel::new(&device, &GRID_WRITE, "write_pairs")?,
            },
            sorter: Sorter::new(&device)?,
            arrays: SearchArrays::new(&device)?,
            cells: GpuVec::new(&device, "cells of spheres", 0)?,
            sorted_spheres: GpuVec::new(&device, "sorted spheres", 0)?,
            sorted_owners: GpuVec::new(&device, "sorted owners", 0)?,
            bound: None,
            layout: None,
            last_error: None,
            timer: None,
            stages: Vec::new(),
            device,
        })
    }

    /// Whether to time the stages of every search from now on.
    ///
    /// # Errors
    /// [`GpuError`] if there is no memory for the clocks.
    pub fn time_stages(&mut self, timed: bool) -> Result<(), GpuError> {
        self.stages.clear();
        self.timer = None;
        if timed {
            self.timer = Some(PassTimer::new(&self.device)?);
        }
        Ok(())
    }

    /// How long the stages up to the number of pairs took in the last search: insert,
    /// prefix sum, sort, detect. Nothing if they are not timed, or the adapter cannot.
    #[must_use]
    pub fn stage_times(&self) -> &[PassTime] {
        &self.stages
    }

    /// Number of spheres that this device can search at once.
    #[must_use]
    pub fn spheres_that_fit(&self) -> u64 {
        spheres_that_fit(&self.device)
    }

    /// What the device said when it last failed: more than a [`SearchError`] can say.
    #[must_use]
    pub fn last_error(&self) -> Option<&GpuError> {
        self.last_error.as_ref()
    }

    /// Steps 1 to 5.
    fn count(&mut self, searched: Searched<'_>, plan: &ReachPlan) -> Result<Counted, GpuError> {
        let layout = plan.layout(searched.len(), 0.0);
        self.layout = Some(layout);
        let size = SortSize {
            items: searched.len() as u32,
            bins: layout.cell_count() as u32,
        };
        let params = GpuSearchParams {
            cells: layout.cells,
            folded: u32::from(layout.folded),
            low: layout.low.to_array(),
            per_nm: layout.per_nm,
            ..GpuSearchParams::new(size.items, plan.reach)
        };
        let device = Arc::clone(&self.device);
        let bound = self.prepare(searched, &params, size)?;
        let batch = GpuSearchBatch {
            spheres: size.items + 1,
            ..GpuSearchBatch::default()
        };
        self.arrays.set_batch(&device, &batch)?;
        let kernels = &self.kernels;
        let mut encoder = device.encoder("grid");
        if let Searched::Placed(atoms) = searched {
            atoms.record(&mut begin_pass(&mut encoder, "transform"));
            self.arrays.record_copy(&mut encoder, atoms);
        }
        let mut stage = |record: &dyn Fn(&mut wgpu::ComputePass<'_>), label| {
            let mut pass = match &mut self.timer {
                Some(timer) => timer.begin(&mut encoder, label),
                None => begin_pass(&mut encoder, label),
            };
            record(&mut pass);
        };
        stage(
            &|pass| {
                kernels.bin.record_threads(pass, &bound.bin, size.items);
                self.sorter.record_count(pass, &bound.sort, size);
            },
            "insert",
        );
        stage(
            &|pass| self.sorter.record_sum(pass, &bound.sort, size),
            "prefix sum",
        );
        stage(
            &|pass| {
                self.sorter.record_place(pass, &bound.sort, size);
                let gather = &kernels.gather;
                gather.record_threads(pass, &bound.gather, size.items);
            },
            "sort",
        );
        stage(
            &|pass| {
                let count = &kernels.count;
                count.record_threads(pass, &bound.count, batch.spheres);
                self.arrays.record_totals(pass);
            },
            "detect",
        );
        let [crowding, pairs] = self.arrays.read_measures(&device, encoder)?;
        if let Some(timer) = &mut self.timer {
            self.stages = timer.read(&device)?;
        }
        let counted = if crowding.is_crowded() {
            find_crowd(&device, &bound.sort, crowding)?
        } else {
            Counted::Pairs(pairs.sum())
        };
        self.bound = Some(bound);
        Ok(counted)
    }

    /// Sends the spheres to the device, and binds what has grown. What is bound is taken
    /// out, and put back when all went well.
    fn prepare(
        &mut self,
        searched: Searched<'_>,
        params: &GpuSearchParams,
        size: SortSize,
    ) -> Result<Bound, GpuError> {
        let device = &*self.device;
        let count = searched.len();
        let mut grown = match searched {
            Searched::Sent(spheres) => self.arrays.upload(device, spheres, size.bins, params)?,
            Searched::Placed(_) => self.arrays.hold(device, size.bins, params)?,
        };
        grown |= self.cells.resize(device, count)?;
        grown |= self.sorted_spheres.resize(device, count)?;
        grown |= self.sorted_owners.resize(device, count)?;
        let still_good = |bound: &Bound| !grown && bound.sort.starts().len() > size.bins as usize;
        match self.bound.take().filter(still_good) {
            Some(bound) => Ok(bound),
            None => self.bind(size),
        }
    }

    fn bind(&self, size: SortSize) -> Result<Bound, GpuError> {
        let (device, arrays, kernels) = (&*self.device, &self.arrays, &self.kernels);
        // As many cells as a grid of so many spheres may ever have: a scene that expands
        // step by step must not allocate in each. Sizes are those of the arrays, so that
        // all grow together.
        let items = self.cells.capacity().min(u32::MAX as usize - 1);
        let most_cells = GridLayout::most_cells(items).max(size.bins as usize);
        let fits = GpuVec::<u32>::most(device).min(u64::from(u32::MAX)) - 1;
        let sort = self.sorter.plan(
            device,
            SortInput {
                keys: &self.cells,
                lengths: &arrays.lengths,
                slots: GpuSortParams {
                    item_slot: SPHERES_LENGTH,
                    bin_slot: CELLS_LENGTH,
                },
                most: SortSize {
                    items: items as u32,
                    bins: (most_cells as u64).min(fits) as u32,
                },
                measured: &arrays.measured,
            },
        )?;
        let params = (0, &arrays.params);
        let spheres = (1, arrays.spheres.buffer());
        let bin = kernels
            .bin
            .bind(device, &[params, spheres, (2, self.cells.buffer())])?;
        let gather = kernels.gather.bind(
            device,
            &[
                params,
                spheres,
                (3, arrays.owners.buffer()),
                (4, sort.order().buffer()),
                (5, self.sorted_spheres.buffer()),
                (6, self.sorted_owners.buffer()),
            ],
        )?;
        let [params, batch, spheres, owners, starts, measured] = self.walked(&sort);
        let count = kernels.count.bind(
            device,
            &[
                params,
                batch,
                spheres,
                owners,
                starts,
                measured,
                (7, arrays.counts.buffer()),
            ],
        )?;
        Ok(Bound {
            sort,
            bin,
            gather,
            count,
            write: None,
        })
    }

    /// What both walks read.
    fn walked<'a>(&'a self, sort: &'a SortPlan) -> [(u32, &'a wgpu::Buffer); 6] {
        [
            (0, &self.arrays.params),
            (1, &self.arrays.batch),
            (2, self.sorted_spheres.buffer()),
            (3, self.sorted_owners.buffer()),
            (4, sort.starts().buffer()),
            (5, self.arrays.measured.buffer()),
        ]
    }

    /// Step 6.
    fn write(&mut self, total: u64, pairs: &mut PairBuffer) -> Result<(), GpuError> {
        let device = Arc::clone(&self.device);
        let (window, grown) = self.arrays.reserve_pairs(&device, total)?;
        let Some(mut bound) = self.bound.take() else {
            return Ok(());
        };
        let bindings = self.bind_write(&mut bound, grown)?;
        let spheres = self.arrays.spheres.len() as u32;
        let batches = std::iter::once((0, spheres));
        // More pairs than 32 bits can number were refused above.
        let sizes = (total as u32, window);
        let kernel = (&self.kernels.write, &bindings);
        self.arrays
            .collect(&device, kernel, sizes, batches, pairs)?;
        bound.write = Some(bindings);
        self.bound = Some(bound);
        Ok(())
    }

    /// Makes room for `total` pairs that stay on the device.
    pub(super) fn hold_pairs(&mut self, total: u32) -> Result<(), GpuError> {
        let grown = self.arrays.pairs.resize(&self.device, total as usize)?;
        if let Some(bound) = self.bound.as_mut().filter(|_| grown) {
            bound.write = None;
        }
        Ok(())
    }

    /// Step 6 for pairs that stay on the device, where there is [room](Self::hold_pairs):
    /// records that all `total` of them are written, in one window.
    pub(super) fn record_pairs(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        total: u32,
    ) -> Result<(), GpuError> {
        let device = Arc::clone(&self.device);
        let Some(mut bound) = self.bound.take() else {
            return Ok(());
        };
        let bindings = self.bind_write(&mut bound, false)?;
        let batch = GpuSearchBatch {
            first_sphere: 0,
            spheres: self.arrays.spheres.len() as u32,
            first_pair: 0,
            pairs: total,
        };
        self.arrays.set_batch(&device, &batch)?;
        let mut pass = begin_pass(encoder, "write pairs");
        let write = &self.kernels.write;
        write.record_threads(&mut pass, &bindings, batch.spheres);
        drop(pass);
        bound.write = Some(bindings);
        self.bound = Some(bound);
        Ok(())
    }

    /// What step 6 binds, anew if arrays have `grown`.
    fn bind_write(&self, bound: &mut Bound, grown: bool) -> Result<wgpu::BindGroup, GpuError> {
        if let Some(bindings) = bound.write.take().filter(|_| !grown) {
            return Ok(bindings);
        }
        let [params, batch, spheres, owners, starts, measured] = self.walked(&bound.sort);
        self.kernels.write.bind(
            &self.device,
            &[
                params,
                batch,
                spheres,
                owners,
                starts,
                measured,
                (6, bound.sort.order().buffer()),
                (7, self.arrays.counts.buffer()),
                (8, self.arrays.pairs.buffer()),
            ],
        )
    }

    /// What is searched, and what was found.
    pub(super) fn arrays(&self) -> &SearchArrays {
        &self.arrays
    }

    /// Checks and counts; `None` if no pair is possible.
    pub(super) fn begin(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
    ) -> Result<Option<u64>, SearchError> {
        match ReachPlan::new(spheres, margin)? {
            Some(plan) => self.begin_with(Searched::Sent(spheres), &plan).map(Some),
            None => {
                self.layout = None;
                Ok(None)
            }
        }
    }

    /// Counts the pairs of spheres that are checked.
    pub(super) fn begin_with(
        &mut self,
        searched: Searched<'_>,
        plan: &ReachPlan,
    ) -> Result<u64, SearchError> {
        match self.count(searched, plan) {
            Ok(Counted::Pairs(count)) => Ok(count),
            Ok(Counted::Crowded { sphere, spheres }) => Err(SearchError::TooCrowded {
                sphere,
                spheres,
                reach: plan.longest,
            }),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Remembers an error, and gives the memory back.
    pub(super) fn failed(&mut self, error: GpuError) -> SearchError {
        self.bound = None;
        self.arrays.release(&self.device);
        self.cells.release(&self.device);
        self.sorted_spheres.release(&self.device);
        self.sorted_owners.release(&self.device);
        let fault = error.as_fault();
        self.last_error = Some(error);
        SearchError::Device(fault)
    }
}

impl PairSearch for GpuGrid {
    fn name(&self) -> &'static str {
        "gpu-grid"
    }

    /// As [`UniformGrid`](crate::search::UniformGrid) does it. The time to build includes
    /// sending the spheres, and all up to the number of pairs; the time to walk is what it
    /// takes to write them and to read them back.
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
        if let Err(error) = self.write(total, pairs) {
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

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.layout.map(|layout| layout.cell_around(point))
    }

    fn trouble(&self) -> Option<String> {
        self.last_error().map(GpuError::to_string)
    }
}
