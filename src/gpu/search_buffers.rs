//! Buffers of a search on the device: spheres in, pairs out.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::device::GpuDevice;
use super::gpu_vec::GpuVec;
use super::kernel::{Kernel, Length, uniform, write_uniform};
use super::prefix_sum::{PrefixSum, PrefixSumPlan};
use super::readback::Readback;
use super::shader_constants::OCCUPANCY_SLOT;
use super::sum_max::{GpuSumMax, Reduced, SumMaxPlan, SumMaxReducer};
use crate::backend::DeviceError;
use crate::search::uniform_grid::GridLayout;
use crate::search::uniform_grid::Reach;
use crate::search::{Pair, PairBuffer};
use crate::spheres::SphereSet;

/// Maximum pairs per readback: 32 MiB.
const WINDOW_PAIRS: u64 = 1 << 22;

/// Pairs per list of a [`PairBuffer`]; a window has a whole number of lists.
const LIST_PAIRS: usize = 1 << 16;

/// Index of the pair count among the totals of a search.
const PAIRS_SLOT: u32 = 1;

/// Indices into the lengths of a search.
pub(super) const SPHERES_LENGTH: u32 = 0;
pub(super) const CELLS_LENGTH: u32 = 1;
const COUNTS_LENGTH: u32 = 2;

/// Spheres and cells of a search; `SearchParams` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuSearchParams {
    /// Cells along each axis, border included.
    pub cells: [u32; 3],
    /// Whether the cells repeat in space; `cells` are then powers of two.
    pub folded: u32,
    /// Corner of the bounding box, nm.
    pub low: [f32; 3],
    /// Cells per nm.
    pub per_nm: f32,
    /// Number of spheres.
    pub spheres: u32,
    /// Whether radii differ.
    pub mixed: u32,
    /// Squared reach, nm², if all radii are equal, else the margin, nm.
    pub reach: f32,
    /// Always 0, opaque to the shader compiler.
    pub zero: u32,
}

impl GpuSearchParams {
    /// Parameters without cells.
    pub(crate) fn new(spheres: u32, reach: Reach) -> Self {
        let (Reach::Same { squared: value } | Reach::Mixed { margin: value }) = reach;
        Self {
            spheres,
            mixed: u32::from(reach.is_mixed()),
            reach: value,
            ..Self::default()
        }
    }

    /// The same with the cells of one grid.
    pub(crate) fn with_cells(self, layout: &GridLayout) -> Self {
        Self {
            cells: layout.cells,
            folded: u32::from(layout.folded),
            low: layout.low.to_array(),
            per_nm: layout.per_nm,
            ..self
        }
    }
}

/// Part of a search in one submission; `SearchBatch` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuSearchBatch {
    /// First sphere.
    pub first_sphere: u32,
    /// Number of spheres, including a terminating one without pairs when counting.
    pub spheres: u32,
    /// First pair.
    pub first_pair: u32,
    /// Number of pairs.
    pub pairs: u32,
}

/// How the pairs of a search are read back: at once, or in windows.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairWindow {
    /// Total number of pairs.
    total: u32,
    /// Pairs per window.
    size: u32,
    /// Whether the buffer of the pairs grew, which invalidates bind groups.
    pub(super) grown: bool,
}

/// Spheres, parameters and pairs of a search on the device.
#[derive(Debug)]
pub(super) struct SearchBuffers {
    pub(super) params: wgpu::Buffer,
    pub(super) batch: wgpu::Buffer,
    /// Center and radius of each sphere, nm.
    pub(super) spheres: GpuVec<[f32; 4]>,
    pub(super) owners: GpuVec<u32>,
    pub(super) lengths: GpuVec<u32>,
    /// Cell occupancy and number of pairs.
    pub(super) totals: GpuVec<GpuSumMax>,
    /// Pairs of each sphere; after the prefix sum, of all spheres before it.
    pub(super) counts: GpuVec<u32>,
    pub(super) pairs: GpuVec<[u32; 2]>,
    packed: Vec<[f32; 4]>,
    readback: Readback,
    scanner: PrefixSum,
    reducer: SumMaxReducer,
    totals_plan: Option<(SumMaxPlan, PrefixSumPlan)>,
}

