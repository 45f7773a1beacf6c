//! A closed triangle mesh: distances by parry's tree of boxes, samples by its parts.

use std::sync::Arc;

use glam::Vec3;
use rand::Rng;
use rapier3d::parry::query::{PointProjection, PointQueryWithLocation};
use rapier3d::parry::shape::{TriMesh, TriMeshFlags, TrianglePointLocation};

use super::mesh_validation::ValidatedMesh;
use super::parallel_surface::ParallelSurfaces;
use super::rounded_solid::Solid;
use super::{CompartmentError, SurfacePoint, direction};

/// Distance from the surface below which the way to the nearest point is too short
/// for a direction, as a fraction of the size of the mesh.
const SHORTEST_ARM: f32 = 1.0e-5;

/// How far the nearest point of a sample may be from where it came from, as a
/// fraction of the size of the mesh.
const SAME_POINT: f32 = 2.0e-5;

/// How often a sample is refused before a point that is near enough is taken.
const ATTEMPTS: usize = 64;

/// A closed mesh in its own frame.
#[derive(Clone, Debug)]
pub(super) struct ClosedMesh {
    mesh: Arc<TriMesh>,
    parts: Arc<ParallelSurfaces>,
    center: Vec3,
    size: f32,
}

impl ClosedMesh {
    /// The mesh of these vertices (nm), if it is closed.
    pub(super) fn new(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<Self, CompartmentError> {
        let checked = ValidatedMesh::new(vertices, triangles)?;
        let parts = Arc::new(ParallelSurfaces::new(&checked));
        // With pseudo-normals, which tell inside from outside at edges and vertices.
        let mesh = TriMesh::with_flags(checked.vertices, checked.triangles, TriMeshFlags::ORIENTED)
            .map_err(|_| CompartmentError::EmptyMesh)?;
        Ok(Self {
            mesh: Arc::new(mesh),
            parts,
            center: checked.center,
            size: checked.size,
        })
    }

    /// The mesh, welded, with its triangles counter-clockwise seen from outside.
    pub(super) fn triangles(&self) -> Arc<TriMesh> {
        Arc::clone(&self.mesh)
    }

    fn nearest(&self, point: Vec3) -> (PointProjection, (u32, TrianglePointLocation)) {
        self.mesh.project_local_point_and_get_location(point, false)
    }

    /// The direction that is outwards at a place of the mesh: the normal of a
    /// triangle, or the mean of those that meet there.
    fn pseudo_normal(&self, triangle: u32, location: TrianglePointLocation) -> Option<Vec3> {
        let normals = self.mesh.pseudo_normals()?;
        let normal = match location {
            TrianglePointLocation::OnVertex(corner) => {
                let vertex = self.mesh.indices()[triangle as usize][corner as usize];
                normals.vertices_pseudo_normal[vertex as usize]
            }
            TrianglePointLocation::OnEdge(edge, _) => {
                normals.edges_pseudo_normal[triangle as usize][edge as usize]
            }
            TrianglePointLocation::OnFace(..) | TrianglePointLocation::OnSolid => {
                self.mesh.triangle(triangle).scaled_normal()
            }
        };
        direction(normal)
    }
}

impl Solid for ClosedMesh {
    fn surface(&self, point: Vec3) -> SurfacePoint {
        let (nearest, (triangle, location)) = self.nearest(point);
        let sign = if nearest.is_inside { -1.0 } else { 1.0 };
        let arm = point - nearest.point;
        let distance = sign * arm.length();
        let out = direction(arm).map(|out| out * sign);
        let normal = if distance.abs() > SHORTEST_ARM * self.size {
            out
        } else {
            self.pseudo_normal(triangle, location).or(out)
        };
        SurfacePoint {
            distance,
            normal: normal.unwrap_or(Vec3::Y),
        }
    }

    fn center(&self) -> Vec3 {
        self.center
    }

    fn area_at(&self, offset: f32) -> f32 {
        self.parts.area_at(offset)
    }

    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        let same = SAME_POINT * self.size;
        let mut point = self.center;
        for _ in 0..ATTEMPTS {
            let Some((start, out)) = self.parts.propose(offset, random) else {
                break;
            };
            point = start + out * offset;
            let nearest = self.nearest(point).0;
            // At a sharp vertex a cap may reach round to the other side.
            let same_side = offset.abs() <= same || nearest.is_inside == (offset < 0.0);
            if same_side && nearest.point.distance(start) <= same {
                return point;
            }
        }
        // Next to nothing is left of the surface at this offset.
        let surface = self.surface(point);
        point + surface.normal * (offset - surface.distance)
    }
}
