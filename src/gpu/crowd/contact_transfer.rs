//! Converts contacts between the layouts of the CPU and the device.

use super::buffers::{ContactSet, ContactSetSize, ExternalSlot};
use super::types::{GpuCrowdContact, GpuCrowdExternal, GpuCrowdGroup, NONE};
use crate::backend::DeviceError;
use crate::dynamics::contact_reduction::MAX_CONTACTS_PER_PAIR;
use crate::dynamics::{BodyIndex, BoundContact, ContactConstraint, OwnerIndex, SavedContacts};
use crate::gpu::device::GpuDevice;

/// Sends contacts to `target`.
pub(super) fn load(
    device: &GpuDevice,
    target: &mut ContactSet,
    saved: &SavedContacts,
) -> Result<(), DeviceError> {
    let first_external = saved.contacts.partition_point(|contact| !contact.external);
    let (own, external) = saved.contacts.split_at(first_external);
    let mut groups = member_groups(own, &saved.touching);
    let member_groups = groups.len() as u32;
    let mut contacts = vec![GpuCrowdContact::default(); groups.len() * MAX_CONTACTS_PER_PAIR];
    for contact in own {
        let at = groups.partition_point(|group| (group.a, group.b) < (contact.a, contact.b));
        if let Some(group) = groups.get_mut(at)
            && (group.contacts as usize) < MAX_CONTACTS_PER_PAIR
        {
            let slot = at as u32 + group.contacts * member_groups;
            contacts[slot as usize] = contact.into();
            group.contacts += 1;
            group.active_contacts += u32::from(contact.is_active());
        }
    }
    for (group, start) in groups.iter_mut().zip(0..) {
        (group.start, group.stride) = (start, member_groups);
    }
    let mut slots = Vec::with_capacity(external.len());
    for contact in external {
        let slot = contacts.len() as u32;
        let bodies = [contact.a, contact.b];
        let group = add_external(&mut groups, member_groups as usize, bodies, slot);
        group.active_contacts += u32::from(contact.is_active());
        contacts.push(contact.into());
        slots.push(ExternalSlot {
            bodies,
            key: [contact.spheres.a, contact.spheres.b],
            index: slots.len() as u32,
        });
    }
    let size = ContactSetSize {
        member_groups,
        external_groups: groups.len() as u32 - member_groups,
        external_contacts: external.len() as u32,
        bodies: 0,
    };
    target.resize(device, size)?;
    target.set_counts(device, member_groups)?;
    target.groups.upload(device, &groups)?;
    target.contacts.upload(device, &contacts)?;
    target.external = slots;
    Ok(())
}

/// Reads the contacts of a substep of `dt` s from `source`.
pub(super) fn save(
    device: &GpuDevice,
    source: &ContactSet,
    dt: Option<f32>,
) -> Result<SavedContacts, DeviceError> {
    let counts = source.counts.read(device)?;
    let &[member_groups, all, ..] = &counts[..] else {
        return Ok(SavedContacts::default());
    };
    let groups = source.groups.read_first(device, all as usize)?;
    let slots = member_groups as usize * MAX_CONTACTS_PER_PAIR + source.external.len();
    let contacts = source.contacts.read_first(device, slots)?;
    let mut saved = SavedContacts {
        dt,
        ..SavedContacts::default()
    };
    for (group, index) in groups.iter().zip(0..) {
        let external = index >= member_groups;
        let own = group.slots().filter_map(|slot| contacts.get(slot));
        let own = own.map(|contact| contact.constraint(group, external));
        let needed = |contact: &ContactConstraint| external || contact.is_active();
        saved.contacts.extend(own.filter(needed));
        if group.pushes != 0 {
            let owners = [group.a, group.b].map(|body| OwnerIndex(body.0));
            saved.touching.push(owners);
        }
    }
    Ok(saved)
}

/// A group for each pair of owners that has contacts or touches, sorted, without contacts yet.
fn member_groups(
    contacts: &[ContactConstraint],
    touching: &[[OwnerIndex; 2]],
) -> Vec<GpuCrowdGroup> {
    let group = |[a, b]: [BodyIndex; 2], pushes| GpuCrowdGroup {
        a,
        b,
        pushes,
        ..GpuCrowdGroup::default()
    };
    let with_contacts = contacts.iter().map(|one| group([one.a, one.b], 0));
    let touching = touching.iter();
    let touching = touching.map(|owners| group(owners.map(OwnerIndex::body), 1));
    let mut groups: Vec<_> = touching.chain(with_contacts).collect();
    // The sort is stable, so of equal groups the touching one comes first and stays.
    groups.sort_by_key(|group| (group.a, group.b));
    groups.dedup_by_key(|group| (group.a, group.b));
    groups
}

/// Adds an external contact to the last group if that has the same bodies, else to a new one.
/// Groups from `first` on are external.
fn add_external(
    groups: &mut Vec<GpuCrowdGroup>,
    first: usize,
    bodies: [BodyIndex; 2],
    slot: u32,
) -> &mut GpuCrowdGroup {
    let last = groups[first..].last();
    if last.is_none_or(|last| [last.a, last.b] != bodies) {
        groups.push(GpuCrowdGroup {
            a: bodies[0],
            b: bodies[1],
            start: slot,
            stride: 1,
            ..GpuCrowdGroup::default()
        });
    }
    let last = groups.len() - 1;
    groups[last].contacts += 1;
    &mut groups[last]
}

/// The external contacts of a substep, as they are sent.
#[derive(Debug, Default)]
pub(super) struct ExternalUpload {
    pub contacts: Vec<GpuCrowdExternal>,
    pub groups: Vec<GpuCrowdGroup>,
    pub slots: Vec<ExternalSlot>,
}

impl ExternalUpload {
    /// Sorts the contacts by bodies, and finds each among those of the previous substep.
    pub fn new(contacts: &[BoundContact], previous: &[ExternalSlot]) -> Self {
        let mut order: Vec<_> = contacts.iter().collect();
        order.sort_by_key(|bound| (bound.bodies, bound.contact.key_pair()));
        let mut upload = Self::default();
        for (bound, index) in order.into_iter().zip(0..) {
            let (bodies, pair) = (bound.bodies, bound.contact.key_pair());
            let key = [pair.a, pair.b];
            let at = previous.partition_point(|one| (one.bodies, one.key) < (bodies, key));
            let same = previous.get(at);
            let same = same.filter(|one| (one.bodies, one.key) == (bodies, key));
            let previous = same.map_or(NONE, |one| one.index);
            let external = GpuCrowdExternal::new(&bound.contact, previous);
            upload.contacts.push(external);
            add_external(&mut upload.groups, 0, bodies, index);
            upload.slots.push(ExternalSlot { bodies, key, index });
        }
        upload
    }
}
