//! Collisions of spheres whose ways are unknown.
//!
//! Whoever moves the spheres ([`SphereMotion`]: a player, a velocity field, an integrator)
//! can be asked where a sphere is now and how fast, and promises a bound on its
//! acceleration. Nothing else is known, and still no collision is missed. The algorithm is
//! that of Kim, Guibas and Shin (*Efficient Collision Detection among Moving Spheres with
//! Unknown Trajectories*):
//!
//! 1. from place, velocity and bound follows a sphere that moves straight, grows, and has
//!    the real one inside at any time: its *time-varying bound* (equations 3 and 4);
//! 2. space is cut into subspaces by a hierarchy of grids, each twice as coarse as the one
//!    before; a sphere lives in the grid that fits its size, and only those that share a
//!    subspace are compared;
//! 3. events wait in a queue: a bound *enters* or *leaves* a subspace, is *reset* because
//!    it has become as large as its subspace, or *collides* with another bound or a wall;
//! 4. a colliding event asks for the real places: if the spheres touch and approach, that
//!    is a [`Contact`]. Both bounds are reset in any case;
//! 5. candidates later than the reset of either sphere are not queued: they would be found
//!    anew then (section 3.3).
//!
//! [`TimeVaryingDetector`] does this, [`HubbardDetector`] is the broad phase of four-dimensional
//! space-time bounds that it was compared with. Both are [`CollisionDetector`]s and give the same
//! contacts.
//!
//! # How deep, how late
//!
//! Two bounds that only just touch would be compared for ever. A colliding event is due
//! when they overlap by [`TimeVaryingConfig::tolerance`]: spheres are reported when they
//! overlap by less than that, and time always goes on.
//!
//! # Contract
//!
//! Places are nm in the world frame, velocities nm/s, accelerations nm/s², times s, in 64
//! bits. A detector runs on one thread and gives the same contacts from run to run, in the
//! order of time. A sphere that leaves its bound, and places that are not finite, are
//! [`MotionError`]s which name sphere and time.

mod bound;
mod cost;
mod crossing;
mod detector;
mod grids;
mod hubbard;
mod planner;
mod queue;
mod sweep;
mod tracker;

pub use bound::TimeVaryingBound;
pub use detector::TimeVaryingDetector;
pub use hubbard::{HubbardConfig, HubbardDetector, HubbardSweep};

use glam::DVec3;

use super::{CollisionPartner, MotionError, OVERLAP_TOLERANCE_NM};

/// Where a sphere is, and how fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Center, nm.
    pub position: DVec3,
    /// Velocity, nm/s.
    pub velocity: DVec3,
}

/// Whoever moves the spheres. How is none of the detector's business.
pub trait SphereMotion {
    /// Where a sphere is at a time, s, and how fast. Times never go back.
    fn probe(&mut self, sphere: u32, time: f64) -> Probe;

    /// Two spheres, or a sphere and a wall, touch and approach each other: the place to
    /// change their velocities, to count, or to stick them together. They are probed again
    /// at the same time. A pair that goes on approaching is reported again and again.
    fn collide(&mut self, contact: &Contact);
}

/// A contact of a sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// When, s.
    pub time: f64,
    /// The sphere, by its index; the smaller one of two.
    pub sphere: u32,
    /// What it touches.
    pub other: CollisionPartner,
    /// Unit vector from the sphere to what it touches, world frame.
    pub normal: DVec3,
    /// How fast they approach each other along the normal, nm/s; positive.
    pub speed: f64,
    /// How deep they overlap, nm; at most a little more than the tolerance.
    pub penetration: f64,
}

impl Contact {
    /// The impulse (Da nm/s) along the normal of an elastic collision, for the masses (Da) of
    /// the sphere and of the other one; infinite for a wall. It is subtracted from the
    /// momentum of the sphere and added to that of the other.
    #[must_use]
    pub fn elastic_impulse(&self, mass: f64, other: f64) -> f64 {
        2.0 * self.speed / (1.0 / mass + 1.0 / other)
    }
}

/// What has to be known of a sphere beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovingSphere {
    /// Radius, nm.
    pub radius: f64,
    /// Bound on its acceleration, nm/s². Zero: it moves in straight lines.
    pub acceleration: f64,
}

/// How a [`TimeVaryingDetector`] works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeVaryingConfig {
    /// How deep spheres may overlap before they are said to touch, nm. Default:
    /// [`OVERLAP_TOLERANCE_NM`], 1e-6.
    pub tolerance: f64,
    /// Side of the finest subspaces, nm. Default: what the cost model finds best.
    pub finest_cell_size: Option<f64>,
}

impl Default for TimeVaryingConfig {
    fn default() -> Self {
        Self {
            tolerance: OVERLAP_TOLERANCE_NM,
            finest_cell_size: None,
        }
    }
}

/// Events that have happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventCounts {
    /// Bounds that entered a subspace.
    pub entering: u64,
    /// Bounds that left one.
    pub leaving: u64,
    /// Bounds that were reset because they were too large.
    pub resetting: u64,
    /// Pairs of bounds that collided, whether the spheres touched or not.
    pub colliding: u64,
    /// Bounds that collided with a wall, whether the sphere touched it or not.
    pub at_walls: u64,
    /// Pairs of spheres that touched.
    pub contacts: u64,
    /// Spheres that touched a wall.
    pub wall_contacts: u64,
    /// Pairs of bounds whose time of collision was looked for.
    pub checks: u64,
    /// Times that a sphere was probed.
    pub probes: u64,
}

/// Follows spheres from collision to collision.
pub trait CollisionDetector {
    /// The time up to which all collisions are known, s.
    fn time(&self) -> f64;

    /// Handles everything that happens up to `until` s: each contact is handed to
    /// [`SphereMotion::collide`], in the order of time.
    ///
    /// # Errors
    /// [`MotionError`] if that time has passed, or the motion breaks its promise. The
    /// detector stays at the time of the fault then, and goes on from there if asked.
    fn advance(&mut self, until: f64, motion: &mut dyn SphereMotion) -> Result<(), MotionError>;

    /// What has happened so far.
    fn counts(&self) -> EventCounts;
}

/// Refuses a time that has passed.
fn check_ahead(until: f64, now: f64) -> Result<(), MotionError> {
    if until.is_nan() || until < now {
        return Err(MotionError::TimeInPast { time: until, now });
    }
    Ok(())
}
