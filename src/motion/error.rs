//! The error type of this module.

use thiserror::Error;

use super::reaction::ReactionError;
use crate::pose::Pose;
use crate::proxy::ProxyError;
use crate::search::SearchError;
use crate::spheres::SphereError;

/// Invalid input, or a trajectory that violates its bound.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MotionError {
    /// A radius, a coefficient or another property of a sphere is negative or not finite.
    #[error("the {what} of sphere {sphere} must be a finite number >= 0, not {value}")]
    BadSphere {
        /// Index of the sphere.
        sphere: u32,
        /// Name of the property.
        what: &'static str,
        /// The invalid value.
        value: f64,
    },
    /// A position or velocity is not finite.
    #[error("the {what} of sphere {sphere} is not finite at {time} s")]
    NotFinite {
        /// Index of the sphere.
        sphere: u32,
        /// `"position"` or `"velocity"`.
        what: &'static str,
        /// Time, s.
        time: f64,
    },
    /// The pose of a molecule is not finite, or its rotation is not normalized.
    #[error(
        "molecule {molecule} needs a finite position and a unit quaternion, not {} nm and {}",
        pose.position, pose.rotation
    )]
    BadPose {
        /// Index of the molecule.
        molecule: u32,
        /// The invalid pose.
        pose: Pose,
    },
    /// A sphere left its time-varying bound: it accelerated beyond its bound on the
    /// acceleration, or was moved without a call of
    /// [`disturb`](super::unknown_trajectories::TimeVaryingDetector::disturb).
    #[error(
        "sphere {sphere} left its bound at {time} s: its {what} is off by {excess} more than an acceleration of {bound} nm/s² allows since {since} s; raise the bound, or call `disturb` after moving the sphere"
    )]
    BoundViolated {
        /// Index of the sphere.
        sphere: u32,
        /// Time at which the violation was found, s.
        time: f64,
        /// Time of the previous probe, s.
        since: f64,
        /// `"position"` (nm) or `"velocity"` (nm/s).
        what: &'static str,
        /// Distance beyond the bound, nm or nm/s.
        excess: f64,
        /// Bound on the acceleration, nm/s².
        bound: f64,
    },
    /// There is no sphere or molecule with this index.
    #[error("index {index} is out of range: there are {count} spheres or molecules")]
    IndexOutOfRange {
        /// The invalid index.
        index: u32,
        /// Number of spheres or molecules.
        count: u32,
    },
    /// The number of positions or poses differs from the number of spheres or molecules.
    #[error("expected one position for each of {count} spheres or molecules, got {given}")]
    CountMismatch {
        /// Number of positions or poses given.
        given: usize,
        /// Number of spheres or molecules.
        count: usize,
    },
    /// More spheres than fit in a `u32` index.
    #[error("{count} spheres are too many: indices have 32 bits")]
    TooMany {
        /// Number of spheres given.
        count: usize,
    },
    /// A parameter is out of range.
    #[error("the {what} must be {allowed}, not {value}")]
    BadParameter {
        /// Name of the parameter.
        what: &'static str,
        /// Description of the valid range.
        allowed: &'static str,
        /// The invalid value.
        value: f64,
    },
    /// A wall is degenerate or not finite.
    #[error("wall {wall} is invalid: {what}")]
    BadWall {
        /// Index of the wall.
        wall: u32,
        /// Description of the problem.
        what: &'static str,
    },
    /// The detector was asked to go back in time.
    #[error("cannot advance to {time} s: the detector is at {now} s")]
    TimeInPast {
        /// Requested time, s.
        time: f64,
        /// Current time, s.
        now: f64,
    },
    /// Collisions follow each other so closely that time does not advance.
    #[error(
        "{events} collisions within {span} s around sphere {sphere}: time does not advance; make colliding spheres separate or stick"
    )]
    NoProgress {
        /// Index of a sphere that takes part.
        sphere: u32,
        /// Number of collisions.
        events: u64,
        /// Time span of these collisions, s.
        span: f64,
    },
    /// A molecule refers to a template that does not exist.
    #[error("molecule {molecule} uses template {template}, but there are {count} templates")]
    NoSuchTemplate {
        /// Index of the molecule.
        molecule: u32,
        /// Index of the template.
        template: u32,
        /// Number of templates.
        count: usize,
    },
    /// A particle is of a kind that does not exist.
    #[error("particle {particle} is of kind {kind}, but there are {count} kinds")]
    NoSuchKind {
        /// Index of the particle.
        particle: u32,
        /// Index of the kind.
        kind: u32,
        /// Number of kinds.
        count: usize,
    },
    /// A reaction is invalid.
    #[error(transparent)]
    Reaction(#[from] ReactionError),
    /// A bounding sphere is invalid for the broad phase.
    #[error(transparent)]
    Sphere(#[from] SphereError),
    /// A template has no atoms, or too many.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// The broad phase failed.
    #[error(transparent)]
    Search(#[from] SearchError),
}

/// Returns an error unless `value` is finite and positive.
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

/// Returns an error unless each property of a sphere is finite and not negative.
pub(super) fn check_sphere(
    sphere: u32,
    properties: &[(&'static str, f64)],
) -> Result<(), MotionError> {
    for &(what, value) in properties {
        if !(value.is_finite() && value >= 0.0) {
            return Err(MotionError::BadSphere {
                sphere,
                what,
                value,
            });
        }
    }
    Ok(())
}

/// Returns an error unless there is one position for each sphere or molecule.
pub(super) fn check_count(count: usize, given: usize) -> Result<(), MotionError> {
    if count == given {
        return Ok(());
    }
    Err(MotionError::CountMismatch { given, count })
}
