//! Trajectories of bounding spheres between the steps of a physics engine.
//!
//! An engine provides position and velocity at the start and the end of a step. Between them the
//! trajectory is the cubic Hermite interpolation. Semi-implicit Euler moves by the final velocity,
//! x₁ = x₀ + v₁ dt; then the acceleration of the cubic starts at 4 (v₁ − v₀) / dt and ends at −2
//! (v₁ − v₀) / dt, so acceleration bounds are multiplied by four. A sphere that exceeds its bound
//! or is teleported moves in a straight line during that step, and its velocity jumps.

use glam::DVec3;

use crate::motion::unknown_trajectories::{Contact, Probe, SphereMotion};

/// Ratio of the acceleration of the cubic to that of the engine.
pub(super) const CUBIC_FACTOR: f64 = 4.0;

/// Added to acceleration bounds for the rounding of `f32` velocities, nm/s².
pub(super) const ROUNDING: f64 = 1.0;

/// Trajectory of a sphere in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CubicSegment {
    pub(super) start: Probe,
    pub(super) end: Probe,
}

impl CubicSegment {
    /// A sphere at rest.
    pub(super) fn resting(probe: Probe) -> Self {
        Self {
            start: probe,
            end: probe,
        }
    }

    /// The trajectory from `start` to `end` within `dt` s: a cubic if its acceleration is at
    /// most `max_acceleration` nm/s², a straight line otherwise.
    pub(super) fn new(start: Probe, end: Probe, dt: f64, max_acceleration: f64) -> Self {
        let cubic = Self { start, end };
        // The acceleration is linear, so its maximum is at one end.
        let [first, last] = [0.0, 1.0].map(|s| cubic.acceleration(s, dt).length());
        if first.max(last) <= max_acceleration {
            return cubic;
        }
        let velocity = (end.position - start.position) / dt;
        Self {
            start: Probe { velocity, ..start },
            end: Probe { velocity, ..end },
        }
    }

    /// Acceleration at the fraction `s` of a step of `dt` s, nm/s².
    fn acceleration(&self, s: f64, dt: f64) -> DVec3 {
        let displacement = self.end.position - self.start.position;
        let (from, to) = (self.start.velocity * dt, self.end.velocity * dt);
        let first = 6.0 * displacement - 4.0 * from - 2.0 * to;
        let last = -6.0 * displacement + 2.0 * from + 4.0 * to;
        (first + s * (last - first)) / (dt * dt)
    }

    /// Position and velocity at the fraction `s` of a step of `dt` s.
    fn probe(&self, s: f64, dt: f64) -> Probe {
        let displacement = self.end.position - self.start.position;
        let (from, to) = (self.start.velocity * dt, self.end.velocity * dt);
        let square = 3.0 * displacement - 2.0 * from - to;
        let cube = from + to - 2.0 * displacement;
        Probe {
            position: self.start.position + s * (from + s * (square + s * cube)),
            velocity: (from + s * (2.0 * square + s * 3.0 * cube)) / dt,
        }
    }
}

/// Trajectories of all spheres in one step.
#[derive(Clone, Debug, Default)]
pub(super) struct CubicMotion {
    pub(super) segments: Vec<CubicSegment>,
    /// Start of the step, s.
    pub(super) begin: f64,
    /// Duration of the step, s.
    pub(super) dt: f64,
    /// Contacts of the step.
    pub(super) contacts: Vec<Contact>,
}

impl SphereMotion for CubicMotion {
    fn probe(&mut self, sphere: u32, time: f64) -> Probe {
        let segment = &self.segments[sphere as usize];
        let elapsed = time - self.begin;
        // Both ends are exact, not interpolated.
        if elapsed <= 0.0 {
            segment.start
        } else if elapsed >= self.dt {
            segment.end
        } else {
            segment.probe(elapsed / self.dt, self.dt)
        }
    }

    fn collide(&mut self, contact: &Contact) {
        self.contacts.push(*contact);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn euler_step_is_a_cubic_with_at_most_four_times_the_acceleration() {
        let (dt, gravity) = (0.01, DVec3::new(0.0, -10.0, 0.0));
        let start = Probe {
            position: DVec3::X,
            velocity: DVec3::new(3.0, 1.0, 0.0),
        };
        let velocity = start.velocity + dt * gravity;
        let end = Probe {
            position: start.position + dt * velocity,
            velocity,
        };
        let cubic = CubicSegment::new(start, end, dt, CUBIC_FACTOR * 10.0 + 1.0e-6);
        assert_eq!((cubic.start, cubic.end), (start, end));
        assert!((cubic.acceleration(0.0, dt) - 4.0 * gravity).length() < 1.0e-9);
        assert!((cubic.acceleration(1.0, dt) + 2.0 * gravity).length() < 1.0e-9);
        let last = cubic.probe(1.0, dt);
        assert!(last.position.distance(end.position) < 1.0e-12);
        assert!(last.velocity.distance(end.velocity) < 1.0e-12);
        // With half the bound the segment is a straight line.
        let straight = CubicSegment::new(start, end, dt, CUBIC_FACTOR * 5.0);
        assert_eq!(straight.acceleration(0.3, dt), DVec3::ZERO);
        assert_ne!(straight.start, start);
    }
}
