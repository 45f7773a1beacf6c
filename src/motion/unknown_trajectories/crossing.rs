//! When a bound enters or leaves a subspace.
//!
//! Along an axis a bound reaches from x + v t − r(t) to x + v t + r(t). It enters the
//! subspace beyond a face when one of its ends touches the face, and leaves the subspace
//! behind a face when its other end has passed it (equation 7): quadratic equations all.

use super::grids::Range;
use crate::motion::time_of_impact::{GrowingSphere, first_not_positive};

/// How far an end has to be behind a face for the bound to have left, in sides: without
/// it, rounding could make a bound enter and leave for ever.
pub(super) const CLEAR: f64 = 1.0 / 64.0;

/// What a bound does at a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Crossing {
    /// Enters the subspace below along an axis.
    EnterBelow(usize),
    /// Enters the subspace above along an axis.
    EnterAbove(usize),
    /// Leaves the lowest subspace along an axis.
    LeaveLowest(usize),
    /// Leaves the highest subspace along an axis.
    LeaveHighest(usize),
}

impl Crossing {
    /// The crossing as a number, for the queue.
    pub(super) fn code(self) -> u32 {
        let (kind, axis) = match self {
            Self::EnterBelow(axis) => (0, axis),
            Self::EnterAbove(axis) => (1, axis),
            Self::LeaveLowest(axis) => (2, axis),
            Self::LeaveHighest(axis) => (3, axis),
        };
        3 * kind + axis as u32
    }

    /// The crossing of a number.
    pub(super) fn from_code(code: u32) -> Self {
        let axis = code as usize % 3;
        match code / 3 {
            0 => Self::EnterBelow(axis),
            1 => Self::EnterAbove(axis),
            2 => Self::LeaveLowest(axis),
            _ => Self::LeaveHighest(axis),
        }
    }

    pub(super) fn is_entering(self) -> bool {
        matches!(self, Self::EnterBelow(_) | Self::EnterAbove(_))
    }

    /// The subspaces afterwards.
    pub(super) fn apply(self, mut range: Range) -> Range {
        match self {
            Self::EnterBelow(axis) => range.low[axis] -= 1,
            Self::EnterAbove(axis) => range.high[axis] += 1,
            Self::LeaveLowest(axis) => range.low[axis] += 1,
            Self::LeaveHighest(axis) => range.high[axis] -= 1,
        }
        range
    }
}

/// The next crossing of a bound in subspaces of `side` nm, and in how many seconds; none
/// within `within` s.
pub(super) fn next_crossing(
    bound: &GrowingSphere,
    range: &Range,
    side: f64,
    within: f64,
) -> Option<(f64, Crossing)> {
    let mut best = (within, None);
    let mut offer = |time: f64, crossing: Crossing| {
        if time < best.0 {
            best = (time, Some(crossing));
        }
    };
    let half = 0.5 * bound.acceleration;
    for axis in 0..3 {
        let (x, v) = (bound.center[axis], bound.velocity[axis]);
        let (low, high) = (x - bound.radius, x + bound.radius);
        // Speeds of the two ends.
        let (low_speed, high_speed) = (v - bound.growth, v + bound.growth);
        let (first, last) = (range.low[axis] as f64, range.high[axis] as f64);
        let below = first_not_positive(low - first * side, low_speed, -half);
        offer(below, Crossing::EnterBelow(axis));
        let above = first_not_positive((last + 1.0) * side - high, -high_speed, -half);
        offer(above, Crossing::EnterAbove(axis));
        if range.high[axis] > range.low[axis] {
            let face = (first + 1.0 + CLEAR) * side;
            let lowest = first_not_positive(face - low, -low_speed, half);
            offer(lowest, Crossing::LeaveLowest(axis));
            let face = (last - CLEAR) * side;
            let highest = first_not_positive(high - face, high_speed, half);
            offer(highest, Crossing::LeaveHighest(axis));
        }
    }
    best.1.map(|crossing| (best.0, crossing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crossing_survives_the_queue() {
        for code in 0..12 {
            assert_eq!(Crossing::from_code(code).code(), code);
        }
    }
}
