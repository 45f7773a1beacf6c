//! Cylinders and cones: parry's exact projection, and a triangulation to sample.

use glam::Vec3;
use rand::Rng;
use rapier3d::parry::shape::{Cone, Cylinder, SharedShape};

use super::closed_mesh::ClosedMesh;
use super::rounded_solid::Solid;
use super::{CompartmentError, SurfacePoint, direction};

/// Sides of the prism or pyramid that stands for a round solid: its ends are smaller
/// by a fraction of (2π/n)²/6, 0.04 %, and its side by a quarter of that.
const SIDES: u32 = 128;

/// Distance from the surface below which the way to the nearest point is too short
/// for a direction, as a fraction of the size.
const SHORTEST_ARM: f32 = 1.0e-5;

/// How far a point that is too near to the surface is drawn to the middle to ask for
/// the normal there, as a fraction of the way.
const STEP_BACK: f32 = 1.0e-3;

/// A convex solid of revolution about its own y axis, with its center inside.
#[derive(Clone, Debug)]
pub(super) struct RevolvedSolid {
    shape: SharedShape,
    hull: ClosedMesh,
    size: f32,
}

impl RevolvedSolid {
    pub(super) fn cylinder(cylinder: &Cylinder) -> Result<Self, CompartmentError> {
        let lengths = [
            ("half height", cylinder.half_height),
            ("radius", cylinder.radius),
        ];
        CompartmentError::check_positive(&lengths)?;
        let (vertices, triangles) = cylinder.to_trimesh(SIDES);
        Ok(Self {
            shape: SharedShape::new(*cylinder),
            hull: ClosedMesh::new(&vertices, &triangles)?,
            size: cylinder.half_height.min(cylinder.radius),
        })
    }

    pub(super) fn cone(cone: &Cone) -> Result<Self, CompartmentError> {
        let lengths = [("half height", cone.half_height), ("radius", cone.radius)];
        CompartmentError::check_positive(&lengths)?;
        let (vertices, triangles) = cone.to_trimesh(SIDES);
        Ok(Self {
            shape: SharedShape::new(*cone),
            hull: ClosedMesh::new(&vertices, &triangles)?,
            size: cone.half_height.min(cone.radius),
        })
    }

    fn arm(&self, point: Vec3) -> (bool, Vec3) {
        let nearest = self.shape.project_local_point(point, false);
        (nearest.is_inside, point - nearest.point)
    }
}

impl Solid for RevolvedSolid {
    fn surface(&self, point: Vec3) -> SurfacePoint {
        let (inside, arm) = self.arm(point);
        let sign = if inside { -1.0 } else { 1.0 };
        let distance = sign * arm.length();
        let normal = if distance.abs() > SHORTEST_ARM * self.size {
            direction(arm).map(|out| out * sign)
        } else {
            // A convex solid: a step to the middle leads inside.
            let (_, arm) = self.arm(point * (1.0 - STEP_BACK));
            direction(arm).map(|out| -out)
        };
        SurfacePoint {
            distance,
            normal: normal.unwrap_or(Vec3::Y),
        }
    }

    fn center(&self) -> Vec3 {
        Vec3::ZERO
    }

    fn area_at(&self, offset: f32) -> f32 {
        self.hull.area_at(offset)
    }

    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        // From the triangulation to the round surface.
        let point = self.hull.sample(offset, random);
        let surface = self.surface(point);
        point + surface.normal * (offset - surface.distance)
    }
}
