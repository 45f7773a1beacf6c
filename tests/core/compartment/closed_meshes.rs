//! Closed meshes: distances against brute force, and rejection of invalid meshes.

use bevy_rapier_molecules::compartment::{CompartmentError, ShapeCompartment, Surface};
use bevy_rapier_molecules::pose::Pose;
use glam::{DVec3, Vec3};

use crate::compartment::fixtures::{
    BOX, Mesh, concave_mesh, cube_mesh, in_cube, octasphere, random, solid,
};

fn build((vertices, triangles): &Mesh) -> Result<ShapeCompartment, CompartmentError> {
    ShapeCompartment::mesh(vertices, triangles, Pose::IDENTITY)
}

/// Winding number: solid angle of all triangles seen from a point over 4π, 1 inside and 0 outside
/// (van Oosterom and Strackee 1983).
fn winding_number((vertices, triangles): &Mesh, point: Vec3) -> f64 {
    let angle = |corners: &[u32; 3]| {
        let [a, b, c]: [DVec3; 3] =
            corners.map(|corner| (vertices[corner as usize] - point).as_dvec3().normalize());
        let volume = a.dot(b.cross(c));
        let rest = 1.0 + a.dot(b) + b.dot(c) + c.dot(a);
        2.0 * volume.atan2(rest)
    };
    triangles.iter().map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI)
}

/// Distance to the closest of many points on every triangle.
fn distance_to_points((vertices, triangles): &Mesh, point: Vec3) -> f32 {
    const PARTS: i32 = 24;
    let mut min = f32::INFINITY;
    for corners in triangles {
        let [a, b, c] = corners.map(|corner| vertices[corner as usize]);
        for i in 0..=PARTS {
            for j in 0..=PARTS - i {
                let (u, v) = (i as f32 / PARTS as f32, j as f32 / PARTS as f32);
                let on = a + (b - a) * u + (c - a) * v;
                min = min.min(on.distance_squared(point));
            }
        }
    }
    min.sqrt()
}

#[test]
fn signed_distances_equal_winding_number_and_brute_force() {
    for (mesh, spacing) in [
        (cube_mesh(BOX), 0.4),
        (octasphere(4.0, 2), 0.1),
        (concave_mesh(), 0.25),
    ] {
        let compartment = build(&mesh).unwrap();
        let mut random = random(11);
        for _ in 0..500 {
            let point = in_cube(6.0, &mut random);
            let distance = compartment.signed_distance(point);
            assert_eq!(
                distance < 0.0,
                winding_number(&mesh, point) > 0.5,
                "at {point}"
            );
            let more = distance_to_points(&mesh, point) - distance.abs();
            assert!((-1.0e-4..spacing).contains(&more), "at {point}: {more}");
        }
    }
}

#[test]
fn the_mesh_of_a_box_equals_the_box() {
    let (mesh, exact) = (solid("mesh of a box"), solid("cuboid"));
    let mut random = random(12);
    for _ in 0..5_000 {
        let point = in_cube(6.0, &mut random);
        let (a, b) = (
            mesh.distance_and_normal(point),
            exact.distance_and_normal(point),
        );
        assert!((a.distance - b.distance).abs() < 2.0e-5, "at {point}");
        if a.distance > 0.01 {
            assert!((a.normal - b.normal).length() < 1.0e-3, "at {point}");
        }
    }
    assert!(mesh.center().length() < 1.0e-5);
    for offset in [0.0, 0.5, 3.0] {
        let (a, b) = (mesh.area_at(offset), exact.area_at(offset));
        assert!((a / b - 1.0).abs() < 1.0e-4, "{a} {b}");
    }
}

