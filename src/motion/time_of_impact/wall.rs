//! What spheres bounce from: planes, boxes, balls and the surfaces of compartments.
//!
//! How far a sphere is from a wall along a straight way:
//!
//! - from a plane: linear, so that with the growth of the radius the time of contact is the
//!   root of a quadratic equation (equation 7 of Kim, Guibas and Shin);
//! - from a box or a ball that it is outside of: convex, as between two spheres;
//! - from a ball that it is inside of: concave, so that there is one root at most;
//! - from any other surface: unknown, but never changing faster than the sphere moves. It
//!   may go on for as long as that takes, and look again.

use std::sync::Arc;

use glam::DVec3;

use super::GrowingSphere;
use super::roots::{Gap, first_not_positive, first_root_of_concave, first_touch_of_convex};
use crate::compartment::Surface;
use crate::motion::MotionError;

/// Lengths of normals that are taken for one.
const UNIT_TOLERANCE: f64 = 1.0e-9;

/// How close to a surface of 32 bits a sphere is said to touch it, as a part of its
/// distance from the origin, and at least of one nm.
const SURFACE_DIGITS: f64 = 4.0e-6;

/// How many times a way to a surface is gone on at most. Each is sure not to be too far.
const MOST_ADVANCES: usize = 256;

/// On which side of a surface spheres are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WallSide {
    /// Spheres are held inside.
    Inside,
    /// Spheres are kept out.
    Outside,
}

/// Something that does not move and that spheres cannot enter. Lengths in nm, world frame.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Wall {
    /// All points p with p · normal = offset; spheres are on the side that the normal
    /// points to.
    Plane {
        /// Unit vector to the free side.
        normal: DVec3,
        /// Distance of the plane from the origin along the normal.
        offset: f64,
    },
    /// A solid box along the axes, which spheres are outside of.
    Block {
        /// Lowest corner.
        low: DVec3,
        /// Highest corner.
        high: DVec3,
    },
    /// A sphere, which the moving ones are inside or outside of.
    Ball {
        /// Its center.
        center: DVec3,
        /// Its radius.
        radius: f64,
        /// Where the moving spheres are.
        side: WallSide,
    },
    /// The surface of a compartment, known with 32 bits.
    Surface {
        /// The surface.
        surface: Arc<dyn Surface>,
        /// Where the moving spheres are.
        side: WallSide,
    },
}

/// A wall seen from a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedDistance {
    /// Distance of the point from the wall, nm; negative within it.
    pub distance: f64,
    /// Unit vector away from the wall, to the free side.
    pub normal: DVec3,
}

impl Wall {
    /// The six faces of a box along the axes, which spheres are inside of: low and high x,
    /// low and high y, low and high z.
    #[must_use]
    pub fn box_faces(low: DVec3, high: DVec3) -> [Self; 6] {
        let face = |axis: usize, side: f64, offset: f64| Self::Plane {
            normal: side * DVec3::AXES[axis],
            offset: side * offset,
        };
        [
            face(0, 1.0, low.x),
            face(0, -1.0, high.x),
            face(1, 1.0, low.y),
            face(1, -1.0, high.y),
            face(2, 1.0, low.z),
            face(2, -1.0, high.z),
        ]
    }

    /// Refuses what is no wall; `index` is for the error.
    pub(crate) fn check(&self, index: u32) -> Result<(), MotionError> {
        let what = match self {
            Self::Plane { normal, offset } => {
                let unit = (normal.length_squared() - 1.0).abs() < UNIT_TOLERANCE;
                (!unit || !offset.is_finite())
                    .then_some("a plane needs a unit normal and a finite offset")
            }
            Self::Block { low, high } => {
                let finite = low.is_finite() && high.is_finite();
                (!finite || low.cmpgt(*high).any())
                    .then_some("a block needs finite corners in order")
            }
            Self::Ball { center, radius, .. } => {
                let good = center.is_finite() && radius.is_finite() && *radius > 0.0;
                (!good).then_some("a ball needs a finite center and a positive radius")
            }
            Self::Surface { .. } => None,
        };
        what.map_or(Ok(()), |what| {
            Err(MotionError::BadWall { wall: index, what })
        })
    }

    /// How near a sphere has to be to touch this wall, beyond what the caller asks for, nm.
    pub(crate) fn tolerance(&self, point: DVec3) -> f64 {
        match self {
            Self::Surface { .. } => SURFACE_DIGITS * point.abs().max_element().max(1.0),
            _ => 0.0,
        }
    }

