//! Solids in their own frame: a core, and a rounding all round it.
//!
//! The signed distance of a convex core *K* is the largest of u·p − h(u) over all
//! directions u, h being its support function, wherever that is negative, and the
//! distance to *K* elsewhere. Rounding by a ball of radius ρ adds ρ to h for every
//! u, so that the distance of the rounded solid is that of its core less ρ,
//! everywhere, and the surface at offset r is that of the core at r + ρ. A ball is a
//! rounded point, a capsule a rounded segment.

use std::fmt::Debug;

use glam::Vec3;
use rand::Rng;
use rapier3d::parry::shape::{Shape, TypedShape};

use super::closed_mesh::ClosedMesh;
use super::cuboid::Cuboid;
use super::revolved_solid::RevolvedSolid;
use super::segment::Segment;
use super::{CompartmentError, SurfacePoint};

/// What is left of a solid without its rounding, in its own frame. Lengths in nm.
pub(super) trait Solid: Debug + Send + Sync {
    /// Signed distance and outward normal at `point`; the normal is always a unit vector.
    fn surface(&self, point: Vec3) -> SurfacePoint;

    /// The point that the surface is around.
    fn center(&self) -> Vec3;

    /// Area (nm²) of the surface moved outwards by `offset`.
    fn area_at(&self, offset: f32) -> f32;

    /// A uniformly distributed point of the surface moved outwards by `offset`.
    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3;
}

/// A core and the radius that it is rounded by.
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
        match shape.as_typed_shape() {
            TypedShape::Ball(ball) => {
                CompartmentError::check_positive(&[("radius", ball.radius)])?;
                Self::new(Segment::new([Vec3::ZERO; 2])?, ball.radius)
            }
            TypedShape::Capsule(capsule) => {
                CompartmentError::check_positive(&[("radius", capsule.radius)])?;
                let ends = [capsule.segment.a, capsule.segment.b];
                Self::new(Segment::new(ends)?, capsule.radius)
            }
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
            TypedShape::ConvexPolyhedron(polyhedron) => {
                let (vertices, triangles) = polyhedron.to_trimesh();
                Self::new(ClosedMesh::new(&vertices, &triangles)?, 0.0)
            }
            TypedShape::RoundConvexPolyhedron(round) => {
                let (vertices, triangles) = round.inner_shape.to_trimesh();
                let core = ClosedMesh::new(&vertices, &triangles)?;
                Self::new(core, round.border_radius)
            }
            TypedShape::Segment(_) => not_solid("segment"),
            TypedShape::Triangle(_) | TypedShape::RoundTriangle(_) => not_solid("triangle"),
            TypedShape::Polyline(_) => not_solid("polyline"),
            TypedShape::HalfSpace(_) => not_solid("half space"),
            TypedShape::HeightField(_) => not_solid("height field"),
            // Parts of these overlap or touch, and what is between them is not surface.
            TypedShape::Compound(_) => not_solid("compound of shapes"),
            TypedShape::Voxels(_) => not_solid("set of voxels"),
            TypedShape::Custom(_) => not_solid("custom shape"),
        }
    }

    pub(super) fn surface(&self, point: Vec3) -> SurfacePoint {
        let core = self.core.surface(point);
        SurfacePoint {
            distance: core.distance - self.rounding,
            normal: core.normal,
        }
    }

    pub(super) fn center(&self) -> Vec3 {
        self.core.center()
    }

    pub(super) fn area_at(&self, offset: f32) -> f32 {
        self.core.area_at(offset + self.rounding)
    }

    pub(super) fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        self.core.sample(offset + self.rounding, random)
    }
}
