//! Samples lie on the surface and are uniform.

use bevy_rapier_molecules::compartment::{ShapeCompartment, Surface};
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;

use crate::compartment::fixtures::{
    BOX, all_shapes, chi_squared, cube_mesh, in_cube, octasphere, pose, random, solid,
};

#[test]
fn samples_lie_on_the_offset_surface() {
    for (name, compartment) in all_shapes(pose()) {
        let mut random = random(21);
        for offset in [0.0, 0.7, 2.0, -0.3, -0.6] {
            for _ in 0..500 {
                let point = compartment.sample(offset, &mut random);
                let error = compartment.signed_distance(point) - offset;
                assert!(error.abs() < 1.0e-4, "{name} at offset {offset}: {error}");
            }
        }
    }
}

#[test]
fn surfaces_that_vanish_have_no_area_and_finite_samples() {
    for (name, compartment) in all_shapes(pose()) {
        let mut random = random(22);
        for offset in [-5.0, -50.0] {
            let point = compartment.sample(offset, &mut random);
            assert!(point.is_finite(), "{name}");
            assert_eq!(compartment.area_at(offset), 0.0, "{name}");
        }
    }
}

#[test]
fn samples_of_a_box_are_uniform_over_its_faces() {
    for name in ["cuboid", "mesh of a box"] {
        let compartment = solid(name);
        for offset in [0.0, -0.5] {
            let half = BOX + offset;
            let mut random = random(23);
            // Four quarters per face.
            let mut counts = [0; 24];
            for _ in 0..100_000 {
                let point = compartment.sample(offset, &mut random);
                let axis = (point.abs() - half).max_position();
                let quarter = usize::from(point[(axis + 1) % 3] > 0.0)
                    + 2 * usize::from(point[(axis + 2) % 3] > 0.0);
                counts[8 * axis + 4 * usize::from(point[axis] > 0.0) + quarter] += 1;
            }
            let expected: [f64; 24] = std::array::from_fn(|i| {
                let axis = i / 8;
                f64::from(half[(axis + 1) % 3] * half[(axis + 2) % 3])
            });
            // 23 degrees of freedom: 49.7 is exceeded once in a thousand.
            let chi = chi_squared(&counts, &expected);
            assert!(chi < 49.7, "{name} at {offset}: {chi}");
        }
    }
}

#[test]
fn samples_of_a_rounded_box_are_uniform_over_faces_edges_and_corners() {
    // Number of coordinates beyond the box: one on a face, two on an edge, three at a corner.
    let radius = 1.5_f32;
    for name in ["cuboid", "mesh of a box"] {
        let compartment = solid(name);
        let mut random = random(24);
        let mut counts = [0; 3];
        for _ in 0..50_000 {
            let point = compartment.sample(radius, &mut random);
            let beyond = (point.abs() - BOX - 1.0e-5).cmpgt(Vec3::ZERO);
            counts[(beyond.bitmask().count_ones() as usize).max(1) - 1] += 1;
        }
        let faces = 8.0 * (BOX.x * BOX.y + BOX.y * BOX.z + BOX.z * BOX.x);
        let edges = 4.0 * std::f32::consts::PI * radius * BOX.element_sum();
        let corners = 4.0 * std::f32::consts::PI * radius * radius;
        let expected = [faces, edges, corners].map(f64::from);
        // Two degrees of freedom: 13.8 is exceeded once in a thousand.
        let chi = chi_squared(&counts, &expected);
        assert!(chi < 13.8, "{name}: {counts:?} {chi}");
        let area = compartment.area_at(radius);
        assert!((area / (faces + edges + corners) - 1.0).abs() < 1.0e-4);
    }
}

#[test]
fn samples_of_a_capsule_are_uniform_over_side_and_caps() {
    let capsule = solid("capsule");
    for offset in [-0.5, 0.0, 1.0] {
        let mut random = random(25);
        // Belts of equal height have equal area, on the side and on the caps.
        let height = 2.0 * (3.0 + 1.5 + offset);
        let mut counts = [0; 50];
        for _ in 0..100_000 {
            let point = capsule.sample(offset, &mut random);
            let belt = ((point.y / height + 0.5) * 50.0) as usize;
            counts[belt.min(49)] += 1;
        }
        // 49 degrees of freedom: 85.4 is exceeded once in a thousand.
        let chi = chi_squared(&counts, &[1.0; 50]);
        assert!(chi < 85.4, "{offset}: {chi}");
        let area = std::f32::consts::TAU * (1.5 + offset) * height;
        assert!((capsule.area_at(offset) / area - 1.0).abs() < 1.0e-5);
    }
}

