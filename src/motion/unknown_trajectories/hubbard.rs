//! The broad phase of HubbardDetector: space-time bounds.
//!
//! What a sphere may do within an interval, the parabolic horn, is enclosed in a
//! four-dimensional trapezoid: along each axis, the lines from x ± r at its start to
//! x + v t ± (r + A t² / 2) at its end. When two of them meet, the spheres are looked at,
//! and *all* bounds are built anew from then on.
//!
//! Trapezoids have boxes for cross-sections, so that those of two spheres may overlap from
//! the start although the spheres are apart. Such a pair is looked at again when its horns
//! meet, which is as late as can be.

use super::sweep::{Line, Sweep};
use super::tracker::Tracker;
use super::{CollisionDetector, EventCounts, MovingSphere, SphereMotion, check_ahead};
use crate::motion::error::check_positive;
use crate::motion::time_of_impact::Wall;
use crate::motion::{CollisionPartner, MotionError, OVERLAP_TOLERANCE_NM};

/// How much of the sweep is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HubbardSweep {
    /// Until the first two bounds meet, as one would do it today. Default.
    #[default]
    FirstOverlap,
    /// All crossings within the interval, as Kim, Guibas and Shin describe it.
    Full,
}

/// How a [`HubbardDetector`] works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HubbardConfig {
    /// How deep spheres may overlap before they are said to touch, nm. Default:
    /// [`OVERLAP_TOLERANCE_NM`], 1e-6.
    pub tolerance: f64,
    /// Length of the space-time bounds in time, s. Default: 0.1.
    pub interval: f64,
    /// How much of the sweep is done. Default: until the first two bounds meet.
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

/// Hubbard's broad phase, with walls.
///
/// Of its counts, `resetting` is how often all bounds were built because the interval was
/// over, and `checks` are the crossings of lines.
///
/// ```
/// use bevy_rapier_molecules::motion::CollisionPartner;
/// use bevy_rapier_molecules::motion::time_of_impact::Wall;
/// use bevy_rapier_molecules::motion::unknown_trajectories::{
///     Contact, CollisionDetector, HubbardDetector, HubbardConfig, MovingSphere, Probe, SphereMotion,
/// };
/// use glam::DVec3;
///
/// /// A sphere that goes straight on until it meets something, and then back.
/// struct Shuttle {
///     since: f64,
///     place: DVec3,
///     velocity: DVec3,
///     contacts: Vec<Contact>,
/// }
///
/// impl SphereMotion for Shuttle {
///     fn probe(&mut self, _sphere: u32, time: f64) -> Probe {
///         Probe {
///             position: self.place + (time - self.since) * self.velocity,
///             velocity: self.velocity,
///         }
///     }
///
///     fn collide(&mut self, contact: &Contact) {
///         self.place = self.probe(0, contact.time).position;
///         (self.since, self.velocity) = (contact.time, -self.velocity);
///         self.contacts.push(*contact);
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // In the middle of a room of 10 nm, with 2 nm/s.
/// let mut shuttle = Shuttle {
///     since: 0.0,
///     place: DVec3::ZERO,
///     velocity: DVec3::X * 2.0,
///     contacts: Vec::new(),
/// };
/// let sphere = MovingSphere { radius: 1.0, acceleration: 0.0 };
/// let walls = Wall::box_faces(DVec3::splat(-5.0), DVec3::splat(5.0)).to_vec();
/// let config = HubbardConfig::default();
/// let mut detector = HubbardDetector::new(&[sphere], walls, &config, 0.0, &mut shuttle)?;
/// detector.advance(7.0, &mut shuttle)?;
/// // It is 4 nm to the wall of high x, and 8 nm back to that of low x.
/// let met = [0, 1].map(|k| shuttle.contacts[k]);
/// assert_eq!(met.map(|contact| contact.other), [CollisionPartner::Wall(1), CollisionPartner::Wall(0)]);
/// assert!((met[0].time - 2.0).abs() < 1.0e-5, "{}", met[0].time);
/// assert!((met[1].time - 6.0).abs() < 1.0e-5, "{}", met[1].time);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct HubbardDetector {
    tracker: Tracker,
    config: HubbardConfig,
    sweep: Sweep,
    now: f64,
}

impl HubbardDetector {
    /// Follows spheres from `start` s on.
    ///
    /// # Errors
    /// [`MotionError`] if a number is not what it has to be.
    pub fn new(
        spheres: &[MovingSphere],
        walls: Vec<Wall>,
        config: &HubbardConfig,
        start: f64,
        motion: &mut dyn SphereMotion,
    ) -> Result<Self, MotionError> {
        check_positive("interval", config.interval)?;
        Ok(Self {
            tracker: Tracker::new(spheres, walls, config.tolerance, start, motion)?,
            config: *config,
            sweep: Sweep::new(spheres.len()),
            now: start,
        })
    }

    /// The trapezoids of all spheres for the next `interval` s.
    fn build(&mut self, interval: f64) {
        for (k, bound) in self.tracker.bounds.iter().enumerate() {
            // The chord of the parabola is outside of it.
            let growth = 0.5 * bound.acceleration * interval;
            for (axis, plane) in self.sweep.axes.iter_mut().enumerate() {
                let (x, v) = (bound.position[axis], bound.velocity[axis]);
                plane.lines[2 * k] = Line {
                    place: x - bound.radius,
                    speed: v - growth,
                };
                plane.lines[2 * k + 1] = Line {
                    place: x + bound.radius,
                    speed: v + growth,
                };
            }
        }
    }

    /// What happens next, and when: none until `limit` s.
    fn next(&mut self, limit: f64) -> (f64, Option<(u32, CollisionPartner)>) {
        let now = self.now;
        self.build(limit - now);
        let mut best = (limit, None);
        let tracker = &self.tracker;
        for sphere in 0..tracker.bounds.len() as u32 {
            if let Some((time, wall)) = tracker.next_wall(sphere, now, best.0) {
                best = (time, Some((sphere, CollisionPartner::Wall(wall))));
            }
        }
        self.sweep.begin(tracker.tolerance, |a, b| {
            if let Some(time) = tracker.next_collision(a, b, now, best.0) {
                best = (time, Some((a, CollisionPartner::Sphere(b))));
            }
        });
        let whole = self.config.sweep == HubbardSweep::Full;
        let horizon = if whole { limit } else { best.0 } - now;
        let checks = &mut self.tracker.counts.checks;
        let meeting = self.sweep.first_meeting(horizon, whole, checks);
        if let Some((time, a, b)) = meeting
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
        check_ahead(until, self.now)?;
        while self.now < until {
            let limit = (self.now + self.config.interval).min(until);
            let (time, event) = self.next(limit);
            self.now = time;
            for sphere in 0..self.tracker.bounds.len() as u32 {
                self.tracker.reset(sphere, time, motion)?;
            }
            match event {
                Some((a, CollisionPartner::Sphere(b))) => self.tracker.meet(a, b, time, motion)?,
                Some((a, CollisionPartner::Wall(wall))) => {
                    self.tracker.meet_wall(a, wall, time, motion)?
                }
                None => self.tracker.counts.resetting += 1,
            }
        }
        Ok(())
    }

    fn counts(&self) -> EventCounts {
        self.tracker.counts
    }
}
