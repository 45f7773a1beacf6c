//! The buffers of a substep: its contacts, by group and by body, which the next substep needs too,
//! and all others.

use super::dispatch::{CrowdKernels, Dispatch, GroupDispatch, Threads};
use super::types::{
    GpuCrowdBody, GpuCrowdContact, GpuCrowdExternal, GpuCrowdGroup, GpuCrowdImpulse,
    GpuCrowdImpulseChange, GpuCrowdParams, GpuCrowdSurface, GpuCrowdTouch, GpuGroupLimits,
};
use crate::backend::DeviceError;
use crate::dynamics::contact_reduction::MAX_CONTACTS_PER_PAIR;
use crate::dynamics::{BodyIndex, OwnerIndex};
use crate::gpu::device::GpuDevice;
use crate::gpu::gpu_vec::GpuVec;
use crate::gpu::kernel::{Length, begin_pass, uniform};
use crate::gpu::radix_sort::{RadixPlan, RadixSorter};

/// Contacts and groups: first those between owners, [`MAX_CONTACTS_PER_PAIR`] slots per group,
/// then those with external bodies. Only the device knows how many groups there are between owners.
#[derive(Debug)]
pub(super) struct ContactSet {
    pub params: wgpu::Buffer,
    /// Number of groups between owners, of all groups, and of their sides.
    pub counts: GpuVec<u32>,
    pub groups: GpuVec<GpuCrowdGroup>,
    pub contacts: GpuVec<GpuCrowdContact>,
    /// Body of each side of a group, sorted, and the sides.
    pub side_keys: GpuVec<u32>,
    pub sides: GpuVec<u32>,
    /// First side of each body, and one entry more.
    pub side_starts: GpuVec<u32>,
    /// Number of bits of the sort keys, and the plan.
    sort: Option<(u32, RadixPlan)>,
    pub external_groups: u32,
    /// External contacts, sorted.
    pub external: Vec<ExternalSlot>,
    /// Whether sides and split masses are up to date.
    pub arranged: bool,
}

/// Where an external contact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ExternalSlot {
    pub bodies: [BodyIndex; 2],
    /// The two halves of its key.
    pub key: [u32; 2],
    /// Its index among the external contacts.
    pub index: u32,
}

/// Size of a [`ContactSet`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ContactSetSize {
    /// Maximum number of groups between owners.
    pub member_groups: u32,
    pub external_groups: u32,
    pub external_contacts: u32,
    pub bodies: u32,
}

/// Index of the number of sides in [`ContactSet::counts`].
const SIDES_SLOT: u32 = 2;

impl ContactSet {
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            params: uniform(device, "contact parameters", &GpuCrowdParams::default())?,
            counts: GpuVec::from_slice(device, "numbers of groups", &[0; 3])?,
            groups: GpuVec::new(device, "contact groups", 0)?,
            contacts: GpuVec::new(device, "contacts", 0)?,
            side_keys: GpuVec::new(device, "bodies of sides", 0)?,
            sides: GpuVec::new(device, "sides", 0)?,
            side_starts: GpuVec::new(device, "first sides of bodies", 0)?,
            sort: None,
            external_groups: 0,
            external: Vec::new(),
            arranged: false,
        })
    }

    /// Resizes all buffers and drops their contents.
    pub fn resize(&mut self, device: &GpuDevice, size: ContactSetSize) -> Result<(), DeviceError> {
        let groups = size.member_groups as usize + size.external_groups as usize;
        self.external_groups = size.external_groups;
        self.external.clear();
        self.arranged = false;
        self.groups.resize(device, groups)?;
        let slots =
            size.member_groups as usize * MAX_CONTACTS_PER_PAIR + size.external_contacts as usize;
        self.contacts.resize(device, slots)?;
        let mut grown = self.side_keys.resize(device, 2 * groups)?;
        grown |= self.sides.resize(device, 2 * groups)?;
        if grown {
            self.sort = None;
        }
        self.side_starts.resize(device, size.bodies as usize + 1)?;
        Ok(())
    }

    /// Sets the number of groups between owners.
    pub fn set_counts(
        &mut self,
        device: &GpuDevice,
        member_groups: u32,
    ) -> Result<(), DeviceError> {
        let all = member_groups + self.external_groups;
        self.counts.upload(device, &[member_groups, all, 2 * all])?;
        Ok(())
    }

    /// Plans the sort of the sides by body.
    fn plan_sort(
        &mut self,
        device: &GpuDevice,
        sorter: &RadixSorter,
        bodies: u32,
    ) -> Result<(), DeviceError> {
        // Sides of inactive groups have key `bodies`.
        let bits = u32::BITS - bodies.leading_zeros();
        if self
            .sort
            .as_ref()
            .is_none_or(|(planned, _)| *planned != bits)
        {
            let length = Length::Device {
                counts: &self.counts,
                slot: SIDES_SLOT,
                max: self.side_keys.capacity().min(u32::MAX as usize) as u32,
            };
            self.sort = None;
            let plan = sorter.plan(device, &self.side_keys, &self.sides, length, bits)?;
            self.sort = Some((bits, plan));
        }
        Ok(())
    }

    /// Records a sort of the sides of groups by body, and mass splitting.
    pub fn record_arrange(
        &mut self,
        device: &GpuDevice,
        kernels: &CrowdKernels,
        sorter: &RadixSorter,
        (bodies, groups): (u32, Threads),
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), DeviceError> {
        self.side_starts.resize(device, bodies as usize + 1)?;
        self.plan_sort(device, sorter, bodies)?;
        let params = (0, &self.params);
        let all = (1, self.groups.buffer());
        let keys = (2, self.side_keys.buffer());
        let sides = (3, self.sides.buffer());
        let starts = (4, self.side_starts.buffer());
        let contacts = (5, self.contacts.buffer());
        let list = [params, all, keys, sides, contacts];
        let find = [params, keys, starts];
        let split = [params, all, starts, contacts];
        let list = Dispatch::new(device, &kernels.list_sides, &list, groups.clone())?;
        let find = Dispatch::new(
            device,
            &kernels.find_sides,
            &find,
            Threads::Host(bodies + 1),
        )?;
        let split = Dispatch::new(device, &kernels.split_masses, &split, groups)?;
        let pass = &mut begin_pass(encoder, "arrange contacts");
        list.record(pass);
        if let Some((_, plan)) = &self.sort {
            sorter.record(pass, plan);
        }
        find.record(pass);
        split.record(pass);
        Ok(())
    }
}

