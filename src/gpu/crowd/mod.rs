//! [`GpuContactSolver`]: the contacts of a crowd, found and solved on the GPU.
//!
//! The CPU reference is [`CrowdContacts`](crate::dynamics::CrowdContacts).
//!
//! | file | contents |
//! |---|---|
//! | `types` | structs that Rust and WGSL share |
//! | `buffers` | the buffers of a substep: contacts and groups, and all others |
//! | `dispatch` | the kernels and what they bind |
//! | `contact_transfer` | conversion of contacts between CPU and device |

mod buffers;
mod contact_transfer;
mod dispatch;
mod types;

pub use types::{
    GpuCrowdBody, GpuCrowdContact, GpuCrowdExternal, GpuCrowdGroup, GpuCrowdImpulse,
    GpuCrowdImpulseChange, GpuCrowdParams, GpuCrowdSurface, GpuCrowdTouch, GpuGroupLimits,
};

use std::sync::Arc;

use glam::Vec3;

use buffers::{ContactSet, ContactSetSize, CrowdBuffers};
use contact_transfer::ExternalUpload;
use dispatch::{Bindings, CrowdKernels, GroupDispatch};
use types::NONE;

use super::device::GpuDevice;
use super::kernel::{begin_pass, write_uniform};
use super::molecule_search::{FoundOnDevice, GpuMoleculesFound, MoleculeSearchOnDevice};
use super::radix_sort::RadixSorter;
use super::readback::Readback;
use super::shader_constants::MAX_LOOP_ITERATIONS;
use crate::backend::DeviceError;
use crate::dynamics::{
    BodyIndex, ContactSurface, DeviceResponse, DeviceSolver, DeviceSubstep, Impulse, OwnerIndex,
    SavedContacts,
};
use crate::search::{GridCell, RigidSpheres, SearchError};

/// Touches that are read back in the first substep.
const FIRST_TOUCHES: usize = 64;

/// Finds and solves the contacts of a crowd on a GPU.
///
/// The substep is that of the [module `dynamics`](crate::dynamics#one-substep), in one submission
/// with one wait: molecules and their clusters are searched, each pair of molecules keeps a few pairs
/// of spheres, and contacts stay on the device. Counts stay there, too, and determine the size of the
/// dispatches. A stable sort lists the groups of each body, which adds them up in ascending order.
///
/// Buffers have a capacity. If it is exceeded, the device stops before it changes anything, buffers
/// grow, and the substep is repeated.
///
/// No sum uses atomics, and both sides of a contact receive the same vector: runs are identical
/// bit for bit, and momentum is conserved. Results differ from the CPU only because drivers may
/// round quotients and roots differently.
///
/// One impulse per body is read back, and 16 bytes per pair of molecules that touch or are close, if
/// touches are reported.
#[derive(Debug)]
pub struct GpuContactSolver {
    device: Arc<GpuDevice>,
    search: MoleculeSearchOnDevice,
    kernels: CrowdKernels,
    sorter: RadixSorter,
    buffers: CrowdBuffers,
    current: ContactSet,
    previous: ContactSet,
    /// Length of the previous substep, s; none if there was none.
    previous_dt: Option<f32>,
    ignored_pairs: u32,
    /// Bodies as they are sent.
    packed: Vec<GpuCrowdBody>,
    /// Groups for which touches are read back together with the impulses.
    expected_touches: usize,
    readback: Readback,
}

impl GpuContactSolver {
    /// Compiles the kernels for `device`.
    ///
    /// # Errors
    /// [`DeviceError`] if the device rejects them or is lost.
    pub fn new(device: Arc<GpuDevice>) -> Result<Self, DeviceError> {
        Ok(Self {
            search: MoleculeSearchOnDevice::new(&device)?,
            kernels: CrowdKernels::new(&device)?,
            sorter: RadixSorter::new(&device)?,
            buffers: CrowdBuffers::new(&device)?,
            current: ContactSet::new(&device)?,
            previous: ContactSet::new(&device)?,
            previous_dt: None,
            ignored_pairs: 0,
            packed: Vec::new(),
            expected_touches: FIRST_TOUCHES,
            readback: Readback::new(),
            device,
        })
    }

    fn bindings<'a>(&'a self, found: FoundOnDevice<'a>, bodies: u32) -> Bindings<'a> {
        Bindings {
            device: &self.device,
            kernels: &self.kernels,
            found,
            buffers: &self.buffers,
            current: &self.current,
            previous: &self.previous,
            bodies,
        }
    }

