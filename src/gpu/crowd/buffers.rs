//! The buffers of a substep: its contacts, by group and by body, which the next substep needs too,
//! and all others.

use super::dispatch::{CrowdKernels, Dispatch};
use super::types::{
    GpuCrowdBody, GpuCrowdContact, GpuCrowdExternal, GpuCrowdGroup, GpuCrowdImpulse,
    GpuCrowdImpulseChange, GpuCrowdParams, GpuCrowdSurface, GpuCrowdTouch,
};
use crate::backend::DeviceError;
use crate::dynamics::contact_reduction::MAX_CONTACTS_PER_PAIR;
use crate::dynamics::{BodyIndex, OwnerIndex};
use crate::gpu::device::GpuDevice;
use crate::gpu::gpu_vec::GpuVec;
use crate::gpu::kernel::{Length, begin_pass, uniform};
use crate::gpu::radix_sort::{RadixPlan, RadixSorter};

/// Contacts and groups: first those between owners, [`MAX_CONTACTS_PER_PAIR`] slots per group,
/// then those with external bodies.
#[derive(Debug)]
pub(super) struct ContactSet {
    pub params: wgpu::Buffer,
    pub groups: GpuVec<GpuCrowdGroup>,
    pub contacts: GpuVec<GpuCrowdContact>,
    /// Body of each side of a group, sorted, and the sides.
    pub side_keys: GpuVec<u32>,
    pub sides: GpuVec<u32>,
    /// First side of each body, and one entry more.
    pub side_starts: GpuVec<u32>,
    /// Number of sides, for the sort.
    side_count: GpuVec<u32>,
    /// Number of bits of the sort keys, and the plan.
    sort: Option<(u32, RadixPlan)>,
    pub member_groups: u32,
    pub external_groups: u32,
    /// External contacts, sorted.
    pub external: Vec<ExternalSlot>,
    /// Whether sides and split masses are up to date.
    pub arranged: bool,
}

/// The slot of an external contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ExternalSlot {
    pub bodies: [BodyIndex; 2],
    /// The two halves of its key.
    pub key: [u32; 2],
    pub slot: u32,
}

/// Size of a [`ContactSet`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ContactSetSize {
    pub member_groups: u32,
    pub external_groups: u32,
    pub external_contacts: u32,
    pub bodies: u32,
}

impl ContactSet {
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            params: uniform(device, "contact parameters", &GpuCrowdParams::default())?,
            groups: GpuVec::new(device, "contact groups", 0)?,
            contacts: GpuVec::new(device, "contacts", 0)?,
            side_keys: GpuVec::new(device, "bodies of sides", 0)?,
            sides: GpuVec::new(device, "sides", 0)?,
            side_starts: GpuVec::new(device, "first sides of bodies", 0)?,
            side_count: GpuVec::new(device, "number of sides", 1)?,
            sort: None,
            member_groups: 0,
            external_groups: 0,
            external: Vec::new(),
            arranged: false,
        })
    }

    pub fn group_count(&self) -> u32 {
        self.member_groups + self.external_groups
    }

    /// Resizes all buffers and drops their contents.
    pub fn resize(&mut self, device: &GpuDevice, size: ContactSetSize) -> Result<(), DeviceError> {
        let groups = size.member_groups as usize + size.external_groups as usize;
        self.member_groups = size.member_groups;
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

    pub fn clear(&mut self) {
        self.member_groups = 0;
        self.external_groups = 0;
        self.external.clear();
    }

    /// Plans the sort of the sides by body.
    fn plan_sort(
        &mut self,
        device: &GpuDevice,
        sorter: &RadixSorter,
        bodies: u32,
    ) -> Result<(), DeviceError> {
        self.side_count.upload(device, &[2 * self.group_count()])?;
        // Sides of inactive groups have key `bodies`.
        let bits = u32::BITS - bodies.leading_zeros();
        if self
            .sort
            .as_ref()
            .is_none_or(|(planned, _)| *planned != bits)
        {
            let length = Length::Device {
                counts: &self.side_count,
                slot: 0,
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
        bodies: u32,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), DeviceError> {
        self.side_starts.resize(device, bodies as usize + 1)?;
        self.plan_sort(device, sorter, bodies)?;
        self.arranged = true;
        let params = (0, &self.params);
        let groups = (1, self.groups.buffer());
        let keys = (2, self.side_keys.buffer());
        let sides = (3, self.sides.buffer());
        let starts = (4, self.side_starts.buffer());
        let contacts = (5, self.contacts.buffer());
        let count = self.group_count();
        let list = [params, groups, keys, sides, contacts];
        let find = [params, keys, starts];
        let split = [params, groups, starts, contacts];
        let list = Dispatch::new(device, &kernels.list_sides, &list, count)?;
        let find = Dispatch::new(device, &kernels.find_sides, &find, bodies + 1)?;
        let split = Dispatch::new(device, &kernels.split_masses, &split, count)?;
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
    pub bodies: GpuVec<GpuCrowdBody>,
    pub surfaces: GpuVec<GpuCrowdSurface>,
    /// Pairs of owners that never touch, sorted.
    pub ignored: GpuVec<[OwnerIndex; 2]>,
    pub touches: GpuVec<GpuCrowdTouch>,
    pub externals: GpuVec<GpuCrowdExternal>,
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
            bodies: GpuVec::new(device, "bodies", 0)?,
            surfaces: GpuVec::new(device, "surfaces", 0)?,
            ignored: GpuVec::new(device, "ignored pairs", 0)?,
            touches: GpuVec::new(device, "touches", 0)?,
            externals: GpuVec::new(device, "external contacts", 0)?,
            relabeled: GpuVec::new(device, "relabeled external bodies", 0)?,
            persistent: GpuVec::new(device, "persistent groups", 0)?,
            woken: GpuVec::new(device, "woken bodies", 0)?,
            crowded: GpuVec::new(device, "crowded bodies", 0)?,
            changes: GpuVec::new(device, "impulse changes", 0)?,
            impulses: GpuVec::new(device, "impulses", 0)?,
        })
    }

    /// Resizes the buffers to the number of bodies, and of groups in the previous and the
    /// current substep.
    pub fn resize(
        &mut self,
        device: &GpuDevice,
        bodies: usize,
        [previous, current]: [u32; 2],
    ) -> Result<(), DeviceError> {
        self.woken.resize(device, bodies)?;
        self.crowded.resize(device, bodies)?;
        self.impulses.resize(device, bodies)?;
        self.persistent.resize(device, previous as usize)?;
        self.changes
            .resize(device, previous.max(current) as usize)?;
        Ok(())
    }

    /// Records the reset of all marks.
    pub fn record_clear(&self, encoder: &mut wgpu::CommandEncoder) {
        self.woken.record_clear(encoder);
        self.crowded.record_clear(encoder);
        self.persistent.record_clear(encoder);
    }
}
