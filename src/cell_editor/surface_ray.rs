//! Where a ray meets the surface of a compartment.

use bevy::math::Ray3d;
use glam::Vec3;

use crate::compartment::Surface;

/// Distance at which a point counts as on the surface, nm.
const ON_SURFACE_NM: f32 = 0.01;

/// Least step along the ray, nm.
const MIN_STEP_NM: f32 = 0.005;

/// Largest number of steps.
const MAX_STEPS: u32 = 2_000;

/// The first point of a surface on a ray between two distances from its origin, nm. At `from`, a
/// point that is at most `reach` from the surface counts, too: it is moved to the surface.
///
/// Steps by the distance from the surface, which no step can overshoot (J. C. Hart, *Sphere
/// tracing*, 1996).
pub(super) fn first_hit(
    surface: &dyn Surface,
    ray: Ray3d,
    [from, to]: [f32; 2],
    reach: f32,
) -> Option<Vec3> {
    let start = ray.get_point(from);
    let near = surface.distance_and_normal(start);
    if near.distance.abs() <= reach {
        return Some(start - near.distance * near.normal);
    }
    let mut along = from;
    for _ in 0..MAX_STEPS {
        let point = ray.get_point(along);
        let distance = surface.signed_distance(point).abs();
        if distance <= ON_SURFACE_NM {
            return Some(point);
        }
        along += distance.max(MIN_STEP_NM);
        if along > to || !along.is_finite() {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use bevy::math::Dir3;

    use super::*;
    use crate::compartment::{ShapeCompartment, SphereShell};
    use crate::pose::Pose;

    #[test]
    fn rays_hit_a_sphere_where_the_formula_says() {
        let sphere = SphereShell::new(Vec3::new(1.0, 2.0, 3.0), 5.0).unwrap();
        for k in 0..100 {
            let aim = Vec3::new(
                1.0 + (k as f32 * 0.7).sin() * 6.0,
                2.0 + (k as f32).cos(),
                3.0,
            );
            let origin = Vec3::new(0.0, 1.0, 40.0);
            let ray = Ray3d::new(origin, Dir3::new(aim - origin).unwrap());
            let (to_center, direction) = (sphere.center() - origin, *ray.direction);
            let middle = to_center.dot(direction);
            let half = 25.0 - (to_center - middle * direction).length_squared();
            let expected = (half > 0.0).then(|| ray.get_point(middle - half.sqrt()));
            let hit = first_hit(&sphere, ray, [0.0, 100.0], 0.0);
            assert_eq!(hit.is_some(), expected.is_some(), "{aim}");
            if let (Some(hit), Some(expected)) = (hit, expected) {
                // Almost parallel rays reach the tolerance early.
                assert!(hit.distance(expected) < 0.5 && sphere.signed_distance(hit).abs() <= 0.011);
            }
        }
    }

    #[test]
    fn rays_that_start_inside_hit_the_far_side_and_the_near_end_is_moved_to_the_surface() {
        let capsule = ShapeCompartment::capsule(3.0, 5.0, Pose::IDENTITY).unwrap();
        let ray = Ray3d::new(Vec3::X * 20.0, Dir3::NEG_X);
        let far = first_hit(&capsule, ray, [20.0, 100.0], 0.5).unwrap();
        assert!((far.x + 5.0).abs() < 0.02, "{far}");
        let near = first_hit(&capsule, ray, [14.6, 100.0], 0.5).unwrap();
        assert!((near.x - 5.0).abs() < 1.0e-3, "{near}");
        assert_eq!(first_hit(&capsule, ray, [0.0, 10.0], 0.5), None);
        assert_eq!(first_hit(&capsule, ray, [30.0, 100.0], 0.5), None);
    }
}