    /// Sends the bodies, external contacts and parameters of a substep.
    fn upload(&mut self, substep: &DeviceSubstep<'_>) -> Result<(), DeviceError> {
        let device = Arc::clone(&self.device);
        if let Some(relabeled) = substep.relabeled {
            self.relabel_slots(substep.owners, relabeled);
            let relabeled = relabeled.iter();
            let relabeled: Vec<u32> = relabeled
                .map(|body| body.map_or(NONE, |body| body.0))
                .collect();
            self.buffers.relabeled.upload(&device, &relabeled)?;
        }
        if self.previous_dt.is_none() {
            self.previous.external_groups = 0;
            self.previous.external.clear();
            self.previous.set_counts(&device, 0)?;
        }
        let external = ExternalUpload::new(substep.external, &self.previous.external);
        if external.groups.len() > MAX_LOOP_ITERATIONS as usize {
            return Err(DeviceError::Unsupported {
                feature: "this many contacts with external bodies",
            });
        }
        self.packed.clear();
        self.packed
            .extend(substep.bodies.iter().map(GpuCrowdBody::from));
        self.buffers.externals.upload(&device, &external.contacts)?;
        self.buffers
            .external_groups
            .upload(&device, &external.groups)?;
        self.current.external_groups = external.groups.len() as u32;
        self.current.external = external.slots;
        self.write_params(substep)
    }

    /// Sends the bodies, which a substep changes, and makes space for its groups.
    fn allocate(&mut self, bodies: usize) -> Result<(), DeviceError> {
        let device = Arc::clone(&self.device);
        self.buffers.bodies.upload(&device, &self.packed)?;
        let capacity = self.search.capacity();
        let external = std::mem::take(&mut self.current.external);
        let size = ContactSetSize {
            member_groups: capacity.groups,
            external_groups: self.current.external_groups,
            external_contacts: external.len() as u32,
            bodies: bodies as u32,
        };
        self.current.resize(&device, size)?;
        self.current.external = external;
        let counts = [self.previous.groups.len(), self.current.groups.len()];
        self.buffers.resize(&device, bodies, counts)?;
        let limits = GpuGroupLimits {
            max_pairs: capacity.pairs,
            max_groups: capacity.groups,
            external_groups: self.current.external_groups,
            max_dispatch: device.limits().max_compute_workgroups_per_dimension,
        };
        write_uniform(&device, &self.buffers.limits, &limits)
    }

    /// Gives the previous external contacts the current indices of their bodies.
    fn relabel_slots(&mut self, owners: usize, relabeled: &[Option<BodyIndex>]) {
        let current = |body: BodyIndex| match body.index().checked_sub(owners) {
            None => Some(body),
            Some(external) => relabeled.get(external).copied().flatten(),
        };
        self.previous.external.retain_mut(|one| {
            let [Some(a), Some(b)] = one.bodies.map(current) else {
                return false;
            };
            one.bodies = [a, b];
            true
        });
        self.previous.external.sort_unstable();
    }

    fn write_params(&self, substep: &DeviceSubstep<'_>) -> Result<(), DeviceError> {
        let config = substep.config;
        let params = GpuCrowdParams {
            bodies: substep.bodies.len() as u32,
            owners: substep.owners as u32,
            ignored_pairs: self.ignored_pairs,
            push_out: 1,
            dt: substep.dt,
            slop: config.slop,
            max_push_speed: config.max_push_speed,
            restitution_threshold: config.restitution_threshold,
            ..GpuCrowdParams::default()
        };
        write_uniform(&self.device, &self.current.params, &params)?;
        let params = GpuCrowdParams {
            push_out: 0,
            dt: self.previous_dt.unwrap_or(substep.dt),
            ..params
        };
        write_uniform(&self.device, &self.previous.params, &params)
    }

    /// Records the search, and how many groups there are.
    fn record_search(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        bodies: u32,
    ) -> Result<(), DeviceError> {
        self.search.record(encoder);
        let Some(found) = self.search.results() else {
            return Ok(());
        };
        let count = self.bindings(found, bodies).count()?;
        count.record(&mut begin_pass(encoder, "count groups"));
        let parameters = self.buffers.parameters.buffer();
        let bytes = size_of::<[u32; 4]>() as u64;
        encoder.copy_buffer_to_buffer(parameters, 0, &self.current.params, 0, bytes);
        encoder.copy_buffer_to_buffer(parameters, bytes, &self.previous.params, 0, bytes);
        Ok(())
    }

