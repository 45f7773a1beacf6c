//! The time-varying bound of a sphere.

use glam::DVec3;

use crate::motion::time_of_impact::GrowingSphere;

/// A sphere that has another one of unknown way inside, from the time on at which that
/// one was probed (equations 5 and 6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeVaryingBound {
    /// When the sphere was probed, s.
    pub since: f64,
    /// Its center then, nm.
    pub position: DVec3,
    /// Its velocity then, nm/s.
    pub velocity: DVec3,
    /// Its radius, nm.
    pub radius: f64,
    /// The bound on its acceleration, nm/s².
    pub acceleration: f64,
}

impl TimeVaryingBound {
    /// Center of the bound at a time, nm.
    #[must_use]
    pub fn center_at(&self, time: f64) -> DVec3 {
        self.position + (time - self.since) * self.velocity
    }

    /// Radius of the bound at a time, nm.
    #[must_use]
    pub fn radius_at(&self, time: f64) -> f64 {
        let elapsed = time - self.since;
        self.radius + 0.5 * self.acceleration * elapsed * elapsed
    }

    /// The bound as it moves and grows from `now` on.
    #[inline]
    #[must_use]
    pub fn growing(&self, now: f64) -> GrowingSphere {
        let elapsed = now - self.since;
        let growth = self.acceleration * elapsed;
        GrowingSphere {
            center: self.position + elapsed * self.velocity,
            velocity: self.velocity,
            radius: self.radius + 0.5 * growth * elapsed,
            growth,
            acceleration: self.acceleration,
        }
    }

    /// When the bound is as wide as `width` nm (equation 8); never if it does not grow.
    #[must_use]
    pub fn time_of_width(&self, width: f64) -> f64 {
        let room = (width - 2.0 * self.radius).max(0.0);
        if self.acceleration > 0.0 {
            self.since + (room / self.acceleration).sqrt()
        } else {
            f64::INFINITY
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_moves_straight_and_grows_as_equations_5_and_6_say() {
        let bound = TimeVaryingBound {
            since: 1.0,
            position: DVec3::new(1.0, 2.0, 3.0),
            velocity: DVec3::new(2.0, 0.0, -1.0),
            radius: 0.5,
            acceleration: 4.0,
        };
        assert_eq!(bound.center_at(3.0), DVec3::new(5.0, 2.0, 1.0));
        assert_eq!(bound.radius_at(3.0), 8.5);
        let later = bound.growing(2.0);
        assert_eq!(later.center_at(1.0), bound.center_at(3.0));
        assert_eq!(later.radius_at(1.0), bound.radius_at(3.0));
        let time = bound.time_of_width(17.0);
        assert_eq!(time, 3.0);
        assert_eq!(2.0 * bound.radius_at(time), 17.0);
    }
}
