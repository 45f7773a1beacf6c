//! [`FiberPath`]: the points at which the links of a fiber meet, and their statistics.

use std::f32::consts::{PI, TAU};

use glam::{DVec3, Quat, Vec3};

use super::{FiberError, FiberLink};
use crate::pose::Pose;

/// The points at which the links of a fiber meet: one more than links, or as many if it is closed.
#[derive(Clone, Debug, PartialEq)]
pub struct FiberPath {
    points: Vec<Vec3>,
    is_closed: bool,
}

/// ⟨R²⟩ of a worm-like chain of this persistence length and contour length, in the square of their
/// unit: 2 P L (1 − P/L (1 − e^(−L/P))).
#[must_use]
pub fn worm_like_mean_square(persistence_length: f64, contour_length: f64) -> f64 {
    let ratio = contour_length / persistence_length;
    // 1 − e^(−x) without cancellation.
    2.0 * persistence_length * persistence_length * (ratio + (-ratio).exp_m1())
}

impl FiberPath {
    /// A path through points, nm. One link connects each point with the next one; in a closed path,
    /// one more connects the last with the first.
    ///
    /// # Errors
    /// [`FiberError`] if there are fewer than two points, three if closed, or one is not finite.
    pub fn new(points: Vec<Vec3>, is_closed: bool) -> Result<Self, FiberError> {
        let needed = if is_closed { 3 } else { 2 };
        if points.len() < needed {
            let count = points.len();
            return Err(FiberError::TooFewPoints { needed, count });
        }
        check_points(&points)?;
        Ok(Self { points, is_closed })
    }

    pub(super) fn from_exact(points: &[DVec3], is_closed: bool) -> Result<Self, FiberError> {
        let points = points.iter().map(|point| point.as_vec3()).collect();
        Self::new(points, is_closed)
    }

    /// The path of links at these poses: their ends, and the middle between the end of one and the
    /// start of the next.
    ///
    /// # Errors
    /// [`FiberError::TooFewPoints`] if there are no links, or fewer than three in a closed fiber.
    pub fn of_links(
        link: &FiberLink,
        poses: impl IntoIterator<Item = Pose>,
        is_closed: bool,
    ) -> Result<Self, FiberError> {
        let [start, end] = link.ends().map(|end| end.position);
        let mut points = Vec::new();
        let mut last = None;
        for pose in poses {
            let begin = pose.transform_point(start);
            points.push(last.map_or(begin, |last: Vec3| 0.5 * (last + begin)));
            last = Some(pose.transform_point(end));
        }
        if let (Some(last), Some(first)) = (last, points.first_mut()) {
            if is_closed {
                *first = 0.5 * (*first + last);
            } else {
                points.push(last);
            }
        }
        Self::new(points, is_closed)
    }

    /// The points, nm.
    #[must_use]
    pub fn points(&self) -> &[Vec3] {
        &self.points
    }

    /// Whether the last point is connected with the first.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Number of links.
    #[must_use]
    pub fn links(&self) -> usize {
        self.points.len() - usize::from(!self.is_closed)
    }

    /// The point with this number; those of a closed path repeat.
    fn point(&self, index: usize) -> DVec3 {
        self.points[index % self.points.len()].as_dvec3()
    }

    /// The step from a point to the next.
    fn step(&self, link: usize) -> DVec3 {
        self.point(link + 1) - self.point(link)
    }

    /// Length along all links, nm.
    #[must_use]
    pub fn contour_length(&self) -> f64 {
        (0..self.links()).map(|link| self.step(link).length()).sum()
    }

    /// Distance from the first to the last point, nm; zero if the path is closed.
    #[must_use]
    pub fn end_to_end_distance(&self) -> f64 {
        self.point(self.links()).distance(self.point(0))
    }

    /// Mean squared distance of points that are `links` links apart, nm²; none if the path is
    /// shorter.
    #[must_use]
    pub fn mean_squared_distance(&self, links: usize) -> Option<f64> {
        let count = if self.is_closed {
            self.links()
        } else {
            (self.links() + 1).checked_sub(links)?
        };
        let squares = (0..count).map(|first| {
            let (from, to) = (self.point(first), self.point(first + links));
            from.distance_squared(to)
        });
        (count > 0).then(|| squares.sum::<f64>() / count as f64)
    }

    /// Mean cosine of the angle between links that are `links` links apart; none if the path is
    /// shorter.
    #[must_use]
    pub fn mean_cosine(&self, links: usize) -> Option<f64> {
        let count = if self.is_closed {
            self.links()
        } else {
            self.links().checked_sub(links)?
        };
        let tangent = |link: usize| self.step(link).normalize_or_zero();
        let cosines = (0..count).map(|first| tangent(first).dot(tangent(first + links)));
        (count > 0).then(|| cosines.sum::<f64>() / count as f64)
    }

    /// Side of each link: transported along the path, and turned about it by `twist` radian per
    /// link.
    pub(super) fn sides(&self, twist: f32) -> Vec<Vec3> {
        let tangents: Vec<Vec3> = (0..self.links())
            .map(|link| self.step(link).as_vec3().normalize_or(Vec3::Z))
            .collect();
        let Some(&first) = tangents.first() else {
            return Vec::new();
        };
        let beginning = first.any_orthonormal_vector();
        let mut side = beginning;
        let mut sides = vec![side];
        for pair in tangents.windows(2) {
            side = transported(side, pair[0], pair[1]);
            sides.push(side);
        }
        let mut twist = f64::from(twist);
        if let (true, Some(&last)) = (self.is_closed, tangents.last()) {
            let back = transported(side, last, first);
            let angle = first.dot(beginning.cross(back)).atan2(beginning.dot(back));
            let links = tangents.len() as f64;
            let rest = (f64::from(angle) + links * twist).rem_euclid(f64::from(TAU));
            let rest = if rest > f64::from(PI) {
                rest - f64::from(TAU)
            } else {
                rest
            };
            twist -= rest / links;
        }
        let turned = sides.iter().zip(&tangents).enumerate();
        let turned = turned.map(|(link, (side, tangent))| {
            let angle = (link as f64 * twist).rem_euclid(f64::from(TAU)) as f32;
            Quat::from_axis_angle(*tangent, angle) * *side
        });
        turned.collect()
    }
}

/// A vector perpendicular to `from`, after the smallest rotation from `from` to `to`.
fn transported(side: Vec3, from: Vec3, to: Vec3) -> Vec3 {
    let turned = Quat::from_rotation_arc(from, to) * side;
    turned
        .reject_from_normalized(to)
        .normalize_or(to.any_orthonormal_vector())
}

/// Checks that all points are finite and in range.
pub(super) fn check_points(points: &[Vec3]) -> Result<(), FiberError> {
    let largest = crate::molecule::MAX_COORDINATE_NM;
    let wrong = points
        .iter()
        .flat_map(Vec3::to_array)
        .find(|value| value.is_nan() || value.abs() > largest);
    wrong.map_or(Ok(()), |value| {
        Err(FiberError::OutOfRange {
            what: "a coordinate of a path",
            allowed: "finite and at most 0.1 mm",
            value: value.into(),
        })
    })
}
