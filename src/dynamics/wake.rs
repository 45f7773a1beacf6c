//! Which sleeping members wake up.
//!
//! A member wakes when a neighbor hits it, overlaps it too deeply, or has left it. Pairs that
//! the collision filter keeps apart do not count.

use super::detection::{Detection, Sphere};
use super::group_search::PairGroup;
use super::members::Members;
use super::{MemberIndex, MovingBody};
use crate::search::Pair;

/// Approach speed that wakes a sleeping body, nm/s: twice the speed below which Rapier puts
/// bodies to sleep.
pub(crate) const WAKE_SPEED: f32 = 0.1;

/// Overlap that keeps bodies awake, nm: it has yet to be pushed out.
pub(crate) const WAKE_OVERLAP: f32 = 0.01;

/// Input of the wake test.
pub(super) struct WakeTest<'a> {
    pub members: &'a Members,
    pub detection: &'a Detection,
    /// The body of each owner.
    pub bodies: &'a [MovingBody],
    /// Length of the substep, s.
    pub dt: f32,
}

impl WakeTest<'_> {
    /// Lists the members to wake if they sleep, sorted.
    pub fn run(&self, to_wake: &mut Vec<MemberIndex>) {
        to_wake.clear();
        for group in &self.detection.found().groups {
            if self.is_disturbed(group) && self.members.may_touch(group.a, group.b) {
                to_wake.extend([group.a, group.b].map(|owner| self.members.member(owner)));
            }
        }
        // Both lists are sorted: a merge finds the touches that have ended.
        let mut current = self.detection.touches().iter().peekable();
        for previous in self.detection.previous_touches() {
            let key = (previous.a, previous.b);
            while current.next_if(|touch| (touch.a, touch.b) < key).is_some() {}
            if current.peek().is_none_or(|touch| (touch.a, touch.b) != key) {
                to_wake.extend([previous.a, previous.b]);
            }
        }
        to_wake.sort_unstable();
        to_wake.dedup();
    }

    /// Whether one of two molecules sleeps and should not.
    fn is_disturbed(&self, group: &PairGroup) -> bool {
        let [a, b] = [group.a, group.b].map(|owner| &self.bodies[owner.index()]);
        if !(a.asleep || b.asleep) {
            return false;
        }
        let kept = self.detection.found().kept_of(group);
        group.penetration > WAKE_OVERLAP || kept.iter().any(|pair| self.is_hit(*pair, [a, b]))
    }

    /// Whether two spheres approach fast enough and meet within the substep.
    fn is_hit(&self, pair: Pair, [a, b]: [&MovingBody; 2]) -> bool {
        let spheres = self.detection.spheres();
        let [first, second]: [&Sphere; 2] = [pair.a, pair.b].map(|index| &spheres[index as usize]);
        let normal = (second.center - first.center).normalize_or_zero();
        let velocity =
            b.velocity_at(second.center - b.center) - a.velocity_at(first.center - a.center);
        let approach = -velocity.dot(normal);
        let gap = first.center.distance(second.center) - first.radius - second.radius;
        approach > WAKE_SPEED && gap < approach * self.dt
    }
}
