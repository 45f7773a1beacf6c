//! The queue of candidate events.
//!
//! Each bound has two events at most that count: its next crossing, and what ends it: it is
//! reset, or collides. Section 3.3 leaves out candidates later than the reset; here those
//! later than any end of either bound are left out too, since they would be found anew
//! then. A collision that does not happen, because the other bound has had another end
//! before, is a reason to look for the next one.
//!
//! Events are not taken out when they become void: each remembers a number that its
//! spheres had when it was made, and is passed over if that has changed.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A bound enters or leaves a subspace.
    Crossing,
    /// A bound is as large as its subspace.
    Resetting,
    /// A bound collides with a wall, whose index is in place of the other sphere's.
    AtWall,
    /// Two bounds collide.
    Colliding,
}

/// A candidate event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Event {
    /// When, s.
    pub(super) time: f64,
    pub(super) kind: Kind,
    /// The sphere, and its number.
    pub(super) sphere: u32,
    pub(super) ticket: u32,
    /// The other sphere and its number, or the wall, or the crossing.
    pub(super) other: u32,
    pub(super) other_ticket: u32,
}

impl Eq for Event {}

impl Ord for Event {
    /// The first one is the greatest. Events at the same time have an order as well, so
    /// that all runs are the same.
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .time
            .total_cmp(&self.time)
            .then_with(|| other.kind.cmp(&self.kind))
            .then_with(|| other.sphere.cmp(&self.sphere))
            .then_with(|| other.other.cmp(&self.other))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Events in the order of time.
pub(super) type Queue = BinaryHeap<Event>;
