//! The passes of an iteration that find contacts and sum their corrections.

use super::brute_force_contacts::BruteForceContacts;
use super::grid_contacts::GridContacts;
use super::types::{GpuBody, GpuRelaxCounters};
use crate::backend::DeviceError;
use crate::gpu::{GpuAtomSpheres, GpuDevice, GpuVec};
use crate::relax::DeviceSearch;
use crate::search::uniform_grid::ReachPlan;

/// Buffers that the contact passes share with the rest of an iteration.
pub(super) struct SharedBuffers<'a> {
    pub(super) atoms: &'a GpuAtomSpheres,
    pub(super) law: &'a wgpu::Buffer,
    pub(super) bodies: &'a GpuVec<GpuBody>,
    pub(super) linear: &'a GpuVec<[f32; 4]>,
    pub(super) angular: &'a GpuVec<[f32; 4]>,
    pub(super) counters: &'a GpuVec<GpuRelaxCounters>,
}

/// The passes from spheres to the corrections of their contacts.
#[derive(Debug)]
pub(super) enum ContactPasses {
    Grid(Box<GridContacts>),
    BruteForce(BruteForceContacts),
}

impl ContactPasses {
    pub(super) fn new(
        device: &GpuDevice,
        search: DeviceSearch,
        plan: &ReachPlan,
        shared: &SharedBuffers<'_>,
    ) -> Result<Self, DeviceError> {
        Ok(match search {
            DeviceSearch::Ffrnn => Self::Grid(Box::new(GridContacts::new(device, plan, shared)?)),
            DeviceSearch::BruteForce => {
                Self::BruteForce(BruteForceContacts::new(device, plan, shared)?)
            }
        })
    }
}
