//! [`MidpointPath`]: fractal paths between control points.

use glam::{DVec3, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::error::{check, check_length};
use super::random_walk::sideways;
use super::spline::{control_points, with_equal_steps};
use super::{FiberError, FiberPath, Interior, MAX_LINKS};

/// Displacements that are tried, each half as large, until one stays inside.
const TRIES: i32 = 12;

/// A path between control points by midpoint displacement, as T. Klein (2019) uses for DNA: the
/// middle of each piece is moved at random, perpendicular to the piece, and both halves are divided
/// in the same way until they are shorter than a step.
///
/// Inside of a space, displacements that leave it are drawn again, smaller.
///
/// ```
/// use bevy_rapier_molecules::compartment::SphereShell;
/// use bevy_rapier_molecules::fiber::{Interior, MidpointPath};
/// use glam::Vec3;
///
/// let sphere = SphereShell::new(Vec3::ZERO, 30.0)?;
/// let inside = Interior { surface: &sphere, clearance: 1.2 };
/// let points = vec![Vec3::NEG_X * 25.0, Vec3::Y * 20.0, Vec3::X * 25.0];
/// let path = MidpointPath { points, step: 4.0, ..MidpointPath::default() }.path(Some(&inside))?;
/// assert!(path.links() > 15 && path.points().iter().all(|point| point.length() < 29.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MidpointPath {
    /// The control points, nm.
    pub points: Vec<Vec3>,
    /// Length of a step, the rise of a link, nm. Default: 1.
    pub step: f32,
    /// Largest displacement, as a part of the length of a piece, at most 0.5. Default: 0.2.
    pub roughness: f32,
    /// Largest bend between two links, radian. Default: π.
    pub max_bend: f32,
    /// Whether the ends meet. Default: no.
    pub is_closed: bool,
    /// Seed of the random choices. Default: 1.
    pub seed: u64,
}

impl Default for MidpointPath {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            step: 1.0,
            roughness: 0.2,
            max_bend: std::f32::consts::PI,
            is_closed: false,
            seed: 1,
        }
    }
}

impl MidpointPath {
    /// The path, inside of a space if there is one.
    ///
    /// # Errors
    /// [`FiberError`] if there are too few points, or a value is out of range.
    pub fn path(&self, interior: Option<&Interior<'_>>) -> Result<FiberPath, FiberError> {
        check_length("the step of a path", self.step)?;
        let in_range = (0.0..=0.5).contains(&self.roughness);
        check(
            in_range,
            "the roughness of a path",
            "from 0 to 0.5",
            self.roughness,
        )?;
        let mut points = control_points(&self.points, self.is_closed)?;
        if self.is_closed {
            points.push(points[0]);
        }
        let length: f64 = points
            .windows(2)
            .map(|pair| pair[0].distance(pair[1]))
            .sum();
        // Divided pieces are at most twice as long together, on average.
        let in_range = length < 0.5 * f64::from(MAX_LINKS) * f64::from(self.step);
        check(
            in_range,
            "the length of a path",
            "at most 5,000,000 steps",
            length as f32,
        )?;
        let mut random = Pcg64Mcg::seed_from_u64(self.seed);
        let mut line = vec![points[0]];
        for pair in points.windows(2) {
            self.divide([pair[0], pair[1]], interior, &mut random, &mut line);
        }
        with_equal_steps(line, self.is_closed, self.step, self.max_bend, interior)
    }

    /// Appends the points of a piece, without its first one.
    fn divide(
        &self,
        piece: [DVec3; 2],
        interior: Option<&Interior<'_>>,
        random: &mut Pcg64Mcg,
        line: &mut Vec<DVec3>,
    ) {
        let mut left = vec![piece];
        while let Some([from, to]) = left.pop() {
            if from.distance(to) <= f64::from(self.step) {
                line.push(to);
                continue;
            }
            let middle = self.displaced(from, to, interior, random);
            left.push([middle, to]);
            left.push([from, middle]);
        }
    }

    /// The displaced middle of a piece.
    fn displaced(
        &self,
        from: DVec3,
        to: DVec3,
        interior: Option<&Interior<'_>>,
        random: &mut Pcg64Mcg,
    ) -> DVec3 {
        let (middle, along) = (0.5 * (from + to), to - from);
        let largest = f64::from(self.roughness) * along.length();
        let tangent = along.normalize_or(DVec3::Z);
        for attempt in 0..TRIES {
            // Uniform in a disc.
            let reach = largest * 0.5_f64.powi(attempt) * random.random::<f64>().sqrt();
            let point = middle + sideways(tangent, random) * reach;
            if interior.is_none_or(|space| space.contains(point.as_vec3())) {
                return point;
            }
        }
        interior.map_or(middle, |space| space.pulled_inside(middle))
    }
}
