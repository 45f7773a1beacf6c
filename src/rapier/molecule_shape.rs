//! A molecule as a parry shape: rays, points, and a composite of balls.
//!
//! The feature of every result is `Face(k)`, where `k` is the index of the atom.

use std::f32::consts::FRAC_PI_4;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use glam::Vec3;
use rapier3d::parry::bounding_volume::{Aabb, BoundingSphere};
use rapier3d::parry::mass_properties::MassProperties;
use rapier3d::parry::math::Pose3;
use rapier3d::parry::partitioning::{Bvh, BvhBuildStrategy, BvhNode};
use rapier3d::parry::query::details::NormalConstraints;
use rapier3d::parry::query::{PointProjection, PointQuery, Ray, RayCast, RayIntersection};
use rapier3d::parry::shape::{
    Ball, CompositeShape, CompositeShapeRef, Cylinder, FeatureId, RoundCylinder, Shape, ShapeType,
    TypedCompositeShape, TypedShape,
};

use crate::molecule::{LocalGrid, MoleculeTemplate};
use crate::search::RigidSpheres;

/// Half extent (nm) of the box of a molecule without atoms. Parry's BVH needs valid boxes.
const EMPTY_HALF_EXTENT: f32 = 1.0e-6;

/// Where a ray or a moving shape hits a molecule, body frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtomHit {
    /// Index of the atom in its template.
    pub atom: u32,
    /// Time of impact, in units of the direction of the ray (nm) or of the velocity of the shape.
    pub time: f32,
    /// Outward unit normal of the atom at the hit, body frame.
    pub normal: Vec3,
}

/// A molecule as a parry shape: the union of the balls of its atoms, body frame, nm.
///
/// The origin is the center of mass. Construction builds a BVH, a grid and clusters of the
/// atoms, so build one shape per template and give every molecule a clone of the same
/// [`SharedShape`](rapier3d::parry::shape::SharedShape); clones of the shape itself are
/// cheap too. See the [module docs](super) for an example.
///
/// To get a molecule back from a collider, downcast its shape: `collider.shape().as_shape()`, or
/// `collider.raw.as_shape()` with `bevy_rapier3d`. Its *typed* shape is only the bounding sphere,
/// which debug renderers draw.
#[derive(Clone)]
pub struct MoleculeShape(Arc<ShapeData>);

struct ShapeData {
    template: Arc<MoleculeTemplate>,
    tree: Bvh,
    grid: LocalGrid,
    spheres: Arc<RigidSpheres>,
    aabb: Aabb,
    smallest_radius: f32,
    /// The bounding sphere; see `as_typed_shape`.
    outline: RoundCylinder,
}

impl MoleculeShape {
    /// The shape of all molecules that share `template`.
    #[must_use]
    pub fn new(template: Arc<MoleculeTemplate>) -> Self {
        let (positions, radii) = (template.positions(), template.radii());
        let boxes: Vec<Aabb> = positions
            .iter()
            .zip(radii)
            .map(|(&center, &radius)| Aabb::from_half_extents(center, Vec3::splat(radius)))
            .collect();
        let empty = Aabb::from_half_extents(Vec3::ZERO, Vec3::splat(EMPTY_HALF_EXTENT));
        let aabb = boxes
            .iter()
            .copied()
            .reduce(|a, b| Aabb::new(a.mins.min(b.mins), a.maxs.max(b.maxs)))
            .unwrap_or(empty);
        let smallest_radius = radii.iter().copied().reduce(f32::min);
        Self(Arc::new(ShapeData {
            tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes),
            grid: LocalGrid::new(positions, radii),
            spheres: Arc::new(RigidSpheres::atoms(&template)),
            aabb,
            smallest_radius: smallest_radius.unwrap_or(EMPTY_HALF_EXTENT),
            outline: RoundCylinder {
                inner_shape: Cylinder::new(0.0, 0.0),
                border_radius: template.bounding_radius(),
            },
            template,
        }))
    }

    /// The template of the molecule.
    #[must_use]
    pub fn template(&self) -> &Arc<MoleculeTemplate> {
        &self.0.template
    }

    /// Bounding box of all atoms, body frame, nm.
    #[must_use]
    pub fn aabb(&self) -> &Aabb {
        &self.0.aabb
    }

    /// The cells over the atoms, body frame.
    pub(super) fn grid(&self) -> &LocalGrid {
        &self.0.grid
    }

    /// The atoms in clusters, body frame.
    pub(crate) fn spheres(&self) -> &Arc<RigidSpheres> {
        &self.0.spheres
    }

    /// The BVH over the boxes of the atoms, body frame; leaf `k` is atom `k`.
    pub(super) fn tree(&self) -> &Bvh {
        &self.0.tree
    }

    /// Center and radius (nm) of an atom, if the index is valid.
    #[inline]
    pub(crate) fn atom(&self, index: u32) -> Option<(Vec3, f32)> {
        let template = &self.0.template;
        let index = index as usize;
        Some((
            *template.positions().get(index)?,
            *template.radii().get(index)?,
        ))
    }

    /// The first atom that a body-frame ray (nm) hits within `max_time`, in units of the
    /// direction of the ray.
    ///
    /// With `solid`, a ray that starts inside an atom hits that atom at time zero;
    /// otherwise atoms are hollow and it hits their far side.
    #[must_use]
    pub fn atom_hit_by_ray(&self, ray: &Ray, max_time: f32, solid: bool) -> Option<AtomHit> {
        let (atom, hit) =
            CompositeShapeRef(self).cast_local_ray_and_get_normal(ray, max_time, solid)?;
        Some(AtomHit {
            atom,
            time: hit.time_of_impact,
            normal: hit.normal,
        })
    }

    /// The atom whose surface is nearest to a body-frame point (nm), among those closer than
    /// `max_distance` nm, and the signed distance to it (nm): negative inside the atom.
    ///
    /// Inside several atoms, this is the one in which the point is deepest.
    #[must_use]
    pub fn nearest_atom(&self, point: Vec3, max_distance: f32) -> Option<(u32, f32)> {
        let min_distance = -self.0.grid.largest_radius();
        self.0.tree.find_best(
            max_distance,
            |node: &BvhNode, _| {
                let outside = point.distance(point.clamp(node.mins(), node.maxs()));
                if outside > 0.0 { outside } else { min_distance }
            },
            |index, _| {
                let (center, radius) = self.atom(index)?;
                Some(point.distance(center) - radius)
            },
        )
    }

    /// Indices of the atoms that touch or overlap a ball (body frame, nm), in ascending order.
    #[must_use]
    pub fn atoms_touching_ball(&self, center: Vec3, radius: f32) -> Vec<u32> {
        let mut found = Vec::new();
        let _ = self.0.grid.visit_touching(center, radius, |atom| {
            found.push(atom.index);
            ControlFlow::<()>::Continue(())
        });
        found.sort_unstable();
        found
    }

    /// Projection on the surface of the nearest atom that is closer than `max_distance`.
    ///
    /// From inside, this is the surface of the atom in which the point is deepest. It may
    /// lie inside another atom, since atoms of a molecule overlap.
    fn project(
        &self,
        point: Vec3,
        solid: bool,
        max_distance: f32,
    ) -> Option<(PointProjection, u32)> {
        let (index, distance) = self.nearest_atom(point, max_distance)?;
        let (center, radius) = self.atom(index)?;
        let inside = distance <= 0.0;
        let projected = if inside && solid {
            point
        } else {
            center + (point - center).normalize_or(Vec3::Y) * radius
        };
        Some((PointProjection::new(inside, projected), index))
    }
}

