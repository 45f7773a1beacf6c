//! What ends a bound first.

use super::queue::Kind;
use super::tracker::{Seen, Tracker};

/// What ends a bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// When it is reset at the latest, s.
    pub(super) reset: f64,
    /// When it is reset or collides, as far as is known, s.
    pub(super) due: f64,
    /// Changes whenever `due` does.
    pub(super) ticket: u32,
}

/// A possible end of a bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) time: f64,
    pub(super) kind: Kind,
    /// The other sphere, or the wall.
    pub(super) other: u32,
}

/// Looks for the first collision of the bound of one sphere.
pub(super) struct Planner<'a> {
    tracker: &'a Tracker,
    pub(super) checks: u64,
    ends: &'a [End],
    own: Seen,
    now: f64,
    pub(super) first: Candidate,
}

impl<'a> Planner<'a> {
    /// Nothing comes before `first` yet.
    pub(super) fn new(
        tracker: &'a Tracker,
        ends: &'a [End],
        sphere: u32,
        now: f64,
        first: Candidate,
    ) -> Self {
        Self {
            tracker,
            checks: 0,
            ends,
            own: tracker.seen(sphere, now),
            now,
            first,
        }
    }

    /// Takes the collision with another bound, if it comes before both have another end.
    #[inline]
    pub(super) fn offer(&mut self, other: u32) {
        let until = self.first.time.min(self.ends[other as usize].due);
        self.checks += 1;
        let next = self
            .tracker
            .next_collision_of(&self.own, other, self.now, until);
        // At the same time it would take the other's end away, and be looked for again.
        if let Some(time) = next
            && time < until
        {
            self.first = Candidate {
                time,
                kind: Kind::Colliding,
                other,
            };
        }
    }
}
