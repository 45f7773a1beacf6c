//! Spheres that someone else moves step by step, as the detector sees them.
//!
//! An engine knows where a sphere is, and how fast, at the beginning and the end of a step.
//! In between, its way is the cubic with those places and velocities. Engines go as far as
//! the last velocity says, x₁ = x₀ + v₁ dt; the cubic then starts with an acceleration of
//! 4 (v₁ − v₀) / dt and ends with −2 (v₁ − v₀) / dt: so bounds are taken four times as
//! large. A sphere that is pushed harder than it promised, or put elsewhere, goes straight
//! for that step, and its velocity jumps.

use glam::DVec3;

use crate::motion::unknown_trajectories::{Contact, Probe, SphereMotion};

/// Acceleration of the cubic over that of the velocities.
pub(super) const CUBIC: f64 = 4.0;

/// What is added to bounds, nm/s²: engines round to 32 bits, which is a jerk in a step.
pub(super) const ROUNDING: f64 = 1.0;

/// The way of a sphere in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    start: Probe,
    end: Probe,
}

impl Piece {
    /// A sphere that stays where it is.
    pub(super) fn at(probe: Probe) -> Self {
        Self {
            start: probe,
            end: probe,
        }
    }

    /// The way from one probe to another within `dt` s, and at most this acceleration,
    /// nm/s².
    pub(super) fn between(start: Probe, end: Probe, dt: f64, most: f64) -> Self {
        let cubic = Self { start, end };
        let [first, last] = [0.0, 1.0].map(|part| cubic.acceleration(part, dt).length());
        if first.max(last) <= most {
            return cubic;
        }
        let velocity = (end.position - start.position) / dt;
        Self {
            start: Probe { velocity, ..start },
            end: Probe { velocity, ..end },
        }
    }

    /// Whether this piece goes on where another one ended.
    pub(super) fn follows(&self, before: &Self) -> bool {
        self.start == before.end
    }

    /// Whether this piece starts in the place where another one ended.
    pub(super) fn starts_where(&self, before: &Self) -> bool {
        self.start.position == before.end.position
    }

    /// Acceleration after a part of the step, nm/s²; linear in that part.
    fn acceleration(&self, part: f64, dt: f64) -> DVec3 {
        let way = self.end.position - self.start.position;
        let (from, to) = (self.start.velocity * dt, self.end.velocity * dt);
        let first = 6.0 * way - 4.0 * from - 2.0 * to;
        let last = -6.0 * way + 2.0 * from + 4.0 * to;
        (first + part * (last - first)) / (dt * dt)
    }

    /// Place and velocity after a part of a step of `dt` s.
    fn probe(&self, part: f64, dt: f64) -> Probe {
        let way = self.end.position - self.start.position;
        let (from, to) = (self.start.velocity * dt, self.end.velocity * dt);
        let square = 3.0 * way - 2.0 * from - to;
        let cube = from + to - 2.0 * way;
        Probe {
            position: self.start.position + part * (from + part * (square + part * cube)),
            velocity: (from + part * (2.0 * square + part * 3.0 * cube)) / dt,
        }
    }
}

/// All spheres in one step.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    pub(super) pieces: Vec<Piece>,
    /// When the step began, s, and how long it is, s.
    pub(super) begin: f64,
    pub(super) dt: f64,
    /// Contacts of the step.
    pub(super) contacts: Vec<Contact>,
}

impl SphereMotion for Pieces {
    fn probe(&mut self, sphere: u32, time: f64) -> Probe {
        let piece = &self.pieces[sphere as usize];
        let elapsed = time - self.begin;
        // The ends are given, not computed.
        if elapsed <= 0.0 {
            piece.start
        } else if elapsed >= self.dt {
            piece.end
        } else {
            piece.probe(elapsed / self.dt, self.dt)
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
    fn a_step_of_an_engine_is_a_cubic_of_at_most_four_times_its_acceleration() {
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
        let piece = Piece::between(start, end, dt, CUBIC * 10.0 + 1.0e-6);
        assert_eq!((piece.start, piece.end), (start, end));
        assert!((piece.acceleration(0.0, dt) - 4.0 * gravity).length() < 1.0e-9);
        assert!((piece.acceleration(1.0, dt) + 2.0 * gravity).length() < 1.0e-9);
        let last = piece.probe(1.0, dt);
        assert!(last.position.distance(end.position) < 1.0e-12);
        assert!(last.velocity.distance(end.velocity) < 1.0e-12);
        // Half of that is not allowed: it goes straight.
        let straight = Piece::between(start, end, dt, CUBIC * 5.0);
        assert_eq!(straight.acceleration(0.3, dt), DVec3::ZERO);
        assert!(!straight.follows(&Piece::at(start)) && piece.follows(&Piece::at(start)));
    }
}
