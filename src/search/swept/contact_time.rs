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
    /// First time from 0 to `end` at which they touch or overlap.
    #[must_use]
    pub fn first_until(&self, end: f64) -> Option<f64> {
        let within = self.first <= end && self.last >= 0.0;
        within.then(|| self.first.max(0.0))
    }
}

/// Times of contact of two spheres whose centers move along `a` and `b` and whose radii add up
/// to `reach`, nm; `None` if they never touch.
#[must_use]
pub fn time_of_contact(a: &Trajectory, b: &Trajectory, reach: f64) -> Option<ContactTimes> {
    let motion = (b.end - b.start) - (a.end - a.start);
    relative_contact(b.start - a.start, motion, reach)
}

/// Times of contact of two spheres from the vector between their centers at time 0 and its
/// change per step.
pub(super) fn relative_contact(offset: DVec3, motion: DVec3, reach: f64) -> Option<ContactTimes> {
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
    // The discriminant b² − A C is A (R² − h²), where h is the smallest distance of the centers.
    // The former loses all digits for long displacements.
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
