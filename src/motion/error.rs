//! Why motion cannot be followed.

use thiserror::Error;

use crate::pose::Pose;
use crate::proxy::ProxyError;
use crate::search::SearchError;
use crate::spheres::SphereError;

/// Why spheres cannot be moved, or their motion cannot be followed.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MotionError {
    /// A radius, a coefficient or another measure of a sphere is not what it has to be.
    #[error("the {what} of sphere {sphere} has to be a number of at least zero, and is {value}")]
    BadSphere {
        /// Which sphere, counted from zero.
        sphere: u32,
        /// Which of its measures.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A place, a velocity or a displacement is not finite.
    #[error("the {what} of sphere {sphere} is not finite at {time} s")]
    NotFinite {
        /// Which sphere, counted from zero.
        sphere: u32,
        /// What is not finite.
        what: &'static str,
        /// When, s.
        time: f64,
    },
    /// The pose of a molecule is NaN or infinite, or its rotation is not a rotation.
    #[error(
        "molecule {molecule} needs a finite position and a unit rotation, not {} nm and {}",
        pose.position, pose.rotation
    )]
    BadPose {
        /// Which molecule, counted from zero.
        molecule: u32,
        /// The pose that was given.
        pose: Pose,
    },
    /// A sphere has left its bound: its acceleration was larger than promised, or it was
    /// moved by someone else.
    #[error(
        "sphere {sphere} has left its bound at {time} s: its {what} is off by {excess} more than an acceleration of {bound} nm/s² allows since {since} s"
    )]
    BoundViolated {
        /// Which sphere, counted from zero.
        sphere: u32,
        /// When that was found, s.
        time: f64,
        /// When its motion was probed before, s.
        since: f64,
        /// Its position (nm) or its velocity (nm/s).
        what: &'static str,
        /// By how much it is too far off, nm or nm/s.
        excess: f64,
        /// The bound on its acceleration, nm/s².
        bound: f64,
    },
    /// A sphere or molecule that does not exist.
    #[error("there is no sphere or molecule {sphere}, only {count}")]
    IndexOutOfRange {
        /// The index that was given.
        sphere: u32,
        /// How many spheres or molecules there are.
        count: u32,
    },
    /// There is not one place for each sphere or molecule.
    #[error("{given} places were given for {count} spheres or molecules: each needs one")]
    CountMismatch {
        /// How many places were given.
        given: usize,
        /// How many spheres or molecules there are.
        count: usize,
    },
    /// More spheres than can be counted.
    #[error("{count} spheres are more than 32 bits can count")]
    TooMany {
        /// How many were given.
        count: usize,
    },
    /// A parameter is not what it has to be.
    #[error("the {what} has to be {allowed}, and is {value}")]
    BadParameter {
        /// Which parameter.
        what: &'static str,
        /// What it may be.
        allowed: &'static str,
        /// What was given.
        value: f64,
    },
    /// A wall is none.
    #[error("wall {wall} is none: {what}")]
    BadWall {
        /// Which wall, counted from zero.
        wall: u32,
        /// What is wrong.
        what: &'static str,
    },
    /// A time that has passed already.
    #[error("it is {now} s already: there is no way back to {time} s")]
    TimeInPast {
        /// The time that was asked for, s.
        time: f64,
        /// The time of now, s.
        now: f64,
    },
    /// Events follow each other so closely that time stands still.
    #[error(
        "{events} collisions within {span} s, about sphere {sphere}: time stands still; let spheres that collide part or stick"
    )]
    NoProgress {
        /// A sphere that takes part.
        sphere: u32,
        /// Events that were counted.
        events: u64,
        /// Time in which they happened, s.
        span: f64,
    },
    /// A molecule refers to a template that does not exist.
    #[error("molecule {molecule} uses template {template}, but there are only {count} templates")]
    NoSuchTemplate {
        /// Index of the molecule.
        molecule: u32,
        /// Index of the template.
        template: u32,
        /// Number of templates.
        count: usize,
    },
    /// A bounding sphere cannot be searched.
    #[error(transparent)]
    Sphere(#[from] SphereError),
    /// A template has no atoms, or too many.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// The broad phase failed.
    #[error(transparent)]
    Search(#[from] SearchError),
}

/// Refuses a parameter that is not a positive number.
pub(super) fn check_positive(what: &'static str, value: f64) -> Result<(), MotionError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(MotionError::BadParameter {
        what,
        allowed: "a positive number",
        value,
    })
}

/// What a sphere meets: another sphere, or a wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CollisionPartner {
    /// A sphere, by its index.
    Sphere(u32),
    /// A wall, by its index.
    Wall(u32),
}

impl std::fmt::Display for CollisionPartner {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sphere(index) => write!(out, "sphere {index}"),
            Self::Wall(index) => write!(out, "wall {index}"),
        }
    }
}
