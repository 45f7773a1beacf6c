//! Rays and points against a molecule, and the molecule as a composite of balls.
//!
//! The feature of every answer is `Face(k)`, where `k` is the index of the atom.

use glam::Vec3;
use rapier3d::parry::math::Pose3;
use rapier3d::parry::partitioning::Bvh;
use rapier3d::parry::query::details::NormalConstraints;
use rapier3d::parry::query::{PointProjection, PointQuery, Ray, RayCast, RayIntersection};
use rapier3d::parry::shape::{
    Ball, CompositeShape, CompositeShapeRef, FeatureId, Shape, TypedCompositeShape,
};

use super::MoleculeShape;

impl RayCast for MoleculeShape {
    fn cast_local_ray(&self, ray: &Ray, max_time_of_impact: f32, solid: bool) -> Option<f32> {
        let (_, time) = CompositeShapeRef(self).cast_local_ray(ray, max_time_of_impact, solid)?;
        Some(time)
    }

    fn cast_local_ray_and_get_normal(
        &self,
        ray: &Ray,
        max_time_of_impact: f32,
        solid: bool,
    ) -> Option<RayIntersection> {
        let hit = self.atom_hit_by_ray(ray, max_time_of_impact, solid)?;
        Some(RayIntersection::new(
            hit.time,
            hit.normal,
            FeatureId::Face(hit.atom),
        ))
    }
}

impl MoleculeShape {
    /// Projection on the surface of the nearest atom that is no further than `max`.
    ///
    /// From inside, that is the surface of the atom in which the point is deepest; it
    /// may lie inside of another atom there, as atoms of a molecule overlap.
    fn project(&self, point: Vec3, solid: bool, max: f32) -> Option<(PointProjection, u32)> {
        let (index, distance) = self.nearest_atom_within(point, max)?;
        let (center, radius) = self.atom(index)?;
        let inside = distance <= 0.0;
        let on_surface = if inside && solid {
            point
        } else {
            center + (point - center).normalize_or(Vec3::Y) * radius
        };
        Some((PointProjection::new(inside, on_surface), index))
    }
}

impl PointQuery for MoleculeShape {
    fn project_local_point_with_max_dist(
        &self,
        point: Vec3,
        solid: bool,
        max_dist: f32,
    ) -> Option<PointProjection> {
        let (projection, _) = self.project(point, solid, max_dist.next_up())?;
        (projection.point.distance(point) <= max_dist).then_some(projection)
    }

    /// A point that is not finite, and a molecule without atoms, give the point itself.
    fn project_local_point(&self, point: Vec3, solid: bool) -> PointProjection {
        self.project(point, solid, f32::MAX)
            .map_or(PointProjection::new(false, point), |found| found.0)
    }

    fn project_local_point_and_get_feature(&self, point: Vec3) -> (PointProjection, FeatureId) {
        match self.project(point, false, f32::MAX) {
            Some((projection, atom)) => (projection, FeatureId::Face(atom)),
            None => (PointProjection::new(false, point), FeatureId::Unknown),
        }
    }

    /// Distance to the nearest atom; inside it is zero if `solid`, else negative.
    fn distance_to_local_point(&self, point: Vec3, solid: bool) -> f32 {
        let distance = self.nearest_atom(point).map_or(f32::MAX, |found| found.1);
        if solid { distance.max(0.0) } else { distance }
    }

    fn contains_local_point(&self, point: Vec3) -> bool {
        use std::ops::ControlFlow::Break;
        self.grid()
            .visit_touching(point, 0.0, |_| Break(()))
            .is_break()
    }
}

impl CompositeShape for MoleculeShape {
    fn map_part_at(
        &self,
        shape_id: u32,
        f: &mut dyn FnMut(Option<&Pose3>, &dyn Shape, Option<&dyn NormalConstraints>),
    ) {
        let _ = self.map_untyped_part_at(shape_id, f);
    }

    fn bvh(&self) -> &Bvh {
        self.tree()
    }
}

impl TypedCompositeShape for MoleculeShape {
    type PartShape = Ball;
    type PartNormalConstraints = ();

    fn map_typed_part_at<T>(
        &self,
        shape_id: u32,
        mut f: impl FnMut(Option<&Pose3>, &Ball, Option<&()>) -> T,
    ) -> Option<T> {
        let (center, radius) = self.atom(shape_id)?;
        let pose = Pose3::from_translation(center);
        Some(f(Some(&pose), &Ball::new(radius), None))
    }

    fn map_untyped_part_at<T>(
        &self,
        shape_id: u32,
        mut f: impl FnMut(Option<&Pose3>, &dyn Shape, Option<&dyn NormalConstraints>) -> T,
    ) -> Option<T> {
        self.map_typed_part_at(shape_id, |pose, ball, _| f(pose, ball, None))
    }
}
