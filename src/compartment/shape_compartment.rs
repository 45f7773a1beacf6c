//! [`ShapeCompartment`]: the surface of any solid shape.

use std::sync::Arc;

use glam::Vec3;
use rand::Rng;
use rapier3d::parry::shape::SharedShape;

use super::closed_mesh::ClosedMesh;
use super::rounded_solid::{RoundedSolid, Solid};
use super::{CompartmentError, DistanceAndNormal, Surface, checked_pose};
use crate::pose::Pose;

/// The surface of a solid shape at a pose in the world.
///
/// Exact: distances and normals of all shapes; areas of balls, capsules and boxes, and of
/// convex polyhedra offset outwards; samples of balls, capsules, boxes and meshes.
///
/// Approximate: cylinders and cones take their areas and the distribution of their samples from
/// prisms and pyramids with 128 sides, but samples are projected onto the true surface. The
/// area of a mesh that is offset inwards, or that is not convex, is Steiner's polynomial, which
/// holds for smooth surfaces as long as the offset is smaller than their radius of curvature.
///
/// The normal is discontinuous on the medial axis and just inside sharp edges. For a membrane
/// with upright molecules use a rounded shape, such as a rounded cuboid instead of a box.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// let cell = ShapeCompartment::capsule(4.0, 2.0, Pose::IDENTITY)?;
/// let surface = cell.distance_and_normal(Vec3::X * 3.0);
/// assert!((surface.distance - 1.0).abs() < 1e-5, "nm outside");
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
    /// The surface of a parry shape that encloses a volume, at `pose` in the world: ball,
    /// cuboid, capsule, cylinder, cone, convex polyhedron, their rounded variants, or a closed
    /// triangle mesh. Lengths are nm.
    ///
    /// # Errors
    /// [`CompartmentError`] if the shape encloses no volume, a length or vertex is invalid, a
    /// mesh is not closed, or the pose is invalid.
    pub fn new(shape: SharedShape, pose: Pose) -> Result<Self, CompartmentError> {
        let pose = checked_pose(&pose)?;
        let solid = Arc::new(RoundedSolid::from_shape(&*shape.0)?);
        Ok(Self { shape, solid, pose })
    }

    /// A box with these half extents (nm) along the axes of `pose`.
    ///
    /// # Errors
    /// [`CompartmentError`] if a half extent is not positive or the pose is invalid.
    pub fn cuboid(half_extents: Vec3, pose: Pose) -> Result<Self, CompartmentError> {
        let Vec3 { x, y, z } = half_extents;
        Self::new(SharedShape::cuboid(x, y, z), pose)
    }

    /// A capsule along the y axis of `pose`: a cylinder from −`half_height` to `half_height`
    /// (nm) with a half ball of `radius` (nm) on either end.
    ///
    /// # Errors
    /// [`CompartmentError`] if the radius is not positive, the half height is negative, or the
    /// pose is invalid.
    pub fn capsule(half_height: f32, radius: f32, pose: Pose) -> Result<Self, CompartmentError> {
        CompartmentError::check_not_negative(&[("half height", half_height)])?;
        Self::new(SharedShape::capsule_y(half_height, radius), pose)
    }

    /// A closed triangle mesh with its vertices (nm) in the frame of `pose`.
    ///
    /// Vertices at the same position are merged, so that meshes with split normals or UV seams
    /// are accepted. All triangles need the same winding; if it is clockwise seen from outside,
    /// all are flipped. The triangles of a cavity have the opposite winding.
    ///
    /// # Errors
    /// [`CompartmentError`] names the vertex, triangle or edge at which the mesh is not closed.
    pub fn mesh(
        vertices: &[Vec3],
        triangles: &[[u32; 3]],
        pose: Pose,
    ) -> Result<Self, CompartmentError> {
        let pose = checked_pose(&pose)?;
        let mesh = ClosedMesh::new(vertices, triangles)?;
        Ok(Self {
            shape: SharedShape(mesh.trimesh()),
            solid: Arc::new(RoundedSolid::new(mesh, 0.0)?),
            pose,
        })
    }

    /// The parry shape in its own frame, for a collider or for drawing.
    #[must_use]
    pub fn shape(&self) -> &SharedShape {
        &self.shape
    }
}

impl Surface for ShapeCompartment {
    fn distance_and_normal(&self, point: Vec3) -> DistanceAndNormal {
        let local = self.pose.inverse_transform_point(point);
        let DistanceAndNormal { distance, normal } = self.solid.distance_and_normal(local);
        DistanceAndNormal {
            distance,
            normal: self.pose.rotation * normal,
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

    fn with_pose(&self, pose: &Pose) -> Result<Arc<dyn Surface>, CompartmentError> {
        let pose = checked_pose(pose)?;
        Ok(Arc::new(Self {
            pose,
            ..self.clone()
        }))
    }
}