impl fmt::Debug for MoleculeShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MoleculeShape")
            .field("template", &self.0.template.name())
            .field("atoms", &self.0.template.atom_count())
            .finish_non_exhaustive()
    }
}

impl Shape for MoleculeShape {
    fn compute_local_aabb(&self) -> Aabb {
        self.0.aabb
    }

    fn compute_local_bounding_sphere(&self) -> BoundingSphere {
        let radius = self.0.template.bounding_radius().max(EMPTY_HALF_EXTENT);
        BoundingSphere::new(Vec3::ZERO, radius)
    }

    fn clone_dyn(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }

    /// Returns `None` for any scale other than one: the size of a molecule is fixed.
    fn scale_dyn(&self, scale: Vec3, _: u32) -> Option<Box<dyn Shape>> {
        scale
            .abs_diff_eq(Vec3::ONE, 1.0e-6)
            .then(|| self.clone_dyn())
    }

    /// Mass (Da) and inertia (Da·nm²) of the template, multiplied by `density`.
    ///
    /// `density` is dimensionless: 1 is the real molecule. Use a collider with density
    /// zero on a body that already has the mass of the molecule.
    fn mass_properties(&self, density: f32) -> MassProperties {
        let template = &self.0.template;
        MassProperties::with_principal_inertia_frame(
            Vec3::ZERO,
            template.mass() * density,
            template.principal_inertia() * density,
            template.principal_axes(),
        )
    }

    fn shape_type(&self) -> ShapeType {
        ShapeType::Custom
    }

    /// The bounding sphere, as a cylinder of zero size with a round border. [`shape_type`] is
    /// `Custom` nevertheless, and contacts and queries use the atoms.
    ///
    /// Rapier's debug renderer draws the outline of this shape; it draws nothing for
    /// `TypedShape::Custom`, and `bevy_rapier3d` panics on it in `Collider::as_typed_shape` and in
    /// the `Debug` of a `Collider`. A `Ball` would do for them, but Rapier's continuous collision
    /// detection would sweep that ball instead of calling the
    /// [`MoleculeDispatcher`](super::MoleculeDispatcher).
    ///
    /// [`shape_type`]: Shape::shape_type
    fn as_typed_shape(&self) -> TypedShape<'_> {
        TypedShape::RoundCylinder(&self.0.outline)
    }

    /// Radius of the smallest atom, nm: if a molecule moves less per step, no atom tunnels
    /// through a wall.
    fn ccd_thickness(&self) -> f32 {
        self.0.smallest_radius
    }

    fn ccd_angular_thickness(&self) -> f32 {
        FRAC_PI_4
    }

    fn as_composite_shape(&self) -> Option<&dyn CompositeShape> {
        Some(self)
    }

    /// The normal of atom `k`, feature `Face(k)`, towards a point.
    fn feature_normal_at_point(&self, feature: FeatureId, point: Vec3) -> Option<Vec3> {
        let FeatureId::Face(index) = feature else {
            return None;
        };
        let (center, _) = self.atom(index)?;
        (point - center).try_normalize()
    }
}

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

    /// Returns the point itself if it is not finite or the molecule has no atoms.
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

    /// Distance to the nearest atom; inside, zero if `solid` and negative otherwise.
    fn distance_to_local_point(&self, point: Vec3, solid: bool) -> f32 {
        let nearest = self.nearest_atom(point, f32::MAX);
        let distance = nearest.map_or(f32::MAX, |found| found.1);
        if solid { distance.max(0.0) } else { distance }
    }

    fn contains_local_point(&self, point: Vec3) -> bool {
        self.grid()
            .visit_touching(point, 0.0, |_| ControlFlow::Break(()))
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
