//! Hubbard's broad phase: space-time bounds.
//!
//! The region that a sphere can reach within an interval, the parabolic horn, is enclosed in
//! a four-dimensional trapezoid: along each axis, between the lines from x ± r at the start to
//! x + v t ± (r + A t² / 2) at the end. When two trapezoids overlap, both spheres are probed
//! and *all* bounds are rebuilt.
//!
//! Walls whose solid side is a box are trapezoids that do not move: blocks, and axis-aligned
//! planes as boxes of infinite size, so that a face of the box around the spheres is one
//! horizontal line in one of the planes. A static ball is enclosed in its box, as spheres are.
//! Other walls have no box and are tested against the parabolic horns of all spheres.
//!
//! The cross-sections of trapezoids are boxes, so two of them may overlap from the start
//! although the spheres do not. Such a pair is tested when its parabolic horns touch.

use glam::DVec3;

use super::bentley_ottmann::{Line, Sweep};
use super::bounds::BoundSet;
use super::{CollisionDetector, EventCounts, MovingSphere, SphereMotion, check_not_past};
use crate::motion::error::check_positive;
use crate::motion::time_of_impact::{Wall, WallSide};
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
    /// Walls in the sweep, after all spheres.
    boxed_walls: Vec<u32>,
    /// All other walls.
    other_walls: Vec<u32>,
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
        let bounds = BoundSet::new(spheres, walls, config.tolerance, start, motion)?;
        let indices = 0..bounds.walls.len() as u32;
        let (boxed_walls, other_walls): (Vec<u32>, Vec<u32>) =
            indices.partition(|&wall| solid_box(&bounds.walls[wall as usize]).is_some());
        let mut sweep = Sweep::new(spheres.len() as u32, boxed_walls.len());
        let boxes = bounds.walls.iter().filter_map(solid_box);
        for (corners, index) in boxes.zip(spheres.len()..) {
            for (axis, plane) in sweep.axes.iter_mut().enumerate() {
                for (side, corner) in corners.iter().enumerate() {
                    plane.lines[2 * index + side].start = corner[axis];
                }
            }
        }
        Ok(Self {
            bounds,
            config: *config,
            sweep,
            boxed_walls,
            other_walls,
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

    /// The next event up to `until` s and its time, or the end without an event.
    fn next_event(&mut self, until: f64) -> (f64, Option<(u32, CollisionPartner)>) {
        let now = self.now;
        let interval = self.config.interval;
        self.build_trapezoids(interval);
        let mut best = (until.min(now + interval), None);
        let (bounds, walls) = (&self.bounds, &self.boxed_walls);
        let spheres = bounds.bounds.len() as u32;
        // Walls follow the spheres in the sweep.
        let partner = |index: u32| match index.checked_sub(spheres) {
            None => CollisionPartner::Sphere(index),
            Some(wall) => CollisionPartner::Wall(walls[wall as usize]),
        };
        for sphere in 0..spheres {
            for &wall in &self.other_walls {
                if let Some(time) = bounds.next_wall_collision(sphere, wall, now, best.0) {
                    best = (time, Some((sphere, CollisionPartner::Wall(wall))));
                }
            }
        }
        self.sweep.begin(bounds.tolerance, |a, b| {
            let partner = partner(b);
            let time = match partner {
                CollisionPartner::Sphere(b) => {
                    bounds.next_collision(&bounds.current(a, now), b, now, best.0)
                }
                CollisionPartner::Wall(wall) => bounds.next_wall_collision(a, wall, now, best.0),
            };
            if let Some(time) = time {
                best = (time, Some((a, partner)));
            }
        });
        let full = self.config.sweep == HubbardSweep::Full;
        let horizon = if full { interval } else { best.0 - now };
        let crossings = &mut self.bounds.counts.checks;
        let overlap = self.sweep.first_overlap(horizon, full, crossings);
        if let Some((time, a, b)) = overlap
            && now + time < best.0
        {
            best = (now + time, Some((a, partner(b))));
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
            let (time, event) = self.next_event(until);
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

/// The lowest and highest corner of the solid side of a wall, or of a box around it.
fn solid_box(wall: &Wall) -> Option<[DVec3; 2]> {
    match wall {
        Wall::Plane { normal, offset } => {
            let axis = normal.abs().max_position();
            if normal.abs() != DVec3::AXES[axis] {
                return None;
            }
            let mut corners = [DVec3::NEG_INFINITY, DVec3::INFINITY];
            // The normal points from the solid to the spheres.
            let side = usize::from(normal[axis] > 0.0);
            corners[side][axis] = normal[axis] * offset;
            Some(corners)
        }
        Wall::Cuboid { low, high } => Some([*low, *high]),
        Wall::Ball {
            center,
            radius,
            side: WallSide::Outside,
        } => Some([center - *radius, center + *radius]),
        Wall::Ball { .. } | Wall::Surface { .. } => None,
    }
}
