//! [`RoundedSolid`]: a solid dilated by a ball, and its construction from parry shapes.
//!
//! The signed distance of a convex core *K* is the maximum of u·p − h(u) over all directions u,
//! where h is the support function, as long as that is negative, and the distance to *K*
//! elsewhere. Dilation by a ball of radius ρ adds ρ to h for every u. The distance of the
//! rounded solid is therefore the distance of its core minus ρ everywhere, and its surface at
//! offset r is that of the core at r + ρ. A ball is a rounded point, a capsule a rounded
//! segment.

use std::fmt::Debug;

use glam::Vec3;
use rand::Rng;
use rapier3d::parry::shape::{ConvexPolyhedron, Shape, TypedShape};

use super::closed_mesh::ClosedMesh;
use super::cuboid::Cuboid;
use super::revolved_solid::RevolvedSolid;
use super::segment::Segment;
use super::{CompartmentError, DistanceAndNormal};

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
}

/// A core solid and the radius by which it is rounded.
#[derive(Debug)]
pub(super) struct RoundedSolid {
    core: Box<dyn Solid>,
    rounding: f32,
}

impl RoundedSolid {
    pub(super) fn new(core: impl Solid + 'static, rounding: f32) -> Result<Self, CompartmentError> {
        CompartmentError::check_not_negative(&[("rounding", rounding)])?;
        Ok(Self {
            core: Box::new(core),
            rounding,
        })
    }

    /// The solid of a parry shape.
    pub(super) fn from_shape(shape: &dyn Shape) -> Result<Self, CompartmentError> {
        let not_solid = |kind| Err(CompartmentError::NotSolid { kind });
        let capsule = |ends, radius| {
            CompartmentError::check_positive(&[("radius", radius)])?;
            Self::new(Segment::new(ends)?, radius)
        };
        let polyhedron = |polyhedron: &ConvexPolyhedron, rounding| {
            let (vertices, triangles) = polyhedron.to_trimesh();
            Self::new(ClosedMesh::new(&vertices, &triangles)?, rounding)
        };
        match shape.as_typed_shape() {
            TypedShape::Ball(ball) => capsule([Vec3::ZERO; 2], ball.radius),
            TypedShape::Capsule(shape) => capsule([shape.segment.a, shape.segment.b], shape.radius),
            TypedShape::Cuboid(cuboid) => Self::new(Cuboid::new(cuboid.half_extents)?, 0.0),
            TypedShape::RoundCuboid(round) => Self::new(
                Cuboid::new(round.inner_shape.half_extents)?,
                round.border_radius,
            ),
            TypedShape::Cylinder(cylinder) => Self::new(RevolvedSolid::cylinder(cylinder)?, 0.0),
            TypedShape::RoundCylinder(round) => Self::new(
                RevolvedSolid::cylinder(&round.inner_shape)?,
                round.border_radius,
            ),
            TypedShape::Cone(cone) => Self::new(RevolvedSolid::cone(cone)?, 0.0),
            TypedShape::RoundCone(round) => Self::new(
                RevolvedSolid::cone(&round.inner_shape)?,
                round.border_radius,
            ),
            TypedShape::TriMesh(mesh) => {
                Self::new(ClosedMesh::new(mesh.vertices(), mesh.indices())?, 0.0)
            }
            TypedShape::ConvexPolyhedron(shape) => polyhedron(shape, 0.0),
            TypedShape::RoundConvexPolyhedron(round) => {
                polyhedron(&round.inner_shape, round.border_radius)
            }
            TypedShape::Segment(_) => not_solid("segment"),
            TypedShape::Triangle(_) | TypedShape::RoundTriangle(_) => not_solid("triangle"),
            TypedShape::Polyline(_) => not_solid("polyline"),
            TypedShape::HalfSpace(_) => not_solid("half space"),
            TypedShape::HeightField(_) => not_solid("height field"),
            // Parts may overlap or touch, and their interfaces are not surface.
            TypedShape::Compound(_) => not_solid("compound of shapes"),
            TypedShape::Voxels(_) => not_solid("set of voxels"),
            TypedShape::Custom(_) => not_solid("custom shape"),
        }
    }
}

impl Solid for RoundedSolid {
    fn distance_and_normal(&self, point: Vec3) -> DistanceAndNormal {
        let DistanceAndNormal { distance, normal } = self.core.distance_and_normal(point);
        DistanceAndNormal {
            distance: distance - self.rounding,
            normal,
        }
    }

    fn center(&self) -> Vec3 {
        self.core.center()
    }

    fn area_at(&self, offset: f32) -> f32 {
        self.core.area_at(offset + self.rounding)
    }

    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        self.core.sample(offset + self.rounding, random)
    }
}
