//! Uniform grid on the device. CPU reference: [`UniformGrid`](crate::search::UniformGrid).

use std::sync::Arc;
use std::time::Instant;

use glam::Vec3;

use super::GpuVec;
use super::counting_sort::{CountingSorter, GpuSortParams, SortInput, SortPlan, SortSize};
use super::device::GpuDevice;
use super::kernel::{Kernel, begin_pass};
use super::pass_timer::{PassTime, PassTimer};
use super::search_buffers::{
    CELLS_LENGTH, GpuSearchBatch, GpuSearchParams, SPHERES_LENGTH, SearchBuffers, max_spheres,
};
use super::shader::{BIN, GRID_COUNT, GRID_WRITE};
use super::sum_max::GpuSumMax;
use crate::backend::DeviceError;
use crate::search::uniform_grid::{GridLayout, ReachPlan};
use crate::search::{GridCell, PairBuffer, PairSearch, SearchError, SearchTimes, check_pair_count};
use crate::spheres::SphereSet;

/// Counting-sorted uniform grid on a GPU: the FFRNN search of Pauschenwein (2022, chapters 3
/// and 4).
///
/// 1. bin: the cell of each sphere;
/// 2. count the spheres of each cell, prefix sum, sort (see
///    [`CountingSorter`](super::CountingSorter));
/// 3. gather the spheres in the order of their cells;
/// 4. walk and count: compare each sphere with the following half of the cells around it;
/// 5. prefix sum of the counts: where each sphere writes its pairs;
/// 6. walk again and write.
///
/// Steps 1 to 5 are one submission. Then the number of pairs is read back, the pairs are
/// allocated, and step 6 follows, in several windows if there are very many.
/// [`SearchTimes`](crate::search::SearchTimes) counts steps 1 to 5 as `build`, the rest and the
/// readback as `walk`.
///
/// The pairs are those of a [`UniformGrid`](crate::search::UniformGrid) in the same order: both
/// use the same layout, and the kernels repeat its arithmetic operation by operation. This holds
/// wherever 32-bit addition and multiplication round to nearest, as on all desktop GPUs;
/// `shaders/common/rounded.wgsl` prevents fused multiply-adds.
///
/// ```
/// use std::sync::Arc;
///
/// use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions, GpuUniformGrid};
/// use bevy_rapier_molecules::search::PairSearch;
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// let mut spheres = SphereSet::new();
/// for k in 0..1000 {
///     spheres.push(Vec3::X * 0.3 * k as f32, 0.17, k)?;
/// }
/// if let Ok(device) = GpuDevice::headless(&GpuOptions::default()) {
///     let mut grid = GpuUniformGrid::new(Arc::new(device))?;
///     assert_eq!(grid.count_pairs(&spheres, 0.0)?, 999);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GpuUniformGrid {
    device: Arc<GpuDevice>,
    bin: Kernel,
    sorter: CountingSorter,
    gather: Kernel,
    count: Kernel,
    write: Kernel,
    buffers: SearchBuffers,
    /// Cell of each sphere.
    cells: GpuVec<u32>,
    sorted_spheres: GpuVec<[f32; 4]>,
    sorted_owners: GpuVec<u32>,
    bound: Option<Bound>,
    /// Layout of the last search.
    layout: Option<GridLayout>,
    timer: Option<PassTimer>,
    stages: Vec<PassTime>,
}

/// Bind groups, valid until a buffer grows.
#[derive(Debug)]
struct Bound {
    sort: SortPlan,
    bin: wgpu::BindGroup,
    gather: wgpu::BindGroup,
    count: wgpu::BindGroup,
    write: Option<wgpu::BindGroup>,
}

impl GpuUniformGrid {
    /// Compiles the kernels for `device`.
    ///
    /// # Errors
    /// [`DeviceError`] if the device rejects them or is lost.
    pub fn new(device: Arc<GpuDevice>) -> Result<Self, DeviceError> {
        Ok(Self {
            bin: Kernel::new(&device, &BIN, "bin_spheres")?,
            sorter: CountingSorter::new(&device)?,
            gather: Kernel::new(&device, &BIN, "gather_spheres")?,
            count: Kernel::new(&device, &GRID_COUNT, "count_pairs")?,
            write: Kernel::new(&device, &GRID_WRITE, "write_pairs")?,
            buffers: SearchBuffers::new(&device)?,
            cells: GpuVec::new(&device, "cell of each sphere", 0)?,
            sorted_spheres: GpuVec::new(&device, "sorted spheres", 0)?,
            sorted_owners: GpuVec::new(&device, "sorted owners", 0)?,
            bound: None,
            layout: None,
            timer: None,
            stages: Vec::new(),
            device,
        })
    }

