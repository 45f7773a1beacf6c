//! The contacts of a substep, by the two bodies they are between.

use std::ops::Range;

use super::ContactConstraint;

/// Groups that one task works on.
const GROUPS_PER_TASK: usize = 128;

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
    /// How many of them take part.
    pub rows: u32,
    /// Where the iteration has those that take part.
    pub place: u32,
}

impl Group {
    /// Its contacts.
    pub fn contacts(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Counts which of its `contacts` take part.
    pub fn count_rows(&mut self, contacts: &[ContactConstraint]) {
        let taking_part = contacts.iter().filter(|contact| contact.is_active());
        self.rows = taking_part.count() as u32;
    }

    /// A group of one contact, the one with this index.
    pub fn new(contact: &ContactConstraint, index: u32) -> Self {
        Self {
            a: contact.a,
            b: contact.b,
            start: index,
            end: index + 1,
            held: contact.held,
            rows: contact.is_active().into(),
            ..Self::default()
        }
    }

    /// Takes the contact behind its last one in.
    pub fn add(&mut self, contact: &ContactConstraint) {
        self.end += 1;
        self.rows += u32::from(contact.is_active());
    }
}

/// The contacts of the substep before, by their bodies.
#[derive(Clone, Debug, Default)]
pub(super) struct Carried {
    contacts: Vec<ContactConstraint>,
    /// Sorted by bodies, supports behind the others.
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
///
/// Halves the groups until a piece is small: nothing is allocated.
pub(super) fn for_each_group<T, G, F>(
    items: &mut [T],
    groups: &mut [G],
    own: fn(&G) -> Range<usize>,
    work: &F,
) where
    T: Send,
    G: Send,
    F: Fn(&mut G, &mut [T]) + Sync,
{
    if groups.len() > GROUPS_PER_TASK {
        let (left, right) = groups.split_at_mut(groups.len() / 2);
        let cut = own(&right[0]).start - own(&left[0]).start;
        let (lefts, rights) = items.split_at_mut(cut);
        rayon::join(
            || for_each_group(lefts, left, own, work),
            || for_each_group(rights, right, own, work),
        );
        return;
    }
    let mut rest = items;
    for group in groups {
        let (items, others) = rest.split_at_mut(own(group).len());
        work(group, items);
        rest = others;
    }
}
