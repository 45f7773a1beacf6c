//! A molecule as a parry shape.

use std::f32::consts::FRAC_PI_4;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use glam::Vec3;
use rapier3d::parry::bounding_volume::{Aabb, BoundingSphere};
use rapier3d::parry::mass_properties::MassProperties;
use rapier3d::parry::partitioning::{Bvh, BvhBuildStrategy, BvhNode};
use rapier3d::parry::query::Ray;
use rapier3d::parry::shape::{
    CompositeShape, CompositeShapeRef, FeatureId, Shape, ShapeType, TypedShape,
};

use crate::molecule::{LocalGrid, MoleculeTemplate};

/// Half the side (nm) of the box that stands for a molecule without atoms.
///
/// Parry's trees need boxes that are not inside out.
const NOTHING: f32 = 1.0e-6;

/// Where a ray or a moving shape meets a molecule, body frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtomHit {
    /// Index of the atom in its template.
    pub atom: u32,
    /// Time of impact: how many times the direction of the ray (nm), or the velocity of the
    /// shape, fits into the way to it.
    pub time: f32,
    /// Outward unit normal of the atom where it is hit, body frame.
    pub normal: Vec3,
}

/// A molecule as a parry shape: the union of its atoms' balls, in the body frame, nm.
///
/// The origin is the center of mass. Building it costs a tree and a grid over the
/// atoms, so build one for a template and give every molecule a clone of the same
/// [`SharedShape`](rapier3d::parry::shape::SharedShape); clones of the shape
/// itself are cheap as well. The [module](super) page has an example.
#[derive(Clone)]
pub struct MoleculeShape(Arc<Parts>);

struct Parts {
    template: Arc<MoleculeTemplate>,
    tree: Bvh,
    grid: LocalGrid,
    aabb: Aabb,
    smallest_radius: f32,
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
        let nothing = Aabb::from_half_extents(Vec3::ZERO, Vec3::splat(NOTHING));
        let aabb = boxes
            .iter()
            .copied()
            .reduce(|a, b| Aabb::new(a.mins.min(b.mins), a.maxs.max(b.maxs)))
            .unwrap_or(nothing);
        let smallest_radius = radii.iter().copied().fold(f32::INFINITY, f32::min);
        Self(Arc::new(Parts {
            tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes),
            grid: LocalGrid::new(positions, radii),
            aabb,
            smallest_radius: if smallest_radius.is_finite() {
                smallest_radius
            } else {
                NOTHING
            },
            template,
        }))
    }

    /// The template whose atoms these are.
    #[must_use]
    pub fn template(&self) -> &Arc<MoleculeTemplate> {
        &self.0.template
    }

    /// The cells over the atoms, body frame.
    #[must_use]
    pub fn grid(&self) -> &LocalGrid {
        &self.0.grid
    }

    /// The tree over the boxes of the atoms, body frame; leaf `k` is atom `k`.
    #[must_use]
    pub fn tree(&self) -> &Bvh {
        &self.0.tree
    }

    /// Box of all atoms' balls, body frame, nm.
    #[must_use]
    pub fn aabb(&self) -> &Aabb {
        &self.0.aabb
    }

    /// Center and radius (nm) of one atom, if there is such an atom.
    #[inline]
    pub(super) fn atom(&self, index: u32) -> Option<(Vec3, f32)> {
        let template = &self.0.template;
        let index = index as usize;
        Some((
            *template.positions().get(index)?,
            *template.radii().get(index)?,
        ))
    }

    /// The first atom that a body-frame ray (nm) meets within `max_time`, in units of the
    /// ray's direction.
    ///
    /// With `solid`, a ray that starts inside of an atom hits that atom at once;
    /// without, atoms are hollow and it hits their far side.
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

    /// The atom whose surface is nearest to a body-frame point (nm), and the distance
    /// to it (nm): negative inside of the atom.
    ///
    /// A point inside of several atoms belongs to the one it is deepest in.
    #[must_use]
    pub fn nearest_atom(&self, point: Vec3) -> Option<(u32, f32)> {
        self.nearest_atom_within(point, f32::MAX)
    }

    /// As [`nearest_atom`](Self::nearest_atom), of atoms nearer than `max` nm only.
    #[must_use]
    pub fn nearest_atom_within(&self, point: Vec3, max: f32) -> Option<(u32, f32)> {
        let deepest = -self.0.grid.largest_radius();
        self.0.tree.find_best(
            max,
            |node: &BvhNode, _| {
                let outside = point.distance(point.clamp(node.mins(), node.maxs()));
                if outside > 0.0 { outside } else { deepest }
            },
            |index, _| {
                let (center, radius) = self.atom(index)?;
                Some(point.distance(center) - radius)
            },
        )
    }

    /// Indices of the atoms that touch or overlap a ball, in ascending order.
    ///
    /// Center and radius are in the body frame, nm.
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
        let radius = self.0.template.bounding_radius().max(NOTHING);
        BoundingSphere::new(Vec3::ZERO, radius)
    }

    fn clone_dyn(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }

    /// Molecules have their size: any scale but one is refused.
    fn scale_dyn(&self, scale: Vec3, _: u32) -> Option<Box<dyn Shape>> {
        scale
            .abs_diff_eq(Vec3::ONE, 1.0e-6)
            .then(|| self.clone_dyn())
    }

    /// The template's mass (Da) and inertia (Da·nm²), both times `density`.
    ///
    /// So `density` has no unit here: one is the real molecule. A body that already
    /// has its molecule's mass wants a collider with density zero.
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

    fn as_typed_shape(&self) -> TypedShape<'_> {
        TypedShape::Custom(self)
    }

    /// The smallest atom's radius, nm: a molecule that moves less in a step cannot
    /// lose an atom behind a wall.
    fn ccd_thickness(&self) -> f32 {
        self.0.smallest_radius
    }

    fn ccd_angular_thickness(&self) -> f32 {
        FRAC_PI_4
    }

    fn as_composite_shape(&self) -> Option<&dyn CompositeShape> {
        Some(self)
    }

    /// The normal of atom `k`, which is feature `Face(k)`, towards a point.
    fn feature_normal_at_point(&self, feature: FeatureId, point: Vec3) -> Option<Vec3> {
        let FeatureId::Face(index) = feature else {
            return None;
        };
        let (center, _) = self.atom(index)?;
        (point - center).try_normalize()
    }
}
