//! The way of one atom past the atoms of a molecule that stands still.
//!
//! The gap between two balls, one of which moves, is f(t) = |p(t) − c| − R. Its second
//! derivative is never below −A, where A is the largest acceleration of p, since
//! distance bends upwards along a straight line. So f(t + h) ≥ f + f′h − Ah²/2, and until
//! the root of the right side there is no contact: Newton's method, from the safe side.

use glam::{DQuat, DVec3};

use super::rigid_motion::RelativeMotion;

/// How one atom moves through the frame of a molecule that stands still.
pub(super) trait AtomPath {
    /// Where it is after a `fraction` of the motion, and its velocity, nm.
    fn at(&self, fraction: f64) -> (DVec3, DVec3);

    /// An upper bound of its speed on the way, nm.
    fn top_speed(&self) -> f64;

    /// An upper bound of its acceleration on the way, nm.
    fn top_acceleration(&self) -> f64;
}

/// An atom of the molecule that moves, in the frame of the other.
pub(super) struct Carried<'a> {
    motion: &'a RelativeMotion,
    /// From the center of its molecule at the start, nm.
    arm: DVec3,
}

impl<'a> Carried<'a> {
    /// An atom at `position` in its body frame, nm.
    pub fn new(motion: &'a RelativeMotion, position: DVec3) -> Self {
        Self {
            motion,
            arm: motion.rotation * position,
        }
    }
}

impl AtomPath for Carried<'_> {
    fn at(&self, fraction: f64) -> (DVec3, DVec3) {
        let motion = self.motion;
        let arm = turned(motion.spin * fraction, self.arm);
        let place = motion.start + motion.velocity * fraction + arm;
        (place, motion.velocity + motion.spin.cross(arm))
    }

    fn top_speed(&self) -> f64 {
        self.motion.velocity.length() + self.motion.spin.length() * self.arm.length()
    }

    fn top_acceleration(&self) -> f64 {
        self.motion.spin.length_squared() * self.arm.length()
    }
}

/// An atom of the molecule that stands still, in the frame of the one that moves.
pub(super) struct Passed<'a> {
    motion: &'a RelativeMotion,
    position: DVec3,
    /// Furthest from the center of the molecule that moves, nm.
    furthest: f64,
}

impl<'a> Passed<'a> {
    /// An atom at `position` in its body frame, nm.
    pub fn new(motion: &'a RelativeMotion, position: DVec3) -> Self {
        let begin = (position - motion.start).length();
        let end = (position - motion.start - motion.velocity).length();
        Self {
            motion,
            position,
            // On a straight way the furthest point is one of its ends.
            furthest: begin.max(end),
        }
    }
}

impl AtomPath for Passed<'_> {
    fn at(&self, fraction: f64) -> (DVec3, DVec3) {
        let motion = self.motion;
        let arm = self.position - motion.start - motion.velocity * fraction;
        let back = turned(-motion.spin * fraction, arm);
        // The frame turns, so that everything else turns the other way round.
        let velocity = turned(-motion.spin * fraction, -motion.velocity) - motion.spin.cross(back);
        let to_body = motion.rotation.inverse();
        (to_body * back, to_body * velocity)
    }

    fn top_speed(&self) -> f64 {
        self.motion.velocity.length() + self.motion.spin.length() * self.furthest
    }

    fn top_acceleration(&self) -> f64 {
        let spin = self.motion.spin.length();
        spin * (2.0 * self.motion.velocity.length() + spin * self.furthest)
    }
}

/// `vector` turned about an axis by its length in radian.
fn turned(axis: DVec3, vector: DVec3) -> DVec3 {
    if axis == DVec3::ZERO {
        vector
    } else {
        DQuat::from_scaled_axis(axis) * vector
    }
}

/// How long a gap stays open at least: the first time at which a gap that changes at
/// `rate`, no more bent than `-bend`, could be zero.
pub(super) fn open_for(gap: f64, rate: f64, bend: f64) -> f64 {
    let gap = gap.max(0.0);
    if bend <= 0.0 {
        return if rate < 0.0 {
            gap / -rate
        } else {
            f64::INFINITY
        };
    }
    let root = (rate * rate + 2.0 * bend * gap).sqrt();
    if rate > 0.0 {
        (rate + root) / bend
    } else {
        // Written so that nothing is lost when both are almost the same.
        2.0 * gap / (root - rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motion() -> RelativeMotion {
        RelativeMotion {
            start: DVec3::new(1.0, -2.0, 0.5),
            rotation: DQuat::from_scaled_axis(DVec3::new(0.3, 0.2, -0.9)),
            velocity: DVec3::new(0.7, 3.0, -1.0),
            spin: DVec3::new(-1.0, 0.4, 2.0),
        }
    }

    /// Velocities are derivatives, and neither bound is passed.
    fn check(path: &impl AtomPath) {
        let step = 1.0e-5;
        for k in 0..50 {
            let fraction = f64::from(k) / 50.0;
            let ((place, velocity), (next, next_velocity)) =
                (path.at(fraction), path.at(fraction + step));
            let slope = (next - place) / step;
            assert!((slope - velocity).length() < 1.0e-3, "{slope} {velocity}");
            assert!(velocity.length() <= path.top_speed());
            let bend = (next_velocity - velocity).length() / step;
            assert!(bend <= path.top_acceleration() * 1.001, "{bend}");
        }
    }

    #[test]
    fn paths_know_their_speed_and_their_bounds() {
        let motion = motion();
        check(&Carried::new(&motion, DVec3::new(0.5, 1.5, -0.2)));
        check(&Passed::new(&motion, DVec3::new(0.5, 1.5, -0.2)));
    }

    #[test]
    fn two_atoms_are_as_far_apart_in_either_frame() {
        let motion = motion();
        let (moving, fixed) = (DVec3::new(0.1, -0.7, 0.4), DVec3::new(2.0, 0.3, 0.3));
        for k in 0..=10 {
            let fraction = f64::from(k) / 10.0;
            let (carried, _) = Carried::new(&motion, moving).at(fraction);
            let (passed, _) = Passed::new(&motion, fixed).at(fraction);
            let apart = [carried.distance(fixed), passed.distance(moving)];
            assert!((apart[0] - apart[1]).abs() < 1.0e-12, "{apart:?}");
        }
    }

    #[test]
    fn a_gap_is_open_until_the_root_of_its_parabola() {
        assert_eq!(open_for(2.0, -4.0, 0.0), 0.5);
        assert_eq!(open_for(2.0, 1.0, 0.0), f64::INFINITY);
        assert_eq!(open_for(-1.0, -1.0, 0.0), 0.0);
        for (gap, rate, bend) in [(2.0, -4.0, 3.0), (0.1, 5.0, 0.2), (1.0e-9, 0.0, 7.0)] {
            let time = open_for(gap, rate, bend);
            let left: f64 = gap + rate * time - 0.5 * bend * time * time;
            assert!(time > 0.0 && left.abs() < 1.0e-9, "{left}");
        }
    }
}
