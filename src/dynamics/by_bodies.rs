//! The contacts of a substep, by the two bodies they are between.

use std::ops::Range;

use super::ContactConstraint;
use super::rows::Change;

/// Groups that one task works on.
const GROUPS_PER_TASK: usize = 256;

/// The contacts between two molecules `a` < `b`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    pub a: u32,
    pub b: u32,
    /// Its contacts, a range.
    pub start: u32,
    pub end: u32,
    /// Whether they are contacts with something outside the crowd.
    pub held: bool,
    /// Those that take part, a range of the rows.
    pub first_row: u32,
    pub last_row: u32,
    /// Change of the impulses in this iteration.
    pub change: Change,
}

impl Group {
    /// Its contacts.
    pub fn contacts(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Its rows.
    pub fn rows(&self) -> Range<usize> {
        self.first_row as usize..self.last_row as usize
    }

    /// Whether any of its contacts takes part.
    pub fn takes_part(&self) -> bool {
        self.first_row < self.last_row
    }

    /// A group of one contact, the one with this index.
    pub fn new(contact: &ContactConstraint, index: u32) -> Self {
        Self {
            a: contact.a,
            b: contact.b,
            start: index,
            end: index + 1,
            held: contact.held,
            ..Self::default()
        }
    }
}

/// The contacts of the substep before, by their bodies.
#[derive(Clone, Debug, Default)]
pub(super) struct Carried {
    contacts: Vec<ContactConstraint>,
    /// Sorted by bodies, contacts of the engine behind the others.
    groups: Vec<Group>,
}

impl Carried {
    /// Forgets them.
    pub fn clear(&mut self) {
        self.contacts.clear();
        self.groups.clear();
    }

    /// Takes contacts and their groups over; leaves empty ones.
    pub fn take(&mut self, contacts: &mut Vec<ContactConstraint>, groups: &mut Vec<Group>) {
        std::mem::swap(&mut self.contacts, contacts);
        std::mem::swap(&mut self.groups, groups);
        groups.clear();
    }

    /// The contacts between two bodies.
    pub fn between(&self, a: u32, b: u32, held: bool) -> &[ContactConstraint] {
        let key = |group: &Group| (group.held, group.a, group.b);
        match self.groups.binary_search_by_key(&(held, a, b), key) {
            Ok(group) => &self.contacts[self.groups[group].contacts()],
            Err(_) => &[],
        }
    }
}

/// Calls `work` for each group and its own among the `items`, in parallel; `own` tells
/// which.
pub(super) fn for_each_group<T, F>(
    items: &mut [T],
    groups: &mut [Group],
    own: fn(&Group) -> Range<usize>,
    work: &F,
) where
    T: Send,
    F: Fn(&mut Group, &mut [T]) + Sync,
{
    for_each_piece(items, groups, own, &|groups, items| {
        let mut rest = items;
        for group in groups {
            let (items, others) = rest.split_at_mut(own(group).len());
            work(group, items);
            rest = others;
        }
    });
}

/// Calls `work` for pieces of the groups with their own among the `items`, in parallel.
///
/// Halves the groups until a piece is small: nothing is allocated.
pub(super) fn for_each_piece<T, F>(
    items: &mut [T],
    groups: &mut [Group],
    own: fn(&Group) -> Range<usize>,
    work: &F,
) where
    T: Send,
    F: Fn(&mut [Group], &mut [T]) + Sync,
{
    if groups.len() <= GROUPS_PER_TASK {
        work(groups, items);
        return;
    }
    let (left, right) = groups.split_at_mut(groups.len() / 2);
    let cut = own(&right[0]).start - own(&left[0]).start;
    let (lefts, rights) = items.split_at_mut(cut);
    rayon::join(
        || for_each_piece(lefts, left, own, work),
        || for_each_piece(rights, right, own, work),
    );
}
