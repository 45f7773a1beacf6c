//! FFRNN on the device: the twin of [`UniformGrid`](crate::search::UniformGrid).

use std::sync::Arc;

use glam::Vec3;

use super::GpuVec;
use super::device::GpuDevice;
use super::kernel::{Kernel, begin_pass};
use super::search::{GpuSearchBatch, GpuSearchParams, SearchArrays, spheres_that_fit};
use super::searched::{Counted, CountedSearch, Searched, counted_then_written, find_crowd};
use super::shader::{BIN, GRID_COUNT, GRID_WRITE};
use super::sort::{SortPlan, SortSize};
use super::sorted::SortedArrays;
use super::timer::{PassTime, PassTimer};
use crate::backend::DeviceError;
use crate::search::uniform_grid::GridLayout;
use crate::search::uniform_grid::ReachPlan;
use crate::search::{GridCell, PairBuffer, PairSearch, SearchError};
use crate::spheres::SphereSet;

/// Counting-sorted uniform grid on a GPU: the FFRNN search of Pauschenwein (2022, chapters 3
/// and 4).
///
/// 1. bin: the cell of each sphere;
/// 2. count the spheres of each cell, sum up, sort (see [`Sorter`](super::Sorter));
/// 3. gather: spheres move to where their cells are;
/// 4. walk, counting: each sphere against the following half of the cells around it;
/// 5. prefix sum of the counts: where each sphere writes its pairs;
/// 6. walk again, writing.
///
/// Steps 1 to 5 are one submission; then the counts come back, memory for the pairs is
/// made, and step 6 follows, in several windows if there are very many. In the times of a
/// search, all up to the counts is to build, and the rest, reading included, is to walk.
///
/// The grid is laid out by the code that the processor uses, cells, order and comparisons
/// are the same, and so the pairs are those of a [`UniformGrid`](crate::search::UniformGrid) in
/// the same order, index for index. That holds wherever 32-bit addition and multiplication
/// round to nearest, as they do on all desktop GPUs; products are kept from being fused with
/// additions (see `shaders/common/rounded.wgsl`). Differences could only concern pairs whose
/// distance equals their reach to the last bits.
///
/// ```
/// use std::sync::Arc;
///
/// use bevy_rapier_molecules::gpu::{GpuDevice, GpuGrid, GpuOptions};
/// use bevy_rapier_molecules::search::{PairBuffer, PairSearch, UniformGrid};
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// let mut spheres = SphereSet::new();
/// for k in 0..1000 {
///     spheres.push(Vec3::X * 0.3 * k as f32, 0.17, k)?;
/// }
/// let mut expected = PairBuffer::new();
/// UniformGrid::new().find_pairs(&spheres, 0.0, &mut expected)?;
///
/// let Ok(device) = GpuDevice::headless(&GpuOptions::default()) else {
///     return Ok(());
/// };
/// let mut grid = GpuGrid::new(Arc::new(device))?;
/// let mut pairs = PairBuffer::new();
/// grid.find_pairs(&spheres, 0.0, &mut pairs)?;
/// // The same pairs in the same order.
/// assert!(pairs.iter().eq(expected.iter()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GpuGrid {
    device: Arc<GpuDevice>,
    kernels: GridKernels,
    arrays: SearchArrays,
    sorted: SortedArrays,
    bound: Option<Bound>,
    /// How space was cut in the last search.
    layout: Option<GridLayout>,
    timer: Option<PassTimer>,
    stages: Vec<PassTime>,
}

#[derive(Debug)]
struct GridKernels {
    bin: Kernel,
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
    /// [`DeviceError`] if the device refuses them or is lost.
    pub fn new(device: Arc<GpuDevice>) -> Result<Self, DeviceError> {
        Ok(Self {
            kernels: GridKernels {
                bin: Kernel::new(&device, &BIN, "bin_spheres")?,
                count: Kernel::new(&device, &GRID_COUNT, "count_pairs")?,
                write: Kernel::new(&device, &GRID_WRITE, "write_pairs")?,
            },
            arrays: SearchArrays::new(&device)?,
            sorted: SortedArrays::new(&device)?,
            bound: None,
            layout: None,
            timer: None,
            stages: Vec::new(),
            device,
        })
    }