    /// Whether a sphere that has just left the wall may come back to it on a straight way.
    pub(crate) fn is_hollow(&self) -> bool {
        let hollow = WallSide::Inside;
        matches!(self, Self::Ball { side, .. } if *side == hollow)
    }

    /// The wall as it is seen from a point.
    #[must_use]
    pub fn signed_distance(&self, point: DVec3) -> SignedDistance {
        match self {
            Self::Plane { normal, offset } => SignedDistance {
                distance: point.dot(*normal) - offset,
                normal: *normal,
            },
            Self::Block { low, high } => block_from(*low, *high, point),
            Self::Ball {
                center,
                radius,
                side,
            } => {
                let away = point - center;
                let distance = away.length();
                let outwards = away.try_normalize().unwrap_or(DVec3::X);
                match side {
                    WallSide::Outside => SignedDistance {
                        distance: distance - radius,
                        normal: outwards,
                    },
                    WallSide::Inside => SignedDistance {
                        distance: radius - distance,
                        normal: -outwards,
                    },
                }
            }
            Self::Surface { surface, side } => {
                let seen = surface.distance_and_normal(point.as_vec3());
                let sign = match side {
                    WallSide::Outside => 1.0,
                    WallSide::Inside => -1.0,
                };
                SignedDistance {
                    distance: sign * f64::from(seen.distance),
                    normal: sign * seen.normal.as_dvec3().normalize_or(DVec3::X),
                }
            }
        }
    }

    /// The first time from now on, within `within` s, at which a growing sphere touches
    /// the wall; zero if it does now.
    ///
    /// For a [`Wall::Surface`] it may be earlier than that, but never later, and then the
    /// sphere is close to it or has gone a long way.
    #[must_use]
    pub fn first_contact(&self, sphere: &GrowingSphere, within: f64) -> Option<f64> {
        match self {
            Self::Plane { normal, offset } => {
                let time = first_not_positive(
                    sphere.center.dot(*normal) - offset - sphere.radius,
                    sphere.velocity.dot(*normal) - sphere.growth,
                    -0.5 * sphere.acceleration,
                );
                (time <= within && time.is_finite()).then_some(time)
            }
            Self::Block { .. }
            | Self::Ball {
                side: WallSide::Outside,
                ..
            } => first_touch_of_convex(sphere.polynomial(), within, |time| {
                let point = sphere.center_at(time);
                let seen = self.signed_distance(point);
                Gap {
                    distance: seen.distance,
                    slope: seen.normal.dot(sphere.velocity),
                    scale: point.abs().max_element(),
                }
            }),
            Self::Ball {
                side: WallSide::Inside,
                ..
            } => first_root_of_concave(within, |time| {
                self.signed_distance(sphere.center_at(time)).distance - sphere.radius_at(time)
            }),
            Self::Surface { .. } => self.advance(sphere, within),
        }
    }

    /// Goes on for as long as the surface cannot be reached, again and again.
    fn advance(&self, sphere: &GrowingSphere, within: f64) -> Option<f64> {
        let speed = sphere.velocity.length();
        let mut time = 0.0;
        for _ in 0..MOST_ADVANCES {
            let point = sphere.center_at(time);
            let gap = self.signed_distance(point).distance - sphere.radius_at(time);
            if gap <= self.tolerance(point) {
                return Some(time);
            }
            let growth = sphere.growth + sphere.acceleration * time;
            time += first_not_positive(gap, -speed - growth, -0.5 * sphere.acceleration);
            if time.is_nan() || time > within || time.is_infinite() {
                return None;
            }
        }
        Some(time)
    }
}

/// Distance from a box and the way out of it.
fn block_from(low: DVec3, high: DVec3, point: DVec3) -> SignedDistance {
    let nearest = point.clamp(low, high);
    let away = point - nearest;
    if let Some(normal) = away.try_normalize() {
        return SignedDistance {
            distance: away.length(),
            normal,
        };
    }
    // Inside: out through the nearest face.
    let mut best = SignedDistance {
        distance: f64::NEG_INFINITY,
        normal: DVec3::X,
    };
    for axis in 0..3 {
        for (side, distance) in [
            (-1.0, low[axis] - point[axis]),
            (1.0, point[axis] - high[axis]),
        ] {
            if distance > best.distance {
                best = SignedDistance {
                    distance,
                    normal: side * DVec3::AXES[axis],
                };
            }
        }
    }
    best
}
