//! What the searches on the device share: spheres on their way there, pairs on their way
//! back.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::atoms::GpuAtoms;
use super::buffer::GpuVec;
use super::constants::CROWDING_SLOT;
use super::device::GpuDevice;
use super::kernel::{Kernel, Length, begin_pass, uniform};
use super::measure::{GpuMeasure, MeasurePlan, Measured, Measurer};
use super::readback::Readback;
use super::scan::{ScanPlan, Scanner};
use crate::backend::DeviceError;
use crate::search::uniform_grid::GridLayout;
use crate::search::uniform_grid::Reach;
use crate::search::{Pair, PairBuffer};
use crate::spheres::SphereSet;

/// Pairs that come back at once, unless an array of them would be too large: 32 MiB.
const WINDOW_PAIRS: u64 = 1 << 22;

/// Pairs of one list of a [`PairBuffer`]; a window has a whole number of lists.
const LIST_PAIRS: usize = 1 << 16;

/// Which of the measures of a search is the number of pairs.
const PAIRS_SLOT: u32 = 1;

/// Slots of the lengths of a search.
pub(super) const SPHERES_LENGTH: u32 = 0;
pub(super) const CELLS_LENGTH: u32 = 1;
const COUNTS_LENGTH: u32 = 2;

/// What is searched, and how space is cut into cells; `SearchParams` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuSearchParams {
    /// Cells along each axis, border included.
    pub cells: [u32; 3],
    /// Whether the grid repeats itself; then `cells` are powers of two.
    pub folded: u32,
    /// Corner of the bounding box, nm.
    pub low: [f32; 3],
    /// Cells per nm.
    pub per_nm: f32,
    /// Number of spheres.
    pub spheres: u32,
    /// Whether radii differ.
    pub mixed: u32,
    /// Squared reach, nm², if all are the same, else the margin, nm.
    pub reach: f32,
    /// Zero, which the compiler cannot know.
    pub zero: u32,
}

impl GpuSearchParams {
    /// Parameters without cells.
    pub(super) fn new(spheres: u32, reach: Reach) -> Self {
        let (Reach::Same { squared: value } | Reach::Mixed { margin: value }) = reach;
        Self {
            spheres,
            mixed: u32::from(reach.is_mixed()),
            reach: value,
            ..Self::default()
        }
    }

    /// The same with the cells of one grid.
    pub(super) fn with_cells(self, layout: &GridLayout) -> Self {
        Self {
            cells: layout.cells,
            folded: u32::from(layout.folded),
            low: layout.low.to_array(),
            per_nm: layout.per_nm,
            ..self
        }
    }
}

/// Which part of a search is done at once; `SearchBatch` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuSearchBatch {
    /// First sphere.
    pub first_sphere: u32,
    /// Number of spheres; behind the last sphere comes one without pairs.
    pub spheres: u32,
    /// First pair.
    pub first_pair: u32,
    /// Number of pairs.
    pub pairs: u32,
}

/// How the pairs of a search come back: all at once, or so many at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairWindow {
    /// Number of all pairs.
    total: u32,
    /// How many come back at once.
    size: u32,
    /// Whether the array of the pairs grew, so that it must be bound again.
    pub(super) grown: bool,
}

/// Spheres, parameters and pairs of a search on the device.
#[derive(Debug)]
pub(super) struct SearchArrays {
    pub(super) params: wgpu::Buffer,
    pub(super) batch: wgpu::Buffer,
    /// Center and radius of each sphere, nm.
    pub(super) spheres: GpuVec<[f32; 4]>,
    pub(super) owners: GpuVec<u32>,
    pub(super) lengths: GpuVec<u32>,
    pub(super) measured: GpuVec<GpuMeasure>,
    /// Number of pairs of each sphere, and of those before it after the prefix sum.
    pub(super) counts: GpuVec<u32>,
    pub(super) pairs: GpuVec<[u32; 2]>,
    packed: Vec<[f32; 4]>,
    readback: Readback,
    scanner: Scanner,
    measurer: Measurer,
    totals: Option<(MeasurePlan, ScanPlan)>,
}

