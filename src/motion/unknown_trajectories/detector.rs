//! The event-driven detector of Kim, Guibas and Shin.

use glam::DVec3;

use super::bounds::BoundSet;
use super::candidate_tree::{Candidate, CandidateTree};
use super::cell_size::best_cell_size;
use super::event_queue::{Event, EventKind, EventQueue};
use super::grid_hierarchy::{CellRange, Crossing, GridHierarchy, LEAVE_MARGIN, MAX_LEVELS};
use super::{
    CollisionDetector, EventCounts, MovingSphere, SphereMotion, TimeVaryingBound,
    TimeVaryingConfig, TimeVaryingRules, check_not_past,
};
use crate::motion::MotionError;
use crate::motion::error::check_positive;
use crate::motion::time_of_impact::Wall;

/// Number of events per sphere within [`MIN_PROGRESS`] that is an error.
const MAX_EVENTS_PER_SPHERE: u64 = 1000;

/// Progress of time below which events are counted, relative to the time: its last digit.
const MIN_PROGRESS: f64 = 4.0 * f64::EPSILON;

/// The end of a bound: a reset or a collision.
#[derive(Clone, Copy, Debug)]
struct BoundEnd {
    /// Latest time of the reset, s.
    reset: f64,
    /// Time of the reset or of the first known collision, s.
    due: f64,
    /// Incremented whenever `due` changes.
    version: u32,
}

/// Time and kind of a possible end of a bound.
type End = (f64, EventKind);

/// Detects collisions of spheres with unknown trajectories by time-varying bounds.
///
/// ```
/// use bevy_rapier_molecules::motion::CollisionPartner;
/// use bevy_rapier_molecules::motion::unknown_trajectories::{
///     CollisionDetector, Contact, MovingSphere, Probe, SphereMotion, TimeVaryingConfig,
///     TimeVaryingDetector,
/// };
/// use glam::DVec3;
///
/// /// nm/s².
/// const GRAVITY: f64 = 9.81;
///
/// /// Sphere 0 rests at the origin, sphere 1 falls onto it.
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
///         // Bounce.
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
/// // The sphere has fallen by 4 nm at the contact.
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
    bounds: BoundSet,
    grids: GridHierarchy,
    queue: EventQueue,
    /// All collisions before the resets, by the published rules.
    candidates: Option<CandidateTree>,
    ends: Vec<BoundEnd>,
    now: f64,
    /// The last time at which time progressed, s, and the number of events since.
    progress: (f64, u64),
}

impl TimeVaryingDetector {
    /// Starts to track spheres at `start` s.
    ///
    /// Spheres may overlap at the start. They are in contact immediately if they approach.
    ///
    /// # Errors
    /// [`MotionError`] if a sphere, a wall or a parameter is invalid.
    pub fn new(
        spheres: &[MovingSphere],
        walls: Vec<Wall>,
        config: &TimeVaryingConfig,
        start: f64,
        motion: &mut dyn SphereMotion,
    ) -> Result<Self, MotionError> {
        let bounds = BoundSet::new(spheres, walls, config.tolerance, start, motion)?;
        let radii_per_cell = config.rules.radii_per_cell();
        let sizes = || spheres.iter().map(|sphere| radii_per_cell * sphere.radius);
        let (low, high) = bounds.bounds.iter().fold(
            (DVec3::INFINITY, DVec3::NEG_INFINITY),
            |(low, high), bound| {
                let (center, radius) = (bound.position, bound.radius);
                (low.min(center - radius), high.max(center + radius))
            },
        );
        let extent = (high - low).max(DVec3::ZERO);
        let finest = match config.finest_cell_size {
            Some(size) => {
                check_positive("finest cell size", size)?;
                size
            }
            None => best_cell_size(&bounds.bounds, radii_per_cell, extent.element_product()),
        };
        // The largest sphere must fit the coarsest grid.
        let min_finest = sizes().fold(0.0, f64::max) / f64::from(1 << (MAX_LEVELS - 1));
        let grids = GridHierarchy::new(finest.max(min_finest), extent, sizes());
        let count = spheres.len() as u32;
        let never = BoundEnd {
            reset: f64::INFINITY,
            due: f64::INFINITY,
            version: 0,
        };
        let mut detector = Self {
            bounds,
            grids,
            queue: EventQueue::new(spheres.len()),
            candidates: (config.rules == TimeVaryingRules::Published)
                .then(|| CandidateTree::new(spheres.len())),
            ends: vec![never; spheres.len()],
            now: start,
            progress: (start, 0),
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
        self.bounds.bounds.get(sphere as usize)
    }

    /// Cell sizes of the grids, from fine to coarse, nm.
    pub fn cell_sizes(&self) -> impl Iterator<Item = f64> + '_ {
        self.grids.cell_sizes()
    }

