//! Boxes around surfaces, and points spread through them.

use glam::Vec3;

use crate::compartment::{ShapeCompartment, Surface};
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

/// Point `index` of a sequence that fills a box evenly: that of Halton (1964) with the bases 2, 3
/// and 5.
pub(super) fn spread_point(index: u32, [low, high]: [Vec3; 2]) -> Vec3 {
    let part = |base: u32| {
        let (mut part, mut digit, mut rest) = (0.0, 1.0, index + 1);
        while rest > 0 {
            digit /= f64::from(base);
            part += digit * f64::from(rest % base);
            rest /= base;
        }
        part as f32
    };
    low + (high - low) * Vec3::new(part(2), part(3), part(5))
}
