//! Spheres whose acceleration is constant for a while, then another one: their ways are
//! exact, however often they are asked for.

use glam::DVec3;

use crate::motion::time_varying::Probe;

/// A sphere on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traveller {
    /// When the sphere was here, s.
    time: f64,
    pub(super) position: DVec3,
    pub(super) velocity: DVec3,
    /// Acceleration of now, nm/s², and which one of its life that is.
    pub(super) acceleration: DVec3,
    piece: u64,
}

impl Traveller {
    /// A sphere at the start of its life, which nobody pushes yet.
    pub(super) fn new(position: DVec3, velocity: DVec3) -> Self {
        Self {
            time: 0.0,
            position,
            velocity,
            acceleration: DVec3::ZERO,
            piece: 0,
        }
    }

    /// Goes on to a time, s, in pieces of `length` s. `push` gives the acceleration of the
    /// next piece at its beginning, from the sphere then and the number of the piece.
    pub(super) fn go(&mut self, time: f64, length: f64, push: impl Fn(&Self, u64) -> DVec3) {
        loop {
            let end = (self.piece + 1) as f64 * length;
            let to = time.min(end);
            let step = to - self.time;
            if step > 0.0 {
                self.position += step * (self.velocity + 0.5 * step * self.acceleration);
                self.velocity += step * self.acceleration;
                self.time = to;
            }
            if time < end {
                return;
            }
            self.piece += 1;
            self.acceleration = push(self, self.piece);
        }
    }

    pub(super) fn probe(&self) -> Probe {
        Probe {
            position: self.position,
            velocity: self.velocity,
        }
    }
}