#[test]
fn samples_of_a_sphere_mesh_are_uniform_over_belts() {
    let sphere = solid("mesh of a sphere");
    for offset in [-1.5_f32, 0.0, 1.5] {
        let mut random = random(26);
        let mut counts = [0; 20];
        for _ in 0..20_000 {
            let point = sphere.sample(offset, &mut random);
            let belt = ((point.y / (4.0 + offset) + 1.0) * 10.0) as usize;
            counts[belt.min(19)] += 1;
        }
        // 19 degrees of freedom: 43.8 is exceeded once in a thousand.
        let chi = chi_squared(&counts, &[1.0; 20]);
        assert!(chi < 43.8, "{offset}: {chi}");
        let area = 4.0 * std::f32::consts::PI * (4.0 + offset).powi(2);
        assert!((sphere.area_at(offset) / area - 1.0).abs() < 0.01);
    }
}

#[test]
fn samples_of_a_concave_mesh_are_distributed_like_a_thin_layer() {
    let mesh = solid("concave mesh");
    let octant = |point: Vec3| {
        (point - Vec3::new(1.5, 1.5, 1.0))
            .cmpgt(Vec3::ZERO)
            .bitmask()
    };
    for offset in [-0.4, 0.4] {
        let mut random = random(27);
        let mut expected = [0.0; 8];
        for _ in 0..400_000 {
            let point = in_cube(2.6, &mut random) + Vec3::new(2.0, 2.0, 1.0);
            if (mesh.signed_distance(point) - offset).abs() < 0.02 {
                expected[octant(point) as usize] += 1.0;
            }
        }
        let mut counts = [0; 8];
        for _ in 0..10_000 {
            counts[octant(mesh.sample(offset, &mut random)) as usize] += 1;
        }
        // Both are random: χ² is at most 1.5 times as large.
        let chi = chi_squared(&counts, &expected);
        assert!(chi < 24.3 * 1.5, "{offset}: {counts:?} {expected:?} {chi}");
    }
}

#[test]
fn areas_of_solids_equal_closed_formulas() {
    use std::f32::consts::{PI, TAU};
    let check = |name: &str, offset: f32, area: f32| {
        let got = solid(name).area_at(offset);
        assert!((got / area - 1.0).abs() < 1.0e-3, "{name}: {got} {area}");
    };
    check("cylinder", 0.0, TAU * 3.0 * (3.0 + 4.0));
    check("cone", 0.0, PI * 3.0 * (3.0 + 5.0));
    // Steiner: 2 M = 2π h + 2π² r for a cylinder.
    let offset_area = TAU * 3.0 * 7.0 + (TAU * 4.0 + TAU * PI * 3.0) * 0.5 + PI;
    check("cylinder", 0.5, offset_area);
    check("cuboid", -0.5, 8.0 * (3.5 * 2.0 + 2.0 * 1.0 + 3.5 * 1.0));
}

#[test]
fn seams_and_poles_of_a_uv_sphere_are_welded() {
    // A seam along one meridian, and one vertex per column at each pole.
    let (rows, columns) = (12_u32, 24_u32);
    let mut vertices = Vec::new();
    for row in 0..=rows {
        for column in 0..=columns {
            let polar = std::f32::consts::PI * row as f32 / rows as f32;
            let around = std::f32::consts::TAU * column as f32 / columns as f32;
            let (sine, cosine) = polar.sin_cos();
            vertices.push(Vec3::new(sine * around.cos(), cosine, sine * around.sin()) * 5.0);
        }
    }
    let mut triangles = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let a = row * (columns + 1) + column;
            let b = a + columns + 1;
            triangles.extend([[a, a + 1, b], [a + 1, b + 1, b]]);
        }
    }
    let sphere = ShapeCompartment::mesh(&vertices, &triangles, Pose::IDENTITY).unwrap();
    assert!((sphere.signed_distance(Vec3::ZERO) + 5.0).abs() < 0.15);
    assert!(sphere.signed_distance(Vec3::Y * 6.0) > 0.99);
}

#[test]
fn the_same_seed_gives_the_same_samples() {
    let (vertices, triangles) = octasphere(4.0, 3);
    let build = || ShapeCompartment::mesh(&vertices, &triangles, pose()).unwrap();
    let (one, other) = (build(), build());
    let (mut first, mut second) = (random(28), random(28));
    for _ in 0..1_000 {
        assert_eq!(one.sample(0.5, &mut first), other.sample(0.5, &mut second));
    }
    let (vertices, triangles) = cube_mesh(BOX);
    assert!(ShapeCompartment::mesh(&vertices, &triangles, pose()).is_ok());
}
