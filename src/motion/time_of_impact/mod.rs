//! When do moving spheres touch each other, and walls?
//!
//! [`time_of_contact`] has the spheres of Johnson and Whalley, of constant radius on
//! straight ways. Here spheres grow as well: a [`GrowingSphere`] moves in a straight line
//! and has the radius r + b t + a t² / 2, as the time-varying bounds of Kim, Guibas and
//! Shin do. Two of them touch where (their equation 9)
//!
//! ```text
//! |x + v t| = r + b t + a t² / 2,
//! ```
//!
//! with the differences of places and velocities, and the sums of radii. Squared, it is
//! the quartic of equation 10. It is solved as it stands, since the left side is convex and
//! the right side is known: a tangent below the left side makes each step a quadratic
//! equation, and never jumps over the first root.
//!
//! A [`Wall`] is touched by the same sphere; see there.
//!
//! Lengths are nm, times s, counted from now; all functions are pure.
//!
//! ```
//! use bevy_rapier_molecules::motion::time_of_impact::{GrowingSphere, first_contact};
//! use glam::DVec3;
//!
//! // 8 nm between their surfaces, and 2 nm/s towards each other.
//! let one = GrowingSphere::constant(DVec3::ZERO, DVec3::X, 1.0);
//! let other = GrowingSphere::constant(DVec3::X * 10.0, DVec3::NEG_X, 1.0);
//! let time = first_contact(&one, &other, 5.0);
//! assert!(time.is_some_and(|time| (time - 4.0).abs() < 1.0e-9));
//! assert_eq!(first_contact(&one, &other, 3.0), None);
//! // One that grows is touched earlier.
//! let growing = GrowingSphere { acceleration: 1.0, ..one };
//! let earlier = first_contact(&growing, &other, 5.0);
//! assert!(earlier < time && earlier.is_some());
//! ```

mod roots;
mod wall;

pub use crate::search::swept::{ContactTimes, Trajectory, time_of_contact};
pub(crate) use roots::first_not_positive;
pub use wall::{SignedDistance, Wall, WallSide};

use glam::DVec3;

use roots::{Gap, first_touch_of_convex};

/// What a squared length is taken larger by, in favor of a closer look.
const ROUNDED: f64 = 1.000_001;

/// Part of the terms of a difference that may be rounded off.
const LAST_DIGITS: f64 = 1.0e-14;

/// A sphere that moves in a straight line and grows. Times count from now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrowingSphere {
    /// Where the center is now, nm.
    pub center: DVec3,
    /// Velocity of the center, nm/s.
    pub velocity: DVec3,
    /// Radius of now, nm.
    pub radius: f64,
    /// How fast the radius grows now, nm/s; not negative.
    pub growth: f64,
    /// How fast the growth grows, nm/s²; not negative.
    pub acceleration: f64,
}

impl GrowingSphere {
    /// A sphere that stays as large as it is.
    #[must_use]
    pub const fn constant(center: DVec3, velocity: DVec3, radius: f64) -> Self {
        Self {
            center,
            velocity,
            radius,
            growth: 0.0,
            acceleration: 0.0,
        }
    }

    /// Where the center is after `time` s, nm.
    #[must_use]
    pub fn center_at(&self, time: f64) -> DVec3 {
        self.center + time * self.velocity
    }

    /// The radius after `time` s, nm.
    #[must_use]
    pub fn radius_at(&self, time: f64) -> f64 {
        self.radius + time * (self.growth + 0.5 * self.acceleration * time)
    }

    /// The radius as a polynomial of time: r, b and a of r + b t + a t² / 2.
    fn polynomial(&self) -> [f64; 3] {
        [self.radius, self.growth, self.acceleration]
    }
}

/// The first time from now on, within `within` s, at which two growing spheres touch or
/// overlap; zero if they do now. None if they do not within that time.
///
/// Where they pass each other closer than digits can tell, they touch.
#[must_use]
pub fn first_contact(one: &GrowingSphere, other: &GrowingSphere, within: f64) -> Option<f64> {
    let apart = one.center - other.center;
    let motion = one.velocity - other.velocity;
    let [r, b, a] = [
        one.radius + other.radius,
        one.growth + other.growth,
        one.acceleration + other.acceleration,
    ];
    first_contact_relative(apart, motion, [r, b, a], within)
}