impl SearchBuffers {
    pub(super) fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            params: uniform(device, "search", &GpuSearchParams::default())?,
            batch: uniform(device, "batch", &GpuSearchBatch::default())?,
            spheres: GpuVec::new(device, "spheres", 0)?,
            owners: GpuVec::new(device, "owners", 0)?,
            lengths: GpuVec::new(device, "lengths", 0)?,
            totals: GpuVec::from_slice(device, "totals", &[GpuSumMax::default(); 2])?,
            counts: GpuVec::new(device, "pair counts", 0)?,
            pairs: GpuVec::new(device, "pairs", 0)?,
            packed: Vec::new(),
            readback: Readback::new(),
            scanner: PrefixSum::new(device)?,
            reducer: SumMaxReducer::new(device)?,
            totals_plan: None,
        })
    }

    /// Uploads the spheres; returns whether a buffer grew, which invalidates bind groups.
    ///
    /// # Errors
    /// [`DeviceError::TooManySpheres`] if they do not fit.
    pub(super) fn upload(
        &mut self,
        device: &GpuDevice,
        spheres: &SphereSet,
        cells: u32,
        params: &GpuSearchParams,
    ) -> Result<bool, DeviceError> {
        let count = spheres.len();
        let grown = self.allocate(device, cells, params)?;
        self.packed.clear();
        self.packed.par_extend(
            (0..count)
                .into_par_iter()
                .map(|k| [spheres.x[k], spheres.y[k], spheres.z[k], spheres.radius[k]]),
        );
        self.spheres.upload(device, &self.packed)?;
        self.owners.upload(device, &spheres.owner)?;
        Ok(grown)
    }

    /// Allocates the spheres and writes the parameters; returns whether a buffer grew.
    ///
    /// # Errors
    /// [`DeviceError::TooManySpheres`] if they do not fit.
    fn allocate(
        &mut self,
        device: &GpuDevice,
        cells: u32,
        params: &GpuSearchParams,
    ) -> Result<bool, DeviceError> {
        let fit = max_spheres(device);
        if u64::from(params.spheres) > fit {
            return Err(DeviceError::TooManySpheres {
                spheres: params.spheres.into(),
                fit,
            });
        }
        let count = params.spheres as usize;
        let rows = params.spheres + 1;
        let lengths = [params.spheres, cells.saturating_add(1), rows];
        let mut grown = self.spheres.resize(device, count)?;
        grown |= self.owners.resize(device, count)?;
        grown |= self.lengths.upload(device, &lengths)?;
        grown |= self.counts.resize(device, rows as usize)?;
        if grown || self.totals_plan.is_none() {
            self.totals_plan = Some(self.plan_totals(device)?);
        }
        write_uniform(device, &self.params, params)?;
        Ok(grown)
    }

    /// Frees the memory and invalidates the plans, after an error: some buffers may have grown,
    /// and a smaller scene needs their memory.
    pub(super) fn release(&mut self, device: &GpuDevice) {
        self.totals_plan = None;
        self.readback = Readback::new();
        self.spheres.release(device);
        self.owners.release(device);
        self.counts.release(device);
        self.pairs.release(device);
    }

    fn plan_totals(&self, device: &GpuDevice) -> Result<(SumMaxPlan, PrefixSumPlan), DeviceError> {
        let length = Length::Device {
            counts: &self.lengths,
            slot: COUNTS_LENGTH,
            max: self.counts.capacity() as u32,
        };
        let counts = (&self.counts, length);
        let target = (&self.totals, PAIRS_SLOT);
        let sum = self.reducer.plan(device, counts, Reduced::Values, target)?;
        Ok((sum, self.scanner.plan(device, counts.0, counts.1)?))
    }

    /// Sets the spheres and pairs of the next submission.
    pub(super) fn set_batch(
        &self,
        device: &GpuDevice,
        batch: &GpuSearchBatch,
    ) -> Result<(), DeviceError> {
        write_uniform(device, &self.batch, batch)
    }

    /// Records the sums of the pair counts.
    pub(super) fn record_totals(&self, pass: &mut wgpu::ComputePass<'_>) {
        let count = self.counts.len() as u32;
        if let Some((sum, scan)) = &self.totals_plan {
            self.reducer.record_up_to(pass, sum, count);
            self.scanner.record_up_to(pass, scan, count);
        }
    }

    /// Submits, waits, and returns cell occupancy and number of pairs.
    pub(super) fn read_totals(
        &mut self,
        device: &GpuDevice,
        mut encoder: wgpu::CommandEncoder,
    ) -> Result<[GpuSumMax; 2], DeviceError> {
        self.readback
            .record(device, &mut encoder, &self.totals, 0..2)?;
        device.submit(encoder)?;
        self.readback.read(device, |totals: &[GpuSumMax]| {
            [OCCUPANCY_SLOT, PAIRS_SLOT].map(|slot| totals[slot as usize])
        })
    }

    /// Allocates `pairs` pairs, or a window of them.
    ///
    /// # Errors
    /// [`DeviceError::TooManyPairs`] if they exceed a 32-bit index.
    pub(super) fn reserve_pairs(
        &mut self,
        device: &GpuDevice,
        pairs: u64,
    ) -> Result<PairWindow, DeviceError> {
        let total = u32::try_from(pairs).map_err(|_| DeviceError::TooManyPairs { pairs })?;
        let fits = GpuVec::<[u32; 2]>::max_len(device);
        let mut size = WINDOW_PAIRS.min(fits);
        // Whole lists, unless not even one fits.
        if size > LIST_PAIRS as u64 {
            size -= size % LIST_PAIRS as u64;
        }
        let size = size.min(pairs.max(1)) as u32;
        let grown = self.pairs.resize(device, size as usize)?;
        Ok(PairWindow { total, size, grown })
    }

    /// Writes all pairs, window by window, and appends them to `pairs`. `batches` are the
    /// ranges of spheres per submission, so that none takes too long.
    pub(super) fn collect(
        &mut self,
        device: &GpuDevice,
        (kernel, bindings): (&Kernel, &wgpu::BindGroup),
        PairWindow { total, size, .. }: PairWindow,
        batches: impl Iterator<Item = (u32, u32)> + Clone,
        pairs: &mut PairBuffer,
    ) -> Result<(), DeviceError> {
        let lists = pairs.start((total as usize).div_ceil(LIST_PAIRS));
        let mut first_pair = 0;
        while first_pair < total {
            let count = size.min(total - first_pair);
            for (first_sphere, spheres) in batches.clone() {
                self.set_batch(
                    device,
                    &GpuSearchBatch {
                        first_sphere,
                        spheres,
                        first_pair,
                        pairs: count,
                    },
                )?;
                device.run("write pairs", |pass| {
                    kernel.record_threads(pass, bindings, spheres);
                })?;
            }
            let mut encoder = device.encoder("read pairs");
            self.readback
                .record(device, &mut encoder, &self.pairs, 0..count as usize)?;
            device.submit(encoder)?;
            let first = first_pair as usize;
            self.readback
                .read(device, |found: &[[u32; 2]]| append(lists, first, found))?;
            first_pair += count;
        }
        Ok(())
    }
}

/// Appends `found`, which start at pair `first`, to their lists.
fn append(lists: &mut [Vec<Pair>], first: usize, found: &[[u32; 2]]) {
    lists.par_iter_mut().enumerate().for_each(|(k, list)| {
        let start = (k * LIST_PAIRS).clamp(first, first + found.len()) - first;
        let end = ((k + 1) * LIST_PAIRS).clamp(first, first + found.len()) - first;
        list.extend(found[start..end].iter().map(|&[a, b]| Pair { a, b }));
    });
}

/// Maximum number of spheres of a search on `device`.
pub(super) fn max_spheres(device: &GpuDevice) -> u64 {
    // The largest buffer holds centers and radii: cells have at most eight bytes per sphere.
    // Pair counts have one entry more than there are spheres.
    GpuVec::<[f32; 4]>::max_len(device).min(u64::from(u32::MAX) - 1)
}
