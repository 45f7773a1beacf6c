//! Time of contact of two moving spheres.
//!
//! If A and B move along straight lines (equations 1 to 3 of Johnson and Whalley 2002), the
//! vector between their centers at time t is P₁ + t P₂, with P₁ = `B_s − A_s` (equation 8) and
//! P₂ = `(B_e − B_s) − (A_e − A_s)` (equation 9). They touch where its length is the sum of the
//! radii R (equation 13):
//!
//! ```text
//! A t² + B t + C = 0,   A = P₂·P₂,   B = 2 P₁·P₂,   C = P₁·P₁ − R²   (equations 15 to 18)
//! ```
//!
//! Solved with half of B and without cancellation: with b = P₁·P₂ and
//! q = −b − sign(b) √(b² − A C), the roots are q / A and C / q.

use glam::DVec3;

/// Motion of a center during a step, along a straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trajectory {
    /// Position at time 0, nm.
    pub start: DVec3,
    /// Position at time 1, nm.
    pub end: DVec3,
}

impl Trajectory {
    /// Position at a time, nm.
    #[must_use]
    pub fn at(&self, time: f64) -> DVec3 {
        self.start + time * (self.end - self.start)
    }
}

/// Times of the first and the last contact of two spheres, in steps; they overlap in between.
///
/// The times may be outside the step. Spheres that overlap and move in the same way overlap from
/// −∞ to ∞.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactTimes {
    /// First contact.
    pub first: f64,
    /// Last contact, if the spheres pass through each other.
    pub last: f64,
}

impl ContactTimes {
    /// First time within the step, 0 to 1, at which they touch or overlap.
    #[must_use]
    pub fn first_within_step(&self) -> Option<f64> {
        let within = self.first <= 1.0 && self.last >= 0.0;
        within.then(|| self.first.max(0.0))
    }
}

/// Times of contact of two spheres whose centers move along `a` and `b` and whose radii add up
/// to `reach`, nm; `None` if they never touch.
///
/// ```
/// use bevy_rapier_molecules::search::swept::{Trajectory, time_of_contact};
/// use glam::DVec3;
///
/// let still = Trajectory { start: DVec3::ZERO, end: DVec3::ZERO };
/// let passing = Trajectory { start: DVec3::X * -4.0, end: DVec3::X * 4.0 };
/// let times = time_of_contact(&still, &passing, 2.0).expect("they touch");
/// assert_eq!((times.first, times.last), (0.25, 0.75));
/// ```
#[must_use]
pub fn time_of_contact(a: &Trajectory, b: &Trajectory, reach: f64) -> Option<ContactTimes> {
    let offset = b.start - a.start;
    let motion = (b.end - b.start) - (a.end - a.start);
    let square = motion.length_squared();
    let half = offset.dot(motion);
    let rest = offset.length_squared() - reach * reach;
    if square == 0.0 {
        // The distance is constant.
        return (rest <= 0.0).then_some(ContactTimes {
            first: f64::NEG_INFINITY,
            last: f64::INFINITY,
        });
    }
    // The discriminant b² − A C is A (R² − h²), where h is the smallest distance of the centers. The
    // former loses all digits for long displacements.
    let passing = offset - half / square * motion;
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
    // Both roots are zero if the spheres touch at the start and move tangentially.
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

    fn line(start: [f64; 3], end: [f64; 3]) -> Trajectory {
        Trajectory {
            start: start.into(),
            end: end.into(),
        }
    }

    /// The example of the paper: two spheres of radius 0.2 on crossing lines.
    #[test]
    fn the_worked_example_touches_at_0_3_and_0_7() {
        let a = line([0.0, 0.0, 0.0], [1.0, 1.0, 0.0]);
        let b = line([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
        let times = time_of_contact(&a, &b, 0.4).unwrap();
        assert!((times.first - 0.3).abs() < 1.0e-15 && (times.last - 0.7).abs() < 1.0e-15);
        assert_eq!(times.first_within_step(), Some(times.first));
    }

    #[test]
    fn spheres_that_pass_or_separate_do_not_collide() {
        let still = line([0.0; 3], [0.0; 3]);
        let past = line([2.0, 1.01, 0.0], [-2.0, 1.01, 0.0]);
        assert_eq!(time_of_contact(&still, &past, 1.0), None);
        let away = line([2.0, 0.0, 0.0], [3.0, 0.0, 0.0]);
        let times = time_of_contact(&still, &away, 1.0).unwrap();
        assert!(times.last < 0.0 && times.first_within_step().is_none());
        let too_late = line([9.0, 0.0, 0.0], [8.0, 0.0, 0.0]);
        let times = time_of_contact(&still, &too_late, 1.0).unwrap();
        assert!(times.first > 1.0 && times.first_within_step().is_none());
    }

    #[test]
    fn spheres_that_overlap_at_the_start_collide_at_time_zero() {
        let still = line([0.0; 3], [0.0; 3]);
        for end in [[0.5, 0.0, 0.0], [9.0, 0.0, 0.0]] {
            let other = line([0.5, 0.0, 0.0], end);
            let times = time_of_contact(&still, &other, 1.0).unwrap();
            assert_eq!(times.first_within_step(), Some(0.0));
        }
    }

    #[test]
    fn a_fast_sphere_does_not_tunnel_through_another() {
        let still = line([0.0; 3], [0.0; 3]);
        let bullet = line([-1.0e6, 0.0, 0.0], [1.0e6, 0.0, 0.0]);
        let time = time_of_contact(&still, &bullet, 1.0)
            .unwrap()
            .first_within_step()
            .unwrap();
        assert!((bullet.at(time).length() - 1.0).abs() < 1.0e-8);
    }

    proptest! {
        /// At the times of contact the distance is the reach; before and after it is larger.
        #[test]
        fn contact_is_where_the_distance_is_the_reach(
            places in prop::array::uniform4(prop::array::uniform3(-5.0_f64..5.0)),
            reach in 0.01_f64..3.0,
        ) {
            let [a, b] = [line(places[0], places[1]), line(places[2], places[3])];
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