/// Buffers of the current substep that the next one does not need.
#[derive(Debug)]
pub(super) struct CrowdBuffers {
    /// A [`GpuGroupLimits`].
    pub limits: wgpu::Buffer,
    /// What is copied to the parameters of the current and the previous contacts.
    pub parameters: GpuVec<[u32; 4]>,
    /// Sizes of the dispatches in [`GroupDispatch`].
    pub dispatches: GpuVec<[u32; 4]>,
    pub bodies: GpuVec<GpuCrowdBody>,
    pub surfaces: GpuVec<GpuCrowdSurface>,
    /// Pairs of owners that never touch, sorted.
    pub ignored: GpuVec<[OwnerIndex; 2]>,
    pub touches: GpuVec<GpuCrowdTouch>,
    pub externals: GpuVec<GpuCrowdExternal>,
    /// Groups of external contacts, which start at an index of `externals`.
    pub external_groups: GpuVec<GpuCrowdGroup>,
    /// Current body of each external body of the previous substep.
    pub relabeled: GpuVec<u32>,
    /// Groups of the previous substep that still exist.
    pub persistent: GpuVec<u32>,
    /// Bodies that wake up.
    pub woken: GpuVec<u32>,
    /// Bodies with contacts in the crowd, and external bodies that support them.
    pub crowded: GpuVec<u32>,
    pub changes: GpuVec<GpuCrowdImpulseChange>,
    pub impulses: GpuVec<GpuCrowdImpulse>,
}

impl CrowdBuffers {
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            limits: uniform(device, "group limits", &GpuGroupLimits::default())?,
            parameters: GpuVec::zeroed(device, "group parameters", 2)?,
            dispatches: GpuVec::indirect(device, "group dispatches", GroupDispatch::COUNT)?,
            bodies: GpuVec::new(device, "bodies", 0)?,
            surfaces: GpuVec::new(device, "surfaces", 0)?,
            ignored: GpuVec::new(device, "ignored pairs", 0)?,
            touches: GpuVec::new(device, "touches", 0)?,
            externals: GpuVec::new(device, "external contacts", 0)?,
            external_groups: GpuVec::new(device, "groups of external contacts", 0)?,
            relabeled: GpuVec::new(device, "relabeled external bodies", 0)?,
            persistent: GpuVec::new(device, "persistent groups", 0)?,
            woken: GpuVec::new(device, "woken bodies", 0)?,
            crowded: GpuVec::new(device, "crowded bodies", 0)?,
            changes: GpuVec::new(device, "impulse changes", 0)?,
            impulses: GpuVec::new(device, "impulses", 0)?,
        })
    }

    /// Resizes the buffers to the number of bodies, and to the maximum number of groups in the
    /// previous and the current substep.
    pub fn resize(
        &mut self,
        device: &GpuDevice,
        bodies: usize,
        [previous, current]: [usize; 2],
    ) -> Result<(), DeviceError> {
        self.woken.resize(device, bodies)?;
        self.crowded.resize(device, bodies)?;
        self.impulses.resize(device, bodies)?;
        self.persistent.resize(device, previous)?;
        self.touches.resize(device, current)?;
        self.changes.resize(device, previous.max(current))?;
        Ok(())
    }

    /// One thread for each of `which`.
    pub fn threads(&self, which: GroupDispatch) -> Threads {
        Threads::Device(self.dispatches.buffer().clone(), which)
    }

    /// Records the reset of all marks.
    pub fn record_clear(&self, encoder: &mut wgpu::CommandEncoder) {
        self.woken.record_clear(encoder);
        self.crowded.record_clear(encoder);
        self.persistent.record_clear(encoder);
    }
}
