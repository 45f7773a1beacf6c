//! [`GpuContactSolver`]: the contacts of a crowd, found and solved on the GPU.
//!
//! The CPU reference is [`CrowdContacts`](crate::dynamics::CrowdContacts).
//!
//! | file | contents |
//! |---|---|
//! | `types` | structs that Rust and WGSL share |
//! | `buffers` | the buffers of a substep: contacts and groups, and all others |
//! | `atom_placement` | atoms that follow their molecules |
//! | `dispatch` | the kernels and what they bind |
//! | `contact_transfer` | conversion of contacts between CPU and device |

mod atom_placement;
mod buffers;
mod contact_transfer;
mod dispatch;
mod types;

pub use types::{
    GpuCrowdBody, GpuCrowdContact, GpuCrowdExternal, GpuCrowdGroup, GpuCrowdImpulse,
    GpuCrowdImpulseChange, GpuCrowdParams, GpuCrowdSurface, GpuCrowdTouch,
};

use std::sync::Arc;
use std::time::Instant;

use glam::Vec3;

use atom_placement::AtomPlacement;
use buffers::{ContactSet, ContactSetSize, CrowdBuffers};
use contact_transfer::ExternalUpload;
use dispatch::{Bindings, CrowdKernels};
use types::NONE;

use super::device::GpuDevice;
use super::group_search::{GpuGroupSearch, GroupCount};
use super::kernel::{begin_pass, write_uniform};
use super::radix_sort::RadixSorter;
use super::readback::Readback;
use super::search_buffers::SphereSource;
use super::shader_constants::MAX_LOOP_ITERATIONS;
use crate::backend::DeviceError;
use crate::dynamics::contact_reduction::MAX_CONTACTS_PER_PAIR;
use crate::dynamics::{
    BodyIndex, ContactSurface, CrowdTouch, DeviceDetection, DeviceResponse, DeviceSolver,
    DeviceSubstep, GroupSearch, Impulse, MovingBody, OwnerIndex, SavedContacts,
};
use crate::search::RigidSpheres;
use crate::search::{GridCell, SearchError, SearchTimes};

/// Finds and solves the contacts of a crowd on a GPU.
///
/// The substep is that of the [module `dynamics`](crate::dynamics#one-substep), with one thread
/// per group of contacts or per body. Atoms are placed from templates and poses, pairs are
/// grouped by molecules and reduced (see [`GpuGroupSearch`]), and contacts stay on the device. A stable
/// sort lists the groups of each body, which adds them up in ascending order.
///
/// No sum uses atomics, and both sides of a contact receive the same vector: runs are identical
/// bit for bit, and momentum is conserved. Results differ from the CPU only because drivers may
/// round quotients and roots differently.
///
/// One impulse per body is read back, and 16 bytes per touching pair if touches are reported: for
/// 1,492 lipids of 134 atoms 126 KiB with touches and 47 KiB without, where pairs for the CPU
/// take 738 KiB.
#[derive(Debug)]
pub struct GpuContactSolver {
    device: Arc<GpuDevice>,
    search: GpuGroupSearch,
    placement: Option<AtomPlacement>,
    kernels: CrowdKernels,
    sorter: RadixSorter,
    buffers: CrowdBuffers,
    current: ContactSet,
    previous: ContactSet,
    /// Length of the previous substep, s; none if there was none.
    previous_dt: Option<f32>,
    /// Result of the last detection.
    found: GroupCount,
    ignored_pairs: u32,
    /// Bodies as they are sent.
    packed: Vec<GpuCrowdBody>,
    readback: Readback,
}

impl GpuContactSolver {
    /// Compiles the kernels for `device`.
    ///
    /// # Errors
    /// [`DeviceError`] if the device rejects them or is lost.
    pub fn new(device: Arc<GpuDevice>) -> Result<Self, DeviceError> {
        Ok(Self {
            search: GpuGroupSearch::new(Arc::clone(&device))?,
            placement: None,
            kernels: CrowdKernels::new(&device)?,
            sorter: RadixSorter::new(&device)?,
            buffers: CrowdBuffers::new(&device)?,
            current: ContactSet::new(&device)?,
            previous: ContactSet::new(&device)?,
            previous_dt: None,
            found: GroupCount::default(),
            ignored_pairs: 0,
            packed: Vec::new(),
            readback: Readback::new(),
            device,
        })
    }

