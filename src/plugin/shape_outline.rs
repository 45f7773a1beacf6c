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

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_rapier3d::parry::shape::{SharedShape, TriMesh};

    fn corners() -> Vec<Vec3> {
        let signs = [-1.0, 1.0];
        let corner = |x| signs.map(|y| signs.map(|z| Vec3::new(x, y, z)));
        signs.map(corner).as_flattened().as_flattened().to_vec()
    }

    #[test]
    fn each_edge_is_listed_once() {
        let hull = SharedShape::convex_hull(&corners()).unwrap();
        assert_eq!(outline(&*hull.0).1.len(), 12);
        let (vertices, triangles) = hull.as_convex_polyhedron().unwrap().to_trimesh();
        let mesh = TriMesh::new(vertices, triangles).unwrap();
        assert_eq!(outline(&mesh).1.len(), 12 + 6);
    }

    #[test]
    fn outlines_of_all_solids_are_valid_and_within_their_bounds() {
        let hull = SharedShape::round_convex_hull(&corners(), 0.2).unwrap();
        for shape in [
            SharedShape::ball(2.0),
            SharedShape::cuboid(1.0, 2.0, 3.0),
            SharedShape::capsule_y(1.0, 0.5),
            SharedShape::capsule_z(0.0, 0.5),
            SharedShape::cylinder(1.0, 0.5),
            SharedShape::cone(1.0, 0.5),
            SharedShape::round_cuboid(1.0, 2.0, 3.0, 0.2),
            SharedShape::round_cylinder(1.0, 0.5, 0.2),
            SharedShape::round_cone(1.0, 0.5, 0.2),
            hull,
        ] {
            let (points, lines) = outline(&*shape.0);
            assert!(lines.len() >= 12);
            let last = lines.as_flattened().iter().max().unwrap();
            assert!((*last as usize) < points.len());
            let max_radius = shape.compute_local_bounding_sphere().radius * 1.01;
            assert!(points.iter().all(|point| point.length() <= max_radius));
        }
    }
}
