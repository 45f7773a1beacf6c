//! The contacts of a substep, grouped by the two bodies they are between.

use std::ops::Range;

use super::jacobi::LaneIndex;
use super::{BodyIndex, ContactConstraint, Dominance};

/// Largest number of groups and items of a task: some 20 µs of work, since handing a task to another
/// thread takes several.
const MAX_TASK_SIZE: usize = 1024;

/// The contacts between two bodies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ContactGroup {
    pub a: BodyIndex,
    pub b: BodyIndex,
    /// Range of its contacts.
    pub start: u32,
    pub end: u32,
    /// Whether they are external contacts.
    pub external: bool,
    /// Number of active contacts.
    pub active: u32,
    /// Which of the bodies dominates.
    pub dominance: Dominance,
    /// Whether the bodies have pushed each other in the last iterations.
    pub pushed: bool,
    /// Where the iteration has its active contacts.
    pub lane: LaneIndex,
}

impl ContactGroup {
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The contacts of the previous substep, for the warm start.
#[derive(Clone, Debug, Default)]
pub(super) struct PreviousContacts {
    contacts: Vec<ContactConstraint>,
    /// Sorted by bodies, external groups last.
    groups: Vec<ContactGroup>,
}

impl PreviousContacts {
    pub fn clear(&mut self) {
        self.contacts.clear();
        self.groups.clear();
    }

    /// Swaps contacts and groups in, and leaves `groups` empty. Memory is reused.
    pub fn take(&mut self, contacts: &mut Vec<ContactConstraint>, groups: &mut Vec<ContactGroup>) {
        std::mem::swap(&mut self.contacts, contacts);
        std::mem::swap(&mut self.groups, groups);
        groups.clear();
    }

    pub fn between(&self, a: BodyIndex, b: BodyIndex, external: bool) -> &[ContactConstraint] {
        contacts_between(&self.contacts, &self.groups, (external, a, b))
    }
}

/// The contacts of the group with these values of `external`, `a` and `b`, by which the groups are
/// sorted.
pub(super) fn contacts_between<'a>(
    contacts: &'a [ContactConstraint],
    groups: &[ContactGroup],
    key: (bool, BodyIndex, BodyIndex),
) -> &'a [ContactConstraint] {
    let key_of = |group: &ContactGroup| (group.external, group.a, group.b);
    match groups.binary_search_by_key(&key, key_of) {
        Ok(group) => &contacts[groups[group].range()],
        Err(_) => &[],
    }
}

/// Calls `work` in parallel for each group and its range of `items`; ranges are contiguous.
///
/// Halves the groups until a piece is small, which allocates nothing.
pub(super) fn for_each_group<T, G, F>(
    items: &mut [T],
    groups: &mut [G],
    range: fn(&G) -> Range<usize>,
    work: &F,
) where
    T: Send,
    G: Send,
    F: Fn(&mut G, &mut [T]) + Sync,
{
    if groups.len() > 1 && groups.len() + items.len() > MAX_TASK_SIZE {
        // Halves with as many items each take equally long, so threads do not take over groups from
        // each other, whose data would have to move between their caches.
        let first = range(&groups[0]).start;
        let half = groups.partition_point(|group| range(group).start < first + items.len() / 2);
        let (left, right) = groups.split_at_mut(half.clamp(1, groups.len() - 1));
        let cut = range(&right[0]).start - first;
        let (left_items, right_items) = items.split_at_mut(cut);
        rayon::join(
            || for_each_group(left_items, left, range, work),
            || for_each_group(right_items, right, range, work),
        );
        return;
    }
    let mut rest = items;
    for group in groups {
        let (items, others) = rest.split_at_mut(range(group).len());
        work(group, items);
        rest = others;
    }
}