    /// Records the wake test and the relaxation of the previous contacts.
    fn record_relax(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        substep: &DeviceSubstep<'_>,
    ) -> Result<(), DeviceError> {
        let bodies = substep.bodies.len() as u32;
        self.buffers.record_clear(encoder);
        let Some(found) = self.search.results() else {
            return Ok(());
        };
        {
            let pass = &mut begin_pass(encoder, "wake bodies");
            let bindings = self.bindings(found, bodies);
            bindings.filter()?.record(pass);
            for dispatch in bindings.wake()? {
                dispatch.record(pass);
            }
        }
        if self.previous_dt.is_none() {
            return Ok(());
        }
        if substep.relabeled.is_some() {
            let pass = &mut begin_pass(encoder, "relabel external bodies");
            let relabel = self.bindings(found, bodies).relabel_externals()?;
            relabel.record(pass);
        }
        if substep.relabeled.is_some() || !self.previous.arranged {
            let groups = self.buffers.threads(GroupDispatch::PreviousAll);
            self.previous.record_arrange(
                &self.device,
                &self.kernels,
                &self.sorter,
                (bodies, groups),
                encoder,
            )?;
        }
        let Some(found) = self.search.results() else {
            return Ok(());
        };
        let bindings = self.bindings(found, bodies);
        let iteration = bindings.iteration(&self.previous, GroupDispatch::PreviousAll)?;
        let pass = &mut begin_pass(encoder, "relax contacts");
        iteration.follow_bodies.record(pass);
        iteration.record(pass, substep.config.relax_iterations);
        Ok(())
    }

    /// Records the solution of the contacts.
    fn record_solve(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        substep: &DeviceSubstep<'_>,
    ) -> Result<(), DeviceError> {
        let bodies = substep.bodies.len() as u32;
        let Some(found) = self.search.results() else {
            return Ok(());
        };
        {
            let pass = &mut begin_pass(encoder, "prepare contacts");
            let bindings = self.bindings(found, bodies);
            for dispatch in bindings.prepare()? {
                dispatch.record(pass);
            }
            if self.current.external_groups > 0 {
                for dispatch in bindings.skip_isolated_externals()? {
                    dispatch.record(pass);
                }
            }
        }
        let groups = self.buffers.threads(GroupDispatch::All);
        self.current.record_arrange(
            &self.device,
            &self.kernels,
            &self.sorter,
            (bodies, groups),
            encoder,
        )?;
        let Some(found) = self.search.results() else {
            return Ok(());
        };
        let bindings = self.bindings(found, bodies);
        let iteration = bindings.iteration(&self.current, GroupDispatch::All)?;
        let pass = &mut begin_pass(encoder, "solve contacts");
        iteration.record_warm_start(pass);
        iteration.record(pass, substep.config.iterations);
        Ok(())
    }

    /// Submits a substep and reads what it found and, if it succeeded, its results.
    fn submit(
        &mut self,
        mut encoder: wgpu::CommandEncoder,
        substep: &DeviceSubstep<'_>,
        response: &mut DeviceResponse,
    ) -> Result<GpuMoleculesFound, DeviceError> {
        let device = Arc::clone(&self.device);
        let Some(results) = self.search.results() else {
            return Ok(GpuMoleculesFound::default());
        };
        let bodies = substep.bodies.len();
        let expected = if substep.report_touches {
            self.expected_touches.min(self.buffers.touches.len())
        } else {
            0
        };
        let sizes = [
            size_of::<GpuMoleculesFound>(),
            bodies * size_of::<GpuCrowdImpulse>(),
            expected * size_of::<GpuCrowdTouch>(),
        ];
        let sources = [
            results.found.buffer(),
            self.buffers.impulses.buffer(),
            self.buffers.touches.buffer(),
        ];
        let ranges = sizes.map(|bytes| 0..bytes as u64);
        let sources: Vec<_> = sources.into_iter().zip(ranges).collect();
        self.readback.record_all(&device, &mut encoder, &sources)?;
        device.submit(encoder)?;
        let found = self.readback.read(&device, |bytes: &[u8]| {
            let (found, bytes) = bytes.split_at(sizes[0]);
            let (impulses, touches) = bytes.split_at(sizes[1]);
            let found: GpuMoleculesFound = bytemuck::pod_read_unaligned(found);
            response.set_bodies(&bytemuck::pod_collect_to_vec(impulses), substep.owners);
            let count = expected.min(found.groups as usize);
            let touches: Vec<GpuCrowdTouch> = bytemuck::pod_collect_to_vec(touches);
            response.set_touches(&touches[..count]);
            found
        })?;
        Ok(found)
    }