impl SearchArrays {
    pub(super) fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            params: uniform(device, "search", &GpuSearchParams::default())?,
            batch: uniform(device, "batch", &GpuSearchBatch::default())?,
            spheres: GpuVec::new(device, "spheres", 0)?,
            owners: GpuVec::new(device, "owners", 0)?,
            lengths: GpuVec::new(device, "lengths", 0)?,
            measured: GpuVec::from_slice(device, "measures", &[GpuMeasure::default(); 2])?,
            counts: GpuVec::new(device, "pair counts", 0)?,
            pairs: GpuVec::new(device, "pairs", 0)?,
            packed: Vec::new(),
            readback: Readback::new(),
            scanner: Scanner::new(device)?,
            measurer: Measurer::new(device)?,
            totals: None,
        })
    }

    /// Sends the spheres to the device; returns whether arrays grew, so that they must be
    /// bound again.
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
        let grown = self.hold(device, cells, params)?;
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

    /// Makes room for the spheres, and says what is searched; returns whether arrays grew.
    ///
    /// # Errors
    /// [`DeviceError::TooManySpheres`] if they do not fit.
    pub(super) fn hold(
        &mut self,
        device: &GpuDevice,
        cells: u32,
        params: &GpuSearchParams,
    ) -> Result<bool, DeviceError> {
        let fit = spheres_that_fit(device);
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
        if grown || self.totals.is_none() {
            self.totals = Some(self.plan_totals(device)?);
        }
        write(device, &self.params, params)?;
        Ok(grown)
    }

    /// Records that the spheres are those of `atoms`. There is room for them.
    pub(super) fn record_copy(&self, encoder: &mut wgpu::CommandEncoder, atoms: &GpuAtoms) {
        let count = atoms.spheres().len() as u64;
        for (from, to, bytes) in [
            (atoms.spheres().buffer(), self.spheres.buffer(), 16 * count),
            (atoms.owners().buffer(), self.owners.buffer(), 4 * count),
        ] {
            encoder.copy_buffer_to_buffer(from, 0, to, 0, bytes);
        }
    }

    /// Gives the memory back, and forgets what was planned: after an error nobody knows
    /// which arrays have grown, and a smaller scene needs room.
    pub(super) fn release(&mut self, device: &GpuDevice) {
        self.totals = None;
        self.readback = Readback::new();
        self.spheres.release(device);
        self.owners.release(device);
        self.counts.release(device);
        self.pairs.release(device);
    }

    fn plan_totals(&self, device: &GpuDevice) -> Result<(MeasurePlan, ScanPlan), DeviceError> {
        let length = Length::Device {
            counts: &self.lengths,
            slot: COUNTS_LENGTH,
            at_most: self.counts.capacity() as u32,
        };
        let counts = (&self.counts, length);
        let target = (&self.measured, PAIRS_SLOT);
        let measure = self
            .measurer
            .plan(device, counts, Measured::Numbers, target)?;
        Ok((measure, self.scanner.plan(device, counts.0, counts.1)?))
    }

    /// Says which spheres and pairs the next submission is about.
    pub(super) fn set_batch(
        &self,
        device: &GpuDevice,
        batch: &GpuSearchBatch,
    ) -> Result<(), DeviceError> {
        write(device, &self.batch, batch)
    }

    /// Records that the counts are summed up.
    pub(super) fn record_totals(&self, pass: &mut wgpu::ComputePass<'_>) {
        let count = self.counts.len() as u32;
        if let Some((measure, scan)) = &self.totals {
            self.measurer.record_up_to(pass, measure, count);
            self.scanner.record_up_to(pass, scan, count);
        }
    }

    /// Submits, waits, and returns how full cells are and how many pairs there are.
    pub(super) fn read_measures(
        &mut self,
        device: &GpuDevice,
        mut encoder: wgpu::CommandEncoder,
    ) -> Result<[GpuMeasure; 2], DeviceError> {
        self.readback
            .record(device, &mut encoder, &self.measured, 0..2)?;
        device.submit(encoder)?;
        self.readback.read(device, |measures: &[GpuMeasure]| {
            [CROWDING_SLOT, PAIRS_SLOT].map(|slot| measures[slot as usize])
        })
    }

    /// Makes room for `pairs` pairs, or for a window of them.
    ///
    /// # Errors
    /// [`DeviceError::TooManyPairs`] if 32 bits cannot number them.
    pub(super) fn reserve_pairs(
        &mut self,
        device: &GpuDevice,
        pairs: u64,
    ) -> Result<PairWindow, DeviceError> {
        let total = u32::try_from(pairs).map_err(|_| DeviceError::TooManyPairs { pairs })?;
        let fits = GpuVec::<[u32; 2]>::most(device);
        let mut size = WINDOW_PAIRS.min(fits);
        // Whole lists, unless there is not even room for one.
        if size > LIST_PAIRS as u64 {
            size -= size % LIST_PAIRS as u64;
        }
        let size = size.min(pairs.max(1)) as u32;
        let grown = self.pairs.resize(device, size as usize)?;
        Ok(PairWindow { total, size, grown })
    }

    /// Has all pairs written, window by window, and appends them to `pairs`.
    ///
    /// `batches` are the ranges of spheres to submit one after the other, so that no
    /// submission takes too long.
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
                let mut encoder = device.encoder("write pairs");
                let mut pass = begin_pass(&mut encoder, "write pairs");
                kernel.record_threads(&mut pass, bindings, spheres);
                drop(pass);
                device.submit(encoder)?;
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

/// Appends `found`, which start with number `first`, to the lists that they belong to.
fn append(lists: &mut [Vec<Pair>], first: usize, found: &[[u32; 2]]) {
    lists.par_iter_mut().enumerate().for_each(|(k, list)| {
        let start = (k * LIST_PAIRS).clamp(first, first + found.len()) - first;
        let end = ((k + 1) * LIST_PAIRS).clamp(first, first + found.len()) - first;
        list.extend(found[start..end].iter().map(|&[a, b]| Pair { a, b }));
    });
}

/// Number of spheres that a search can hold on `device`.
pub(super) fn spheres_that_fit(device: &GpuDevice) -> u64 {
    // The widest array is that of the centers and radii: cells have at most eight bytes a
    // sphere. Pair counts have one entry more than there are spheres.
    GpuVec::<[f32; 4]>::most(device).min(u64::from(u32::MAX) - 1)
}

/// Overwrites a block of parameters.
pub(super) fn write<P: Pod>(
    device: &GpuDevice,
    target: &wgpu::Buffer,
    value: &P,
) -> Result<(), DeviceError> {
    device.guarded(|| {
        let bytes = bytemuck::bytes_of(value);
        device.queue().write_buffer(target, 0, bytes);
    })
}
