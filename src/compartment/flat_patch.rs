//! [`FlatPatch`]: the mid-plane of a flat membrane in a periodic box.

use std::sync::Arc;

use glam::{DVec2, Vec2, Vec3};
use rand::{Rng, RngExt};

use super::{CompartmentError, DistanceAndNormal, Surface, checked_pose, unrotated_pose};
use crate::pose::Pose;

/// Lattices that are compared for each way to split the points into columns.
const MAX_SHEARS: u64 = 10_000;

/// A horizontal rectangle that repeats along x and y, such as the mid-plane of a flat bilayer in
/// a [`PeriodicBox`](crate::periodic_box::PeriodicBox).
///
/// Not closed: all points above the plane are outside, all below are inside, also beyond the
/// rectangle. Areas and samples are those of the rectangle. Its own frame has its origin at the
/// corner with the smallest x and y.
///
/// ```
/// use bevy_rapier_molecules::compartment::{FlatPatch, Surface};
/// use glam::{Vec2, Vec3};
///
/// let bilayer = FlatPatch::new(Vec2::new(10.0, 8.0), 5.0)?;
/// assert_eq!(bilayer.signed_distance(Vec3::new(3.0, 2.0, 7.0)), 2.0, "nm above the mid-plane");
/// assert_eq!(bilayer.normal(Vec3::ZERO), Vec3::Z);
/// // Both leaflets have the same area.
/// assert_eq!(bilayer.area_at(2.0), 80.0, "nm²");
/// assert_eq!(bilayer.area_at(-2.0), 80.0, "nm²");
/// # Ok::<(), bevy_rapier_molecules::compartment::CompartmentError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatPatch {
    /// The corner with the smallest x and y.
    corner: Vec3,
    size: Vec2,
}

impl FlatPatch {
    /// The rectangle from the z axis to `size` (nm) along x and y, at z = `height` (nm).
    ///
    /// # Errors
    /// [`CompartmentError`] if an edge is not positive and finite or the height is not finite.
    pub fn new(size: Vec2, height: f32) -> Result<Self, CompartmentError> {
        CompartmentError::check_positive(&[("x edge", size.x), ("y edge", size.y)])?;
        let corner = checked_pose(&Pose::from_translation(Vec3::Z * height))?.position;
        Ok(Self { corner, size })
    }

    /// The edges along x and y, nm.
    #[must_use]
    pub fn size(&self) -> Vec2 {
        self.size
    }

    /// The z coordinate of the plane, nm.
    #[must_use]
    pub fn height(&self) -> f32 {
        self.corner.z
    }
}

impl Surface for FlatPatch {
    fn distance_and_normal(&self, point: Vec3) -> DistanceAndNormal {
        DistanceAndNormal {
            distance: point.z - self.corner.z,
            normal: Vec3::Z,
        }
    }

    fn center(&self) -> Vec3 {
        self.corner + (0.5 * self.size).extend(0.0)
    }

    fn area_at(&self, _offset: f32) -> f32 {
        self.size.x * self.size.y
    }

    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        let share = Vec2::new(random.random(), random.random());
        self.corner + (share * self.size).extend(offset)
    }

    fn even_pattern(&self, offset: f32, count: usize, random: &mut dyn Rng) -> Option<Vec<Vec3>> {
        let shift = DVec2::new(random.random(), random.random());
        let lattice = PeriodicLattice::most_hexagonal(count as u64, self.size.as_dvec2());
        let points = lattice.shares().map(|share| {
            let share = (share + shift).fract().as_vec2();
            // Rounding may put a point on the far side.
            let share = Vec2::select(share.cmpge(Vec2::ONE), Vec2::ZERO, share);
            self.corner + (share * self.size).extend(offset)
        });
        Some(points.collect())
    }

    fn period(&self) -> Option<Vec2> {
        Some(self.size)
    }

    fn pose(&self) -> Option<Pose> {
        Some(Pose::from_translation(self.corner))
    }

    /// # Errors
    /// [`CompartmentError::BadPose`] as for all surfaces; [`CompartmentError::Rotated`] if the
    /// pose has a rotation, as the periodic box has none.
    fn with_pose(&self, pose: &Pose) -> Result<Arc<dyn Surface>, CompartmentError> {
        let pose = unrotated_pose(pose)?;
        Ok(Arc::new(Self {
            corner: pose.position,
            ..*self
        }))
    }
}

/// A lattice that repeats with a rectangle: columns of equally spaced points, each column sheared
/// against the one before.
#[derive(Clone, Copy, Debug)]
struct PeriodicLattice {
    columns: u64,
    rows: u64,
    /// Shift from one column to the next, in units of an edge of the rectangle over the number
    /// of points; less than the number of columns.
    shear: u64,
}

impl PeriodicLattice {
    /// The lattice of `count` points whose closest neighbors are furthest apart.
    ///
    /// These are all lattices that repeat with the rectangle (Hermite normal form), or at least
    /// [`MAX_SHEARS`] of each number of columns. The more there are, the closer is the best one
    /// to a hexagonal lattice.
    fn most_hexagonal(count: u64, size: DVec2) -> Self {
        let mut best = Self {
            columns: count.max(1),
            rows: count.min(1),
            shear: 0,
        };
        let mut widest = 0.0;
        let small = (1..).take_while(|divisor| divisor * divisor <= count);
        let divisors = small.filter(|divisor| count.is_multiple_of(*divisor));
        for columns in divisors.flat_map(|divisor| [divisor, count / divisor]) {
            let rows = count / columns;
            let step = columns.div_ceil(MAX_SHEARS) as usize;
            for shear in (0..columns).step_by(step) {
                let lattice = Self {
                    columns,
                    rows,
                    shear,
                };
                let spacing = lattice.squared_spacing(size);
                if spacing > widest {
                    (best, widest) = (lattice, spacing);
                }
            }
        }
        best
    }

    /// The vector from a point to its counterpart in the next column, as shares of the edges.
    fn to_next_column(self) -> DVec2 {
        let count = (self.columns * self.rows) as f64;
        DVec2::new(1.0 / self.columns as f64, self.shear as f64 / count)
    }

    /// Squared distance of closest neighbors in a rectangle of that size, by Lagrange's
    /// reduction of the lattice basis.
    fn squared_spacing(self, size: DVec2) -> f64 {
        let mut long = self.to_next_column() * size;
        let mut short = DVec2::new(0.0, size.y / self.rows as f64);
        if short.length_squared() > long.length_squared() {
            (short, long) = (long, short);
        }
        loop {
            let squared = short.length_squared();
            let rest = long - short * (long.dot(short) / squared).round();
            // The lengths decrease strictly; NaN ends as well.
            let is_shorter = rest.length_squared() < squared;
            if !is_shorter {
                return squared;
            }
            (short, long) = (rest, short);
        }
    }

    /// All points, as shares of the edges, at least zero; the second may exceed one.
    fn shares(self) -> impl Iterator<Item = DVec2> {
        let next = self.to_next_column();
        (0..self.columns).flat_map(move |column| {
            (0..self.rows).map(move |row| {
                let start = next * column as f64;
                DVec2::new(start.x, start.y + row as f64 / self.rows as f64)
            })
        })
    }
}
