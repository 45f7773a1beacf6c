//! Time of impact of moving spheres with each other and with walls.
//!
//! A [`GrowingSphere`] moves in a straight line and has the radius r + b t + a t² / 2, like
//! the time-varying bounds of Kim, Guibas and Shin. Two of them touch when (equation 9)
//!
//! ```text
//! |x + v t| = r + b t + a t² / 2,
//! ```
//!
//! where x and v are the relative position and velocity, and r, b and a the sums for both
//! spheres. Squaring gives the quartic of equation 10. This module solves the equation as it
//! stands: the left side is convex, so its tangent is a lower bound, and each iteration is a
//! quadratic equation whose root is never later than the first contact. For spheres of
//! constant radius this is the quadratic equation of Johnson and Whalley, section 3.3.
//!
//! [`Wall::first_contact`] does the same for walls. Lengths are in nm. Times are in s,
//! relative to the current time.
//!
//! ```
//! use bevy_rapier_molecules::motion::time_of_impact::{GrowingSphere, first_contact};
//! use glam::DVec3;
//!
//! // 8 nm between the surfaces, approaching with 2 nm/s.
//! let a = GrowingSphere::constant(DVec3::ZERO, DVec3::X, 1.0);
//! let b = GrowingSphere::constant(DVec3::X * 10.0, DVec3::NEG_X, 1.0);
//! let time = first_contact(&a, &b, 5.0);
//! assert!(time.is_some_and(|time| (time - 4.0).abs() < 1.0e-9));
//! assert_eq!(first_contact(&a, &b, 3.0), None);
//! // A growing sphere touches earlier.
//! let growing = GrowingSphere { acceleration: 1.0, ..a };
//! let earlier = first_contact(&growing, &b, 5.0);
//! assert!(earlier < time && earlier.is_some());
//! ```

mod roots;
mod wall;

pub(crate) use roots::first_not_positive;
pub use wall::{SignedDistance, Wall, WallSide};

use glam::DVec3;

use roots::{Gap, first_touch_of_convex};

/// Factor on the squared radius in the quick rejection test, for rounding.
const ROUNDING_FACTOR: f64 = 1.000_001;

/// Relative rounding error of a difference of squared lengths.
const ROUNDING: f64 = 1.0e-14;

/// A sphere that moves in a straight line and grows. Times are relative to the current time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrowingSphere {
    /// Current center, nm.
    pub center: DVec3,
    /// Velocity of the center, nm/s.
    pub velocity: DVec3,
    /// Current radius, nm.
    pub radius: f64,
    /// Current rate of growth of the radius, nm/s; not negative.
    pub growth: f64,
    /// Second derivative of the radius, nm/s²; not negative.
    pub acceleration: f64,
}

impl GrowingSphere {
    /// A sphere of constant radius.
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

    /// Center after `time` s, nm.
    #[must_use]
    pub fn center_at(&self, time: f64) -> DVec3 {
        self.center + time * self.velocity
    }

    /// Radius after `time` s, nm.
    #[must_use]
    pub fn radius_at(&self, time: f64) -> f64 {
        self.radius + time * (self.growth + 0.5 * self.acceleration * time)
    }

    /// The coefficients r, b and a of the radius r + b t + a t² / 2.
    fn radius_coefficients(&self) -> [f64; 3] {
        [self.radius, self.growth, self.acceleration]
    }
}

/// The first time in `0..=max_time` s at which two spheres touch or overlap; zero if they
/// already do.
///
/// Spheres that pass each other within rounding touch.
#[must_use]
pub fn first_contact(a: &GrowingSphere, b: &GrowingSphere, max_time: f64) -> Option<f64> {
    let offset = a.center - b.center;
    let velocity = a.velocity - b.velocity;
    let radius = [
        a.radius + b.radius,
        a.growth + b.growth,
        a.acceleration + b.acceleration,
    ];
    first_contact_relative(offset, velocity, radius, max_time)
}

