//! From the bytes of every format to a compartment.

use std::f32::consts::PI;

use bevy_rapier_molecules::compartment::{
    CompartmentError, ShapeCompartment, Surface, TriangleMesh, read_mesh,
};
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;

use super::fixtures::{HALF_EXTENTS, SPHERE_RADIUS, all_files, corners, cube, sphere};

fn compartment(mesh: &TriangleMesh) -> Result<ShapeCompartment, CompartmentError> {
    ShapeCompartment::mesh(&mesh.vertices, &mesh.triangles, Pose::IDENTITY)
}

/// Sum of the signed volumes of the tetrahedra from the origin to all triangles.
fn volume(mesh: &TriangleMesh) -> f32 {
    let part = |[a, b, c]: [Vec3; 3]| a.as_dvec3().dot(b.as_dvec3().cross(c.as_dvec3())) / 6.0;
    corners(mesh).into_iter().map(part).sum::<f64>() as f32
}

#[test]
fn boxes_of_all_formats_have_the_exact_area_and_volume() {
    let Vec3 { x, y, z } = 2.0 * HALF_EXTENTS;
    let area = 2.0 * (x * y + y * z + z * x);
    for (name, source, bytes) in all_files(&cube()) {
        let mesh = read_mesh(&bytes, source, None).unwrap();
        assert_eq!(mesh.vertices.len(), 8, "{name}");
        assert_eq!(corners(&mesh), corners(&cube()), "{name}");
        assert!((volume(&mesh) - x * y * z).abs() < 1.0e-3, "{name}");
        let compartment = compartment(&mesh).unwrap();
        assert!((compartment.area_at(0.0) - area).abs() < 1.0e-3, "{name}");
        let depth = compartment.signed_distance(Vec3::ZERO);
        assert!(
            (depth + HALF_EXTENTS.min_element()).abs() < 1.0e-5,
            "{name}"
        );
    }
}

#[test]
fn spheres_of_all_formats_have_the_area_and_volume_of_a_ball() {
    let area = 4.0 * PI * SPHERE_RADIUS.powi(2);
    let ball = area * SPHERE_RADIUS / 3.0;
    for (name, source, bytes) in all_files(&sphere()) {
        let mesh = read_mesh(&bytes, source, None).unwrap();
        assert_eq!(corners(&mesh), corners(&sphere()), "{name}");
        // Triangles between points of the sphere are a little inside.
        assert!((0.98..1.0).contains(&(volume(&mesh) / ball)), "{name}");
        let compartment = compartment(&mesh).unwrap();
        let share = compartment.area_at(0.0) / area;
        assert!((0.98..1.0).contains(&share), "{name}: {share}");
        let outside = compartment.signed_distance(Vec3::X * 5.0);
        assert!((outside - 2.0).abs() < 1.0e-4, "{name}: {outside}");
        assert!(compartment.signed_distance(Vec3::ZERO) < -2.9, "{name}");
    }
}

#[test]
fn equal_vertices_of_stl_files_become_one() {
    for (name, source, bytes) in all_files(&sphere()) {
        let mesh = read_mesh(&bytes, source, None).unwrap();
        // Euler's formula for 2,048 triangles.
        let expected = if source == "mesh.stl" { 1_026 } else { 6_144 };
        assert_eq!(mesh.vertices.len(), expected, "{name}");
    }
}

#[test]
fn inverted_files_give_the_same_compartment() {
    let mut inverted = cube();
    for triangle in &mut inverted.triangles {
        triangle.swap(0, 1);
    }
    for (name, source, bytes) in all_files(&inverted) {
        let mesh = read_mesh(&bytes, source, None).unwrap();
        let compartment = compartment(&mesh).unwrap();
        assert!(compartment.signed_distance(Vec3::ZERO) < -1.0, "{name}");
    }
}

#[test]
fn open_files_are_read_and_rejected_as_compartments() {
    let mut open = cube();
    open.triangles.pop();
    for (name, source, bytes) in all_files(&open) {
        let mesh = read_mesh(&bytes, source, None).unwrap();
        let error = compartment(&mesh).unwrap_err();
        let is_open = matches!(error, CompartmentError::OpenEdge { .. });
        assert!(is_open, "{name}: {error}");
    }
}

#[test]
fn triangles_with_the_same_vertex_twice_are_dropped() {
    let mut mesh = cube();
    mesh.triangles.insert(3, [5, 5, 7]);
    for (name, source, bytes) in all_files(&mesh) {
        let mesh = read_mesh(&bytes, source, None).unwrap();
        assert_eq!(corners(&mesh), corners(&cube()), "{name}");
        assert!(compartment(&mesh).is_ok(), "{name}");
    }
}