    /// Whether to time the stages of every search from now on.
    ///
    /// # Errors
    /// [`DeviceError`] if there is no memory for the clocks.
    pub fn time_stages(&mut self, timed: bool) -> Result<(), DeviceError> {
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

    /// Steps 1 to 5.
    fn count(&mut self, searched: Searched<'_>, plan: &ReachPlan) -> Result<Counted, DeviceError> {
        let layout = plan.layout(searched.len(), 0.0);
        self.layout = Some(layout);
        let size = SortSize {
            items: searched.len() as u32,
            bins: layout.cell_count() as u32,
        };
        let params = GpuSearchParams::new(size.items, plan.reach).with_cells(&layout);
        let device = Arc::clone(&self.device);
        let bound = self.prepare(searched, &params, size)?;
        let batch = GpuSearchBatch {
            spheres: size.items + 1,
            ..GpuSearchBatch::default()
        };
        self.arrays.set_batch(&device, &batch)?;
        let (kernels, sorted) = (&self.kernels, &self.sorted);
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
                sorted.sorter.record_count(pass, &bound.sort, size);
            },
            "insert",
        );
        stage(
            &|pass| sorted.sorter.record_sum(pass, &bound.sort, size),
            "prefix sum",
        );
        stage(
            &|pass| {
                sorted.sorter.record_place(pass, &bound.sort, size);
                let gather = &sorted.gather;
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
    ) -> Result<Bound, DeviceError> {
        let device = &*self.device;
        let mut grown = match searched {
            Searched::Sent(spheres) => self.arrays.upload(device, spheres, size.bins, params)?,
            Searched::Placed(_) => self.arrays.hold(device, size.bins, params)?,
        };
        grown |= self.sorted.resize(device, searched.len())?;
        let still_good = |bound: &Bound| !grown && bound.sort.starts().len() > size.bins as usize;
        match self.bound.take().filter(still_good) {
            Some(bound) => Ok(bound),
            None => self.bind(size),
        }
    }

    fn bind(&self, size: SortSize) -> Result<Bound, DeviceError> {
        let (device, arrays, sorted) = (&*self.device, &self.arrays, &self.sorted);
        // As many cells as a grid of so many spheres may ever have: a scene that expands
        // step by step must not allocate in each. Sizes are those of the arrays, so that
        // all grow together.
        let items = sorted.cells.capacity().min(u32::MAX as usize - 1);
        let max_cells = GridLayout::max_cells(items).max(size.bins as usize);
        let fits = GpuVec::<u32>::most(device).min(u64::from(u32::MAX)) - 1;
        let most = SortSize {
            items: items as u32,
            bins: (max_cells as u64).min(fits) as u32,
        };
        let sort = sorted.plan(device, arrays, most)?;
        let binned = [
            (0, &arrays.params),
            (1, arrays.spheres.buffer()),
            (2, sorted.cells.buffer()),
        ];
        let counted = sorted.counted(arrays, &sort);
        Ok(Bound {
            bin: self.kernels.bin.bind(device, &binned)?,
            gather: sorted.bind_gather(device, arrays, &sort)?,
            count: self.kernels.count.bind(device, &counted)?,
            write: None,
            sort,
        })
    }

    /// Makes room for `total` pairs that stay on the device.
    pub(super) fn hold_pairs(&mut self, total: u32) -> Result<(), DeviceError> {
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
    ) -> Result<(), DeviceError> {
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
    fn bind_write(&self, bound: &mut Bound, grown: bool) -> Result<wgpu::BindGroup, DeviceError> {
        if let Some(bindings) = bound.write.take().filter(|_| !grown) {
            return Ok(bindings);
        }
        let written = self.sorted.written(&self.arrays, &bound.sort);
        self.kernels.write.bind(&self.device, &written)
    }

    /// What is searched, and what was found.
    pub(super) fn arrays(&self) -> &SearchArrays {
        &self.arrays
    }

    /// Counts the pairs of spheres that are checked.
    pub(super) fn begin_with(
        &mut self,
        searched: Searched<'_>,
        plan: &ReachPlan,
    ) -> Result<u64, SearchError> {
        match self.count(searched, plan) {
            Ok(counted) => counted.pairs(plan),
            Err(error) => Err(self.failed(error)),
        }
    }
}

impl CountedSearch for GpuGrid {
    fn begin(&mut self, spheres: &SphereSet, margin: f32) -> Result<Option<u64>, SearchError> {
        match ReachPlan::new(spheres, margin)? {
            Some(plan) => self.begin_with(Searched::Sent(spheres), &plan).map(Some),
            None => {
                self.layout = None;
                Ok(None)
            }
        }
    }

    /// Step 6.
    fn write(&mut self, total: u64, pairs: &mut PairBuffer) -> Result<(), DeviceError> {
        let device = Arc::clone(&self.device);
        let window = self.arrays.reserve_pairs(&device, total)?;
        let Some(mut bound) = self.bound.take() else {
            return Ok(());
        };
        let bindings = self.bind_write(&mut bound, window.grown)?;
        let batches = std::iter::once((0, self.arrays.spheres.len() as u32));
        let kernel = (&self.kernels.write, &bindings);
        self.arrays
            .collect(&device, kernel, window, batches, pairs)?;
        bound.write = Some(bindings);
        self.bound = Some(bound);
        Ok(())
    }

    fn failed(&mut self, error: DeviceError) -> SearchError {
        self.bound = None;
        self.arrays.release(&self.device);
        self.sorted.release(&self.device);
        error.into()
    }
}

impl PairSearch for GpuGrid {
    fn name(&self) -> &'static str {
        "gpu-grid"
    }

    counted_then_written!();

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.layout.map(|layout| layout.cell_around(point))
    }
}
