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

mod roots;
mod wall;

pub(crate) use roots::first_not_positive;
pub use wall::{SignedDistance, Wall, WallSide};

use glam::DVec3;

use roots::first_touch_of_convex;

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
        let slope = if distance > 0.0 {
            position.dot(velocity) / distance
        } else {
            -squared_speed.sqrt()
        };
        [distance, slope, distance]
    })
}
