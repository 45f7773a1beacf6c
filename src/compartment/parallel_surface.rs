//! [`ParallelSurfaces`]: the parts of the surfaces parallel to a mesh.
//!
//! Every point p of the surface at offset r has a closest point q on the mesh. If q lies in a
//! triangle, p is q translated by r along its normal. If q lies on an edge, p is on a strip of the
//! cylinder of radius |r| about it, between the normals of the two triangles; only convex edges
//! have such a strip outside, and only concave ones have one inside. If q is a vertex, p is on the
//! sphere of radius |r| about it, in a cap that contains the normals of all its triangles. A point
//! that is proposed uniformly on these parts, and rejected if its closest point is not the one it
//! was made from, is therefore uniform on the parallel surface of any mesh.

use std::f32::consts::TAU;

use glam::{Quat, Vec3};
use rand::{Rng, RngExt};

use super::mesh_validation::ValidatedMesh;

/// A point of the mesh and the outward unit direction from there.
pub(super) type Proposal = (Vec3, Vec3);

/// Items that are picked with probabilities proportional to their weights.
///
/// Each item follows the inclusive prefix sum of the weights.
#[derive(Clone, Debug, Default)]
struct Weighted<T>(Vec<(f64, T)>);

impl<T> Weighted<T> {
    fn push(&mut self, item: T, weight: f64) {
        if weight > 0.0 {
            self.0.push((self.total() + weight, item));
        }
    }

    fn total(&self) -> f64 {
        self.0.last().map_or(0.0, |(sum, _)| *sum)
    }

    fn pick(&self, random: &mut dyn Rng) -> Option<&T> {
        let at = random.random::<f64>() * self.total();
        let index = self.0.partition_point(|(sum, _)| *sum <= at);
        let picked = self.0.get(index).or(self.0.last());
        picked.map(|(_, item)| item)
    }
}

#[derive(Clone, Debug, Default)]
struct Face {
    corners: [Vec3; 3],
    normal: Vec3,
}

#[derive(Clone, Debug, Default)]
struct Edge {
    ends: [Vec3; 2],
    /// Normal on one side.
    normal: Vec3,
    /// Rotation about `along` to the normal on the other side, radian.
    angle: f32,
    along: Vec3,
}

#[derive(Clone, Debug, Default)]
struct Vertex {
    position: Vec3,
    /// Center of the cap that contains all normals.
    normal: Vec3,
    /// Cosine of the angle between the center and the rim of the cap.
    rim: f32,
}

/// The parts of all parallel surfaces of a mesh.
#[derive(Clone, Debug, Default)]
pub(super) struct ParallelSurfaces {
    /// By area.
    faces: Weighted<Face>,
    /// Convex and concave edges, by length times angle.
    edges: [Weighted<Edge>; 2],
    /// By solid angle of the cap.
    vertices: Weighted<Vertex>,
    /// Total Gaussian curvature, 2π times the Euler characteristic (Gauss–Bonnet).
    curvature: f64,
}

impl ParallelSurfaces {
    pub(super) fn new(mesh: &ValidatedMesh) -> Self {
        let mut surfaces = Self::default();
        let corners =
            |triangle: usize| mesh.triangles[triangle].map(|corner| mesh.vertices[corner as usize]);
        let normals: Vec<Vec3> = (0..mesh.triangles.len())
            .map(|triangle| {
                let [a, b, c] = corners(triangle).map(Vec3::as_dvec3);
                (b - a).cross(c - a).normalize_or_zero().as_vec3()
            })
            .collect();
        for (triangle, &normal) in normals.iter().enumerate() {
            let [a, b, c] = corners(triangle);
            let area = 0.5 * f64::from((b - a).cross(c - a).length());
            let corners = [a, b, c];
            surfaces.faces.push(Face { corners, normal }, area);
            for (edge, &other) in mesh.neighbors[triangle].iter().enumerate() {
                // Add each edge once.
                if (triangle as u32) < other {
                    let ends = [[a, b], [b, c], [c, a]][edge];
                    surfaces.add_edge(ends, [normal, normals[other as usize]]);
                }
            }
        }
        surfaces.add_vertices(mesh, &normals);
        // Three edges per triangle, each shared by two.
        let (vertices, triangles) = (mesh.vertices.len() as f64, mesh.triangles.len() as f64);
        surfaces.curvature = std::f64::consts::TAU * (vertices - 0.5 * triangles);
        surfaces
    }

