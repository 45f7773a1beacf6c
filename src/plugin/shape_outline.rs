//! The edges of parry shapes, for gizmos.

use bevy::prelude::*;
use bevy_rapier3d::parry::shape::{Shape, TypedShape};

/// Number of sides of circles.
const SIDES: u32 = 32;

/// Number of sides of the quarter circle of a rounded edge.
const BORDER_SIDES: u32 = 5;

/// Points (nm) in the frame of a shape, and the indices of the two ends of each line.
///
/// These are all edges of a mesh, and edges and circles of other solids. Empty for shapes
/// that are not supported as compartments.
pub(super) fn outline(shape: &dyn Shape) -> (Vec<Vec3>, Vec<[u32; 2]>) {
    match shape.as_typed_shape() {
        TypedShape::Ball(ball) => ball.to_outline(SIDES),
        TypedShape::Cuboid(cuboid) => cuboid.to_outline(),
        TypedShape::Capsule(capsule) => capsule.to_outline(SIDES),
        TypedShape::Cylinder(cylinder) => cylinder.to_outline(SIDES),
        TypedShape::Cone(cone) => cone.to_outline(SIDES),
        TypedShape::RoundCuboid(round) => round.to_outline(BORDER_SIDES),
        TypedShape::RoundCylinder(round) => round.to_outline(SIDES, BORDER_SIDES),
        TypedShape::RoundCone(round) => round.to_outline(SIDES, BORDER_SIDES),
        TypedShape::RoundConvexPolyhedron(round) => round.to_outline(BORDER_SIDES),
        TypedShape::ConvexPolyhedron(polyhedron) => {
            let around = polyhedron.vertices_adj_to_face();
            let faces = polyhedron.faces().iter().map(|face| {
                let first = face.first_vertex_or_edge as usize;
                let count = face.num_vertices_or_edges as usize;
                around.get(first..first + count).unwrap_or_default()
            });
            let edges = faces.flat_map(edges_once).collect();
            (polyhedron.points().to_vec(), edges)
        }
        TypedShape::TriMesh(mesh) => {
            let triangles = mesh.indices().iter().map(|triangle| &triangle[..]);
            let edges = triangles.flat_map(edges_once).collect();
            (mesh.vertices().to_vec(), edges)
        }
        _ => (Vec::new(), Vec::new()),
    }
}

/// The edges of a face whose first vertex has the smaller index. In a closed surface, the
/// face on the other side of an edge has it in the opposite direction.
fn edges_once(face: &[u32]) -> impl Iterator<Item = [u32; 2]> + '_ {
    let next = face.iter().cycle().skip(1);
    let edges = face.iter().zip(next).map(|(a, b)| [*a, *b]);
    edges.filter(|[a, b]| a < b)
}
