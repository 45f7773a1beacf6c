//! Contacts on their way from the processor to the device, and back.

use std::sync::Arc;

use super::GpuContactSolver;
use super::contact_set::{ContactSetSize, Held};
use super::types::{GpuCrowdCarried, GpuCrowdContact, GpuCrowdGroup};
use crate::backend::DeviceError;
use crate::dynamics::contact_reduction::MAX_CONTACTS_PER_PAIR;
use crate::dynamics::{CarriedImpulse, ContactConstraint, SavedContacts};
use crate::gpu::buffer::GpuVec;
use crate::gpu::kernel::{Length, begin_pass};

impl GpuContactSolver {
    /// Sends contacts to where those of the substep before are.
    pub(super) fn send(&mut self, carried: &SavedContacts) -> Result<(), DeviceError> {
        let device = Arc::clone(&self.device);
        let first_held = carried.contacts.partition_point(|contact| !contact.held);
        let (own, held) = carried.contacts.split_at(first_held);
        let mut groups = joined(own, &carried.touching);
        let touching = groups.len() as u32;
        let mut contacts = vec![GpuCrowdContact::default(); groups.len() * MAX_CONTACTS_PER_PAIR];
        for contact in own {
            let at = groups.partition_point(|group| (group.a, group.b) < (contact.a, contact.b));
            if let Some(group) = groups.get_mut(at)
                && (group.contacts as usize) < MAX_CONTACTS_PER_PAIR
            {
                let slot = at as u32 + group.contacts * touching;
                contacts[slot as usize] = contact.into();
                group.contacts += 1;
                group.rows += u32::from(contact.is_active());
            }
        }
        for (group, start) in groups.iter_mut().zip(0..) {
            (group.start, group.stride) = (start, touching);
        }
        let mut places = Vec::with_capacity(held.len());
        for contact in held {
            let slot = contacts.len() as u32;
            let bodies = [contact.a, contact.b];
            add_held(&mut groups, touching as usize, bodies, slot);
            if let Some(group) = groups.last_mut() {
                group.rows += u32::from(contact.is_active());
            }
            contacts.push(contact.into());
            places.push(Held {
                bodies,
                key: [contact.spheres.a, contact.spheres.b],
                slot,
            });
        }
        let size = ContactSetSize {
            touching,
            leaning: groups.len() as u32 - touching,
            held: held.len() as u32,
            bodies: 0,
        };
        self.before.hold(&device, size)?;
        self.before.groups.upload(&device, &groups)?;
        self.before.contacts.upload(&device, &contacts)?;
        self.before.held = places;
        self.last_dt = carried.dt;
        Ok(())
    }

    /// Reads the contacts of the substep before.
    pub(super) fn receive(&self) -> Result<SavedContacts, DeviceError> {
        let before = &self.before;
        let groups = before.groups.read(&self.device)?;
        let slots = before.contacts.read(&self.device)?;
        let mut carried = SavedContacts {
            dt: self.last_dt,
            ..SavedContacts::default()
        };
        for (group, index) in groups.iter().zip(0..) {
            let held = index >= before.touching;
            let own = group.slots().filter_map(|slot| slots.get(slot));
            let own = own.map(|contact| contact.constraint(group, held));
            let needed = |contact: &ContactConstraint| held || contact.is_active();
            carried.contacts.extend(own.filter(needed));
            if group.may_touch != 0 {
                carried.touching.push([group.a, group.b]);
            }
        }
        Ok(carried)
    }
}

impl GpuContactSolver {
    /// Reads what the contacts of the substep before carry.
    pub(super) fn receive_impulses(&mut self) -> Result<Vec<CarriedImpulse>, DeviceError> {
        let device = Arc::clone(&self.device);
        let before = &self.before;
        let groups = before.group_count();
        if groups == 0 {
            return Ok(Vec::new());
        }
        let mut places = GpuVec::<u32>::new(&device, "places of carried", groups as usize)?;
        places.resize(&device, groups as usize)?;
        let plan = self.scanner.plan(&device, &places, Length::Host(groups))?;
        let params = (0, &before.params);
        let listed = (1, before.groups.buffer());
        let target = (3, places.buffer());
        let count = &self.kernels.count_carried;
        let counted = count.bind(&device, &[params, listed, target])?;
        let mut encoder = device.encoder("count carried");
        {
            let pass = &mut begin_pass(&mut encoder, "count carried");
            count.record_threads(pass, &counted, groups);
            self.scanner.record(pass, &plan);
        }
        self.readback
            .record(&device, &mut encoder, plan.total(), 0..1)?;
        device.submit(encoder)?;
        let total = self
            .readback
            .read(&device, |total: &[u32]| total.first().copied().unwrap_or(0))?;
        let mut carried = GpuVec::<GpuCrowdCarried>::new(&device, "carried", total as usize)?;
        carried.resize(&device, total as usize)?;
        let pack = &self.kernels.pack_carried;
        let contacts = (2, before.contacts.buffer());
        let packed = [params, listed, contacts, target, (4, carried.buffer())];
        let packed = pack.bind(&device, &packed)?;
        let mut encoder = device.encoder("pack carried");
        pack.record_threads(
            &mut begin_pass(&mut encoder, "pack carried"),
            &packed,
            groups,
        );
        device.submit(encoder)?;
        let carried = carried.read(&device)?;
        Ok(carried.iter().map(Into::into).collect())
    }
}

/// A group for each two members that have contacts or touch, sorted, without contacts yet.
fn joined(contacts: &[ContactConstraint], touching: &[[u32; 2]]) -> Vec<GpuCrowdGroup> {
    let group = |[a, b]: [u32; 2], may_touch| GpuCrowdGroup {
        a,
        b,
        may_touch,
        ..GpuCrowdGroup::default()
    };
    let with_contacts = contacts
        .iter()
        .map(|contact| group([contact.a, contact.b], 0));
    let told = touching.iter().map(|bodies| group(*bodies, 1));
    let mut groups: Vec<_> = told.chain(with_contacts).collect();
    // Those that touch come first among equals, and stay.
    groups.sort_by_key(|group| (group.a, group.b));
    groups.dedup_by_key(|group| (group.a, group.b));
    groups
}

/// Adds a contact with an obstacle at `slot` to the group of its bodies, a new one if the
/// last is of others; groups from `first` on are such.
pub(super) fn add_held(groups: &mut Vec<GpuCrowdGroup>, first: usize, [a, b]: [u32; 2], slot: u32) {
    match groups[first..].last_mut() {
        Some(group) if (group.a, group.b) == (a, b) => group.contacts += 1,
        _ => groups.push(GpuCrowdGroup {
            a,
            b,
            start: slot,
            stride: 1,
            contacts: 1,
            ..GpuCrowdGroup::default()
        }),
    }
}
