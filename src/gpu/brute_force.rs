//! Every sphere against every other on the device: what the grid is measured against.

use std::sync::Arc;
use std::time::Duration;

use super::constants::BRUTE_FORCE_SPHERES;
use super::device::GpuDevice;
use super::kernel::{Kernel, begin_pass};
use super::search::{GpuSearchBatch, GpuSearchParams, SearchArrays};
use super::searched::{CountedSearch, counted_then_written};
use super::shader::{BRUTE_FORCE_COUNT, BRUTE_FORCE_WRITE};
use crate::backend::DeviceError;
use crate::search::uniform_grid::ReachPlan;
use crate::search::{PairBuffer, PairSearch, SearchError, SearchTimes};
use crate::spheres::SphereSet;

/// Comparisons of one submission: well below a second on a slow GPU. Systems reset a GPU
/// that does not answer for a few seconds.
const BATCH_COMPARISONS: u64 = 1 << 33;

/// Compares every sphere with every other on a GPU.
///
/// In 32 bits, unlike the oracle on the processor: pairs whose distance is within a few
/// roundings of their reach may differ. Pairs come in the order of their indices. About a
/// million spheres are the most: a thread meets all others in one loop, and software
/// adapters have been seen to cut loops short.
#[derive(Debug)]
pub struct GpuBruteForce {
    device: Arc<GpuDevice>,
    count: Kernel,
    write: Kernel,
    arrays: SearchArrays,
}

impl GpuBruteForce {
    /// Compiles the kernels for `device`.
    ///
    /// # Errors
    /// [`DeviceError`] if the device refuses them or is lost.
    pub fn new(device: Arc<GpuDevice>) -> Result<Self, DeviceError> {
        Ok(Self {
            count: Kernel::new(&device, &BRUTE_FORCE_COUNT, "count_pairs")?,
            write: Kernel::new(&device, &BRUTE_FORCE_WRITE, "write_pairs")?,
            arrays: SearchArrays::new(&device)?,
            device,
        })
    }

    /// Number of pairs of each sphere, summed up.
    fn count(&mut self, spheres: &SphereSet, plan: &ReachPlan) -> Result<u64, DeviceError> {
        let device = &*self.device;
        if spheres.len() > BRUTE_FORCE_SPHERES as usize {
            return Err(DeviceError::TooManySpheres {
                spheres: spheres.len() as u64,
                fit: BRUTE_FORCE_SPHERES.into(),
            });
        }
        let count = spheres.len() as u32;
        let params = GpuSearchParams::new(count, plan.reach);
        self.arrays.upload(device, spheres, 0, &params)?;
        let arrays = &mut self.arrays;
        let bindings = self.count.bind(device, &walked(arrays))?;
        for (first_sphere, spheres) in batches(count) {
            let batch = GpuSearchBatch {
                first_sphere,
                spheres,
                ..GpuSearchBatch::default()
            };
            arrays.set_batch(device, &batch)?;
            let mut encoder = device.encoder("brute force");
            let mut pass = begin_pass(&mut encoder, "count pairs");
            self.count.record_threads(&mut pass, &bindings, spheres);
            drop(pass);
            device.submit(encoder)?;
        }
        let mut encoder = device.encoder("brute force");
        arrays.record_totals(&mut begin_pass(&mut encoder, "sum up"));
        let [_, pairs] = arrays.read_measures(device, encoder)?;
        Ok(pairs.sum())
    }
}

impl CountedSearch for GpuBruteForce {
    fn begin(&mut self, spheres: &SphereSet, margin: f32) -> Result<Option<u64>, SearchError> {
        let Some(plan) = ReachPlan::new(spheres, margin)? else {
            return Ok(None);
        };
        match self.count(spheres, &plan) {
            Ok(count) => Ok(Some(count)),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn write(&mut self, total: u64, pairs: &mut PairBuffer) -> Result<(), DeviceError> {
        let device = &*self.device;
        let window = self.arrays.reserve_pairs(device, total)?;
        let [params, batch, spheres, owners, counts] = walked(&self.arrays);
        let found = (8, self.arrays.pairs.buffer());
        let bindings = self
            .write
            .bind(device, &[params, batch, spheres, owners, counts, found])?;
        let batches = batches(self.arrays.spheres.len() as u32);
        let kernel = (&self.write, &bindings);
        self.arrays.collect(device, kernel, window, batches, pairs)
    }

    fn failed(&mut self, error: DeviceError) -> SearchError {
        self.arrays.release(&self.device);
        error.into()
    }

    /// Nothing is built: all of it is the walk.
    fn times(counting: Duration, writing: Duration) -> SearchTimes {
        SearchTimes {
            build: Duration::ZERO,
            walk: counting + writing,
        }
    }
}

/// What both walks bind.
fn walked(arrays: &SearchArrays) -> [(u32, &wgpu::Buffer); 5] {
    [
        (0, &arrays.params),
        (1, &arrays.batch),
        (2, arrays.spheres.buffer()),
        (3, arrays.owners.buffer()),
        (7, arrays.counts.buffer()),
    ]
}

/// Ranges of spheres, first and count, that make about as many comparisons as one
/// submission may have. Together they have one more than `count`: behind the last sphere
/// comes the end of the counts.
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

    counted_then_written!();
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
