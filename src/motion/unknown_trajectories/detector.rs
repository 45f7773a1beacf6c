//! Event after event.

use glam::DVec3;

use super::cost::best_side;
use super::crossing::{CLEAR, Crossing, next_crossing};
use super::grids::{Grids, MOST_LEVELS, RADII_PER_SIDE};
use super::planner::{Candidate, End, Planner};
use super::queue::{Event, Kind, Queue, Slot};
use super::tracker::Tracker;
use super::{
    CollisionDetector, EventCounts, MovingSphere, SphereMotion, TimeVaryingBound,
    TimeVaryingConfig, check_ahead,
};
use crate::motion::MotionError;
use crate::motion::error::check_positive;
use crate::motion::time_of_impact::Wall;

/// Events for each sphere within [`STILL`] after which time is said to stand still.
const MOST_EVENTS: u64 = 1000;

/// A span in which that many events cannot be, as a part of the time: its last digit.
const STILL: f64 = 4.0 * f64::EPSILON;

/// The detector of Kim, Guibas and Shin.
///
/// ```
/// use bevy_rapier_molecules::motion::CollisionPartner;
/// use bevy_rapier_molecules::motion::unknown_trajectories::{
///     Contact, CollisionDetector, MovingSphere, Probe, SphereMotion, TimeVaryingDetector, TimeVaryingConfig,
/// };
/// use glam::DVec3;
///
/// /// nm/s².
/// const GRAVITY: f64 = 9.81;
///
/// /// Sphere 0 lies at the origin, sphere 1 falls onto it. The detector knows neither.
/// struct Falling {
///     since: f64,
///     height: f64,
///     speed: f64,
///     contacts: Vec<Contact>,
/// }
///
/// impl SphereMotion for Falling {
///     fn probe(&mut self, sphere: u32, time: f64) -> Probe {
///         if sphere == 0 {
///             return Probe { position: DVec3::ZERO, velocity: DVec3::ZERO };
///         }
///         let elapsed = time - self.since;
///         let fallen = 0.5 * GRAVITY * elapsed * elapsed;
///         Probe {
///             position: DVec3::Y * (self.height + self.speed * elapsed - fallen),
///             velocity: DVec3::Y * (self.speed - GRAVITY * elapsed),
///         }
///     }
///
///     fn collide(&mut self, contact: &Contact) {
///         // It bounces off.
///         let now = self.probe(1, contact.time);
///         self.since = contact.time;
///         (self.height, self.speed) = (now.position.y, -now.velocity.y);
///         self.contacts.push(*contact);
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let spheres = [0.0, GRAVITY].map(|acceleration| MovingSphere { radius: 1.0, acceleration });
/// let mut ball = Falling { since: 0.0, height: 6.0, speed: 0.0, contacts: Vec::new() };
/// let config = TimeVaryingConfig::default();
/// let mut detector = TimeVaryingDetector::new(&spheres, Vec::new(), &config, 0.0, &mut ball)?;
/// detector.advance(2.0, &mut ball)?;
/// // It has fallen by 4 nm when they touch.
/// let expected = (2.0_f64 * 4.0 / GRAVITY).sqrt();
/// assert_eq!(ball.contacts.len(), 1);
/// let contact = ball.contacts[0];
/// assert_eq!((contact.sphere, contact.other), (0, CollisionPartner::Sphere(1)));
/// assert!((contact.time - expected).abs() < 1.0e-5, "{}", contact.time);
/// assert!(contact.penetration < 2.0e-6);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct TimeVaryingDetector {
    tracker: Tracker,
    grids: Grids,
    queue: Queue,
    ends: Vec<End>,
    now: f64,
    /// When events were counted from, and how many there were since.
    still: (f64, u64),
}

