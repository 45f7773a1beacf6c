//! [`Leaf`]: balls and boxes, also with their images in a periodic box.

use glam::{BVec3, Vec3};

use super::FAR_NM;
use crate::compartment::{DistanceAndNormal, direction};

/// A shape that is not a combination of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Leaf {
    /// A ball.
    Ball {
        center: Vec3,
        radius: f32,
        /// Along which axes it reaches out of a periodic box, and is cut off at its faces.
        cut: [bool; 3],
    },
    /// A box along the axes, which may be unbounded on some of its sides.
    Cuboid {
        /// Lowest corner; −∞ for an open side.
        low: Vec3,
        /// Highest corner; ∞ for an open side.
        high: Vec3,
    },
}

impl Leaf {
    /// Signed distance and outward normal. With `period`, those of the leaf and all of its images
    /// in the box with these corners.
    pub(super) fn distance_and_normal(
        &self,
        point: Vec3,
        period: Option<[Vec3; 2]>,
    ) -> DistanceAndNormal {
        match *self {
            Self::Ball {
                center,
                radius,
                cut,
            } => match period {
                Some(period) if cut.contains(&true) => {
                    cut_ball(point, (center, radius), cut, period)
                }
                Some([low, high]) => ball(nearest_image(point - center, high - low), radius),
                None => ball(point - center, radius),
            },
            Self::Cuboid { low, high } => {
                let Some([start, end]) = period else {
                    return cuboid(point, low, high);
                };
                // Unbounded axes have no images.
                let middle = Vec3::select(low.is_finite_mask(), 0.5 * (low + high), point);
                let arm = nearest_image(point - middle, end - start);
                cuboid(middle + arm, low, high)
            }
        }
    }

    /// Corners of the box around it, without images; infinite where it is unbounded.
    pub(super) fn bounds(&self) -> [Vec3; 2] {
        match *self {
            Self::Ball { center, radius, .. } => [center - radius, center + radius],
            Self::Cuboid { low, high } => [low, high],
        }
    }
}

/// A vector to the nearest image.
fn nearest_image(arm: Vec3, size: Vec3) -> Vec3 {
    arm - size * (arm / size).round()
}

fn ball(arm: Vec3, radius: f32) -> DistanceAndNormal {
    DistanceAndNormal {
        distance: arm.length() - radius,
        normal: direction(arm).unwrap_or(Vec3::Y),
    }
}

/// The part of a ball inside of the periodic box, with its images. Faces of the box at which it is
/// cut are part of its surface.
fn cut_ball(
    point: Vec3,
    (center, radius): (Vec3, f32),
    cut: [bool; 3],
    [low, high]: [Vec3; 2],
) -> DistanceAndNormal {
    let steps =
        |is_cut: bool| -> &'static [f32] { if is_cut { &[0.0, -1.0, 1.0] } else { &[0.0] } };
    let images = cut.map(steps);
    let cut = BVec3::from_array(cut);
    let size = high - low;
    let wrapped = low + (point - low) - size * ((point - low) / size).floor();
    let walls = [
        Vec3::select(cut, low, Vec3::NEG_INFINITY),
        Vec3::select(cut, high, Vec3::INFINITY),
    ];
    let mut nearest = DistanceAndNormal {
        distance: FAR_NM,
        normal: Vec3::Y,
    };
    for x in images[0] {
        for y in images[1] {
            for z in images[2] {
                let at = wrapped + size * Vec3::new(*x, *y, *z);
                let arm = at - center;
                let arm = Vec3::select(cut, arm, nearest_image(arm, size));
                let (round, flat) = (ball(arm, radius), cuboid(at, walls[0], walls[1]));
                let part = if flat.distance > round.distance {
                    flat
                } else {
                    round
                };
                if part.distance < nearest.distance {
                    nearest = part;
                }
            }
        }
    }
    nearest
}

/// A box whose corners may be infinite.
fn cuboid(point: Vec3, low: Vec3, high: Vec3) -> DistanceAndNormal {
    let (below, above) = (low - point, point - high);
    let beyond = below.max(above);
    let signs = Vec3::select(below.cmpgt(above), Vec3::NEG_ONE, Vec3::ONE);
    let outside = beyond.max(Vec3::ZERO);
    if let Some(out) = direction(outside) {
        return DistanceAndNormal {
            distance: outside.length(),
            normal: out * signs,
        };
    }
    let axis = beyond.max_position();
    DistanceAndNormal {
        distance: beyond[axis].max(-FAR_NM),
        normal: Vec3::AXES[axis] * signs[axis],
    }
}