    fn bindings(&self, bodies: u32) -> Bindings<'_> {
        Bindings {
            device: &self.device,
            kernels: &self.kernels,
            search: &self.search,
            buffers: &self.buffers,
            current: &self.current,
            previous: &self.previous,
            bodies,
        }
    }

    fn read_touches(
        &mut self,
        touches: &mut Vec<CrowdTouch<OwnerIndex>>,
    ) -> Result<(), DeviceError> {
        let device = Arc::clone(&self.device);
        let member_groups = self.found.groups;
        let size = ContactSetSize {
            member_groups,
            ..ContactSetSize::default()
        };
        self.current.resize(&device, size)?;
        self.buffers
            .touches
            .resize(&device, member_groups as usize)?;
        let params = GpuCrowdParams {
            member_groups,
            groups: member_groups,
            ignored_pairs: self.ignored_pairs,
            ..GpuCrowdParams::default()
        };
        write_uniform(&device, &self.current.params, &params)?;
        let mut encoder = device.encoder("touches");
        let filter = self.bindings(0).filter()?;
        filter.record(&mut begin_pass(&mut encoder, "filter groups"));
        let range = 0..member_groups as usize;
        self.readback
            .record(&device, &mut encoder, &self.buffers.touches, range)?;
        device.submit(encoder)?;
        self.readback.read(&device, |found: &[GpuCrowdTouch]| {
            touches.extend(found.iter().filter_map(GpuCrowdTouch::touch));
        })
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
        let first_slot = self.found.groups * MAX_CONTACTS_PER_PAIR as u32;
        let external = ExternalUpload::new(substep.external, &self.previous.external, first_slot);
        if external.groups.len() > MAX_LOOP_ITERATIONS as usize {
            return Err(DeviceError::Unsupported {
                feature: "this many contacts with external bodies",
            });
        }
        let bodies = substep.bodies.len();
        let size = ContactSetSize {
            member_groups: self.found.groups,
            external_groups: external.groups.len() as u32,
            external_contacts: external.contacts.len() as u32,
            bodies: bodies as u32,
        };
        self.current.resize(&device, size)?;
        self.current.external = external.slots;
        let counts = [self.previous.group_count(), self.current.group_count()];
        self.buffers.resize(&device, bodies, counts)?;
        self.buffers
            .touches
            .resize(&device, self.found.groups as usize)?;
        self.packed.clear();
        self.packed
            .extend(substep.bodies.iter().map(GpuCrowdBody::from));
        self.buffers.bodies.upload(&device, &self.packed)?;
        self.buffers.externals.upload(&device, &external.contacts)?;
        if !external.groups.is_empty() {
            let offset = u64::from(self.found.groups) * size_of::<GpuCrowdGroup>() as u64;
            let target = self.current.groups.buffer();
            device.guarded(|| {
                let bytes = bytemuck::cast_slice(&external.groups);
                device.queue().write_buffer(target, offset, bytes);
            })?;
        }
        self.write_params(substep)
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
            member_groups: self.current.member_groups,
            groups: self.current.group_count(),
            previous_member_groups: self.previous.member_groups,
            ignored_pairs: self.ignored_pairs,
            push_out: 1,
            dt: substep.dt,
            slop: config.slop,
            max_push_speed: config.max_push_speed,
            restitution_threshold: config.restitution_threshold,
            padding: 0,
        };
        write_uniform(&self.device, &self.current.params, &params)?;
        let params = GpuCrowdParams {
            member_groups: self.previous.member_groups,
            groups: self.previous.group_count(),
            push_out: 0,
            dt: self.previous_dt.unwrap_or(substep.dt),
            ..params
        };
        write_uniform(&self.device, &self.previous.params, &params)
    }

    /// Records the wake test and the relaxation of the previous contacts.
    fn record_relax(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        substep: &DeviceSubstep<'_>,
    ) -> Result<(), DeviceError> {
        let bodies = substep.bodies.len() as u32;
        self.buffers.record_clear(encoder);
        {
            let pass = &mut begin_pass(encoder, "wake bodies");
            let bindings = self.bindings(bodies);
            bindings.filter()?.record(pass);
            for dispatch in bindings.wake()? {
                dispatch.record(pass);
            }
        }
        if self.previous_dt.is_none() || self.previous.group_count() == 0 {
            return Ok(());
        }
        if substep.relabeled.is_some() {
            let pass = &mut begin_pass(encoder, "relabel external bodies");
            self.bindings(bodies).relabel_externals()?.record(pass);
        }
        if substep.relabeled.is_some() || !self.previous.arranged {
            self.previous.record_arrange(
                &self.device,
                &self.kernels,
                &self.sorter,
                bodies,
                encoder,
            )?;
        }
        let iteration = self.bindings(bodies).iteration(&self.previous)?;
        let pass = &mut begin_pass(encoder, "relax contacts");
        iteration.follow_bodies.record(pass);
        iteration.record(pass, substep.config.relax_iterations);
        Ok(())
    }

    fn try_respond(
        &mut self,
        substep: &DeviceSubstep<'_>,
        response: &mut DeviceResponse,
    ) -> Result<(), DeviceError> {
        let device = Arc::clone(&self.device);
        let bodies = substep.bodies.len() as u32;
        self.upload(substep)?;
        let mut encoder = device.encoder("solve contacts");
        self.record_relax(&mut encoder, substep)?;
        {
            let pass = &mut begin_pass(&mut encoder, "prepare contacts");
            let bindings = self.bindings(bodies);
            for dispatch in bindings.prepare()? {
                dispatch.record(pass);
            }
            if self.current.external_groups > 0 {
                for dispatch in bindings.skip_isolated_externals()? {
                    dispatch.record(pass);
                }
            }
        }
        self.current
            .record_arrange(&device, &self.kernels, &self.sorter, bodies, &mut encoder)?;
        {
            let iteration = self.bindings(bodies).iteration(&self.current)?;
            let pass = &mut begin_pass(&mut encoder, "solve contacts");
            iteration.record_warm_start(pass);
            iteration.record(pass, substep.config.iterations);
        }
        let range = 0..bodies as usize;
        self.readback
            .record(&device, &mut encoder, &self.buffers.impulses, range)?;
        device.submit(encoder)?;
        self.readback.read(&device, |found: &[GpuCrowdImpulse]| {
            response.impulses.clear();
            response.impulses.extend(found.iter().map(Impulse::from));
            response.woken.clear();
            let owners = found.iter().take(substep.owners).zip(0..);
            let woken = owners.filter(|(found, _)| found.woken != 0);
            response
                .woken
                .extend(woken.map(|(_, owner)| OwnerIndex(owner)));
        })?;
        std::mem::swap(&mut self.current, &mut self.previous);
        self.previous_dt = Some(substep.dt);
        Ok(())
    }
}