    /// The cells that the bound of a sphere overlaps: their size, and the lowest and highest
    /// corner of the box that they form, nm.
    #[must_use]
    pub fn cell_range(&self, sphere: u32) -> Option<(f64, [DVec3; 2])> {
        if sphere as usize >= self.ends.len() {
            return None;
        }
        let (range, size) = (self.grids.range(sphere), self.grids.cell_size(sphere));
        let corner =
            |cell: [i64; 3], side: f64| DVec3::from_array(cell.map(|k| (k as f64 + side) * size));
        Some((size, [corner(range.low, 0.0), corner(range.high, 1.0)]))
    }

    /// Resets the bound of a sphere whose position or velocity the caller has changed.
    ///
    /// # Errors
    /// [`MotionError`] if there is no such sphere, or its position or velocity is not finite.
    pub fn disturb(
        &mut self,
        sphere: u32,
        motion: &mut dyn SphereMotion,
    ) -> Result<(), MotionError> {
        let count = self.ends.len() as u32;
        if sphere >= count {
            return Err(MotionError::IndexOutOfRange {
                index: sphere,
                count,
            });
        }
        self.bounds.reset(sphere, self.now, motion, true)?;
        self.renew(sphere);
        self.plan(sphere);
        Ok(())
    }

    /// Puts a bound that has been reset into its cells, and invalidates its planned events.
    fn renew(&mut self, sphere: u32) {
        let bound = &self.bounds.bounds[sphere as usize];
        // After leaving a cell, a bound has slightly less than two cells to be in.
        let width = (1.0 - 2.0 * LEAVE_MARGIN) * self.grids.cell_size(sphere);
        let reset = bound.time_of_width(width);
        let end = &mut self.ends[sphere as usize];
        end.version = end.version.wrapping_add(1);
        (end.reset, end.due) = (reset, reset);
        if let Some(candidates) = &mut self.candidates {
            candidates.remove_bound(sphere);
        }
        let range = self.grids.range_at(sphere, bound.position, bound.radius);
        self.grids.set_range(sphere, range);
    }

    /// Queues the next events of a bound that has just been renewed.
    fn plan(&mut self, sphere: u32) {
        self.plan_end(sphere);
        self.plan_crossing(sphere);
    }

    fn plan_crossing(&mut self, sphere: u32) {
        let index = sphere as usize;
        let growing = self.bounds.bounds[index].growing(self.now);
        // Crossings after the end are planned at the end.
        let max_time = self.ends[index].due - self.now;
        match self.grids.next_crossing(sphere, &growing, max_time) {
            Some((time, crossing)) => self.queue.set(Event {
                time: self.now + time,
                sphere,
                kind: EventKind::Crossing(crossing),
            }),
            None => self.queue.clear(sphere, true),
        }
    }

    /// Searches and queues the end of a bound.
    fn plan_end(&mut self, sphere: u32) {
        let reset = self.ends[sphere as usize].reset;
        let wall = self.bounds.next_wall(sphere, self.now, reset);
        let first = wall.map_or((reset, EventKind::Reset), |(time, wall)| {
            (time, EventKind::WallCollision(wall))
        });
        let first = self.search_collision(sphere, None, first);
        self.queue_end(sphere, first);
    }

    /// The first collision of a bound with its neighbors before `first`, or `first`. Neighbors
    /// of the `previous` cells are skipped. By the published rules, queues all collisions before
    /// the resets and returns `first`.
    fn search_collision(
        &mut self,
        sphere: u32,
        previous: Option<CellRange>,
        mut first: End,
    ) -> End {
        let (bounds, ends, now) = (&self.bounds, &self.ends, self.now);
        let own = bounds.current(sphere, now);
        let reset = ends[sphere as usize].reset;
        let mut candidates = self.candidates.as_mut();
        let (mut checks, mut queued) = (0, 0);
        self.grids.visit_neighbors(sphere, previous, |other| {
            let end = &ends[other as usize];
            // Only collisions before the known ends of both. One at the same time would replace
            // the other's end and be found again.
            let until = match candidates {
                Some(_) => reset.min(end.reset),
                None => first.0.min(end.due),
            };
            checks += 1;
            let Some(time) = bounds.next_collision(&own, other, now, until) else {
                return;
            };
            if let Some(candidates) = &mut candidates {
                let (a, b) = (sphere, other);
                candidates.insert(Candidate { time, a, b });
                queued += 1;
            } else if time < until {
                // `queue_end` sets the version.
                let other_version = 0;
                let kind = EventKind::Collision {
                    other,
                    other_version,
                };
                first = (time, kind);
            }
        });
        self.bounds.counts.checks += checks;
        self.bounds.counts.queued += queued;
        first
    }

