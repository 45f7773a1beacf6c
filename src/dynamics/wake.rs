//! Which sleepers are woken by whom.

use super::group_search::PairGroup;
use super::pair_grouper::PairGrouper;
use super::{CrowdTouch, MovingBody};
use crate::search::Pair;

/// Approach that wakes a sleeper, nm/s: twice what Rapier lets fall asleep.
pub(crate) const WAKE_SPEED: f32 = 0.1;

/// Overlap that lets no one sleep, nm: it is yet to be pushed apart.
pub(crate) const WAKE_OVERLAP: f32 = 0.01;

/// What members of a crowd go through in a substep.
pub(super) struct Encounters<'a> {
    /// Pairs of spheres that touch or nearly do.
    pub groups: &'a PairGrouper,
    /// The body of each owner of spheres.
    pub bodies: &'a [MovingBody],
    /// The member of each owner of spheres.
    pub active: &'a [u32],
    /// Members that touch, sorted, in this substep and in the one before.
    pub touches: &'a [CrowdTouch],
    pub touches_before: &'a [CrowdTouch],
}

impl Encounters<'_> {
    /// Members that are hit, lie too deep, or have lost a neighbor, sorted: to be woken
    /// if they sleep.
    pub fn wake(&self, dt: f32, to_wake: &mut Vec<u32>) {
        to_wake.clear();
        for group in self.groups.groups() {
            if self.disturbs_sleep(group, dt) {
                to_wake.extend([group.a, group.b].map(|owner| self.active[owner as usize]));
            }
        }
        let mut now = self.touches.iter().peekable();
        for before in self.touches_before {
            let key = (before.a, before.b);
            while now.next_if(|touch| (touch.a, touch.b) < key).is_some() {}
            if now.peek().is_none_or(|touch| (touch.a, touch.b) != key) {
                to_wake.extend([before.a, before.b]);
            }
        }
        to_wake.sort_unstable();
        to_wake.dedup();
    }

    /// Whether one of two molecules sleeps and ought not to.
    fn disturbs_sleep(&self, group: &PairGroup, dt: f32) -> bool {
        let [a, b] = [group.a, group.b].map(|owner| &self.bodies[owner as usize]);
        if !(a.asleep || b.asleep) {
            return false;
        }
        let kept = group.first as usize..(group.first + group.kept) as usize;
        let hit = |pair: &Pair| self.hits_hard(*pair, [a, b], dt);
        group.penetration > WAKE_OVERLAP || self.groups.kept()[kept].iter().any(hit)
    }

    /// Whether two spheres approach in earnest and meet within `dt` s.
    fn hits_hard(&self, pair: Pair, [a, b]: [&MovingBody; 2], dt: f32) -> bool {
        let [first, second] = [pair.a, pair.b].map(|sphere| self.groups.sphere(sphere));
        let [one, other] = [first.center, second.center];
        let normal = (other - one).normalize_or_zero();
        let velocity = b.velocity_at(other - b.center) - a.velocity_at(one - a.center);
        let approach = -velocity.dot(normal);
        let gap = one.distance(other) - first.radius - second.radius;
        approach > WAKE_SPEED && gap < approach * dt
    }
}
