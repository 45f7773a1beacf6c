//! [`SplinePath`]: smooth paths through control points, and polylines with equal steps.

use glam::{DVec3, Vec3};

use super::error::{check, check_bend, check_length};
use super::even_steps::EvenSteps;
use super::path::check_points;
use super::{FiberError, FiberPath, Interior, MAX_LINKS};

/// Parts of a step into which the spline is divided.
const PARTS: f64 = 16.0;

/// A smooth path through control points, with equal steps: a centripetal Catmull–Rom spline
/// (E. Catmull and R. Rom 1974; C. Yuksel, S. Schaefer and J. Keyser 2011), which has no loops or
/// cusps between its points.
///
/// The end of an open path is less than a step before the last control point.
///
/// ```
/// use bevy_rapier_molecules::fiber::SplinePath;
/// use glam::Vec3;
///
/// let points = vec![Vec3::ZERO, Vec3::new(20.0, 10.0, 0.0), Vec3::new(40.0, 0.0, 0.0)];
/// let path = SplinePath { points, step: 4.0, ..SplinePath::default() }.path(None)?;
/// let steps = path.points().windows(2).map(|pair| pair[0].distance(pair[1]));
/// assert!(steps.clone().count() >= 11 && steps.into_iter().all(|step| (step - 4.0).abs() < 1e-3));
/// # Ok::<(), bevy_rapier_molecules::fiber::FiberError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SplinePath {
    /// The control points, nm.
    pub points: Vec<Vec3>,
    /// Length of a step, the rise of a link, nm. Default: 1.
    pub step: f32,
    /// Largest bend between two links, radian. Default: π.
    pub max_bend: f32,
    /// Whether the ends meet. Default: no.
    pub is_closed: bool,
}

impl Default for SplinePath {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            step: 1.0,
            max_bend: std::f32::consts::PI,
            is_closed: false,
        }
    }
}

impl SplinePath {
    /// The path, inside of a space if there is one.
    ///
    /// # Errors
    /// [`FiberError`] if there are too few points, or a value is out of range.
    pub fn path(&self, interior: Option<&Interior<'_>>) -> Result<FiberPath, FiberError> {
        let points = control_points(&self.points, self.is_closed)?;
        let curve = self.curve(&points)?;
        with_equal_steps(curve, self.is_closed, self.step, self.max_bend, interior)
    }

    /// Points along the spline, much closer than a step.
    fn curve(&self, points: &[DVec3]) -> Result<Vec<DVec3>, FiberError> {
        check_length("the step of a path", self.step)?;
        let count = points.len();
        let spans = if self.is_closed { count } else { count - 1 };
        let at = |index: isize| {
            let wrapped = index.rem_euclid(count as isize) as usize;
            if self.is_closed {
                points[wrapped]
            } else if index < 0 {
                2.0 * points[0] - points[1]
            } else if index as usize >= count {
                2.0 * points[count - 1] - points[count - 2]
            } else {
                points[wrapped]
            }
        };
        let mut curve = Vec::new();
        for span in 0..spans as isize {
            let corners = [-1, 0, 1, 2].map(|offset| at(span + offset));
            let length = corners[1].distance(corners[2]);
            let parts = (PARTS * length / f64::from(self.step)).ceil().max(1.0);
            let in_range = parts < PARTS * f64::from(MAX_LINKS);
            check(
                in_range,
                "the length of a path",
                "at most 10,000,000 steps",
                length as f32,
            )?;
            for part in 0..parts as u32 {
                curve.push(catmull_rom(corners, f64::from(part) / parts));
            }
        }
        curve.push(if self.is_closed {
            points[0]
        } else {
            points[count - 1]
        });
        Ok(curve)
    }
}

/// The different control points of a path.
pub(super) fn control_points(points: &[Vec3], is_closed: bool) -> Result<Vec<DVec3>, FiberError> {
    check_points(points)?;
    let mut different: Vec<DVec3> = points.iter().map(|point| point.as_dvec3()).collect();
    different.dedup();
    if is_closed && different.len() > 1 && different.first() == different.last() {
        different.pop();
    }
    let needed = if is_closed { 3 } else { 2 };
    if different.len() < needed {
        let count = different.len();
        return Err(FiberError::TooFewPoints { needed, count });
    }
    Ok(different)
}

/// A polyline with equal steps along a finer one. The last point of a closed polyline is the first.
pub(super) fn with_equal_steps(
    line: Vec<DVec3>,
    is_closed: bool,
    step: f32,
    max_bend: f32,
    interior: Option<&Interior<'_>>,
) -> Result<FiberPath, FiberError> {
    check_bend(max_bend)?;
    let length: f64 = line.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
    let exact = f64::from(step);
    let too_short = || FiberError::TooShort {
        length: length as f32,
        step,
    };
    let (mut points, needed) = if is_closed {
        let links = (length / exact).round();
        (at_equal_lengths(&line, links as usize, length / links), 3)
    } else {
        (steps_along(&line, exact), 2)
    };
    if points.len() < needed {
        return Err(too_short());
    }
    let steps = EvenSteps {
        step: exact,
        max_bend: f64::from(max_bend),
        is_closed,
        interior,
    };
    steps.equalize(&mut points);
    FiberPath::from_exact(&points, is_closed)
}

/// Points along a polyline, each one step in a straight line from the one before.
fn steps_along(line: &[DVec3], step: f64) -> Vec<DVec3> {
    let Some(&first) = line.first() else {
        return Vec::new();
    };
    let mut points = vec![first];
    let mut last = first;
    for pair in line.windows(2) {
        let [mut from, to] = [pair[0], pair[1]];
        while to.distance(last) >= step {
            let along = to - from;
            // The point from + t along at a distance of one step from the last one.
            let (a, b) = (along.length_squared(), along.dot(from - last));
            let c = (from - last).length_squared() - step * step;
            let root = (b * b - a * c).max(0.0).sqrt();
            let part = if a > 0.0 {
                ((root - b) / a).clamp(0.0, 1.0)
            } else {
                1.0
            };
            last = from + along * part;
            from = last;
            points.push(last);
        }
    }
    points
}

/// Points at equal lengths along a polyline, from its start.
fn at_equal_lengths(line: &[DVec3], count: usize, step: f64) -> Vec<DVec3> {
    let mut points = Vec::with_capacity(count);
    let mut walked = 0.0;
    for pair in line.windows(2) {
        let length = pair[0].distance(pair[1]);
        while points.len() < count && points.len() as f64 * step <= walked + length {
            let part = (points.len() as f64 * step - walked) / length.max(f64::MIN_POSITIVE);
            points.push(pair[0].lerp(pair[1], part.clamp(0.0, 1.0)));
        }
        walked += length;
    }
    points
}

/// The centripetal spline between the second and the third of four points, at a part of the way.
fn catmull_rom(points: [DVec3; 4], part: f64) -> DVec3 {
    let mut knots = [0.0; 4];
    for index in 1..4 {
        let distance = points[index].distance(points[index - 1]);
        knots[index] = knots[index - 1] + distance.sqrt().max(f64::MIN_POSITIVE.sqrt());
    }
    let at = knots[1] + (knots[2] - knots[1]) * part;
    let mix = |a: DVec3, b: DVec3, from: usize, to: usize| {
        a.lerp(b, (at - knots[from]) / (knots[to] - knots[from]))
    };
    let [a, b, c] = [0, 1, 2].map(|index| mix(points[index], points[index + 1], index, index + 1));
    mix(mix(a, b, 0, 2), mix(b, c, 1, 3), 1, 2)
}