    /// Sets whether searches are timed.
    ///
    /// # Errors
    /// [`DeviceError`] if there is no memory for the timestamps.
    pub fn time_stages(&mut self, timed: bool) -> Result<(), DeviceError> {
        self.stages.clear();
        self.timer = None;
        if timed {
            self.timer = Some(PassTimer::new(&self.device)?);
        }
        Ok(())
    }

    /// Times of the stages insert, prefix sum, sort and detect in the last search, up to the
    /// number of pairs. Empty if not timed, or without timestamps.
    #[must_use]
    pub fn stage_times(&self) -> &[PassTime] {
        &self.stages
    }

    /// Maximum number of spheres on this device.
    #[must_use]
    pub fn max_spheres(&self) -> u64 {
        max_spheres(&self.device)
    }

    /// Counts the pairs of valid spheres: steps 1 to 5.
    fn count_on_device(
        &mut self,
        spheres: &SphereSet,
        plan: &ReachPlan,
    ) -> Result<u64, SearchError> {
        let counted = self.try_count(spheres, plan);
        if let Err(SearchError::Device(_)) = counted {
            self.release();
        }
        counted
    }

    fn try_count(&mut self, spheres: &SphereSet, plan: &ReachPlan) -> Result<u64, SearchError> {
        let layout = plan.layout(spheres.len(), 0.0);
        self.layout = Some(layout);
        let size = SortSize {
            items: spheres.len() as u32,
            bins: layout.cell_count() as u32,
        };
        let params = GpuSearchParams::new(size.items, plan.reach).with_cells(&layout);
        let device = Arc::clone(&self.device);
        let bound = self.prepare(spheres, &params, size)?;
        let batch = GpuSearchBatch {
            spheres: size.items + 1,
            ..GpuSearchBatch::default()
        };
        self.buffers.set_batch(&device, &batch)?;
        let mut encoder = device.encoder("grid");
        let (sorter, sort) = (&self.sorter, &bound.sort);
        let mut stage = |label, record: &dyn Fn(&mut wgpu::ComputePass<'_>)| {
            let mut pass = match &mut self.timer {
                Some(timer) => timer.begin(&mut encoder, label),
                None => begin_pass(&mut encoder, label),
            };
            record(&mut pass);
        };
        stage("insert", &|pass| {
            self.bin.record_threads(pass, &bound.bin, size.items);
            sorter.record_count(pass, sort, size);
        });
        stage("prefix sum", &|pass| sorter.record_sum(pass, sort, size));
        stage("sort", &|pass| {
            sorter.record_scatter(pass, sort, size);
            self.gather.record_threads(pass, &bound.gather, size.items);
        });
        stage("detect", &|pass| {
            let count = &self.count;
            count.record_threads(pass, &bound.count, batch.spheres);
            self.buffers.record_totals(pass);
        });
        let [occupancy, pairs] = self.buffers.read_totals(&device, encoder)?;
        if let Some(timer) = &mut self.timer {
            self.stages = timer.read(&device)?;
        }
        let bound = self.bound.insert(bound);
        if occupancy.is_overcrowded() {
            return Err(SearchError::TooCrowded {
                sphere: first_of_fullest_cell(&device, &bound.sort, occupancy)?,
                spheres: occupancy.max,
                reach: plan.longest,
            });
        }
        Ok(pairs.sum())
    }

    /// Uploads the spheres and renews bind groups if a buffer grew. The bind groups are taken
    /// out, and put back if the search succeeds.
    fn prepare(
        &mut self,
        spheres: &SphereSet,
        params: &GpuSearchParams,
        size: SortSize,
    ) -> Result<Bound, DeviceError> {
        let device = &*self.device;
        let buffers = &mut self.buffers;
        let mut grown = buffers.upload(device, spheres, size.bins, params)?;
        grown |= self.cells.resize(device, spheres.len())?;
        grown |= self.sorted_spheres.resize(device, spheres.len())?;
        grown |= self.sorted_owners.resize(device, spheres.len())?;
        let is_valid = |bound: &Bound| !grown && bound.sort.starts().len() > size.bins as usize;
        match self.bound.take().filter(is_valid) {
            Some(bound) => Ok(bound),
            None => self.bind(size),
        }
    }