impl DeviceSolver for GpuContactSolver {
    fn name(&self) -> &'static str {
        "gpu-contacts"
    }

    fn set_molecules(&mut self, molecules: &[Arc<RigidSpheres>]) -> Result<(), DeviceError> {
        // Frees the memory of the previous ones first.
        self.placement = None;
        self.placement = Some(AtomPlacement::new(&self.device, molecules)?);
        Ok(())
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

    fn detect(
        &mut self,
        bodies: &[MovingBody],
        margin: f32,
        touches: Option<&mut Vec<CrowdTouch<OwnerIndex>>>,
    ) -> Result<DeviceDetection, SearchError> {
        let start = Instant::now();
        self.found = GroupCount::default();
        let Some(placement) = &mut self.placement else {
            return Ok(DeviceDetection::default());
        };
        let Some(plan) = placement.plan(bodies, margin)? else {
            return Ok(DeviceDetection::default());
        };
        placement.move_to(&self.device, bodies)?;
        let searched = SphereSource::Device(placement.atoms());
        let (found, build) = self.search.find_on_device(searched, &plan)?;
        self.found = found;
        if let Some(touches) = touches.filter(|_| found.groups > 0)
            && let Err(error) = self.read_touches(touches)
        {
            touches.clear();
            self.readback = Readback::new();
            return Err(error.into());
        }
        Ok(DeviceDetection {
            candidates: found.pairs as usize,
            times: SearchTimes {
                build,
                walk: start.elapsed().saturating_sub(build),
            },
        })
    }

    fn respond(
        &mut self,
        substep: &DeviceSubstep<'_>,
        response: &mut DeviceResponse,
    ) -> Result<(), DeviceError> {
        let result = self.try_respond(substep, response);
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
        self.previous.clear();
    }

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        GroupSearch::cell_around(&self.search, point)
    }
}
