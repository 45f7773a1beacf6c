//! Brute-force search on the device, the baseline for the grids.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::device::GpuDevice;
use super::kernel::{Kernel, begin_pass};
use super::search_buffers::{GpuSearchBatch, GpuSearchParams, SearchBuffers};
use super::shader::{BRUTE_FORCE_COUNT, BRUTE_FORCE_WRITE};
use super::shader_constants::MAX_BRUTE_FORCE_SPHERES;
use crate::backend::DeviceError;
use crate::search::uniform_grid::ReachPlan;
use crate::search::{PairBuffer, PairSearch, SearchError, SearchTimes, check_pair_count};
use crate::spheres::SphereSet;

/// Comparisons per submission: well below a second on a slow GPU. Operating systems reset a
/// GPU that does not respond for a few seconds.
const BATCH_COMPARISONS: u64 = 1 << 33;

/// Compares every sphere with every other on a GPU.
///
/// Computes in 32 bits, unlike [`BruteForce`](crate::search::BruteForce): pairs whose distance
/// equals their reach up to rounding may differ. Pairs are sorted by index. Searches at most
/// about a million spheres, since each thread compares with all others in one loop and
/// lavapipe limits the iterations of a loop.
#[derive(Debug)]
pub struct GpuBruteForce {
    device: Arc<GpuDevice>,
    count: Kernel,
    write: Kernel,
    buffers: SearchBuffers,
}

impl GpuBruteForce {
    /// Compiles the kernels for `device`.
    ///
    /// # Errors
    /// [`DeviceError`] if the device rejects them or is lost.
    pub fn new(device: Arc<GpuDevice>) -> Result<Self, DeviceError> {
        Ok(Self {
            count: Kernel::new(&device, &BRUTE_FORCE_COUNT, "count_pairs")?,
            write: Kernel::new(&device, &BRUTE_FORCE_WRITE, "write_pairs")?,
            buffers: SearchBuffers::new(&device)?,
            device,
        })
    }

    fn try_count(&mut self, spheres: &SphereSet, plan: &ReachPlan) -> Result<u64, DeviceError> {
        let device = &*self.device;
        if spheres.len() > MAX_BRUTE_FORCE_SPHERES as usize {
            return Err(DeviceError::TooManySpheres {
                spheres: spheres.len() as u64,
                fit: MAX_BRUTE_FORCE_SPHERES.into(),
            });
        }
        let count = spheres.len() as u32;
        let params = GpuSearchParams::new(count, plan.reach);
        self.buffers.upload(device, spheres, 0, &params)?;
        let buffers = &mut self.buffers;
        let bindings = self.count.bind(device, &inputs(buffers))?;
        for (first_sphere, spheres) in batches(count) {
            let batch = GpuSearchBatch {
                first_sphere,
                spheres,
                ..GpuSearchBatch::default()
            };
            buffers.set_batch(device, &batch)?;
            device.run("count pairs", |pass| {
                self.count.record_threads(pass, &bindings, spheres);
            })?;
        }
        let mut encoder = device.encoder("brute force");
        buffers.record_totals(&mut begin_pass(&mut encoder, "sum counts"));
        let [_, pairs] = buffers.read_totals(device, encoder)?;
        Ok(pairs.sum())
    }

    fn write_pairs(&mut self, total: u64, pairs: &mut PairBuffer) -> Result<(), DeviceError> {
        let device = &*self.device;
        let window = self.buffers.reserve_pairs(device, total)?;
        let found = (8, self.buffers.pairs.buffer());
        let written = [&inputs(&self.buffers)[..], &[found]].concat();
        let bindings = self.write.bind(device, &written)?;
        let batches = batches(self.buffers.spheres.len() as u32);
        let kernel = (&self.write, &bindings);
        self.buffers.collect(device, kernel, window, batches, pairs)
    }
}

/// Bindings of both kernels.
fn inputs(buffers: &SearchBuffers) -> [(u32, &wgpu::Buffer); 5] {
    [
        (0, &buffers.params),
        (1, &buffers.batch),
        (2, buffers.spheres.buffer()),
        (3, buffers.owners.buffer()),
        (7, buffers.counts.buffer()),
    ]
}

/// Ranges of spheres (first, count), each of about [`BATCH_COMPARISONS`]. They cover
/// `count + 1` rows: the last row terminates the counts.
fn batches(count: u32) -> impl Iterator<Item = (u32, u32)> + Clone {
    let rows = count + 1;
    let batch = (BATCH_COMPARISONS / u64::from(rows)).clamp(1, u64::from(rows)) as u32;
    (0..rows.div_ceil(batch)).map(move |k| {
        let first = k * batch;
        (first, batch.min(rows - first))
    })
}

impl PairSearch for GpuBruteForce {
    fn name(&self) -> &'static str {
        "gpu-brute-force"
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
        if total > 0
            && let Err(error) = self.write_pairs(total, pairs)
        {
            pairs.clear();
            self.buffers.release(&self.device);
            return Err(error.into());
        }
        // There is nothing to build.
        Ok(SearchTimes {
            build: Duration::ZERO,
            walk: start.elapsed(),
        })
    }

    fn count_pairs(&mut self, spheres: &SphereSet, margin: f32) -> Result<u64, SearchError> {
        let Some(plan) = ReachPlan::new(spheres, margin)? else {
            return Ok(0);
        };
        self.try_count(spheres, &plan).map_err(|error| {
            self.buffers.release(&self.device);
            error.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_cover_every_sphere_once() {
        for count in [2, 1000, 4_000_000, 100_000_000] {
            let mut next = 0;
            for (first, spheres) in batches(count).take(10_000) {
                assert_eq!(first, next);
                assert!(u64::from(spheres) * u64::from(count) <= BATCH_COMPARISONS);
                next += spheres;
            }
            assert!(next == count + 1 || count == 100_000_000);
        }
    }
}
