//! [`EvenSteps`]: makes the steps of a path equal and its bends small enough, and closes paths.
//!
//! The ends of an open walk are brought together by a shift that grows along it (a bridge), and the
//! whole is scaled to its length. What is left are errors of the steps, which are corrected by
//! projection, point by point (Gauss–Seidel): the distance of neighbors is the step b, and that of
//! next but one neighbors is at least 2 b cos(θ/2) with the largest bend θ. These distances also
//! return to those of the path as it was given: without that, a path that is pressed together
//! becomes a zigzag.

use glam::DVec3;

use super::Interior;

/// Most sweeps along the path.
const MAX_SWEEPS: u32 = 2_000;

/// Error of a distance, as a part of the step, that is left to the joints.
const ACCURACY: f64 = 1.0e-3;

/// Part of the deviation from its given bend that the first sweep removes.
const BEND_STIFFNESS: f64 = 0.3;

/// Sweeps over which that part falls to zero, so that the steps become exact.
const BEND_SWEEPS: u32 = 200;

pub(super) struct EvenSteps<'a> {
    /// Distance of neighbors, nm.
    pub step: f64,
    /// Largest bend, radian.
    pub max_bend: f64,
    /// Whether the last point is connected with the first.
    pub is_closed: bool,
    /// The space that the path stays in.
    pub interior: Option<&'a Interior<'a>>,
}

impl EvenSteps<'_> {
    /// Closes an open path; its last point is dropped, since the first takes its place.
    pub fn close(&self, points: &mut Vec<DVec3>) {
        let links = points.len().saturating_sub(1);
        let Some(last) = points.pop() else { return };
        let Some(&first) = points.first() else { return };
        let bends = self.bends(points);
        let drift = last - first;
        for (index, point) in points.iter_mut().enumerate() {
            *point -= drift * (index as f64 / links as f64);
        }
        self.scale(points);
        self.correct(points, &bends);
    }

    /// Makes the steps of a path equal, with about the same bends.
    pub fn equalize(&self, points: &mut [DVec3]) {
        let bends = self.bends(points);
        self.correct(points, &bends);
    }

    /// Number of pairs of points that are `apart` steps apart.
    fn pairs(&self, points: &[DVec3], apart: usize) -> usize {
        match points.len() {
            count if self.is_closed => count,
            count => count.saturating_sub(apart),
        }
    }

    /// Distances of next but one neighbors, nm, at most those of a straight path and at least those
    /// with the largest bend.
    fn bends(&self, points: &[DVec3]) -> Vec<f64> {
        let least = self.least();
        let all = (0..self.pairs(points, 2)).map(|first| {
            let third = points[(first + 2) % points.len()];
            // Where a path is to be closed, its ends are far from each other.
            points[first].distance(third).clamp(least, 2.0 * self.step)
        });
        all.collect()
    }

    fn least(&self) -> f64 {
        2.0 * self.step * (0.5 * self.max_bend).cos()
    }

    /// Scales a closed path about its first point, so that its steps have the right mean length.
    fn scale(&self, points: &mut [DVec3]) {
        let Some(&first) = points.first() else { return };
        let next = points.iter().cycle().skip(1);
        let length: f64 = points.iter().zip(next).map(|(a, b)| a.distance(*b)).sum();
        let factor = self.step * points.len() as f64 / length;
        if factor.is_finite() {
            for point in points.iter_mut() {
                *point = first + (*point - first) * factor;
            }
        }
    }

    fn correct(&self, points: &mut [DVec3], bends: &[f64]) {
        let count = points.len();
        let least = self.least();
        for sweep in 0..MAX_SWEEPS {
            let mut largest = 0.0_f64;
            if sweep < BEND_SWEEPS {
                let left = 1.0 - f64::from(sweep) / f64::from(BEND_SWEEPS);
                for (first, given) in bends.iter().enumerate() {
                    let pair = [first, (first + 2) % count];
                    let part = BEND_STIFFNESS * left;
                    pull(points, pair, |distance| part * (given - distance));
                }
            }
            for first in 0..count {
                if first < self.pairs(points, 1) {
                    let pair = [first, (first + 1) % count];
                    let error = pull(points, pair, |distance| self.step - distance);
                    largest = largest.max(error);
                }
                if first < bends.len() {
                    let pair = [first, (first + 2) % count];
                    let error = pull(points, pair, |distance| (least - distance).max(0.0));
                    largest = largest.max(error);
                }
                if let Some(interior) = self.interior {
                    let inside = interior.pulled_inside(points[first]);
                    largest = largest.max(inside.distance(points[first]));
                    points[first] = inside;
                }
            }
            if largest <= ACCURACY * self.step {
                break;
            }
        }
    }
}

/// Lengthens the distance of two points by `change`; returns its size.
fn pull(points: &mut [DVec3], [a, b]: [usize; 2], change: impl Fn(f64) -> f64) -> f64 {
    let across = points[b] - points[a];
    let distance = across.length();
    let change = change(distance);
    if change != 0.0 {
        let half = across.try_normalize().unwrap_or(DVec3::X) * (0.5 * change);
        points[a] -= half;
        points[b] += half;
    }
    change.abs()
}
