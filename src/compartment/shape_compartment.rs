//! [`ShapeCompartment`]: the surface of any solid shape, a core solid dilated by a ball.
//!
//! The signed distance of a convex core *K* is the maximum of u·p − h(u) over all directions u,
//! where h is the support function, as long as that is negative, and the distance to *K* elsewhere.
//! Dilation by a ball of radius ρ adds ρ to h for every u. The distance of the rounded solid is
//! therefore the distance of its core minus ρ everywhere, and its surface at offset r is that of
//! the core at r + ρ. A ball is a rounded point, a capsule a rounded segment.

use std::fmt::Debug;
use std::sync::Arc;

use glam::Vec3;
use rand::Rng;
use rapier3d::parry::shape::{ShapeType, SharedShape, TypedShape};

use super::closed_mesh::ClosedMesh;
use super::cuboid::Cuboid;
use super::revolved_solid::RevolvedSolid;
use super::segment::Segment;
use super::steiner::SteinerPolynomial;
use super::{CompartmentError, DistanceAndNormal, Surface, checked_pose};
use crate::pose::Pose;

/// A solid in its own frame. Lengths in nm.
pub(super) trait Solid: Debug + Send + Sync {
    /// Signed distance and outward unit normal at `point`.
    fn distance_and_normal(&self, point: Vec3) -> DistanceAndNormal;

    /// Center of the volume.
    fn center(&self) -> Vec3;

    /// Area (nm²) of the surface offset outwards by `offset`.
    fn area_at(&self, offset: f32) -> f32;

    /// A uniformly distributed point of the surface offset outwards by `offset`.
    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3;

    /// Volume and, if the solid is convex, its growth with a dilation.
    fn steiner_polynomial(&self) -> SteinerPolynomial;
}

/// The surface of a solid shape at a pose in the world.
///
/// Exact: distances, normals and volumes of all shapes; areas of balls, capsules and boxes, and of
/// convex polyhedra offset outwards; samples of balls, capsules, boxes and meshes.
///
/// Approximate: cylinders and cones take their areas and the distribution of their samples from
/// prisms and pyramids with 128 sides, but samples are projected onto the true surface. The
/// area of a mesh that is offset inwards, or that is not convex, is Steiner's polynomial, which
/// holds for smooth surfaces as long as the offset is smaller than their radius of curvature.
///
/// The normal is discontinuous on the medial axis and just inside sharp edges. For a membrane
/// with upright molecules use a rounded shape, such as a rounded cuboid instead of a box.
#[derive(Clone, Debug)]
pub struct ShapeCompartment {
    shape: SharedShape,
    core: Arc<dyn Solid>,
    /// Radius of the ball that dilates the core, nm.
    rounding: f32,
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
        let (core, rounding) = core_and_rounding(&shape)?;
        CompartmentError::check_not_negative(&[("rounding", rounding)])?;
        Ok(Self {
            shape,
            core,
            rounding,
            pose,
        })
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
            core: Arc::new(mesh),
            rounding: 0.0,
            pose,
        })
    }

    /// The parry shape in its own frame, for a collider or for drawing.
    #[must_use]
    pub fn shape(&self) -> &SharedShape {
        &self.shape
    }
}

/// The core solid of a parry shape, and the radius by which it is rounded.
fn core_and_rounding(shape: &SharedShape) -> Result<(Arc<dyn Solid>, f32), CompartmentError> {
    let not_solid = |kind| Err(CompartmentError::NotSolid { kind });
    let capsule = |ends, radius| {
        CompartmentError::check_positive(&[("radius", radius)])?;
        let core: Arc<dyn Solid> = Arc::new(Segment::new(ends)?);
        Ok((core, radius))
    };
    let mesh = |(vertices, triangles): (Vec<_>, Vec<_>)| ClosedMesh::new(&vertices, &triangles);
    // A molecule has a typed shape for debug renderers, which is not its surface.
    if shape.shape_type() == ShapeType::Custom {
        return not_solid("custom shape");
    }
    Ok(match shape.as_typed_shape() {
        TypedShape::Ball(ball) => return capsule([Vec3::ZERO; 2], ball.radius),
        TypedShape::Capsule(shape) => {
            return capsule([shape.segment.a, shape.segment.b], shape.radius);
        }
        TypedShape::Cuboid(cuboid) => (Arc::new(Cuboid::new(cuboid.half_extents)?), 0.0),
        TypedShape::RoundCuboid(round) => {
            let core = Cuboid::new(round.inner_shape.half_extents)?;
            (Arc::new(core), round.border_radius)
        }
        TypedShape::Cylinder(cylinder) => (Arc::new(RevolvedSolid::cylinder(cylinder)?), 0.0),
        TypedShape::RoundCylinder(round) => {
            let core = RevolvedSolid::cylinder(&round.inner_shape)?;
            (Arc::new(core), round.border_radius)
        }
        TypedShape::Cone(cone) => (Arc::new(RevolvedSolid::cone(cone)?), 0.0),
        TypedShape::RoundCone(round) => {
            let core = RevolvedSolid::cone(&round.inner_shape)?;
            (Arc::new(core), round.border_radius)
        }
        TypedShape::TriMesh(mesh) => {
            let core = ClosedMesh::new(mesh.vertices(), mesh.indices())?;
            (Arc::new(core), 0.0)
        }
        TypedShape::ConvexPolyhedron(shape) => (Arc::new(mesh(shape.to_trimesh())?), 0.0),
        TypedShape::RoundConvexPolyhedron(round) => {
            let core = mesh(round.inner_shape.to_trimesh())?;
            (Arc::new(core), round.border_radius)
        }
        TypedShape::Segment(_) => return not_solid("segment"),
        TypedShape::Triangle(_) | TypedShape::RoundTriangle(_) => return not_solid("triangle"),
        TypedShape::Polyline(_) => return not_solid("polyline"),
        TypedShape::HalfSpace(_) => return not_solid("half space"),
        TypedShape::HeightField(_) => return not_solid("height field"),
        // Parts may overlap or touch, and their interfaces are not surface.
        TypedShape::Compound(_) => return not_solid("compound of shapes"),
        TypedShape::Voxels(_) => return not_solid("set of voxels"),
        TypedShape::Custom(_) => return not_solid("custom shape"),
    })
}

impl Surface for ShapeCompartment {
    fn distance_and_normal(&self, point: Vec3) -> DistanceAndNormal {
        let local = self.pose.inverse_transform_point(point);
        let DistanceAndNormal { distance, normal } = self.core.distance_and_normal(local);
        DistanceAndNormal {
            distance: distance - self.rounding,
            normal: self.pose.rotation * normal,
        }
    }

    fn center(&self) -> Vec3 {
        self.pose.transform_point(self.core.center())
    }

    fn area_at(&self, offset: f32) -> f32 {
        self.core.area_at(offset + self.rounding)
    }

    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        let local = self.core.sample(offset + self.rounding, random);
        self.pose.transform_point(local)
    }

    /// Only convex cores are rounded.
    fn volume(&self) -> Option<f32> {
        let volume = self.core.steiner_polynomial().volume_at(self.rounding);
        Some(volume as f32)
    }

    fn as_shape(&self) -> Option<(&SharedShape, Pose)> {
        Some((&self.shape, self.pose))
    }

    fn pose(&self) -> Option<Pose> {
        Some(self.pose)
    }

    fn with_pose(&self, pose: &Pose) -> Result<Arc<dyn Surface>, CompartmentError> {
        let pose = checked_pose(pose)?;
        Ok(Arc::new(Self {
            pose,
            ..self.clone()
        }))
    }
}