    fn bind(&self, size: SortSize) -> Result<Bound, DeviceError> {
        let (device, buffers) = (&*self.device, &self.buffers);
        // Allocate the maximum number of cells for this number of spheres, so that a scene
        // that expands slowly does not allocate in every step. Sizes follow the capacities,
        // so that all buffers grow together.
        let items = self.cells.capacity().min(u32::MAX as usize - 1);
        let max_cells = GridLayout::max_cells(items).max(size.bins as usize);
        let fits = GpuVec::<u32>::max_len(device).min(u64::from(u32::MAX)) - 1;
        let input = SortInput {
            keys: &self.cells,
            lengths: &buffers.lengths,
            slots: GpuSortParams {
                item_slot: SPHERES_LENGTH,
                bin_slot: CELLS_LENGTH,
            },
            max: SortSize {
                items: items as u32,
                bins: (max_cells as u64).min(fits) as u32,
            },
            occupancy: &buffers.totals,
        };
        let sort = self.sorter.plan(device, input)?;
        let (params, spheres) = ((0, &buffers.params), (1, buffers.spheres.buffer()));
        let gathered = [
            params,
            spheres,
            (3, buffers.owners.buffer()),
            (4, sort.order().buffer()),
            (5, self.sorted_spheres.buffer()),
            (6, self.sorted_owners.buffer()),
        ];
        let cells = (2, self.cells.buffer());
        Ok(Bound {
            bin: self.bin.bind(device, &[params, spheres, cells])?,
            gather: self.gather.bind(device, &gathered)?,
            count: self.count.bind(device, &self.count_bindings(&sort))?,
            write: None,
            sort,
        })
    }

    /// Bindings of step 4.
    fn count_bindings<'a>(&'a self, sort: &'a SortPlan) -> [(u32, &'a wgpu::Buffer); 7] {
        [
            (0, &self.buffers.params),
            (1, &self.buffers.batch),
            (2, self.sorted_spheres.buffer()),
            (3, self.sorted_owners.buffer()),
            (4, sort.starts().buffer()),
            (5, self.buffers.totals.buffer()),
            (7, self.buffers.counts.buffer()),
        ]
    }

    /// Bind group of step 6, renewed if a buffer has `grown`.
    fn bind_write(&self, bound: &mut Bound, grown: bool) -> Result<wgpu::BindGroup, DeviceError> {
        if let Some(bindings) = bound.write.take().filter(|_| !grown) {
            return Ok(bindings);
        }
        let order = (6, bound.sort.order().buffer());
        let pairs = (8, self.buffers.pairs.buffer());
        let written = [&self.count_bindings(&bound.sort)[..], &[order, pairs]].concat();
        self.write.bind(&self.device, &written)
    }

    /// Step 6.
    fn write_pairs(&mut self, total: u64, pairs: &mut PairBuffer) -> Result<(), DeviceError> {
        let device = Arc::clone(&self.device);
        let window = self.buffers.reserve_pairs(&device, total)?;
        let Some(mut bound) = self.bound.take() else {
            return Ok(());
        };
        let bindings = self.bind_write(&mut bound, window.grown)?;
        let batches = std::iter::once((0, self.buffers.spheres.len() as u32));
        let kernel = (&self.write, &bindings);
        self.buffers
            .collect(&device, kernel, window, batches, pairs)?;
        bound.write = Some(bindings);
        self.bound = Some(bound);
        Ok(())
    }

    /// Frees all buffers after an error.
    fn release(&mut self) {
        self.bound = None;
        self.buffers.release(&self.device);
        self.cells.release(&self.device);
        self.sorted_spheres.release(&self.device);
        self.sorted_owners.release(&self.device);
    }
}

/// The smallest sphere index of the first of the fullest cells.
fn first_of_fullest_cell(
    device: &GpuDevice,
    sort: &SortPlan,
    occupancy: GpuSumMax,
) -> Result<u32, DeviceError> {
    let starts = sort.starts().read(device)?;
    let scattered = sort.scattered().read(device)?;
    let fullest = starts
        .windows(2)
        .find(|cell| cell[1].wrapping_sub(cell[0]) == occupancy.max);
    let members = fullest.and_then(|cell| scattered.get(cell[0] as usize..cell[1] as usize));
    Ok(members
        .and_then(|all| all.iter().copied().min())
        .unwrap_or(0))
}

impl PairSearch for GpuUniformGrid {
    fn name(&self) -> &'static str {
        "gpu-grid"
    }

    fn find_pairs(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        pairs.clear();
        let start = Instant::now();
        let total = self.count_pairs(spheres, margin)?;
        check_pair_count(total)?;
        let build = start.elapsed();
        if total > 0
            && let Err(error) = self.write_pairs(total, pairs)
        {
            pairs.clear();
            self.release();
            return Err(error.into());
        }
        let walk = start.elapsed() - build;
        Ok(SearchTimes { build, walk })
    }

    fn count_pairs(&mut self, spheres: &SphereSet, margin: f32) -> Result<u64, SearchError> {
        self.layout = None;
        match ReachPlan::new(spheres, margin)? {
            Some(plan) => self.count_on_device(spheres, &plan),
            None => Ok(0),
        }
    }

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.layout.map(|layout| layout.cell_around(point))
    }
}