/// [`first_contact`] in relative coordinates: a point at `offset` nm with a `velocity` in
/// nm/s, and a sphere at the origin with the radius r + b t + a t² / 2.
#[inline]
pub(crate) fn first_contact_relative(
    offset: DVec3,
    velocity: DVec3,
    [r, b, a]: [f64; 3],
    max_time: f64,
) -> Option<f64> {
    // Quick rejection: compare the closest approach with the final radius. Between the ends
    // of the path its square is x² − (x · v)² / v², compared here without the division.
    let squared_speed = velocity.length_squared();
    if max_time.is_finite() {
        let closing = -offset.dot(velocity);
        let max_radius = r + max_time * (b + 0.5 * a * max_time);
        let squared_radius = max_radius * max_radius * ROUNDING_FACTOR;
        let squared_distance = offset.length_squared();
        let misses = if closing <= 0.0 {
            squared_distance > squared_radius
        } else if closing >= squared_speed * max_time {
            (offset + max_time * velocity).length_squared() > squared_radius
        } else {
            let rounding = ROUNDING * squared_distance;
            (squared_distance - squared_radius - rounding) * squared_speed > closing * closing
        };
        if misses {
            return None;
        }
    }
    first_touch_of_convex([r, b, a], max_time, |time| {
        let position = offset + time * velocity;
        let distance = position.length();
        Gap {
            distance,
            slope: if distance > 0.0 {
                position.dot(velocity) / distance
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
    fn constant_spheres_touch_at_the_root_of_the_quadratic() {
        let one = sphere([0.0; 3], [1.0, 1.0, 0.0], [0.2, 0.0, 0.0]);
        let other = sphere([1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.2, 0.0, 0.0]);
        let time = first_contact(&one, &other, 1.0).unwrap();
        assert!((time - 0.3).abs() < 1.0e-15);
        assert_eq!(first_contact(&one, &other, 0.29), None);
    }

    #[test]
    fn growing_spheres_at_rest_touch() {
        // 2 (1 + t² / 2) = 6 where t = 2.
        let one = sphere([0.0; 3], [0.0; 3], [1.0, 0.0, 1.0]);
        let other = sphere([6.0, 0.0, 0.0], [0.0; 3], [1.0, 0.0, 1.0]);
        let time = first_contact(&one, &other, f64::INFINITY).unwrap();
        assert!((time - 2.0).abs() < 1.0e-15);
    }

    #[test]
    fn growth_outruns_receding_spheres() {
        // 1 + t = 0.5 + t² / 8.
        let one = sphere([0.0; 3], [0.0; 3], [0.5, 0.0, 0.25]);
        let other = sphere([1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3]);
        let time = first_contact(&one, &other, f64::INFINITY).unwrap();
        assert!((time - (4.0 + 20.0_f64.sqrt())).abs() < 1.0e-12);
    }

    #[test]
    fn overlapping_spheres_touch_immediately() {
        let one = sphere([0.0; 3], [5.0, 0.0, 0.0], [1.0, 0.0, 0.0]);
        assert_eq!(first_contact(&one, &one, 1.0), Some(0.0));
        let point = sphere([0.0; 3], [0.0; 3], [0.0; 3]);
        assert_eq!(first_contact(&point, &point, 1.0), Some(0.0));
    }

    /// Whether the spheres may touch in an interval, by a bound on their relative speed.
    fn may_touch(one: &GrowingSphere, other: &GrowingSphere, low: f64, high: f64) -> bool {
        let distance = one.center_at(low).distance(other.center_at(low));
        let path = (one.velocity - other.velocity).length() * (high - low);
        distance - path <= one.radius_at(high) + other.radius_at(high)
    }

    /// The first contact by interval bisection.
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

        #[test]
        fn first_contact_agrees_with_interval_bisection(
            positions in prop::array::uniform2(prop::array::uniform3(-10.0_f64..10.0)),
            velocities in prop::array::uniform2(prop::array::uniform3(-10.0_f64..10.0)),
            radii in prop::array::uniform2((0.0_f64..2.0, 0.0_f64..2.0, 0.0_f64..4.0)),
        ) {
            let [one, other] = [0, 1].map(|k| {
                sphere(positions[k], velocities[k], [radii[k].0, radii[k].1, radii[k].2])
            });
            let found = first_contact(&one, &other, 3.0);
            let expected = by_intervals(&one, &other, 3.0);
            match (found, expected) {
                (Some(found), Some(expected)) => {
                    // Bisection is early by up to the root of its resolution where the spheres graze
                    // each other.
                    prop_assert!(found > expected - 1.0e-8, "{found} {expected}");
                    prop_assert!(found < expected + 1.0e-3, "{found} {expected}");
                    let gap = one.center_at(found).distance(other.center_at(found))
                        - one.radius_at(found) - other.radius_at(found);
                    prop_assert!(gap < 1.0e-12 && (found == 0.0 || gap > -1.0e-9), "{gap}");
                }
                (None, Some(expected)) => {
                    // Only what bisection could not rule out.
                    let gap = one.center_at(expected).distance(other.center_at(expected))
                        - one.radius_at(expected) - other.radius_at(expected);
                    prop_assert!(gap > 0.0 && gap < 1.0e-6 || expected > 3.0 - 1.0e-8, "{gap}");
                }
                (Some(found), None) => prop_assert!(false, "{found} is not a contact"),
                (None, None) => {}
            }
        }
    }
}