    fn try_step(
        &mut self,
        substep: &DeviceSubstep<'_>,
        response: &mut DeviceResponse,
    ) -> Result<bool, SearchError> {
        let device = Arc::clone(&self.device);
        let bodies = substep.bodies.len();
        let poses = substep.bodies[..substep.owners]
            .iter()
            .map(|body| body.pose);
        self.search.prepare(&device, poses, substep.margin)?;
        self.upload(substep)?;
        let found = loop {
            self.allocate(bodies)?;
            let mut encoder = device.encoder("substep");
            self.record_search(&mut encoder, bodies as u32)?;
            self.record_relax(&mut encoder, substep)?;
            self.record_solve(&mut encoder, substep)?;
            let found = self.submit(encoder, substep, response)?;
            if found.crowded != 0 {
                return Ok(false);
            }
            // Frees the buffers that are about to be replaced.
            if self.search.needs_to_grow(&found) {
                self.kernels.forget();
            }
            if !self.search.grow(&device, &found)? {
                break found;
            }
        };
        self.read_more_touches(substep, &found, response)?;
        self.expected_touches = found.groups as usize + found.groups as usize / 4 + FIRST_TOUCHES;
        response.candidates = found.candidates() as usize;
        self.previous.arranged |= substep.relabeled.is_none();
        self.current.arranged = true;
        std::mem::swap(&mut self.current, &mut self.previous);
        self.previous_dt = Some(substep.dt);
        Ok(true)
    }

    /// Reads the touches again if there are more than expected.
    fn read_more_touches(
        &mut self,
        substep: &DeviceSubstep<'_>,
        found: &GpuMoleculesFound,
        response: &mut DeviceResponse,
    ) -> Result<(), DeviceError> {
        let count = found.groups as usize;
        if !substep.report_touches || count <= self.expected_touches {
            return Ok(());
        }
        let touches = self.buffers.touches.read_first(&self.device, count)?;
        response.set_touches(&touches);
        Ok(())
    }
}

impl DeviceResponse {
    fn set_bodies(&mut self, found: &[GpuCrowdImpulse], owners: usize) {
        self.impulses.clear();
        self.impulses.extend(found.iter().map(Impulse::from));
        let owners = found.iter().take(owners).zip(0..);
        let woken = owners.filter(|(found, _)| found.woken != 0);
        self.woken.clear();
        self.woken.extend(woken.map(|(_, owner)| OwnerIndex(owner)));
    }

    fn set_touches(&mut self, found: &[GpuCrowdTouch]) {
        self.touches.clear();
        self.touches
            .extend(found.iter().filter_map(GpuCrowdTouch::touch));
    }
}

impl DeviceSolver for GpuContactSolver {
    fn name(&self) -> &'static str {
        "gpu-contacts"
    }

    fn set_molecules(&mut self, molecules: &[Arc<RigidSpheres>]) -> Result<(), DeviceError> {
        self.kernels.forget();
        self.search.set_molecules(&self.device, molecules)
    }

    fn set_surfaces(
        &mut self,
        surfaces: &[ContactSurface],
        ignored: &[[OwnerIndex; 2]],
    ) -> Result<(), DeviceError> {
        let surfaces: Vec<GpuCrowdSurface> = surfaces.iter().map(Into::into).collect();
        self.buffers.surfaces.upload(&self.device, &surfaces)?;
        self.buffers.ignored.upload(&self.device, ignored)?;
        self.ignored_pairs = ignored.len() as u32;
        Ok(())
    }

    fn step(
        &mut self,
        substep: &DeviceSubstep<'_>,
        response: &mut DeviceResponse,
    ) -> Result<bool, SearchError> {
        let result = self.try_step(substep, response);
        result.inspect_err(|_| self.readback = Readback::new())
    }

    fn load_contacts(&mut self, contacts: &SavedContacts) -> Result<(), DeviceError> {
        contact_transfer::load(&self.device, &mut self.previous, contacts)?;
        self.previous_dt = contacts.dt;
        Ok(())
    }

    fn save_contacts(&mut self) -> Result<SavedContacts, DeviceError> {
        contact_transfer::save(&self.device, &self.previous, self.previous_dt)
    }

    fn clear_contacts(&mut self) {
        self.previous_dt = None;
    }

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.search.cell_around(point)
    }
}