    /// The angle of an edge is the rotation from one normal to the other about the direction in
    /// which the triangle of the first normal traverses it: positive if the edge is convex.
    fn add_edge(&mut self, ends: [Vec3; 2], [first, second]: [Vec3; 2]) {
        let along = (ends[1] - ends[0]).normalize_or_zero();
        let angle = first.cross(second).dot(along).atan2(first.dot(second));
        let weight = f64::from(ends[0].distance(ends[1])) * f64::from(angle.abs());
        let edge = Edge {
            ends,
            normal: first,
            angle,
            along,
        };
        self.edges[usize::from(angle < 0.0)].push(edge, weight);
    }

    fn add_vertices(&mut self, mesh: &ValidatedMesh, normals: &[Vec3]) {
        let mut means = vec![Vec3::ZERO; mesh.vertices.len()];
        for (corners, &normal) in mesh.triangles.iter().zip(normals) {
            let [a, b, c] = corners.map(|corner| mesh.vertices[corner as usize]);
            // Weighted by angle, so that the mean does not depend on the triangulation.
            let angles = [
                (b - a).angle_between(c - a),
                (c - b).angle_between(a - b),
                (a - c).angle_between(b - c),
            ];
            for (&corner, angle) in corners.iter().zip(angles) {
                means[corner as usize] += normal * angle;
            }
        }
        for mean in &mut means {
            *mean = mean.try_normalize().unwrap_or(Vec3::Y);
        }
        let mut rims = vec![1.0_f32; mesh.vertices.len()];
        for (corners, &normal) in mesh.triangles.iter().zip(normals) {
            for &corner in corners {
                let rim = &mut rims[corner as usize];
                *rim = rim.min(normal.dot(means[corner as usize]));
            }
        }
        for ((&position, normal), rim) in mesh.vertices.iter().zip(means).zip(rims) {
            // The area of a cap of the unit sphere (Archimedes).
            let weight = std::f64::consts::TAU * (1.0 - f64::from(rim));
            let vertex = Vertex {
                position,
                normal,
                rim,
            };
            self.vertices.push(vertex, weight);
        }
    }

    /// Area (nm²) of the surface at `offset` (nm) by Steiner's polynomial A + r Σ l θ + 2π χ r²,
    /// with lengths l and angles θ of the edges. Zero where it is negative, or where it grows
    /// again inwards.
    pub(super) fn area_at(&self, offset: f32) -> f32 {
        let r = f64::from(offset);
        let [area, bend] = self.area_and_bend();
        let slope = bend + 2.0 * self.curvature * r;
        if r < 0.0 && bend > 0.0 && slope < 0.0 {
            return 0.0;
        }
        let area = area + r * (bend + self.curvature * r);
        area.max(0.0) as f32
    }

    /// Area A of the mesh (nm²), and Σ l θ, twice its mean curvature (nm).
    pub(super) fn area_and_bend(&self) -> [f64; 2] {
        let bend = self.edges[0].total() - self.edges[1].total();
        [self.faces.total(), bend]
    }

    /// A point of the mesh and a direction, such that the point moved by `offset` along it is
    /// uniform on all parts at that offset.
    pub(super) fn propose(&self, offset: f32, random: &mut dyn Rng) -> Option<Proposal> {
        let r = f64::from(offset);
        let edges = &self.edges[usize::from(r < 0.0)];
        let strips = r.abs() * edges.total();
        let caps = r * r * self.vertices.total();
        let at = random.random::<f64>() * (self.faces.total() + strips + caps);
        if at < strips {
            edges.pick(random).map(|edge| edge.propose(random))
        } else if at < strips + caps {
            self.vertices
                .pick(random)
                .map(|vertex| vertex.propose(random))
        } else {
            self.faces.pick(random).map(|face| face.propose(random))
        }
    }
}

impl Face {
    /// Uniform in the triangle: the square root makes the density even from corner to side.
    fn propose(&self, random: &mut dyn Rng) -> Proposal {
        let [a, b, c] = self.corners;
        let along = random.random::<f32>().sqrt();
        (a.lerp(b.lerp(c, random.random()), along), self.normal)
    }
}

impl Edge {
    fn propose(&self, random: &mut dyn Rng) -> Proposal {
        let rotation = Quat::from_axis_angle(self.along, self.angle * random.random::<f32>());
        let point = self.ends[0].lerp(self.ends[1], random.random());
        (point, rotation * self.normal)
    }
}

impl Vertex {
    fn propose(&self, random: &mut dyn Rng) -> Proposal {
        let height = 1.0 - random.random::<f32>() * (1.0 - self.rim);
        let across = (1.0 - height * height).max(0.0).sqrt();
        let (sine, cosine) = (TAU * random.random::<f32>()).sin_cos();
        let (first, second) = self.normal.any_orthonormal_pair();
        let direction = self.normal * height + (first * cosine + second * sine) * across;
        (self.position, direction)
    }
}
