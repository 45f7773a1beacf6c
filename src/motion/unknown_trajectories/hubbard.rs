//! Hubbard's broad phase: space-time bounds.
//!
//! The region that a sphere can reach within an interval, the parabolic horn, is enclosed in
//! a four-dimensional trapezoid: along each axis, between the lines from x ± r at the start to
//! x + v t ± (r + A t² / 2) at the end. When two trapezoids overlap, both spheres are probed
//! and *all* bounds are rebuilt.
//!
//! The cross-sections of trapezoids are boxes, so two of them may overlap from the start
//! although the spheres do not. Such a pair is tested when its parabolic horns touch.

use super::bentley_ottmann::{Line, Sweep};
use super::bounds::BoundSet;
use super::{CollisionDetector, EventCounts, MovingSphere, SphereMotion, check_not_past};
use crate::motion::error::check_positive;
use crate::motion::time_of_impact::Wall;
use crate::motion::{CollisionPartner, MotionError, OVERLAP_TOLERANCE_NM};

/// How far the sweep of a [`HubbardDetector`] goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HubbardSweep {
    /// To the first overlap of two bounds. Default.
    #[default]
    FirstOverlap,
    /// Through the full interval, as Kim, Guibas and Shin describe it.
    Full,
}

/// Configuration of a [`HubbardDetector`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HubbardConfig {
    /// Overlap at which spheres count as touching, nm. Default: [`OVERLAP_TOLERANCE_NM`].
    pub tolerance: f64,
    /// Duration of the space-time bounds, s. Default: 0.1.
    pub interval: f64,
    /// How far the sweep goes. Default: [`HubbardSweep::FirstOverlap`].
    pub sweep: HubbardSweep,
}

impl Default for HubbardConfig {
    fn default() -> Self {
        Self {
            tolerance: OVERLAP_TOLERANCE_NM,
            interval: 0.1,
            sweep: HubbardSweep::default(),
        }
    }
}

/// Hubbard's broad phase, extended by walls.
///
/// In its [`EventCounts`], `resetting` counts the rebuilds at the end of an interval, and
/// `checks` the crossings of lines.
#[derive(Clone, Debug)]
pub struct HubbardDetector {
    bounds: BoundSet,
    config: HubbardConfig,
    sweep: Sweep,
    now: f64,
}

impl HubbardDetector {
    /// Starts to track spheres at `start` s.
    ///
    /// # Errors
    /// [`MotionError`] if a sphere, a wall or a parameter is invalid.
    pub fn new(
        spheres: &[MovingSphere],
        walls: Vec<Wall>,
        config: &HubbardConfig,
        start: f64,
        motion: &mut dyn SphereMotion,
    ) -> Result<Self, MotionError> {
        check_positive("interval", config.interval)?;
        Ok(Self {
            bounds: BoundSet::new(spheres, walls, config.tolerance, start, motion)?,
            config: *config,
            sweep: Sweep::new(spheres.len()),
            now: start,
        })
    }

    /// Builds the trapezoids of all spheres for the next `interval` s.
    fn build_trapezoids(&mut self, interval: f64) {
        for (k, bound) in self.bounds.bounds.iter().enumerate() {
            // The chord of the parabola encloses it.
            let growth = 0.5 * bound.acceleration * interval;
            for (axis, plane) in self.sweep.axes.iter_mut().enumerate() {
                let (x, v) = (bound.position[axis], bound.velocity[axis]);
                for (side, sign) in [-1.0, 1.0].into_iter().enumerate() {
                    plane.lines[2 * k + side] = Line {
                        start: x + sign * bound.radius,
                        speed: v + sign * growth,
                    };
                }
            }
        }
    }

    /// The next event and its time, or `limit` s without an event.
    fn next_event(&mut self, limit: f64) -> (f64, Option<(u32, CollisionPartner)>) {
        let now = self.now;
        self.build_trapezoids(limit - now);
        let mut best = (limit, None);
        let bounds = &self.bounds;
        for sphere in 0..bounds.bounds.len() as u32 {
            if let Some((time, wall)) = bounds.next_wall(sphere, now, best.0) {
                best = (time, Some((sphere, CollisionPartner::Wall(wall))));
            }
        }
        self.sweep.begin(bounds.tolerance, |a, b| {
            let time = bounds.next_collision(&bounds.current(a, now), b, now, best.0);
            if let Some(time) = time {
                best = (time, Some((a, CollisionPartner::Sphere(b))));
            }
        });
        let full = self.config.sweep == HubbardSweep::Full;
        let horizon = if full { limit } else { best.0 } - now;
        let crossings = &mut self.bounds.counts.checks;
        let overlap = self.sweep.first_overlap(horizon, full, crossings);
        if let Some((time, a, b)) = overlap
            && now + time < best.0
        {
            best = (now + time, Some((a, CollisionPartner::Sphere(b))));
        }
        best
    }
}

impl CollisionDetector for HubbardDetector {
    fn time(&self) -> f64 {
        self.now
    }

    fn advance(&mut self, until: f64, motion: &mut dyn SphereMotion) -> Result<(), MotionError> {
        check_not_past(until, self.now)?;
        while self.now < until {
            let limit = (self.now + self.config.interval).min(until);
            let (time, event) = self.next_event(limit);
            self.now = time;
            for sphere in 0..self.bounds.bounds.len() as u32 {
                self.bounds.reset(sphere, time, motion, false)?;
            }
            match event {
                Some((a, CollisionPartner::Sphere(b))) => {
                    self.bounds.collide(a, b, time, motion)?;
                }
                Some((a, CollisionPartner::Wall(wall))) => {
                    self.bounds.collide_with_wall(a, wall, time, motion)?;
                }
                None => self.bounds.counts.resetting += 1,
            }
        }
        Ok(())
    }

    fn counts(&self) -> EventCounts {
        self.bounds.counts
    }
}
