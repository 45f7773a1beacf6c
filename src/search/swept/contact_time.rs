//! When do two moving spheres touch?
//!
//! With A and B on straight ways (equations 1 to 3 of Johnson and Whalley 2002), the line
//! between their centers at time t is P₁ + t P₂, where P₁ = `B_s − A_s` (equation 8) and
//! P₂ = `(B_e − B_s) − (A_e − A_s)` (equation 9). They touch where it is as long as the sum
//! of the radii R (equation 13), so where
//!
//! ```text
//! A t² + B t + C = 0,   A = P₂·P₂,   B = 2 P₁·P₂,   C = P₁·P₁ − R²   (equations 15 to 18)
//! ```
//!
//! Solved with half of B and without the difference of nearly equal numbers: with
//! b = P₁·P₂ and q = −b − sign(b) √(b² − A C), the roots are q / A and C / q.

use glam::DVec3;

/// The way of a center during a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trajectory {
    /// Where it is at time 0, nm.
    pub start: DVec3,
    /// Where it is at time 1, nm.
    pub end: DVec3,
}

impl Trajectory {
    /// Where the center is at a time, nm.
    #[must_use]
    pub fn at(&self, time: f64) -> DVec3 {
        self.start + time * (self.end - self.start)
    }
}

/// When two spheres touch first and last, in steps; in between they overlap.
///
/// Neither needs to be within the step. Spheres that move alike and overlap do so from
/// −∞ to ∞.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactTimes {
    /// First contact.
    pub first: f64,
    /// Last contact, if they could pass through each other.
    pub last: f64,
}

impl ContactTimes {
    /// When they touch or overlap first within the step, from 0 to 1: at 0 if they do so
    /// already then.
    #[must_use]
    pub fn first_within_step(&self) -> Option<f64> {
        let within = self.first <= 1.0 && self.last >= 0.0;
        within.then(|| self.first.max(0.0))
    }
}

/// When two spheres touch whose centers move on `a` and `b`, and whose radii add up to
/// `reach`, nm. None if they never do.
///
/// ```
/// use bevy_rapier_molecules::search::swept::{Trajectory, time_of_contact};
/// use glam::DVec3;
///
/// let still = Trajectory { start: DVec3::ZERO, end: DVec3::ZERO };
/// let passing = Trajectory { start: DVec3::X * -4.0, end: DVec3::X * 4.0 };
/// let times = time_of_contact(&still, &passing, 2.0).expect("they meet");
/// assert_eq!((times.first, times.last), (0.25, 0.75));
/// ```
#[must_use]
pub fn time_of_contact(a: &Trajectory, b: &Trajectory, reach: f64) -> Option<ContactTimes> {
    let apart = b.start - a.start;
    let motion = (b.end - b.start) - (a.end - a.start);
    let square = motion.length_squared();
    let half = apart.dot(motion);
    let rest = apart.length_squared() - reach * reach;
    if square == 0.0 {
        // They stay as they are.
        return (rest <= 0.0).then_some(ContactTimes {
            first: f64::NEG_INFINITY,
            last: f64::INFINITY,
        });
    }
    // The discriminant b² − A C is A (R² − h²), where h is the distance at which the centers
    // pass each other: of long ways the former would leave no digits.
    let passing = apart - half / square * motion;
    let discriminant = square * (reach * reach - passing.length_squared());
    if discriminant < 0.0 {
        return None;
    }
    let root = discriminant.sqrt();
    let sum = if half > 0.0 {
        -half - root
    } else {
        root - half
    };
    // Both roots are zero where the spheres just touch and graze each other.
    let [one, other] = if sum == 0.0 {
        [0.0, 0.0]
    } else {
        [sum / square, rest / sum]
    };
    Some(ContactTimes {
        first: one.min(other),
        last: one.max(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn way(start: [f64; 3], end: [f64; 3]) -> Trajectory {
        Trajectory {
            start: start.into(),
            end: end.into(),
        }
    }

    /// The paper's example: two spheres of radius 0.2 on crossing ways.
    #[test]
    fn the_worked_example_touches_at_0_3_and_0_7() {
        let a = way([0.0, 0.0, 0.0], [1.0, 1.0, 0.0]);
        let b = way([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
        let times = time_of_contact(&a, &b, 0.4).unwrap();
        assert!((times.first - 0.3).abs() < 1.0e-15 && (times.last - 0.7).abs() < 1.0e-15);
        assert_eq!(times.first_within_step(), Some(times.first));
    }

    #[test]
    fn spheres_that_pass_by_or_part_do_not_meet() {
        let still = way([0.0; 3], [0.0; 3]);
        let past = way([2.0, 1.01, 0.0], [-2.0, 1.01, 0.0]);
        assert_eq!(time_of_contact(&still, &past, 1.0), None);
        let away = way([2.0, 0.0, 0.0], [3.0, 0.0, 0.0]);
        let times = time_of_contact(&still, &away, 1.0).unwrap();
        assert!(times.last < 0.0 && times.first_within_step().is_none());
        let too_late = way([9.0, 0.0, 0.0], [8.0, 0.0, 0.0]);
        let times = time_of_contact(&still, &too_late, 1.0).unwrap();
        assert!(times.first > 1.0 && times.first_within_step().is_none());
    }

    #[test]
    fn spheres_that_overlap_at_the_start_meet_at_once() {
        let still = way([0.0; 3], [0.0; 3]);
        for end in [[0.5, 0.0, 0.0], [9.0, 0.0, 0.0]] {
            let other = way([0.5, 0.0, 0.0], end);
            let times = time_of_contact(&still, &other, 1.0).unwrap();
            assert_eq!(times.first_within_step(), Some(0.0));
        }
    }

    #[test]
    fn a_ball_at_the_speed_of_a_bullet_does_not_jump_over_another() {
        let still = way([0.0; 3], [0.0; 3]);
        let bullet = way([-1.0e6, 0.0, 0.0], [1.0e6, 0.0, 0.0]);
        let time = time_of_contact(&still, &bullet, 1.0)
            .unwrap()
            .first_within_step()
            .unwrap();
        assert!((bullet.at(time).length() - 1.0).abs() < 1.0e-8);
    }

    proptest! {
        /// At the times of contact the distance is the reach; before and behind it is more.
        #[test]
        fn contact_is_where_the_distance_is_the_reach(
            places in prop::array::uniform4(prop::array::uniform3(-5.0_f64..5.0)),
            reach in 0.01_f64..3.0,
        ) {
            let [a, b] = [way(places[0], places[1]), way(places[2], places[3])];
            let distance = |time| a.at(time).distance(b.at(time));
            match time_of_contact(&a, &b, reach) {
                Some(times) => {
                    for time in [times.first, times.last] {
                        prop_assert!((distance(time) - reach).abs() < 1.0e-6);
                    }
                    prop_assert!(distance(0.5 * (times.first + times.last)) <= reach + 1.0e-9);
                    prop_assert!(distance(times.first - 1.0) > reach);
                    prop_assert!(distance(times.last + 1.0) > reach);
                }
                None => {
                    for step in 0..=100 {
                        prop_assert!(distance(f64::from(step) * 0.01) > reach);
                    }
                }
            }
        }
    }
}
