//! When a bound enters or leaves a cell.
//!
//! Along an axis a bound spans x + v t − r(t) to x + v t + r(t). It enters the next cell when
//! one end touches the face, and leaves a cell when its other end has passed the face
//! (equation 7). All of these are quadratic equations.

use super::grid_hierarchy::CellRange;
use crate::motion::time_of_impact::{GrowingSphere, first_not_positive};

/// Distance beyond a face at which a bound has left a cell, in cells. Without this margin,
/// rounding could make a bound enter and leave forever.
pub(super) const LEAVE_MARGIN: f64 = 1.0 / 64.0;

/// An event at a cell face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Crossing {
    /// The bound enters the cell below along an axis.
    EnterBelow(usize),
    /// The bound enters the cell above along an axis.
    EnterAbove(usize),
    /// The bound leaves its lowest cell along an axis.
    LeaveLowest(usize),
    /// The bound leaves its highest cell along an axis.
    LeaveHighest(usize),
}

impl Crossing {
    pub(super) fn is_entering(self) -> bool {
        matches!(self, Self::EnterBelow(_) | Self::EnterAbove(_))
    }

    /// The cells after the crossing.
    pub(super) fn apply(self, mut range: CellRange) -> CellRange {
        match self {
            Self::EnterBelow(axis) => range.low[axis] -= 1,
            Self::EnterAbove(axis) => range.high[axis] += 1,
            Self::LeaveLowest(axis) => range.low[axis] += 1,
            Self::LeaveHighest(axis) => range.high[axis] -= 1,
        }
        range
    }
}

/// The next crossing of a bound in cells of `size` nm within `max_time` s, and the time until
/// then.
pub(super) fn next_crossing(
    bound: &GrowingSphere,
    range: &CellRange,
    size: f64,
    max_time: f64,
) -> Option<(f64, Crossing)> {
    let mut best = (max_time, None);
    let mut offer = |time: f64, crossing: Crossing| {
        if time < best.0 {
            best = (time, Some(crossing));
        }
    };
    let half = 0.5 * bound.acceleration;
    for axis in 0..3 {
        let (x, v) = (bound.center[axis], bound.velocity[axis]);
        let (low, high) = (x - bound.radius, x + bound.radius);
        let (low_speed, high_speed) = (v - bound.growth, v + bound.growth);
        let (first, last) = (range.low[axis] as f64, range.high[axis] as f64);
        let below = first_not_positive(low - first * size, low_speed, -half);
        offer(below, Crossing::EnterBelow(axis));
        let above = first_not_positive((last + 1.0) * size - high, -high_speed, -half);
        offer(above, Crossing::EnterAbove(axis));
        if range.high[axis] > range.low[axis] {
            let face = (first + 1.0 + LEAVE_MARGIN) * size;
            let lowest = first_not_positive(face - low, -low_speed, half);
            offer(lowest, Crossing::LeaveLowest(axis));
            let face = (last - LEAVE_MARGIN) * size;
            let highest = first_not_positive(high - face, high_speed, half);
            offer(highest, Crossing::LeaveHighest(axis));
        }
    }
    best.1.map(|crossing| (best.0, crossing))
}
