//! Contacts found by brute force: the baseline of the grid.

use super::contact_passes::SharedBuffers;
use super::types::GpuContactBatch;
use crate::backend::DeviceError;
use crate::gpu::GpuDevice;
use crate::gpu::kernel::{BoundKernel, uniform, write_uniform};
use crate::gpu::shader::CONTACTS_BRUTE_FORCE;
use crate::gpu::shader_types::GpuSearchParams;
use crate::search::uniform_grid::ReachPlan;

/// Maximum number of spheres per dispatch: enough threads for a large GPU.
const BATCH_SPHERES: u32 = 1 << 16;

/// Maximum number of spheres that each of them is compared with: 2³³ comparisons per dispatch take
/// well below a second on a slow GPU. Operating systems reset a GPU that does not respond for a
/// few seconds. A multiple of 16, few enough for one loop on lavapipe.
const BATCH_OTHERS: u32 = 1 << 17;

/// Compares each sphere with all others, in batches.
#[derive(Debug)]
pub(super) struct BruteForceContacts {
    walk: BoundKernel,
    batch: wgpu::Buffer,
    spheres: u32,
}

impl BruteForceContacts {
    pub(super) fn new(
        device: &GpuDevice,
        plan: &ReachPlan,
        shared: &SharedBuffers<'_>,
    ) -> Result<Self, DeviceError> {
        let spheres = shared.atoms.spheres().len() as u32;
        let params = GpuSearchParams::new(spheres, plan.reach);
        let params = uniform(device, "search", &params)?;
        let batch = uniform(device, "batch", &GpuContactBatch::default())?;
        let walk = BoundKernel::new(
            device,
            &CONTACTS_BRUTE_FORCE,
            "sum_contacts",
            &[
                (0, &params),
                (1, shared.law),
                (2, shared.atoms.spheres().buffer()),
                (3, shared.atoms.owners().buffer()),
                (4, &batch),
                (6, shared.bodies.buffer()),
                (7, shared.linear.buffer()),
                (8, shared.angular.buffer()),
                (9, shared.counters.buffer()),
            ],
        )?;
        Ok(Self {
            walk,
            batch,
            spheres,
        })
    }

    /// The batches, in an order in which each continues the sums of the ones before.
    pub(super) fn batches(&self) -> impl Iterator<Item = GpuContactBatch> + use<> {
        batches(self.spheres, [BATCH_SPHERES, BATCH_OTHERS])
    }

    /// Selects the batch of the next submission.
    pub(super) fn set_batch(
        &self,
        device: &GpuDevice,
        batch: &GpuContactBatch,
    ) -> Result<(), DeviceError> {
        write_uniform(device, &self.batch, batch)
    }

    /// Records the comparisons of a batch, which must be the selected one.
    pub(super) fn record_walk(&self, pass: &mut wgpu::ComputePass<'_>, batch: &GpuContactBatch) {
        let threads = batch.end_sphere - batch.first_sphere;
        self.walk.record_threads(pass, threads);
    }
}

/// Splits the comparisons of `count` spheres with each other.
fn batches(count: u32, [spheres, others]: [u32; 2]) -> impl Iterator<Item = GpuContactBatch> {
    let parts = move |size: u32| {
        let starts = (0..count).step_by(size as usize);
        starts.map(move |first| (first, first.saturating_add(size).min(count)))
    };
    parts(spheres).flat_map(move |(first_sphere, end_sphere)| {
        parts(others).map(move |(first_other, end_other)| GpuContactBatch {
            first_sphere,
            end_sphere,
            first_other,
            end_other,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_cover_all_comparisons_once_and_in_order() {
        for count in [0, 1, 7, 8, 9, 16, 100] {
            let mut compared = vec![0; count as usize];
            for batch in batches(count, [8, 3]) {
                for seen in &mut compared[batch.first_sphere as usize..batch.end_sphere as usize] {
                    assert_eq!(*seen, batch.first_other);
                    *seen = batch.end_other;
                }
            }
            assert!(compared.iter().all(|&seen| seen == count), "{count}");
        }
    }
}