/// [`first_contact`] in relative terms: a point at `apart` nm that moves by `motion` nm/s,
/// and a sphere about the origin of radius r + b t + a t² / 2.
#[inline]
pub(crate) fn first_contact_relative(
    apart: DVec3,
    motion: DVec3,
    [r, b, a]: [f64; 3],
    within: f64,
) -> Option<f64> {
    // Never mind the many that pass by at a distance: the nearest place of the way against
    // the largest radius R. Between its ends the square of the least distance is
    // x² − (x · v)² / v², which needs no division to be compared.
    let squared_speed = motion.length_squared();
    if within.is_finite() {
        let closing = -apart.dot(motion);
        let largest = r + within * (b + 0.5 * a * within);
        let largest = largest * largest * ROUNDED;
        let squared = apart.length_squared();
        let passes = if closing <= 0.0 {
            squared > largest
        } else if closing >= squared_speed * within {
            (apart + within * motion).length_squared() > largest
        } else {
            let known = LAST_DIGITS * squared;
            (squared - largest - known) * squared_speed > closing * closing
        };
        if passes {
            return None;
        }
    }
    first_touch_of_convex([r, b, a], within, |time| {
        let place = apart + time * motion;
        let distance = place.length();
        Gap {
            distance,
            slope: if distance > 0.0 {
                place.dot(motion) / distance
            } else {
                -squared_speed.sqrt()
            },
            scale: distance,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sphere(center: [f64; 3], velocity: [f64; 3], radius: [f64; 3]) -> GrowingSphere {
        GrowingSphere {
            center: center.into(),
            velocity: velocity.into(),
            radius: radius[0],
            growth: radius[1],
            acceleration: radius[2],
        }
    }

    #[test]
    fn spheres_of_constant_radius_touch_when_the_quadratic_equation_says() {
        let one = sphere([0.0; 3], [1.0, 1.0, 0.0], [0.2, 0.0, 0.0]);
        let other = sphere([1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.2, 0.0, 0.0]);
        let time = first_contact(&one, &other, 1.0).unwrap();
        assert!((time - 0.3).abs() < 1.0e-15);
        assert_eq!(first_contact(&one, &other, 0.29), None);
    }

    #[test]
    fn spheres_at_rest_that_grow_touch_in_the_middle() {
        // 2 (1 + t² / 2) = 6 where t = 2.
        let one = sphere([0.0; 3], [0.0; 3], [1.0, 0.0, 1.0]);
        let other = sphere([6.0, 0.0, 0.0], [0.0; 3], [1.0, 0.0, 1.0]);
        let time = first_contact(&one, &other, f64::INFINITY).unwrap();
        assert!((time - 2.0).abs() < 1.0e-15);
    }

    #[test]
    fn spheres_that_fly_apart_are_caught_up_by_their_growth() {
        // 1 + t = 0.5 + t² / 8.
        let one = sphere([0.0; 3], [0.0; 3], [0.5, 0.0, 0.25]);
        let other = sphere([1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3]);
        let time = first_contact(&one, &other, f64::INFINITY).unwrap();
        assert!((time - (4.0 + 20.0_f64.sqrt())).abs() < 1.0e-12);
    }

    #[test]
    fn spheres_that_are_in_each_other_touch_now() {
        let one = sphere([0.0; 3], [5.0, 0.0, 0.0], [1.0, 0.0, 0.0]);
        assert_eq!(first_contact(&one, &one, 1.0), Some(0.0));
        let point = sphere([0.0; 3], [0.0; 3], [0.0; 3]);
        assert_eq!(first_contact(&point, &point, 1.0), Some(0.0));
    }

    /// Whether the gap may be closed somewhere in an interval: a lower bound from the
    /// speed at which it can close.
    fn may_touch(one: &GrowingSphere, other: &GrowingSphere, low: f64, high: f64) -> bool {
        let distance = one.center_at(low).distance(other.center_at(low));
        let way = (one.velocity - other.velocity).length() * (high - low);
        distance - way <= one.radius_at(high) + other.radius_at(high)
    }

    /// The first time of contact by bisection of intervals in which nothing is ruled out.
    fn by_intervals(one: &GrowingSphere, other: &GrowingSphere, within: f64) -> Option<f64> {
        let mut open = vec![(0.0, within)];
        while let Some((low, high)) = open.pop() {
            if !may_touch(one, other, low, high) {
                continue;
            }
            if high - low < 1.0e-9 {
                return Some(low);
            }
            let middle = 0.5 * (low + high);
            open.push((middle, high));
            open.push((low, middle));
        }
        None
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// The root is the one that interval arithmetic finds, and none is missed.
        #[test]
        fn no_root_of_the_quartic_is_missed(
            places in prop::array::uniform2(prop::array::uniform3(-10.0_f64..10.0)),
            velocities in prop::array::uniform2(prop::array::uniform3(-10.0_f64..10.0)),
            radii in prop::array::uniform2((0.0_f64..2.0, 0.0_f64..2.0, 0.0_f64..4.0)),
        ) {
            let [one, other] = [0, 1].map(|k| {
                sphere(places[k], velocities[k], [radii[k].0, radii[k].1, radii[k].2])
            });
            let found = first_contact(&one, &other, 3.0);
            let expected = by_intervals(&one, &other, 3.0);
            match (found, expected) {
                (Some(found), Some(expected)) => {
                    // Intervals stop early where the spheres graze each other, by the
                    // root of their length.
                    prop_assert!(found > expected - 1.0e-8, "{found} {expected}");
                    prop_assert!(found < expected + 1.0e-3, "{found} {expected}");
                    let gap = one.center_at(found).distance(other.center_at(found))
                        - one.radius_at(found) - other.radius_at(found);
                    prop_assert!(gap < 1.0e-12 && (found == 0.0 || gap > -1.0e-9), "{gap}");
                }
                (None, Some(expected)) => {
                    // Only what intervals could not rule out.
                    let gap = one.center_at(expected).distance(other.center_at(expected))
                        - one.radius_at(expected) - other.radius_at(expected);
                    prop_assert!(gap > 0.0 && gap < 1.0e-6 || expected > 3.0 - 1.0e-8, "{gap}");
                }
                (Some(found), None) => prop_assert!(false, "{found} is none"),
                (None, None) => {}
            }
        }
    }
}
