//! Boxes around surfaces, and distances in them.

use glam::Vec3;

use crate::compartment::{ShapeCompartment, Surface};
use crate::halton::spread_point;
use crate::pose::Pose;

/// Points by which the largest distance or weight of a space is found.
pub(super) const SAMPLES: u32 = 4096;

/// Lowest and highest corner of the box around a shape, nm.
pub(super) fn bounds_of(shape: &ShapeCompartment) -> [Vec3; 2] {
    let Some((shape, pose)) = shape.as_shape() else {
        return [Vec3::ZERO; 2];
    };
    let Pose { position, rotation } = pose;
    let aabb = shape.compute_aabb(&rapier3d::math::Pose::from_parts(position, rotation));
    [aabb.mins, aabb.maxs]
}

/// The largest distance from a surface of points in a box that are inside of `around`, nm.
pub(super) fn farthest(
    surface: &dyn Surface,
    around: Option<&dyn Surface>,
    bounds: [Vec3; 2],
) -> f32 {
    let is_inside =
        |point: &Vec3| around.is_none_or(|around| around.signed_distance(*point) <= 0.0);
    let distances = (0..SAMPLES)
        .map(|index| spread_point(index, bounds))
        .filter(is_inside)
        .map(|point| surface.signed_distance(point).abs());
    distances.fold(0.0, f32::max)
}
