//! The contacts of one substep on the device, by their groups and by their bodies.

use super::types::{GpuCrowdContact, GpuCrowdGroup, GpuCrowdParams};
use crate::backend::DeviceError;
use crate::dynamics::contact_reduction::MAX_CONTACTS_PER_PAIR;
use crate::gpu::buffer::GpuVec;
use crate::gpu::device::GpuDevice;
use crate::gpu::kernel::{Length, uniform};
use crate::gpu::radix::{RadixPlan, RadixSorter};

/// Contacts and their groups. Those between members come first, [`MAX_CONTACTS_PER_PAIR`] places for
/// each two, and then those with obstacles.
#[derive(Debug)]
pub(super) struct ContactSet {
    pub params: wgpu::Buffer,
    pub groups: GpuVec<GpuCrowdGroup>,
    pub contacts: GpuVec<GpuCrowdContact>,
    /// Bodies of the sides of groups, sorted, and which sides they are.
    pub side_keys: GpuVec<u32>,
    pub sides: GpuVec<u32>,
    /// First side of each body, and one entry more.
    pub side_starts: GpuVec<u32>,
    /// Number of sides.
    lengths: GpuVec<u32>,
    plan: Option<SidePlan>,
    /// Number of groups between members.
    pub touching: u32,
    /// Contacts with obstacles, by bodies and keys.
    pub held: Vec<Held>,
    /// Number of groups with obstacles.
    pub leaning: u32,
    /// Whether sides and masses are those of the groups.
    pub arranged: bool,
}

/// A contact with an obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Held {
    pub bodies: [u32; 2],
    pub key: [u32; 2],
    /// Its place among the contacts.
    pub slot: u32,
}

#[derive(Debug)]
struct SidePlan {
    bits: u32,
    sort: RadixPlan,
}

/// How many groups there are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ContactSetSize {
    /// Groups between members.
    pub touching: u32,
    /// Groups with obstacles.
    pub leaning: u32,
    /// Contacts with obstacles.
    pub held: u32,
    pub bodies: u32,
}

impl ContactSet {
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            params: uniform(device, "contacts", &GpuCrowdParams::default())?,
            groups: GpuVec::new(device, "groups of contacts", 0)?,
            contacts: GpuVec::new(device, "contacts", 0)?,
            side_keys: GpuVec::new(device, "bodies of sides", 0)?,
            sides: GpuVec::new(device, "sides", 0)?,
            side_starts: GpuVec::new(device, "sides of bodies", 0)?,
            lengths: GpuVec::new(device, "number of sides", 1)?,
            plan: None,
            touching: 0,
            held: Vec::new(),
            leaning: 0,
            arranged: false,
        })
    }

    /// Number of groups.
    pub fn group_count(&self) -> u32 {
        self.touching + self.leaning
    }

    /// Makes room. What it held is lost.
    pub fn hold(&mut self, device: &GpuDevice, size: ContactSetSize) -> Result<(), DeviceError> {
        let groups = size.touching as usize + size.leaning as usize;
        self.touching = size.touching;
        self.leaning = size.leaning;
        self.held.clear();
        self.arranged = false;
        self.groups.resize(device, groups)?;
        let places = size.touching as usize * MAX_CONTACTS_PER_PAIR + size.held as usize;
        self.contacts.resize(device, places)?;
        let mut grown = self.side_keys.resize(device, 2 * groups)?;
        grown |= self.sides.resize(device, 2 * groups)?;
        if grown {
            self.plan = None;
        }
        self.hold_bodies(device, size.bodies)
    }

    /// Room for the sides of so many bodies.
    pub fn hold_bodies(&mut self, device: &GpuDevice, bodies: u32) -> Result<(), DeviceError> {
        self.side_starts.resize(device, bodies as usize + 1)?;
        Ok(())
    }

    /// Plans the sort of the sides by bodies, of which there are so many.
    pub fn plan_sort(
        &mut self,
        device: &GpuDevice,
        sorter: &RadixSorter,
        bodies: u32,
    ) -> Result<(), DeviceError> {
        self.lengths.upload(device, &[2 * self.group_count()])?;
        // Sides that belong to nobody have one number more than bodies.
        let bits = u32::BITS - bodies.leading_zeros();
        let plan = match self.plan.take().filter(|plan| plan.bits == bits) {
            Some(plan) => plan,
            None => {
                let length = Length::Device {
                    counts: &self.lengths,
                    slot: 0,
                    at_most: self.side_keys.capacity().min(u32::MAX as usize) as u32,
                };
                let (keys, sides) = (&self.side_keys, &self.sides);
                SidePlan {
                    bits,
                    sort: sorter.plan(device, keys, sides, length, bits)?,
                }
            }
        };
        self.plan = Some(plan);
        Ok(())
    }

    /// The sort that was last planned.
    pub fn planned(&self) -> Option<&RadixPlan> {
        self.plan.as_ref().map(|plan| &plan.sort)
    }
}
