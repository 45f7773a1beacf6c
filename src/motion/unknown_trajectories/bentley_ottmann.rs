//! First overlap of space-time bounds: the sweep of Bentley and Ottmann through the planes of
//! each axis and time.
//!
//! Along an axis, a space-time bound is a trapezoid between two lines. The sweep keeps the
//! lines of all bounds in order as time advances; only neighbors can cross next. Where the
//! upper line of one bound crosses the lower line of another, the two start to overlap along
//! that axis. If they also overlap along the other two, the bounds overlap.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A face of a space-time bound: its coordinate at time zero, nm, and its speed, nm/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Line {
    pub(super) start: f64,
    pub(super) speed: f64,
}

/// The crossing of two neighboring lines, ordered by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LineCrossing {
    /// Bits of the time, which is not negative: they have the order of times.
    time: u64,
    axis: usize,
    lower: u32,
    upper: u32,
}

/// The lines along one axis: 2 k is the lower line of bound k, 2 k + 1 the upper one.
#[derive(Clone, Debug, Default)]
pub(super) struct Axis {
    pub(super) lines: Vec<Line>,
    order: Vec<u32>,
    rank: Vec<u32>,
}

impl Axis {
    fn new(bounds: usize) -> Self {
        let order: Vec<u32> = (0..2 * bounds as u32).collect();
        Self {
            lines: vec![Line::default(); order.len()],
            rank: order.clone(),
            order,
        }
    }

    /// Sorts the lines by insertion: few are out of order since the last sweep.
    fn sort(&mut self) {
        let lines = &self.lines;
        let is_before = |a: u32, b: u32| {
            let [a, b] = [a, b].map(|line| lines[line as usize]);
            let order = a.start.total_cmp(&b.start);
            order.then(a.speed.total_cmp(&b.speed)) == Ordering::Less
        };
        for at in 1..self.order.len() {
            let line = self.order[at];
            let mut to = at;
            while to > 0 && is_before(line, self.order[to - 1]) {
                self.order[to] = self.order[to - 1];
                to -= 1;
            }
            self.order[to] = line;
        }
        for (line, at) in self.order.iter().zip(0..) {
            self.rank[*line as usize] = at;
        }
    }

    /// Whether two bounds are at most `margin` nm apart at a time.
    fn are_near(&self, a: u32, b: u32, time: f64, margin: f64) -> bool {
        let face = |bound: u32, side: usize| {
            let line = self.lines[2 * bound as usize + side];
            line.start + time * line.speed
        };
        face(a, 0) <= face(b, 1) + margin && face(b, 0) <= face(a, 1) + margin
    }
}

/// The sweep through all three planes at once. The last bounds are static: they do not overlap
/// each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    pub(super) axes: [Axis; 3],
    /// Number of moving bounds.
    moving: u32,
    crossings: BinaryHeap<Reverse<LineCrossing>>,
    active: Vec<u32>,
    /// Pairs that overlap from the start.
    initial: Vec<(u32, u32)>,
}

/// Time of an overlap of two bounds, s, and their indices, the smaller one first.
pub(super) type Overlap = (f64, u32, u32);

impl Sweep {
    pub(super) fn new(moving: u32, statics: usize) -> Self {
        Self {
            axes: [(); 3].map(|()| Axis::new(moving as usize + statics)),
            moving,
            ..Self::default()
        }
    }

    /// Sorts the lines and visits all pairs that are at most `margin` nm apart along every axis
    /// at time zero, the smaller index first. The sweep ignores these pairs.
    pub(super) fn begin(&mut self, margin: f64, mut visit: impl FnMut(u32, u32)) {
        for axis in &mut self.axes {
            axis.sort();
        }
        self.active.clear();
        self.initial.clear();
        let [x, y, z] = &self.axes;
        for &line in x.order.iter().filter(|&&line| line % 2 == 0) {
            let bound = line / 2;
            let low = x.lines[line as usize].start;
            let upper = |other: u32| x.lines[2 * other as usize + 1].start;
            self.active.retain(|&other| upper(other) + margin >= low);
            for &other in &self.active {
                let pair = (bound.min(other), bound.max(other));
                let is_near = |axis: &&Axis| axis.are_near(bound, other, 0.0, margin);
                if pair.0 < self.moving && [y, z].iter().all(is_near) {
                    self.initial.push(pair);
                    visit(pair.0, pair.1);
                }
            }
            self.active.push(bound);
        }
    }

    /// The first overlap before `limit` s. With `full`, continues to `limit` after it. Adds the
    /// number of crossings to `count`.
    pub(super) fn first_overlap(
        &mut self,
        limit: f64,
        full: bool,
        count: &mut u64,
    ) -> Option<Overlap> {
        self.crossings.clear();
        for axis in 0..3 {
            for at in 1..self.axes[axis].order.len() {
                self.queue_crossing(axis, at, 0.0, limit);
            }
        }
        let mut first: Option<Overlap> = None;
        while let Some(Reverse(crossing)) = self.crossings.pop() {
            let LineCrossing {
                axis, lower, upper, ..
            } = crossing;
            let time = f64::from_bits(crossing.time);
            let at = self.axes[axis].rank[lower as usize] as usize;
            if self.axes[axis].order.get(at + 1) != Some(&upper) {
                continue;
            }
            *count += 1;
            let plane = &mut self.axes[axis];
            plane.order.swap(at, at + 1);
            plane.rank[lower as usize] = at as u32 + 1;
            plane.rank[upper as usize] = at as u32;
            // The upper line of one bound crosses the lower line of another from below.
            if lower % 2 == 1 && upper % 2 == 0 && first.is_none() {
                let (a, b) = (lower / 2, upper / 2);
                let pair = (a.min(b), a.max(b));
                let overlaps = |k: usize| k == axis || self.axes[k].are_near(a, b, time, 0.0);
                let can_overlap = pair.0 < self.moving && (0..3).all(overlaps);
                if can_overlap && !self.initial.contains(&pair) {
                    first = Some((time, pair.0, pair.1));
                    if !full {
                        break;
                    }
                }
            }
            self.queue_crossing(axis, at, time, limit);
            self.queue_crossing(axis, at + 2, time, limit);
        }
        first
    }

    /// Queues the crossing of the lines at `at - 1` and `at` if it is before `limit`.
    fn queue_crossing(&mut self, axis: usize, at: usize, now: f64, limit: f64) {
        let plane = &self.axes[axis];
        let (Some(below), Some(&upper)) = (at.checked_sub(1), plane.order.get(at)) else {
            return;
        };
        let lower = plane.order[below];
        let [one, other] = [lower, upper].map(|line| plane.lines[line as usize]);
        let closing = one.speed - other.speed;
        if closing <= 0.0 || other.start - one.start > closing * limit {
            return;
        }
        let time = ((other.start - one.start) / closing).max(now);
        self.crossings.push(Reverse(LineCrossing {
            // Adding zero removes the sign of a negative zero.
            time: (time + 0.0).to_bits(),
            axis,
            lower,
            upper,
        }));
    }
}
