//! A closed mesh in `f64`: distances, insides and volume from their definitions.

use std::f64::consts::TAU;
use std::path::Path;

use glam::DVec3;

/// Triangles of an OBJ file.
pub struct TriangleMesh {
    triangles: Vec<[DVec3; 3]>,
}

impl TriangleMesh {
    /// Reads vertices and triangles; lengths are multiplied by `scale`.
    pub fn load(path: &Path, scale: f64) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let mut vertices: Vec<DVec3> = Vec::new();
        let mut triangles = Vec::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.first() {
                Some(&"v") => {
                    let part = |index: usize| words[index].parse::<f64>().unwrap() * scale;
                    vertices.push(DVec3::new(part(1), part(2), part(3)));
                }
                Some(&"f") => {
                    let corner = |index: usize| {
                        let number = words[index].split('/').next().unwrap();
                        vertices[number.parse::<usize>().unwrap() - 1]
                    };
                    triangles.push([corner(1), corner(2), corner(3)]);
                }
                _ => {}
            }
        }
        Self { triangles }
    }

    /// Volume by the divergence theorem: the sum of the signed volumes of the tetrahedra between
    /// the origin and each triangle.
    pub fn volume(&self) -> f64 {
        let volumes = self.triangles.iter().map(|[a, b, c]| a.dot(b.cross(*c)));
        volumes.sum::<f64>().abs() / 6.0
    }

    /// Distance of a point from the closest triangle.
    pub fn distance(&self, point: DVec3) -> f64 {
        let distances = self
            .triangles
            .iter()
            .map(|triangle| to_triangle(point, *triangle));
        distances.fold(f64::INFINITY, f64::min)
    }

    /// Whether a point is inside: the triangles cover all directions around it. The solid angles
    /// are those of A. Van Oosterom and J. Strackee (1983).
    pub fn contains(&self, point: DVec3) -> bool {
        let angles = self.triangles.iter().map(|triangle| {
            let [a, b, c] = triangle.map(|corner| corner - point);
            let [x, y, z] = [a.length(), b.length(), c.length()];
            let below = x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y;
            2.0 * a.dot(b.cross(c)).atan2(below)
        });
        angles.sum::<f64>().abs() > TAU
    }
}

/// Distance of a point from a triangle: from its plane if the foot is inside, else from an edge.
fn to_triangle(point: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    let normal = (b - a).cross(c - a).normalize();
    let height = (point - a).dot(normal);
    let foot = point - height * normal;
    let is_inside = [[a, b], [b, c], [c, a]]
        .iter()
        .all(|[from, to]| (to - from).cross(foot - from).dot(normal) >= 0.0);
    if is_inside {
        return height.abs();
    }
    let edges = [[a, b], [b, c], [c, a]].map(|[from, to]| {
        let along = (point - from).dot(to - from) / (to - from).length_squared();
        point.distance(from + along.clamp(0.0, 1.0) * (to - from))
    });
    edges.into_iter().fold(f64::INFINITY, f64::min)
}