    /// Queues the end of a bound. A collision is also the end of the other bound.
    fn queue_end(&mut self, sphere: u32, (time, kind): End) {
        let mut claim = |sphere: u32| {
            let end = &mut self.ends[sphere as usize];
            end.due = time;
            end.version = end.version.wrapping_add(1);
            end.version
        };
        let version = claim(sphere);
        if !time.is_finite() {
            self.queue.clear(sphere, false);
            return;
        }
        let EventKind::Collision { other, .. } = kind else {
            self.queue.set(Event { time, sphere, kind });
            return;
        };
        let other_version = claim(other);
        self.bounds.counts.queued += 1;
        let collision = |sphere: u32, other: u32, other_version: u32| Event {
            time,
            sphere,
            kind: EventKind::Collision {
                other,
                other_version,
            },
        };
        self.queue.set(collision(sphere, other, other_version));
        self.queue.set(collision(other, sphere, version));
    }

    /// The first event.
    fn first_event(&self) -> Option<Event> {
        let queued = self.queue.first().copied();
        let Some(candidate) = self.candidates.as_ref().and_then(CandidateTree::first) else {
            return queued;
        };
        if queued.is_some_and(|event| event.time <= candidate.time) {
            return queued;
        }
        let kind = EventKind::Collision {
            other: candidate.b,
            other_version: self.ends[candidate.b as usize].version,
        };
        Some(Event {
            time: candidate.time,
            sphere: candidate.a,
            kind,
        })
    }

    fn handle(&mut self, event: &Event, motion: &mut dyn SphereMotion) -> Result<(), MotionError> {
        let sphere = event.sphere;
        match event.kind {
            EventKind::Crossing(crossing) => {
                self.cross(sphere, crossing);
                return Ok(());
            }
            EventKind::Collision {
                other,
                other_version,
            } if self.ends[other as usize].version == other_version => {
                self.bounds.collide(sphere, other, self.now, motion)?;
                self.renew(other);
                self.renew(sphere);
                self.plan(other);
            }
            // The other bound has ended before: only plan a new end for this one.
            EventKind::Collision { .. } => {}
            EventKind::Reset => {
                self.bounds.counts.resetting += 1;
                self.bounds.reset(sphere, self.now, motion, false)?;
                self.renew(sphere);
            }
            EventKind::WallCollision(wall) => {
                self.bounds
                    .collide_with_wall(sphere, wall, self.now, motion)?;
                self.renew(sphere);
            }
        }
        self.plan(sphere);
        Ok(())
    }

    fn cross(&mut self, sphere: u32, crossing: Crossing) {
        let previous = self.grids.range(sphere);
        let range = crossing.apply(previous);
        self.grids.set_range(sphere, range);
        let cells = range.count().abs_diff(previous.count());
        if crossing.is_entering {
            self.bounds.counts.entering += 1;
            self.bounds.counts.entered_cells += cells;
            let known = (self.ends[sphere as usize].due, EventKind::Reset);
            let first = self.search_collision(sphere, Some(previous), known);
            if matches!(first.1, EventKind::Collision { .. }) {
                self.queue_end(sphere, first);
            }
        } else {
            self.bounds.counts.leaving += 1;
            self.bounds.counts.left_cells += cells;
        }
        self.plan_crossing(sphere);
    }

    /// Returns an error if too many events happen without progress of time.
    fn check_progress(&mut self, event: &Event) -> Result<(), MotionError> {
        let (since, events) = &mut self.progress;
        if event.time > *since + MIN_PROGRESS * since.abs() {
            self.progress = (event.time, 0);
            return Ok(());
        }
        *events += 1;
        if *events > MAX_EVENTS_PER_SPHERE * (1 + self.ends.len() as u64) {
            let (events, span) = (*events, event.time - *since);
            self.progress.1 = 0;
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
        check_not_past(until, self.now)?;
        while let Some(event) = self.first_event() {
            if event.time > until {
                break;
            }
            self.check_progress(&event)?;
            self.now = self.now.max(event.time);
            // On an error the event stays queued, so that the caller can continue.
            self.handle(&event, motion)?;
        }
        self.now = until;
        Ok(())
    }

    fn counts(&self) -> EventCounts {
        self.bounds.counts
    }
}
