//! Collision detection among spheres with unknown trajectories and bounded acceleration.
//!
//! The owner of the spheres (a player, a velocity field, an integrator) implements
//! [`SphereMotion`]: it returns the current position and velocity of a sphere on request and
//! guarantees a bound on its acceleration. This is enough to miss no collision. The algorithm
//! of Kim, Guibas and Shin:
//!
//! 1. Position, velocity and acceleration bound define a *time-varying bound*: a sphere that
//!    moves in a straight line, grows, and always contains the real sphere (equations 3 to 6).
//! 2. A hierarchy of grids, each twice as coarse as the one before, divides space into cells
//!    (*subspaces* in the paper). Each sphere belongs to the grid that fits its size; only
//!    bounds that share a cell are tested against each other.
//! 3. A queue holds the events: a bound *enters* or *leaves* a cell, is *reset* because it
//!    has grown to the size of its cell, or *collides* with another bound or a wall.
//! 4. A colliding event probes both spheres. If they touch and approach each other, it
//!    reports a [`Contact`]. Both bounds are reset in any case.
//! 5. Events after the reset of either sphere are not queued; the reset finds them again
//!    (section 3.3). Nor are, by default, events after any end of either bound: see
//!    [`TimeVaryingRules`].
//!
//! [`TimeVaryingDetector`] implements this. [`HubbardDetector`] implements the space-time
//! bounds of Hubbard, which the paper compares with. Both run on one thread and
//! find the same contacts.
//!
//! # Tolerance
//!
//! Two bounds that just touch would collide again and again without progress. So a colliding
//! event is due when the bounds overlap by [`TimeVaryingConfig::tolerance`], and contacts are reported
//! with at most that penetration.

mod bentley_ottmann;
mod bounds;
mod candidate_tree;
mod cell_size;
mod detector;
mod event_queue;
mod grid_hierarchy;
mod hubbard;

pub use bounds::TimeVaryingBound;
pub use detector::TimeVaryingDetector;
pub use hubbard::{HubbardConfig, HubbardDetector, HubbardSweep};

use glam::DVec3;

use super::{CollisionPartner, MotionError, OVERLAP_TOLERANCE_NM};

/// Position and velocity of a sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Center, nm.
    pub position: DVec3,
    /// Velocity, nm/s.
    pub velocity: DVec3,
}

/// The trajectories of the spheres, implemented by their owner.
pub trait SphereMotion {
    /// Position and velocity of a sphere at `time` s. Times never decrease.
    fn probe(&mut self, sphere: u32, time: f64) -> Probe;

    /// Called when a sphere touches and approaches another sphere or a wall. Change the
    /// velocities here; the detector probes the spheres again at the same time. A pair that
    /// keeps approaching is reported repeatedly.
    fn collide(&mut self, contact: &Contact);
}

/// A contact of a sphere with another sphere or a wall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Time, s.
    pub time: f64,
    /// Index of the sphere; the smaller one of a pair.
    pub sphere: u32,
    /// What it touches.
    pub other: CollisionPartner,
    /// Unit vector from the sphere to its partner, world frame.
    pub normal: DVec3,
    /// Approach speed along the normal, nm/s; positive.
    pub speed: f64,
    /// Overlap, nm; at most slightly more than the tolerance.
    pub penetration: f64,
}

impl Contact {
    /// Impulse along the normal of an elastic collision, Da·nm/s, for the masses of the sphere
    /// and its partner in Da; infinite for a wall. Subtract it from the momentum of the sphere
    /// and add it to that of the partner.
    #[must_use]
    pub fn elastic_impulse(&self, mass: f64, other: f64) -> f64 {
        2.0 * self.speed / (1.0 / mass + 1.0 / other)
    }
}

/// Constant properties of a sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovingSphere {
    /// Radius, nm.
    pub radius: f64,
    /// Bound on the acceleration, nm/s². Zero: the sphere moves in straight lines.
    pub acceleration: f64,
}

/// Configuration of a [`TimeVaryingDetector`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeVaryingConfig {
    /// Overlap at which spheres count as touching, nm. Default: [`OVERLAP_TOLERANCE_NM`].
    pub tolerance: f64,
    /// Side of the finest cells, nm. Default: chosen by a cost model.
    pub finest_cell_size: Option<f64>,
    /// Rules for queued events and for cells. Default: [`TimeVaryingRules::FirstEnd`].
    pub rules: TimeVaryingRules,
}

impl Default for TimeVaryingConfig {
    fn default() -> Self {
        Self {
            tolerance: OVERLAP_TOLERANCE_NM,
            finest_cell_size: None,
            rules: TimeVaryingRules::default(),
        }
    }
}

/// Which collisions a [`TimeVaryingDetector`] queues, and how small cells may be. Both rules
/// find the same contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeVaryingRules {
    /// Queues only the first end of each bound: a reset or a collision. Cells are at least
    /// 2.5 radii wide. Default.
    #[default]
    FirstEnd,
    /// Queues all collisions before the resets of both bounds (section 3.3). Cells are at least
    /// two diameters wide (section 3.1). Slower.
    Published,
}

impl TimeVaryingRules {
    /// Minimum cell size in radii of the spheres of a grid.
    fn radii_per_cell(self) -> f64 {
        match self {
            // Fewer radii give fewer neighbors where bounds collide long before they fill a cell.
            Self::FirstEnd => 2.5,
            Self::Published => 4.0,
        }
    }
}

/// Number of events since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventCounts {
    /// Bounds that reached a plane of cell faces and entered the cells behind it.
    pub entering: u64,
    /// Bounds that passed a plane of cell faces and left the cells behind them.
    pub leaving: u64,
    /// Cells that bounds entered: one for each face that a bound reached.
    pub entered_cells: u64,
    /// Cells that bounds left: one for each face that a bound passed.
    pub left_cells: u64,
    /// Bounds that were reset because they had grown too large.
    pub resetting: u64,
    /// Pairs of bounds that collided, whether the spheres touched or not.
    pub colliding: u64,
    /// Bounds that collided with a wall, whether the sphere touched it or not.
    pub at_walls: u64,
    /// Contacts between spheres.
    pub contacts: u64,
    /// Contacts with walls.
    pub wall_contacts: u64,
    /// Pairs of bounds whose time of impact was computed.
    pub checks: u64,
    /// Collisions of pairs of bounds that were queued.
    pub queued: u64,
    /// Calls of [`SphereMotion::probe`].
    pub probes: u64,
}

/// Finds the contacts of moving spheres in order of time.
pub trait CollisionDetector {
    /// The time up to which all contacts are known, s.
    fn time(&self) -> f64;

    /// Advances to `until` s and passes each contact to [`SphereMotion::collide`], in order
    /// of time.
    ///
    /// # Errors
    /// [`MotionError`] if `until` is in the past, or a trajectory violates its bound. The
    /// detector then stays at the time of the error and can continue from there.
    fn advance(&mut self, until: f64, motion: &mut dyn SphereMotion) -> Result<(), MotionError>;

    /// Number of events since the start.
    fn counts(&self) -> EventCounts;
}

/// Returns an error if `until` is before `now`.
fn check_not_past(until: f64, now: f64) -> Result<(), MotionError> {
    if until.is_nan() || until < now {
        return Err(MotionError::TimeInPast { time: until, now });
    }
    Ok(())
}
