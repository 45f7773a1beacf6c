//! Static walls: planes, boxes, balls and the surfaces of compartments.
//!
//! Distance of a sphere that moves in a straight line:
//!
//! - from a plane: linear, so the time of impact is the root of a quadratic equation
//!   (equation 7 of Kim, Guibas and Shin);
//! - from the outside of a box or a ball: convex, as between two spheres;
//! - from the inside of a ball: concave, with at most one root;
//! - from any other surface: only known to be Lipschitz continuous. Conservative advancement
//!   steps by the time in which the surface cannot be reached.

use std::sync::Arc;

use glam::DVec3;

use super::GrowingSphere;
use super::roots::{first_not_positive, first_root_of_concave, first_touch_of_convex};
use crate::compartment::Surface;
use crate::motion::MotionError;

/// Tolerance on the squared length of unit normals.
const UNIT_TOLERANCE: f64 = 1.0e-9;

/// Accuracy of an `f32` surface, relative to the distance from the origin, at least 1 nm.
const SURFACE_ACCURACY: f64 = 4.0e-6;

/// Maximum number of steps of conservative advancement.
const MAX_ADVANCES: usize = 256;

/// The side of a surface that spheres are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WallSide {
    /// Spheres are inside.
    Inside,
    /// Spheres are outside.
    Outside,
}

impl WallSide {
    /// Sign of the outward direction, seen from this side.
    const fn sign(self) -> f64 {
        match self {
            Self::Inside => -1.0,
            Self::Outside => 1.0,
        }
    }
}

/// A static obstacle that spheres cannot enter. Lengths in nm, world frame.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Wall {
    /// The points p with p · normal = offset. Spheres are on the side of the normal.
    Plane {
        /// Unit normal towards the spheres.
        normal: DVec3,
        /// Distance of the plane from the origin along the normal.
        offset: f64,
    },
    /// A solid axis-aligned box. Spheres are outside.
    Cuboid {
        /// Lowest corner.
        low: DVec3,
        /// Highest corner.
        high: DVec3,
    },
    /// A static sphere.
    Ball {
        /// Center.
        center: DVec3,
        /// Radius.
        radius: f64,
        /// The side that the moving spheres are on.
        side: WallSide,
    },
    /// The surface of a compartment, in `f32`.
    Surface {
        /// The surface.
        surface: Arc<dyn Surface>,
        /// The side that the moving spheres are on.
        side: WallSide,
    },
}

/// Signed distance of a point from a wall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedDistance {
    /// Distance from the wall, nm; negative inside of it.
    pub distance: f64,
    /// Unit vector away from the wall.
    pub normal: DVec3,
}

impl Wall {
    /// The six faces of an axis-aligned box that spheres are inside of: low x, high x, low y,
    /// high y, low z, high z.
    #[must_use]
    pub fn box_faces(low: DVec3, high: DVec3) -> [Self; 6] {
        std::array::from_fn(|face| {
            let (axis, is_high) = (face / 2, face % 2 == 1);
            let (sign, corner) = if is_high { (-1.0, high) } else { (1.0, low) };
            Self::Plane {
                normal: sign * DVec3::AXES[axis],
                offset: sign * corner[axis],
            }
        })
    }

    /// Returns an error if a wall in the list is degenerate or not finite.
    pub(crate) fn check_all(walls: &[Self]) -> Result<(), MotionError> {
        for (index, wall) in (0..).zip(walls) {
            if let Some(what) = wall.defect() {
                return Err(MotionError::BadWall { wall: index, what });
            }
        }
        Ok(())
    }

