//! Which space-time bounds meet first: the sweep of Bentley and Ottmann through the planes
//! of each axis and time.
//!
//! Along an axis, a space-time bound is a trapezoid: two lines. The lines of all bounds are
//! kept in their order while time goes on; only neighbors can cross next. Where the upper
//! line of one crosses the lower line of another, the two begin to overlap along that axis,
//! and if they do along the other two, they meet.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A face of a space-time bound: where it is at time zero, nm, and how fast it moves, nm/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Line {
    pub(super) place: f64,
    pub(super) speed: f64,
}

impl Line {
    fn at(&self, time: f64) -> f64 {
        self.place + time * self.speed
    }
}

/// Two neighbors that cross.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Swap {
    time: f64,
    axis: u8,
    lower: u32,
    upper: u32,
}

impl Eq for Swap {}

impl Ord for Swap {
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .time
            .total_cmp(&self.time)
            .then_with(|| other.axis.cmp(&self.axis))
            .then_with(|| other.lower.cmp(&self.lower))
            .then_with(|| other.upper.cmp(&self.upper))
    }
}

impl PartialOrd for Swap {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// One axis: the lower line of sphere k is line 2 k, the upper one line 2 k + 1.
#[derive(Clone, Debug, Default)]
pub(super) struct Axis {
    pub(super) lines: Vec<Line>,
    order: Vec<u32>,
    rank: Vec<u32>,
}

impl Axis {
    fn new(spheres: usize) -> Self {
        let order: Vec<u32> = (0..2 * spheres as u32).collect();
        Self {
            lines: vec![Line::default(); order.len()],
            rank: order.clone(),
            order,
        }
    }

    /// Sorts the lines by their places: few are out of order since the last time.
    fn sort(&mut self) {
        let lines = &self.lines;
        let before = |one: u32, other: u32| {
            let [one, other] = [one, other].map(|line| lines[line as usize]);
            let places = one.place.total_cmp(&other.place);
            places.then(one.speed.total_cmp(&other.speed)) == Ordering::Less
        };
        for at in 1..self.order.len() {
            let line = self.order[at];
            let mut to = at;
            while to > 0 && before(line, self.order[to - 1]) {
                self.order[to] = self.order[to - 1];
                to -= 1;
            }
            self.order[to] = line;
        }
        for (line, at) in self.order.iter().zip(0..) {
            self.rank[*line as usize] = at;
        }
    }

    fn near(&self, one: u32, other: u32, margin: f64) -> bool {
        let face = |sphere: u32, side: usize| self.lines[2 * sphere as usize + side].place;
        face(one, 0) <= face(other, 1) + margin && face(other, 0) <= face(one, 1) + margin
    }

    fn overlap(&self, one: u32, other: u32, time: f64) -> bool {
        let face = |sphere: u32, side: usize| self.lines[2 * sphere as usize + side].at(time);
        face(one, 0) <= face(other, 1) && face(other, 0) <= face(one, 1)
    }
}

/// The sweep through all three planes at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    pub(super) axes: [Axis; 3],
    swaps: BinaryHeap<Swap>,
    active: Vec<u32>,
    /// Pairs that overlapped from the start.
    known: Vec<(u32, u32)>,
}

/// Two bounds that meet, and when.
pub(super) type ParticleCollision = (f64, u32, u32);

impl Sweep {
    pub(super) fn new(spheres: usize) -> Self {
        Self {
            axes: [(); 3].map(|()| Axis::new(spheres)),
            ..Self::default()
        }
    }

    /// Sorts the lines and visits all pairs that overlap at time zero, or are apart by
    /// `margin` nm at most along any axis. The sweep passes them over.
    pub(super) fn begin(&mut self, margin: f64, mut visit: impl FnMut(u32, u32)) {
        for axis in &mut self.axes {
            axis.sort();
        }
        self.active.clear();
        self.known.clear();
        let [x, y, z] = &self.axes;
        for &line in x.order.iter().filter(|&&line| line % 2 == 0) {
            let sphere = line / 2;
            let low = x.lines[line as usize].place;
            let upper = |other: u32| x.lines[2 * other as usize + 1].place;
            self.active.retain(|&other| upper(other) + margin >= low);
            for &other in &self.active {
                if y.near(sphere, other, margin) && z.near(sphere, other, margin) {
                    self.known.push((sphere.min(other), sphere.max(other)));
                    visit(sphere, other);
                }
            }
            self.active.push(sphere);
        }
    }

    /// The first meeting before `limit` s. If `whole`, all crossings until then are found
    /// before the first one is known. Adds to `crossings`.
    pub(super) fn first_meeting(
        &mut self,
        limit: f64,
        whole: bool,
        crossings: &mut u64,
    ) -> Option<ParticleCollision> {
        self.swaps.clear();
        for axis in 0..3 {
            for at in 1..self.axes[axis].order.len() {
                self.offer(axis, at, 0.0, limit);
            }
        }
        let mut first: Option<ParticleCollision> = None;
        while let Some(swap) = self.swaps.pop() {
            let axis = swap.axis as usize;
            let at = self.axes[axis].rank[swap.lower as usize] as usize;
            if self.axes[axis].order.get(at + 1) != Some(&swap.upper) {
                continue;
            }
            *crossings += 1;
            let plane = &mut self.axes[axis];
            plane.order.swap(at, at + 1);
            plane.rank[swap.lower as usize] = at as u32 + 1;
            plane.rank[swap.upper as usize] = at as u32;
            // An upper line comes from below a lower one.
            if swap.lower % 2 == 1 && swap.upper % 2 == 0 && first.is_none() {
                let (one, other) = (swap.lower / 2, swap.upper / 2);
                let pair = (one.min(other), one.max(other));
                let meet = |k: usize| k == axis || self.axes[k].overlap(one, other, swap.time);
                if (0..3).all(meet) && !self.known.contains(&pair) {
                    first = Some((swap.time, pair.0, pair.1));
                    if !whole {
                        break;
                    }
                }
            }
            self.offer(axis, at, swap.time, limit);
            self.offer(axis, at + 2, swap.time, limit);
        }
        first
    }

    /// Queues the crossing of the lines at `at - 1` and `at`, if it is before `limit`.
    fn offer(&mut self, axis: usize, at: usize, now: f64, limit: f64) {
        let plane = &self.axes[axis];
        let (Some(below), Some(&upper)) = (at.checked_sub(1), plane.order.get(at)) else {
            return;
        };
        let lower = plane.order[below];
        let [one, other] = [lower, upper].map(|line| plane.lines[line as usize]);
        let closing = one.speed - other.speed;
        if closing <= 0.0 || other.place - one.place > closing * limit {
            return;
        }
        let time = ((other.place - one.place) / closing).max(now);
        self.swaps.push(Swap {
            time,
            axis: axis as u8,
            lower,
            upper,
        });
    }
}