impl TimeVaryingDetector {
    /// Follows spheres from `start` s on.
    ///
    /// Spheres may overlap at the start; they are in contact at once if they approach.
    ///
    /// # Errors
    /// [`MotionError`] if a number is not what it has to be.
    pub fn new(
        spheres: &[MovingSphere],
        walls: Vec<Wall>,
        config: &TimeVaryingConfig,
        start: f64,
        motion: &mut dyn SphereMotion,
    ) -> Result<Self, MotionError> {
        let tracker = Tracker::new(spheres, walls, config.tolerance, start, motion)?;
        let radii = || spheres.iter().map(|sphere| sphere.radius);
        let (low, high) = tracker.bounds.iter().fold(
            (DVec3::INFINITY, DVec3::NEG_INFINITY),
            |(low, high), bound| {
                let (center, radius) = (bound.position, bound.radius);
                (low.min(center - radius), high.max(center + radius))
            },
        );
        let extent = (high - low).max(DVec3::ZERO);
        let finest = match config.finest_cell_size {
            Some(side) => {
                check_positive("side of the finest subspaces", side)?;
                side
            }
            None => best_side(&tracker.bounds, extent.element_product()),
        };
        // The coarsest grid has to fit the largest sphere.
        let least =
            RADII_PER_SIDE * radii().fold(0.0, f64::max) / f64::from(1 << (MOST_LEVELS - 1));
        let grids = Grids::new(finest.max(least), extent, radii());
        let count = spheres.len() as u32;
        let never = End {
            reset: f64::INFINITY,
            due: f64::INFINITY,
            ticket: 0,
        };
        let mut detector = Self {
            tracker,
            grids,
            queue: Queue::new(spheres.len()),
            ends: vec![never; spheres.len()],
            now: start,
            still: (start, 0),
        };
        for sphere in 0..count {
            detector.renew(sphere);
        }
        for sphere in 0..count {
            detector.plan(sphere);
        }
        Ok(detector)
    }

    /// The bound of a sphere.
    #[must_use]
    pub fn bound(&self, sphere: u32) -> Option<&TimeVaryingBound> {
        self.tracker.bounds.get(sphere as usize)
    }