    fn defect(&self) -> Option<&'static str> {
        match self {
            Self::Plane { normal, offset } => {
                let is_unit = (normal.length_squared() - 1.0).abs() < UNIT_TOLERANCE;
                (!is_unit || !offset.is_finite())
                    .then_some("a plane needs a unit normal and a finite offset")
            }
            Self::Cuboid { low, high } => {
                let is_finite = low.is_finite() && high.is_finite();
                (!is_finite || low.cmpgt(*high).any())
                    .then_some("a cuboid needs finite corners with low <= high")
            }
            Self::Ball { center, radius, .. } => {
                let is_valid = center.is_finite() && radius.is_finite() && *radius > 0.0;
                (!is_valid).then_some("a ball needs a finite center and a positive radius")
            }
            Self::Surface { .. } => None,
        }
    }

    /// Accuracy of the distance near a point, nm.
    pub(crate) fn accuracy(&self, point: DVec3) -> f64 {
        match self {
            Self::Surface { .. } => SURFACE_ACCURACY * point.abs().max_element().max(1.0),
            _ => 0.0,
        }
    }

    /// Whether a sphere that leaves the wall in a straight line can hit it again.
    pub(crate) fn is_concave(&self) -> bool {
        matches!(
            self,
            Self::Ball {
                side: WallSide::Inside,
                ..
            }
        )
    }

    /// Signed distance of a point, and the direction away from the wall.
    #[must_use]
    pub fn signed_distance(&self, point: DVec3) -> SignedDistance {
        match self {
            Self::Plane { normal, offset } => SignedDistance {
                distance: point.dot(*normal) - offset,
                normal: *normal,
            },
            Self::Cuboid { low, high } => cuboid_distance(*low, *high, point),
            Self::Ball {
                center,
                radius,
                side,
            } => {
                let offset = point - center;
                SignedDistance {
                    distance: side.sign() * (offset.length() - radius),
                    normal: side.sign() * offset.try_normalize().unwrap_or(DVec3::X),
                }
            }
            Self::Surface { surface, side } => {
                let closest = surface.distance_and_normal(point.as_vec3());
                SignedDistance {
                    distance: side.sign() * f64::from(closest.distance),
                    normal: side.sign() * closest.normal.as_dvec3().normalize_or(DVec3::X),
                }
            }
        }
    }

    /// The first time in `0..=max_time` s at which a sphere touches the wall; zero if it
    /// already does.
    ///
    /// For a [`Wall::Surface`] the result may be earlier than the contact, but never later:
    /// then the sphere is close to the surface, or the iteration limit was reached.
    #[must_use]
    pub fn first_contact(&self, sphere: &GrowingSphere, max_time: f64) -> Option<f64> {
        match self {
            Self::Plane { normal, offset } => {
                let time = first_not_positive(
                    sphere.center.dot(*normal) - offset - sphere.radius,
                    sphere.velocity.dot(*normal) - sphere.growth,
                    -0.5 * sphere.acceleration,
                );
                (time <= max_time && time.is_finite()).then_some(time)
            }
            Self::Cuboid { .. }
            | Self::Ball {
                side: WallSide::Outside,
                ..
            } => {
                let radius = [sphere.radius, sphere.growth, sphere.acceleration];
                first_touch_of_convex(radius, max_time, |time| {
                    let point = sphere.center_at(time);
                    let wall = self.signed_distance(point);
                    let slope = wall.normal.dot(sphere.velocity);
                    [wall.distance, slope, point.abs().max_element()]
                })
            }
            Self::Ball {
                side: WallSide::Inside,
                ..
            } => first_root_of_concave(max_time, |time| {
                self.signed_distance(sphere.center_at(time)).distance - sphere.radius_at(time)
            }),
            Self::Surface { .. } => self.advance_conservatively(sphere, max_time),
        }
    }

    fn advance_conservatively(&self, sphere: &GrowingSphere, max_time: f64) -> Option<f64> {
        let speed = sphere.velocity.length();
        let mut time = 0.0;
        for _ in 0..MAX_ADVANCES {
            let point = sphere.center_at(time);
            let gap = self.signed_distance(point).distance - sphere.radius_at(time);
            if gap <= self.accuracy(point) {
                return Some(time);
            }
            let growth = sphere.growth + sphere.acceleration * time;
            time += first_not_positive(gap, -speed - growth, -0.5 * sphere.acceleration);
            if time.is_nan() || time > max_time || time.is_infinite() {
                return None;
            }
        }
        Some(time)
    }
}

/// Signed distance from a box: inside of it, to the nearest face.
fn cuboid_distance(low: DVec3, high: DVec3, point: DVec3) -> SignedDistance {
    let nearest = point.clamp(low, high);
    let offset = point - nearest;
    if let Some(normal) = offset.try_normalize() {
        return SignedDistance {
            distance: offset.length(),
            normal,
        };
    }
    let mut best = SignedDistance {
        distance: f64::NEG_INFINITY,
        normal: DVec3::X,
    };
    for axis in 0..3 {
        for (sign, distance) in [
            (-1.0, low[axis] - point[axis]),
            (1.0, point[axis] - high[axis]),
        ] {
            if distance > best.distance {
                best = SignedDistance {
                    distance,
                    normal: sign * DVec3::AXES[axis],
                };
            }
        }
    }
    best
}
