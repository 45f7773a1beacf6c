//! Errors of fibers.

use thiserror::Error;

use crate::molecule::TemplateError;

/// Why a fiber cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FiberError {
    /// A parameter is out of range.
    #[error("{what} must be {allowed}, not {value}")]
    OutOfRange {
        /// The parameter.
        what: &'static str,
        /// The allowed range.
        allowed: &'static str,
        /// The given value.
        value: f64,
    },
    /// There are too few points for a path.
    #[error("a path needs at least {needed} different points, not {count}")]
    TooFewPoints {
        /// The least number.
        needed: usize,
        /// The given number.
        count: usize,
    },
    /// A path is shorter than one link.
    #[error("the path is {length} nm long, shorter than one link of {step} nm")]
    TooShort {
        /// Length of the path, nm.
        length: f32,
        /// Length of a link, nm.
        step: f32,
    },
    /// The persistence length is too short for the largest bend.
    #[error(
        "a persistence length of {persistence_length} nm needs a mean bend of {mean} radian between links of {step} nm, but bends are at most {max_bend} radian"
    )]
    TooStiff {
        /// The persistence length, nm.
        persistence_length: f32,
        /// Rise of a link, nm.
        step: f32,
        /// The angle whose cosine is the mean cosine, radian.
        mean: f32,
        /// The largest bend, radian.
        max_bend: f32,
    },
    /// The links cannot close to a ring.
    #[error(
        "a ring of {links} links needs bends of at least {needed} radian, but they are at most {max_bend} radian"
    )]
    CannotClose {
        /// Number of links.
        links: u32,
        /// The bend of a regular polygon, radian.
        needed: f32,
        /// The largest bend, radian.
        max_bend: f32,
    },
    /// A walk does not fit into its space.
    #[error(
        "only {placed} of {links} links of a fiber fit into their space; make it wider or the fiber more flexible"
    )]
    NoRoom {
        /// Number of links.
        links: u32,
        /// Number of links that fitted.
        placed: u32,
    },
    /// A link cannot be a molecule.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// Checks that a parameter is in a range; `in_range` is false for NaN.
pub(super) fn check(
    in_range: bool,
    what: &'static str,
    allowed: &'static str,
    value: f32,
) -> Result<(), FiberError> {
    if in_range {
        return Ok(());
    }
    Err(FiberError::OutOfRange {
        what,
        allowed,
        value: value.into(),
    })
}

/// Checks that a length is positive and in range.
pub(super) fn check_length(what: &'static str, value: f32) -> Result<(), FiberError> {
    let in_range = value > 0.0 && value <= crate::molecule::MAX_COORDINATE_NM;
    check(in_range, what, "positive and at most 0.1 mm", value)
}

/// Checks that an angle is positive and at most π.
pub(super) fn check_bend(value: f32) -> Result<(), FiberError> {
    let in_range = value > 0.0 && value <= std::f32::consts::PI;
    check(
        in_range,
        "the largest bend",
        "positive and at most π",
        value,
    )
}
