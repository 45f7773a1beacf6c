//! Compartments of any solid shape: boxes, capsules, closed meshes.

use std::sync::Arc;

use glam::Vec3;
use rand::Rng;
use rapier3d::parry::shape::SharedShape;

use super::closed_mesh::ClosedMesh;
use super::rounded_solid::RoundedSolid;
use super::{CompartmentError, Surface, SurfacePoint, checked_pose};
use crate::pose::Pose;

/// The surface of a solid shape at a pose in the world.
///
/// What is exact: distances and normals of every shape; areas of balls, capsules and
/// boxes, and outwards of convex polyhedra; samples of balls, capsules, boxes and
/// meshes. What is not: cylinders and cones have their areas and the spread of their
/// samples from prisms and pyramids with 128 sides (the samples themselves are moved
/// to the true surface); the area of a mesh moved inwards, or out of a mesh that is
/// not convex, is that of Steiner's polynomial, which holds for smooth surfaces as
/// long as the offset is less than their radius of curvature.
///
/// The normal jumps at the middle line inside, and at sharp edges just inside. A
/// membrane with upright molecules wants a rounded shape: a rounded cuboid rather than
/// a box.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// let cell = ShapeCompartment::capsule(4.0, 2.0, Pose::IDENTITY)?;
/// let surface = cell.surface(Vec3::X * 3.0);
/// assert!((surface.distance - 1.0).abs() < 1e-5, "outside of it, nm");
/// assert!(surface.normal.abs_diff_eq(Vec3::X, 1e-5));
/// # Ok::<(), bevy_rapier_molecules::compartment::CompartmentError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ShapeCompartment {
    shape: SharedShape,
    solid: Arc<RoundedSolid>,
    pose: Pose,
}

impl ShapeCompartment {
    /// The surface of a parry shape that encloses a volume, at `pose` in the world:
    /// ball, cuboid, capsule, cylinder, cone, convex polyhedron, the rounded forms of
    /// these, and triangle meshes that are closed. Lengths are nm.
    ///
    /// # Errors
    /// [`CompartmentError`] if the shape has no inside, its lengths or vertices are
    /// not finite and positive, a mesh is not closed, or the pose is none.
    pub fn new(shape: SharedShape, pose: Pose) -> Result<Self, CompartmentError> {
        let pose = checked_pose(&pose)?;
        let solid = Arc::new(RoundedSolid::from_shape(&*shape.0)?);
        Ok(Self { shape, solid, pose })
    }

    /// A box with these half extents (nm) along the axes of `pose`.
    ///
    /// # Errors
    /// [`CompartmentError`] if a half extent is not positive or the pose is none.
    pub fn cuboid(half_extents: Vec3, pose: Pose) -> Result<Self, CompartmentError> {
        let Vec3 { x, y, z } = half_extents;
        Self::new(SharedShape::cuboid(x, y, z), pose)
    }

    /// A capsule along the y axis of `pose`: a cylinder from −`half_height` to
    /// `half_height` (nm) with half a ball of `radius` (nm) on either end.
    ///
    /// # Errors
    /// [`CompartmentError`] if the radius is not positive, the half height negative,
    /// or the pose none.
    pub fn capsule(half_height: f32, radius: f32, pose: Pose) -> Result<Self, CompartmentError> {
        CompartmentError::check_not_negative(&[("half height", half_height)])?;
        Self::new(SharedShape::capsule_y(half_height, radius), pose)
    }

    /// A closed triangle mesh with its vertices (nm) in the frame of `pose`.
    ///
    /// Vertices in the same place count as one, so that meshes with a vertex for each
    /// face or with seams will do. All triangles run the same way round; if that is
    /// clockwise seen from outside, they are turned. A hollow mesh has the triangles
    /// of its cavities the other way round.
    ///
    /// # Errors
    /// [`CompartmentError`] says which vertex, triangle or edge keeps the mesh from
    /// being closed.
    pub fn mesh(
        vertices: &[Vec3],
        triangles: &[[u32; 3]],
        pose: Pose,
    ) -> Result<Self, CompartmentError> {
        let pose = checked_pose(&pose)?;
        let mesh = ClosedMesh::new(vertices, triangles)?;
        Ok(Self {
            shape: SharedShape(mesh.triangles()),
            solid: Arc::new(RoundedSolid::new(mesh, 0.0)?),
            pose,
        })
    }

    /// The parry shape, for a collider or for drawing.
    #[must_use]
    pub fn shape(&self) -> &SharedShape {
        &self.shape
    }

    /// Where the shape is in the world.
    #[must_use]
    pub fn pose(&self) -> Pose {
        self.pose
    }

    /// The same shape at another pose; the shape is shared.
    ///
    /// # Errors
    /// [`CompartmentError::BadPose`] if the pose is not finite or its rotation is none.
    pub fn with_pose(&self, pose: &Pose) -> Result<Self, CompartmentError> {
        Ok(Self {
            pose: checked_pose(pose)?,
            ..self.clone()
        })
    }
}

impl Surface for ShapeCompartment {
    fn signed_distance(&self, point: Vec3) -> f32 {
        let local = self.pose.inverse_transform_point(point);
        self.solid.surface(local).distance
    }

    fn normal(&self, point: Vec3) -> Vec3 {
        self.surface(point).normal
    }

    fn surface(&self, point: Vec3) -> SurfacePoint {
        let local = self.pose.inverse_transform_point(point);
        let surface = self.solid.surface(local);
        SurfacePoint {
            distance: surface.distance,
            normal: self.pose.rotation * surface.normal,
        }
    }

    fn center(&self) -> Vec3 {
        self.pose.transform_point(self.solid.center())
    }

    fn area_at(&self, offset: f32) -> f32 {
        self.solid.area_at(offset)
    }

    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        self.pose.transform_point(self.solid.sample(offset, random))
    }

    fn at(&self, pose: &Pose) -> Result<Arc<dyn Surface>, CompartmentError> {
        Ok(Arc::new(self.with_pose(pose)?))
    }
}
