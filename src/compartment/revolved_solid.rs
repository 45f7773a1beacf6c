//! [`RevolvedSolid`]: cylinders and cones, with parry's exact projection and a triangulation
//! for areas and samples.

use glam::Vec3;
use rand::Rng;
use rapier3d::parry::shape::{Cone, Cylinder, SharedShape};

use super::closed_mesh::ClosedMesh;
use super::shape_compartment::Solid;
use super::steiner::SteinerPolynomial;
use super::{CompartmentError, DistanceAndNormal, direction};

/// Sides of the prism or pyramid that approximates the solid: its ends are smaller by a
/// fraction of (2π/n)²/6, 0.04 %, and its side by a quarter of that.
const SIDES: u32 = 128;

/// Distance from the surface below which the vector to the closest point is too short for a
/// direction, as a fraction of the size.
const MIN_DISTANCE: f32 = 1.0e-5;

/// How far a point on the surface is moved towards the center to query the normal there, as a
/// fraction of its distance from the center.
const INWARD_STEP: f32 = 1.0e-3;

/// A convex solid of revolution about its y axis that contains its center.
#[derive(Clone, Debug)]
pub(super) struct RevolvedSolid {
    shape: SharedShape,
    mesh: ClosedMesh,
    size: f32,
    steiner: SteinerPolynomial,
}

impl RevolvedSolid {
    pub(super) fn cylinder(cylinder: &Cylinder) -> Result<Self, CompartmentError> {
        Self::new(
            SharedShape::new(*cylinder),
            [cylinder.half_height, cylinder.radius],
            SteinerPolynomial::cylinder,
            || cylinder.to_trimesh(SIDES),
        )
    }

    pub(super) fn cone(cone: &Cone) -> Result<Self, CompartmentError> {
        Self::new(
            SharedShape::new(*cone),
            [cone.half_height, cone.radius],
            SteinerPolynomial::cone,
            || cone.to_trimesh(SIDES),
        )
    }

    fn new(
        shape: SharedShape,
        [half_height, radius]: [f32; 2],
        steiner: fn(f32, f32) -> SteinerPolynomial,
        triangulate: impl Fn() -> (Vec<Vec3>, Vec<[u32; 3]>),
    ) -> Result<Self, CompartmentError> {
        CompartmentError::check_positive(&[("half height", half_height), ("radius", radius)])?;
        let (vertices, triangles) = triangulate();
        Ok(Self {
            shape,
            mesh: ClosedMesh::new(&vertices, &triangles)?,
            size: half_height.min(radius),
            steiner: steiner(half_height, radius),
        })
    }

    /// Whether `point` is inside, and the vector from the closest surface point to it.
    fn project(&self, point: Vec3) -> (bool, Vec3) {
        let closest = self.shape.project_local_point(point, false);
        (closest.is_inside, point - closest.point)
    }
}

impl Solid for RevolvedSolid {
    fn distance_and_normal(&self, point: Vec3) -> DistanceAndNormal {
        let (inside, arm) = self.project(point);
        let sign = if inside { -1.0 } else { 1.0 };
        let distance = sign * arm.length();
        let normal = if distance.abs() > MIN_DISTANCE * self.size {
            direction(arm).map(|out| out * sign)
        } else {
            // The solid is convex: a step towards the center leads inside.
            let (_, arm) = self.project(point * (1.0 - INWARD_STEP));
            direction(arm).map(|out| -out)
        };
        DistanceAndNormal {
            distance,
            normal: normal.unwrap_or(Vec3::Y),
        }
    }

    fn center(&self) -> Vec3 {
        Vec3::ZERO
    }

    fn area_at(&self, offset: f32) -> f32 {
        self.mesh.area_at(offset)
    }

    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        // Project the sample of the triangulation onto the round surface.
        let point = self.mesh.sample(offset, random);
        let surface = self.distance_and_normal(point);
        point + surface.normal * (offset - surface.distance)
    }

    fn steiner_polynomial(&self) -> SteinerPolynomial {
        self.steiner
    }
}
