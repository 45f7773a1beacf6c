//! [`Closing`]: makes the steps of a path equal and its bends small enough, and closes it.
//!
//! The ends of an open walk are brought together by a shift that grows along it (a bridge), and the
//! whole is scaled to its length. What is left are small errors of the steps, which are corrected by
//! projection, point by point (Gauss–Seidel): the distance of neighbors is the step b, and that of
//! next but one neighbors is at least 2 b cos(θ/2) with the largest bend θ.

use glam::DVec3;

use super::Interior;

/// Most sweeps along the path.
const MAX_SWEEPS: u32 = 2_000;

/// Error of a distance, as a part of the step, that is left to the joints.
const ACCURACY: f64 = 1.0e-3;

pub(super) struct Closing<'a> {
    /// Distance of neighbors, nm.
    pub step: f64,
    /// Largest bend, radian.
    pub max_bend: f64,
    /// The space that the path stays in.
    pub interior: Option<&'a Interior<'a>>,
}

impl Closing<'_> {
    /// Closes an open path; its last point is dropped, since the first takes its place.
    pub fn close(&self, points: &mut Vec<DVec3>) {
        let links = points.len().saturating_sub(1);
        let Some(last) = points.pop() else { return };
        let Some(&first) = points.first() else { return };
        let drift = last - first;
        for (index, point) in points.iter_mut().enumerate() {
            *point -= drift * (index as f64 / links as f64);
        }
        self.scale(points);
        self.equalize(points);
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

    /// Corrects the distances of a closed path.
    pub fn equalize(&self, points: &mut [DVec3]) {
        let count = points.len();
        let apart = 2.0 * self.step * (0.5 * self.max_bend).cos();
        for _ in 0..MAX_SWEEPS {
            let mut largest = 0.0_f64;
            for first in 0..count {
                let error = pull(points, [first, (first + 1) % count], |distance| {
                    self.step - distance
                });
                largest = largest.max(error);
                let error = pull(points, [first, (first + 2) % count], |distance| {
                    (apart - distance).max(0.0)
                });
                largest = largest.max(error);
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