    /// Sides of the subspaces, from fine to coarse, nm.
    pub fn cell_sizes(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.grids.count()).map(|k| self.grids.finest() * f64::from(1_u32 << k))
    }

    /// The subspaces that the bound of a sphere is in: their side, and the lowest and the
    /// highest corner of the box that they make up, nm.
    #[must_use]
    pub fn cell_range(&self, sphere: u32) -> Option<(f64, [DVec3; 2])> {
        if sphere as usize >= self.ends.len() {
            return None;
        }
        let (range, side) = (self.grids.range(sphere), self.grids.side(sphere));
        let corner = |cell: [i64; 3], beyond: f64| {
            DVec3::from_array(cell.map(|k| (k as f64 + beyond) * side))
        };
        Some((side, [corner(range.low, 0.0), corner(range.high, 1.0)]))
    }

    /// Tells that the velocity of a sphere has jumped now, for a reason of the caller's: it
    /// was kicked, or is held.
    ///
    /// # Errors
    /// [`MotionError`] if there is no such sphere, or it is nowhere.
    pub fn disturb(
        &mut self,
        sphere: u32,
        motion: &mut dyn SphereMotion,
    ) -> Result<(), MotionError> {
        let count = self.ends.len() as u32;
        if sphere >= count {
            return Err(MotionError::IndexOutOfRange { sphere, count });
        }
        self.tracker.reset_after_jump(sphere, self.now, motion)?;
        self.renew(sphere);
        self.plan(sphere);
        Ok(())
    }

    /// Puts a bound that has been reset into its subspaces. What was planned with it is void.
    fn renew(&mut self, sphere: u32) {
        let bound = &self.tracker.bounds[sphere as usize];
        // A bound that has cleared a face has less than two sides to be in.
        let width = (1.0 - 2.0 * CLEAR) * self.grids.side(sphere);
        let reset = bound.time_of_width(width);
        let end = &mut self.ends[sphere as usize];
        end.ticket = end.ticket.wrapping_add(1);
        (end.reset, end.due) = (reset, reset);
        let range = self.grids.range_of(sphere, bound.position, bound.radius);
        self.grids.put(sphere, range);
    }

    /// Queues the next events of a bound whose last end has come.
    fn plan(&mut self, sphere: u32) {
        self.plan_end(sphere);
        self.plan_crossing(sphere);
    }

    fn plan_crossing(&mut self, sphere: u32) {
        let index = sphere as usize;
        let growing = self.tracker.bounds[index].growing(self.now);
        // What comes after the end is planned then.
        let within = self.ends[index].due - self.now;
        let (range, side) = (self.grids.range(sphere), self.grids.side(sphere));
        match next_crossing(&growing, &range, side, within) {
            Some((time, crossing)) => self.queue.set(Event {
                time: self.now + time,
                kind: Kind::Crossing,
                sphere,
                other: crossing.code(),
                other_ticket: 0,
            }),
            None => self.queue.clear(Slot::new(sphere, true)),
        }
    }

    /// Looks for the end of a bound among all others around it.
    fn plan_end(&mut self, sphere: u32) {
        let reset = self.ends[sphere as usize].reset;
        let mut first = Candidate {
            time: reset,
            kind: Kind::Resetting,
            other: 0,
        };
        if let Some((time, wall)) = self.tracker.next_wall(sphere, self.now, reset) {
            first = Candidate {
                time,
                kind: Kind::AtWall,
                other: wall,
            };
        }
        let mut planner = Planner::new(&self.tracker, &self.ends, sphere, self.now, first);
        self.grids.neighbors(sphere, |other| planner.offer(other));
        let Planner { first, checks, .. } = planner;
        self.tracker.counts.checks += checks;
        self.queue_end(sphere, first);
    }

    /// Queues the end of a bound, which is also the end of whom it collides with.
    fn queue_end(&mut self, sphere: u32, first: Candidate) {
        let mut claim = |sphere: u32| {
            let end = &mut self.ends[sphere as usize];
            end.due = first.time;
            end.ticket = end.ticket.wrapping_add(1);
            end.ticket
        };
        let ticket = claim(sphere);
        if !first.time.is_finite() {
            self.queue.clear(Slot::new(sphere, false));
            return;
        }
        let colliding = first.kind == Kind::Colliding;
        let other_ticket = if colliding { claim(first.other) } else { 0 };
        let event = Event {
            time: first.time,
            kind: first.kind,
            sphere,
            other: first.other,
            other_ticket,
        };
        self.queue.set(event);
        if colliding {
            self.queue.set(Event {
                sphere: first.other,
                other: sphere,
                other_ticket: ticket,
                ..event
            });
        }
    }

    fn handle(&mut self, event: &Event, motion: &mut dyn SphereMotion) -> Result<(), MotionError> {
        let Event { sphere, other, .. } = *event;
        match event.kind {
            Kind::Crossing => {
                self.cross(sphere, Crossing::from_code(other));
                return Ok(());
            }
            // The other one may have had another end, and this one needs one now.
            Kind::Colliding if self.ends[other as usize].ticket == event.other_ticket => {
                self.tracker.meet(sphere, other, self.now, motion)?;
                self.renew(other);
                self.renew(sphere);
                self.plan(other);
            }
            Kind::Colliding => {}
            Kind::Resetting => {
                self.tracker.counts.resetting += 1;
                self.tracker.reset(sphere, self.now, motion)?;
                self.renew(sphere);
            }
            Kind::AtWall => {
                self.tracker.meet_wall(sphere, other, self.now, motion)?;
                self.renew(sphere);
            }
        }
        self.plan(sphere);
        Ok(())
    }

    fn cross(&mut self, sphere: u32, crossing: Crossing) {
        let before = self.grids.range(sphere);
        self.grids.put(sphere, crossing.apply(before));
        if crossing.is_entering() {
            self.tracker.counts.entering += 1;
            let known = Candidate {
                time: self.ends[sphere as usize].due,
                kind: Kind::Crossing,
                other: 0,
            };
            let mut planner = Planner::new(&self.tracker, &self.ends, sphere, self.now, known);
            self.grids
                .new_neighbors(sphere, before, |other| planner.offer(other));
            let Planner { first, checks, .. } = planner;
            self.tracker.counts.checks += checks;
            if first.kind == Kind::Colliding {
                self.queue_end(sphere, first);
            }
        } else {
            self.tracker.counts.leaving += 1;
        }
        self.plan_crossing(sphere);
    }

    /// Refuses to go on where nothing moves on any more.
    fn check_progress(&mut self, event: &Event) -> Result<(), MotionError> {
        let (since, events) = &mut self.still;
        if event.time > *since + STILL * since.abs() {
            self.still = (event.time, 0);
            return Ok(());
        }
        *events += 1;
        if *events > MOST_EVENTS * (1 + self.ends.len() as u64) {
            let (events, span) = (*events, event.time - *since);
            self.still.1 = 0;
            let sphere = event.sphere;
            return Err(MotionError::NoProgress {
                sphere,
                events,
                span,
            });
        }
        Ok(())
    }
}

impl CollisionDetector for TimeVaryingDetector {
    fn time(&self) -> f64 {
        self.now
    }

    fn advance(&mut self, until: f64, motion: &mut dyn SphereMotion) -> Result<(), MotionError> {
        check_ahead(until, self.now)?;
        while let Some(event) = self.queue.first().copied() {
            if event.time > until {
                break;
            }
            self.check_progress(&event)?;
            self.now = self.now.max(event.time);
            // It stays until it is handled: whoever goes on after an error meets it again.
            self.handle(&event, motion)?;
        }
        self.now = until;
        Ok(())
    }

    fn counts(&self) -> EventCounts {
        self.tracker.counts
    }
}
