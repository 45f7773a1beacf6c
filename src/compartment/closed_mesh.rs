//! [`ClosedMesh`]: a closed triangle mesh, with distances from parry's BVH and samples from
//! the parts of its parallel surfaces.

use std::sync::Arc;

use glam::Vec3;
use rand::Rng;
use rapier3d::parry::query::{PointProjection, PointQueryWithLocation};
use rapier3d::parry::shape::{TriMesh, TriMeshFlags, TrianglePointLocation};

use super::mesh_validation::ValidatedMesh;
use super::parallel_surface::ParallelSurfaces;
use super::shape_compartment::Solid;
use super::steiner::SteinerPolynomial;
use super::{CompartmentError, DistanceAndNormal, direction};

/// Distance from the surface below which the vector to the closest point is too short for a
/// direction, as a fraction of the size of the mesh.
const MIN_DISTANCE: f32 = 1.0e-5;

/// Distance between the closest point of a sample and its origin up to which they count as the
/// same point, as a fraction of the size of the mesh.
const SAME_POINT: f32 = 2.0e-5;

/// Rejected samples after which the last one is projected onto the surface.
const MAX_ATTEMPTS: usize = 64;

/// A closed mesh in its own frame.
#[derive(Clone, Debug)]
pub(super) struct ClosedMesh {
    trimesh: Arc<TriMesh>,
    parallel: Arc<ParallelSurfaces>,
    center: Vec3,
    size: f32,
    /// nm³.
    volume: f64,
}

impl ClosedMesh {
    /// Builds and validates the mesh of these vertices (nm).
    pub(super) fn new(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<Self, CompartmentError> {
        let mesh = ValidatedMesh::new(vertices, triangles)?;
        let parallel = Arc::new(ParallelSurfaces::new(&mesh));
        // Pseudo-normals decide between inside and outside at edges and vertices.
        let trimesh = TriMesh::with_flags(mesh.vertices, mesh.triangles, TriMeshFlags::ORIENTED)
            .map_err(|_| CompartmentError::EmptyMesh)?;
        Ok(Self {
            trimesh: Arc::new(trimesh),
            parallel,
            center: mesh.center,
            size: mesh.size,
            volume: mesh.volume,
        })
    }

    /// The welded mesh, with triangles counter-clockwise seen from outside.
    pub(super) fn trimesh(&self) -> Arc<TriMesh> {
        Arc::clone(&self.trimesh)
    }

    fn project(&self, point: Vec3) -> (PointProjection, (u32, TrianglePointLocation)) {
        self.trimesh
            .project_local_point_and_get_location(point, false)
    }

    /// Outward direction at a location of the mesh: the normal of the triangle, or the mean
    /// normal of all triangles at the edge or vertex.
    fn pseudo_normal(&self, triangle: u32, location: TrianglePointLocation) -> Option<Vec3> {
        let normals = self.trimesh.pseudo_normals()?;
        let normal = match location {
            TrianglePointLocation::OnVertex(corner) => {
                let vertex = self.trimesh.indices()[triangle as usize][corner as usize];
                normals.vertices_pseudo_normal[vertex as usize]
            }
            TrianglePointLocation::OnEdge(edge, _) => {
                normals.edges_pseudo_normal[triangle as usize][edge as usize]
            }
            TrianglePointLocation::OnFace(..) | TrianglePointLocation::OnSolid => {
                self.trimesh.triangle(triangle).scaled_normal()
            }
        };
        direction(normal)
    }
}

impl Solid for ClosedMesh {
    fn distance_and_normal(&self, point: Vec3) -> DistanceAndNormal {
        let (closest, (triangle, location)) = self.project(point);
        let sign = if closest.is_inside { -1.0 } else { 1.0 };
        let arm = point - closest.point;
        let distance = sign * arm.length();
        let out = direction(arm).map(|out| out * sign);
        let normal = if distance.abs() > MIN_DISTANCE * self.size {
            out
        } else {
            self.pseudo_normal(triangle, location).or(out)
        };
        DistanceAndNormal {
            distance,
            normal: normal.unwrap_or(Vec3::Y),
        }
    }

    fn center(&self) -> Vec3 {
        self.center
    }

    fn area_at(&self, offset: f32) -> f32 {
        self.parallel.area_at(offset)
    }

    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        let same = SAME_POINT * self.size;
        let mut point = self.center;
        for _ in 0..MAX_ATTEMPTS {
            let Some((start, out)) = self.parallel.propose(offset, random) else {
                break;
            };
            point = start + out * offset;
            let closest = self.project(point).0;
            // At a sharp vertex, a cap may reach around to the other side.
            let same_side = offset.abs() <= same || closest.is_inside == (offset < 0.0);
            if same_side && closest.point.distance(start) <= same {
                return point;
            }
        }
        // Almost nothing is left of the surface at this offset.
        let surface = self.distance_and_normal(point);
        point + surface.normal * (offset - surface.distance)
    }

    fn steiner_polynomial(&self) -> SteinerPolynomial {
        let [area, bend] = self.parallel.area_and_bend();
        SteinerPolynomial {
            volume: self.volume,
            area,
            curvature: 0.5 * bend,
        }
    }
}
