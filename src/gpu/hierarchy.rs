//! A hierarchy of grids on the device: the twin of
//! [`HierarchicalGrid`](crate::search::HierarchicalGrid).

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use super::device::GpuDevice;
use super::kernel::{Kernel, begin_pass, uniform};
use super::search::{GpuSearchBatch, GpuSearchParams, SearchArrays, write};
use super::searched::{Counted, CountedSearch, counted_then_written, find_crowd};
use super::shader::{LEVEL_BIN, LEVEL_COUNT, LEVEL_WRITE};
use super::sort::{SortPlan, SortSize};
use super::sorted::SortedArrays;
use crate::backend::DeviceError;
use crate::search::hierarchical_grid::{Levels, MAX_LEVELS, OCTAVES};
use crate::search::uniform_grid::ReachPlan;
use crate::search::{GridCell, PairBuffer, PairSearch, SearchError};
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
    /// Not used: uniforms are aligned to 16 bytes.
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
    /// Not used.
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
                look: level.reach,
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
///
/// As in a [`GpuGrid`](super::GpuGrid), with the cells of all levels one behind the other in
/// one sort. Levels are chosen by the code that the processor uses; cells, order and
/// comparisons are the same, and so are the pairs: those of a
/// [`HierarchicalGrid`](crate::search::HierarchicalGrid), index for index.
///
/// ```
/// use std::sync::Arc;
///
/// use bevy_rapier_molecules::gpu::{GpuDevice, GpuHierarchicalGrid, GpuOptions};
/// use bevy_rapier_molecules::search::PairSearch;
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// let mut spheres = SphereSet::new();
/// spheres.push(Vec3::ZERO, 8.0, 0)?;
/// spheres.push(Vec3::X * 8.1, 0.17, 1)?;
/// spheres.push(Vec3::X * 9.0, 0.17, 2)?;
/// if let Ok(device) = GpuDevice::headless(&GpuOptions::default()) {
///     let mut grid = GpuHierarchicalGrid::new(Arc::new(device))?;
///     assert_eq!(grid.count_pairs(&spheres, 0.0)?, 1);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GpuHierarchicalGrid {
    device: Arc<GpuDevice>,
    bin: Kernel,
    count: Kernel,
    write: Kernel,
    arrays: SearchArrays,
    sorted: SortedArrays,
    params: wgpu::Buffer,
    levels: Levels,
    /// The sort of the last search, which the pairs are written from.
    sort: Option<SortPlan>,
}

impl GpuHierarchicalGrid {
    /// Compiles the kernels for `device`.
    ///
    /// # Errors
    /// [`DeviceError`] if the device refuses them or is lost.
    pub fn new(device: Arc<GpuDevice>) -> Result<Self, DeviceError> {
        Ok(Self {
            bin: Kernel::new(&device, &LEVEL_BIN, "bin_levels")?,
            count: Kernel::new(&device, &LEVEL_COUNT, "count_pairs")?,
            write: Kernel::new(&device, &LEVEL_WRITE, "write_pairs")?,
            arrays: SearchArrays::new(&device)?,
            sorted: SortedArrays::new(&device)?,
            params: uniform(&device, "hierarchy", &GpuHierarchyParams::default())?,
            levels: Levels::default(),
            sort: None,
            device,
        })
    }

    /// Sorts the spheres and counts their pairs.
    fn count(&mut self, spheres: &SphereSet, plan: &ReachPlan) -> Result<Counted, DeviceError> {
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
        self.sorted.resize(&device, spheres.len())?;
        let batch = GpuSearchBatch {
            spheres: size.items + 1,
            ..GpuSearchBatch::default()
        };
        self.arrays.set_batch(&device, &batch)?;
        let (arrays, sorted) = (&self.arrays, &self.sorted);
        let sort = sorted.plan(&device, arrays, size)?;
        let levels = (9, &self.params);
        let binned = [
            (0, &arrays.params),
            (1, arrays.spheres.buffer()),
            (2, sorted.cells.buffer()),
            levels,
        ];
        let bin = self.bin.bind(&device, &binned)?;
        let gather = sorted.bind_gather(&device, arrays, &sort)?;
        let counted = [&sorted.counted(arrays, &sort)[..], &[levels]].concat();
        let count = self.count.bind(&device, &counted)?;
        let mut encoder = device.encoder("hierarchy");
        let mut pass = begin_pass(&mut encoder, "hierarchy");
        self.bin.record_threads(&mut pass, &bin, size.items);
        sorted.sorter.record(&mut pass, &sort, size);
        sorted.gather.record_threads(&mut pass, &gather, size.items);
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
}

impl CountedSearch for GpuHierarchicalGrid {
    fn begin(&mut self, spheres: &SphereSet, margin: f32) -> Result<Option<u64>, SearchError> {
        self.levels = Levels::default();
        let Some(plan) = ReachPlan::new(spheres, margin)? else {
            return Ok(None);
        };
        match self.count(spheres, &plan) {
            Ok(counted) => counted.pairs(&plan).map(Some),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn write(&mut self, total: u64, pairs: &mut PairBuffer) -> Result<(), DeviceError> {
        let device = Arc::clone(&self.device);
        let window = self.arrays.reserve_pairs(&device, total)?;
        let Some(sort) = self.sort.take() else {
            return Ok(());
        };
        let written = self.sorted.written(&self.arrays, &sort);
        let written = [&written[..], &[(9, &self.params)]].concat();
        let bindings = self.write.bind(&device, &written)?;
        let batches = std::iter::once((0, self.arrays.spheres.len() as u32));
        let kernel = (&self.write, &bindings);
        self.arrays.collect(&device, kernel, window, batches, pairs)
    }

    fn failed(&mut self, error: DeviceError) -> SearchError {
        self.sort = None;
        self.arrays.release(&self.device);
        self.sorted.release(&self.device);
        error.into()
    }
}

impl PairSearch for GpuHierarchicalGrid {
    fn name(&self) -> &'static str {
        "gpu-hierarchical-grid"
    }

    counted_then_written!();

    /// The cell of the finest level.
    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        let finest = self.levels.all().first()?;
        Some(finest.layout.cell_around(point))
    }
}
