//! Which sleeping molecules are woken: those that a neighbor hits within the substep, overlaps
//! too deeply, or has left, and those whose neighbor was removed. A GPU solver makes the same
//! test with the same constants.

use super::detection::Detection;
use super::group_search::PairGroup;
use super::members::{Members, Sphere};
use super::{MemberIndex, MovingBody, PairResponse};

/// Approach speed that wakes a sleeping body, nm/s: twice the speed below which Rapier puts
/// bodies to sleep.
pub(crate) const WAKE_SPEED: f32 = 0.1;

/// Overlap that keeps bodies awake, nm: it has yet to be pushed out.
pub(crate) const WAKE_OVERLAP: f32 = 0.01;

impl Detection {
    /// Lists the members to wake if they sleep, sorted: a neighbor hits them, overlaps them too
    /// deeply, has left them or has been removed. Pairs that do not push each other do not count.
    pub fn list_woken(
        &mut self,
        members: &Members,
        bodies: &[MovingBody],
        dt: f32,
        to_wake: &mut Vec<MemberIndex>,
    ) {
        to_wake.clear();
        for group in &self.found().groups {
            if self.is_disturbed(group, members, bodies, dt)
                && members.response(group.a, group.b) == PairResponse::Push
            {
                to_wake.extend([group.a, group.b].map(|owner| members.member(owner)));
            }
        }
        // Both lists are sorted: a merge finds the touches that have ended.
        let mut current = self.touches().iter().peekable();
        for previous in self.previous_touches().iter().filter(|touch| touch.pushes) {
            let key = (previous.a, previous.b);
            while current.next_if(|touch| (touch.a, touch.b) < key).is_some() {}
            if current.peek().is_none_or(|touch| (touch.a, touch.b) != key) {
                to_wake.extend([previous.a, previous.b]);
            }
        }
        self.list_abandoned(to_wake);
    }

    /// Whether one of two molecules sleeps and should not.
    fn is_disturbed(
        &self,
        group: &PairGroup,
        members: &Members,
        bodies: &[MovingBody],
        dt: f32,
    ) -> bool {
        let [a, b] = [group.a, group.b].map(|owner| &bodies[owner.index()]);
        if !(a.asleep || b.asleep) {
            return false;
        }
        let kept = self.found().kept_of(group);
        group.penetration > WAKE_OVERLAP
            || kept.iter().any(|pair| {
                let first = members.sphere(group.a, pair.a, a);
                let second = members.sphere(group.b, pair.b, b);
                is_hit([(a, first), (b, second)], dt)
            })
    }
}

/// Whether two spheres of bodies approach fast enough and meet within the substep.
fn is_hit([(a, first), (b, second)]: [(&MovingBody, Sphere); 2], dt: f32) -> bool {
    let normal = (second.center - first.center).normalize_or_zero();
    let velocity = b.velocity_at(second.center - b.center) - a.velocity_at(first.center - a.center);
    let approach = -velocity.dot(normal);
    let gap = first.center.distance(second.center) - first.radius - second.radius;
    approach > WAKE_SPEED && gap < approach * dt
}