#[test]
fn inverted_meshes_are_flipped() {
    for mut mesh in [cube_mesh(BOX), octasphere(4.0, 3), concave_mesh()] {
        let right = build(&mesh).unwrap();
        mesh.1.iter_mut().for_each(|triangle| triangle.swap(0, 1));
        let flipped = build(&mesh).unwrap();
        let mut random = random(13);
        for _ in 0..500 {
            let point = in_cube(6.0, &mut random);
            let (a, b) = (
                right.distance_and_normal(point),
                flipped.distance_and_normal(point),
            );
            assert!((a.distance - b.distance).abs() < 1.0e-5);
        }
        assert!((right.area_at(0.3) / flipped.area_at(0.3) - 1.0).abs() < 1.0e-5);
        assert!((right.area_at(-0.3) / flipped.area_at(-0.3) - 1.0).abs() < 1.0e-5);
    }
}

#[test]
fn a_cavity_is_outside() {
    let (mut vertices, mut triangles) = cube_mesh(Vec3::splat(3.0));
    let (more, cavity) = octasphere(1.0, 3);
    let first = vertices.len() as u32;
    vertices.extend(more);
    triangles.extend(cavity.iter().map(|&[a, b, c]| [a, c, b].map(|i| i + first)));
    let hollow = build(&(vertices, triangles)).unwrap();
    assert!(hollow.signed_distance(Vec3::ZERO) > 0.98);
    assert!((hollow.signed_distance(Vec3::X * 2.0) + 1.0).abs() < 0.01);
    assert!((hollow.normal(Vec3::X * 1.3) + Vec3::X).length() < 0.05);
}

#[test]
fn errors_name_the_open_or_non_manifold_edge() {
    let mut open = cube_mesh(BOX);
    open.1.remove(5);
    match build(&open).unwrap_err() {
        CompartmentError::OpenEdge { triangle, edge } => {
            assert!(triangle < 11 && edge.iter().all(|end| open.1[triangle].contains(end)));
        }
        other => panic!("{other}"),
    }
    let mut flipped = cube_mesh(BOX);
    flipped.1[7].swap(0, 1);
    match build(&flipped).unwrap_err() {
        CompartmentError::NonManifoldEdge { triangles, .. } => assert!(triangles.contains(&7)),
        other => panic!("{other}"),
    }
    let mut doubled = cube_mesh(BOX);
    doubled.1.push(doubled.1[3]);
    assert!(matches!(
        build(&doubled).unwrap_err(),
        CompartmentError::NonManifoldEdge {
            triangles: [3, 12],
            ..
        }
    ));
}

#[test]
fn invalid_meshes_are_rejected() {
    let cube = || cube_mesh(BOX);
    assert_eq!(
        build(&(cube().0, Vec::new())).unwrap_err(),
        CompartmentError::EmptyMesh
    );
    assert_eq!(
        build(&(Vec::new(), Vec::new())).unwrap_err(),
        CompartmentError::EmptyMesh
    );
    let mut far = cube();
    far.1[4][2] = 8;
    assert_eq!(
        build(&far).unwrap_err(),
        CompartmentError::NoSuchVertex {
            triangle: 4,
            vertex: 8,
            count: 8
        }
    );
    let mut nan = cube();
    nan.0[3].y = f32::NAN;
    assert!(matches!(
        build(&nan).unwrap_err(),
        CompartmentError::BadVertex { vertex: 3, .. }
    ));
    let mut twice = cube();
    twice.1[2] = [1, 1, 3];
    assert_eq!(
        build(&twice).unwrap_err(),
        CompartmentError::FlatTriangle { triangle: 2 }
    );
    // A sheet with two sides has no volume.
    let sheet = (
        vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        vec![[0, 1, 2], [0, 2, 1]],
    );
    assert_eq!(build(&sheet).unwrap_err(), CompartmentError::NoVolume);
    // A box without height collapses to a sheet.
    assert!(build(&cube_mesh(Vec3::new(1.0, 1.0, 0.0))).is_err());
    assert!(build(&cube_mesh(Vec3::ZERO)).is_err());
    // Too small or too large.
    for size in [1.0e-44, 1.0e-30, 1.0e-15, 1.0e25, f32::MAX] {
        assert!(build(&cube_mesh(Vec3::splat(size))).is_err(), "{size}");
    }
    // A single point.
    let point = (vec![Vec3::ONE; 3], vec![[0, 1, 2]]);
    assert!(build(&point).is_err());
}
