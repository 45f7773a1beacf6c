//! Meshes of revolution, such as cells that are not convex.

use glam::{Vec2, Vec3};

/// A solid of revolution about the y axis: a profile of (distance from the axis, height), from the
/// top pole to the bottom one, and `around` vertices on each ring.
pub fn revolution(profile: &[Vec2], around: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let rings = &profile[1..profile.len() - 1];
    let ring = |point: &Vec2| {
        let (radius, height) = (point.x, point.y);
        (0..around).map(move |k| {
            let (sine, cosine) = (std::f32::consts::TAU * k as f32 / around as f32).sin_cos();
            Vec3::new(radius * sine, height, radius * cosine)
        })
    };
    let mut vertices: Vec<Vec3> = rings.iter().flat_map(ring).collect();
    let poles = [profile[0], profile[profile.len() - 1]];
    let top = vertices.len() as u32;
    vertices.extend(poles.map(|pole| Vec3::Y * pole.y));
    let last = (rings.len() as u32 - 1) * around;
    let mut triangles = Vec::new();
    for k in 0..around {
        let next = (k + 1) % around;
        triangles.push([top, k, next]);
        triangles.push([top + 1, last + next, last + k]);
        for first in (0..last).step_by(around as usize) {
            let [a, b] = [first + k, first + next];
            triangles.push([a, a + around, b]);
            triangles.push([b, a + around, b + around]);
        }
    }
    (vertices, triangles)
}

/// Sine and cosine from one pole to the other; the sine is exactly zero at the poles.
pub fn half_turn(k: usize, points: usize) -> (f32, f32) {
    let (sine, cosine) = (std::f32::consts::PI * k as f32 / (points - 1) as f32).sin_cos();
    let is_pole = k == 0 || k + 1 == points;
    (if is_pole { 0.0 } else { sine }, cosine)
}
