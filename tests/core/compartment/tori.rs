//! Rings against numeric searches and Monte Carlo.

use std::f64::consts::TAU;

use bevy_rapier_molecules::compartment::{CompartmentError, Surface, Torus};
use bevy_rapier_molecules::pose::Pose;
use glam::{DVec2, DVec3, Vec3};

use crate::compartment::fixtures::{chi_squared, in_cube, pose, random};

const MAJOR: f32 = 3.0;
const MINOR: f32 = 2.0;

/// Offsets of tubes thinner and thicker than the radius of their circle.
const OFFSETS: [f32; 6] = [-1.5, -0.4, 0.0, 0.9, 1.6, 4.0];

fn ring(pose: Pose) -> Torus {
    Torus::new(MAJOR, MINOR, pose).unwrap()
}

/// The point of the surface at two angles, around the axis and around the tube.
fn on_ring(angles: DVec2) -> DVec3 {
    let across = f64::from(MAJOR) + f64::from(MINOR) * angles.y.cos();
    DVec3::new(
        across * angles.x.cos(),
        across * angles.x.sin(),
        f64::from(MINOR) * angles.y.sin(),
    )
}

/// Distance to the closest point of the surface: the best of a grid of angles, then smaller and
/// smaller steps from there.
fn searched_distance(point: DVec3) -> f64 {
    const GRID: i32 = 60;
    let distance = |angles| on_ring(angles).distance(point);
    let mut step = TAU / f64::from(GRID);
    let grid = (0..GRID * GRID).map(|k| DVec2::new((k % GRID).into(), (k / GRID).into()) * step);
    let mut best = grid
        .min_by(|a, b| distance(*a).total_cmp(&distance(*b)))
        .unwrap();
    while step > 1.0e-9 {
        let around = [DVec2::X, DVec2::NEG_X, DVec2::Y, DVec2::NEG_Y];
        let better = around
            .map(|direction| best + direction * step)
            .into_iter()
            .find(|angles| distance(*angles) < distance(best));
        match better {
            Some(angles) => best = angles,
            None => step /= 2.0,
        }
    }
    distance(best)
}

fn is_inside(point: DVec3) -> bool {
    let across = point.x.hypot(point.y) - f64::from(MAJOR);
    across.hypot(point.z) < f64::from(MINOR)
}

#[test]
fn distances_equal_a_numeric_search() {
    let mut random = random(61);
    for _ in 0..300 {
        let point = in_cube(7.0, &mut random);
        let exact = searched_distance(point.as_dvec3());
        let distance = f64::from(ring(pose()).signed_distance(pose().transform_point(point)));
        assert!((distance.abs() - exact).abs() < 2.0e-5, "at {point}");
        assert!(
            (distance < 0.0) == is_inside(point.as_dvec3()) || exact < 2.0e-5,
            "at {point}: {distance}"
        );
    }
}

#[test]
fn the_normal_leads_to_the_closest_point() {
    let mut random = random(62);
    for _ in 0..2_000 {
        let point = pose().position + in_cube(7.0, &mut random);
        let surface = ring(pose()).distance_and_normal(point);
        assert!((surface.normal.length() - 1.0).abs() < 1.0e-5);
        let closest = point - surface.normal * surface.distance;
        assert!(
            ring(pose()).signed_distance(closest).abs() < 2.0e-5,
            "at {point}"
        );
    }
}

#[test]
fn axis_circle_and_far_points_have_normals() {
    let ring = ring(Pose::IDENTITY);
    for point in [
        Vec3::ZERO,
        Vec3::Z,
        Vec3::Z * -1.0e20,
        Vec3::X * MAJOR,
        Vec3::Y * -MAJOR,
        Vec3::splat(1.0e-20),
        Vec3::splat(1.0e15),
        Vec3::splat(1.0e25),
        Vec3::NAN,
    ] {
        let normal = ring.normal(point);
        assert!(
            (normal.length() - 1.0).abs() < 1.0e-5,
            "at {point}: {normal}"
        );
    }
    assert_eq!(ring.signed_distance(Vec3::ZERO), MAJOR - MINOR);
    assert_eq!(ring.signed_distance(Vec3::X * MAJOR), -MINOR);
    let above = ring.signed_distance(Vec3::Z * 4.0);
    assert!((above - 3.0).abs() < 1.0e-6, "3, 4, 5: {above}");
}

#[test]
fn areas_equal_the_volume_of_a_thin_layer() {
    const HALF: f64 = 0.05;
    const POINTS: u32 = 400_000;
    let mut random = random(63);
    let mut counts = [0.0; OFFSETS.len()];
    let half_box = Vec3::new(9.2, 9.2, 6.2);
    for _ in 0..POINTS {
        let distance = ring(Pose::IDENTITY).signed_distance(in_cube(1.0, &mut random) * half_box);
        for (count, offset) in counts.iter_mut().zip(OFFSETS) {
            *count += f64::from(u8::from(f64::from((distance - offset).abs()) < HALF));
        }
    }
    let volume = 8.0 * half_box.as_dvec3().element_product();
    for (count, offset) in counts.into_iter().zip(OFFSETS) {
        let layer = count / f64::from(POINTS) * volume / (2.0 * HALF);
        let area = f64::from(ring(Pose::IDENTITY).area_at(offset));
        // Four standard deviations, and the curvature of the layer.
        let tolerance = 4.0 / count.sqrt() + 0.002;
        assert!(
            (layer / area - 1.0).abs() < tolerance,
            "{offset}: {layer} {area}"
        );
    }
}

#[test]
fn the_area_is_continuous_where_the_hole_closes() {
    let ring = ring(Pose::IDENTITY);
    let closing = MAJOR - MINOR;
    let [before, at, after] = [-1.0e-3, 0.0, 1.0e-3].map(|step| ring.area_at(closing + step));
    assert!(before < at && at < after, "{before} {at} {after}");
    assert!(after - before < 0.5, "{before} {after}");
}

#[test]
fn samples_lie_on_the_offset_surface() {
    let mut random = random(64);
    for offset in OFFSETS {
        for _ in 0..2_000 {
            let point = ring(pose()).sample(offset, &mut random);
            let error = ring(pose()).signed_distance(point) - offset;
            assert!(error.abs() < 2.0e-5, "{offset} at {point}: {error}");
        }
    }
}

#[test]
fn samples_are_uniform_by_both_angles() {
    const BINS: usize = 12;
    let bin = |angle: f32| {
        let share = f64::from(angle).rem_euclid(TAU) / TAU;
        ((share * BINS as f64) as usize).min(BINS - 1)
    };
    for offset in OFFSETS {
        let tube = f64::from(MINOR + offset);
        // The area of each bin of the tube, by the midpoint rule.
        let expected: [f64; BINS] = std::array::from_fn(|index| {
            let parts = (0..10_000).map(|k| {
                let share = (index as f64 + (f64::from(k) + 0.5) / 1.0e4) / BINS as f64;
                (f64::from(MAJOR) + tube * (TAU * share).cos()).max(0.0)
            });
            parts.sum()
        });
        let mut random = random(65);
        let (mut around, mut of_tube) = ([0; BINS], [0; BINS]);
        for _ in 0..50_000 {
            let point = ring(Pose::IDENTITY).sample(offset, &mut random);
            around[bin(point.y.atan2(point.x))] += 1;
            let across = point.truncate().length() - MAJOR;
            of_tube[bin(point.z.atan2(across))] += 1;
        }
        // Eleven degrees of freedom: 31.3 is exceeded once in a thousand.
        let chi = chi_squared(&around, &[1.0; BINS]);
        assert!(chi < 31.3, "{offset}: {around:?} {chi}");
        let reached: Vec<usize> = (0..BINS).filter(|&k| expected[k] > 0.0).collect();
        let counts: Vec<usize> = reached.iter().map(|&k| of_tube[k]).collect();
        let shares: Vec<f64> = reached.iter().map(|&k| expected[k]).collect();
        let chi = chi_squared(&counts, &shares);
        assert!(chi < 31.3, "{offset}: {of_tube:?} {chi}");
        assert_eq!(counts.iter().sum::<usize>(), 50_000, "{offset}");
    }
}

#[test]
fn a_ring_that_vanishes_has_no_area_and_finite_samples() {
    let mut random = random(66);
    for offset in [-MINOR, -2.5, -100.0] {
        assert_eq!(ring(pose()).area_at(offset), 0.0);
        assert!(ring(pose()).sample(offset, &mut random).is_finite());
    }
}

#[test]
fn with_pose_moves_the_ring() {
    let moved = ring(Pose::IDENTITY).with_pose(&pose()).unwrap();
    let mut random = random(67);
    for _ in 0..200 {
        let point = in_cube(7.0, &mut random);
        let here = ring(Pose::IDENTITY).distance_and_normal(point);
        let there = moved.distance_and_normal(pose().transform_point(point));
        assert!((here.distance - there.distance).abs() < 2.0e-5);
        if here.distance.abs() > 0.1 && here.distance > 0.1 - MINOR {
            assert!((pose().rotation * here.normal - there.normal).length() < 1.0e-3);
        }
    }
    assert_eq!(moved.center(), pose().position);
    let bad = Pose::from_translation(Vec3::NAN);
    assert!(ring(pose()).with_pose(&bad).is_err());
}

#[test]
fn invalid_radii_are_errors_that_name_them() {
    for (major, minor, named) in [
        (0.0, 1.0, "major radius"),
        (f32::NAN, 1.0, "major radius"),
        (f32::INFINITY, 1.0, "major radius"),
        (2.0, -1.0, "minor radius"),
        (2.0, f32::NAN, "minor radius"),
        (2.0, 2.0, "minor radius"),
        (2.0, 3.0, "minor radius"),
    ] {
        let error = Torus::new(major, minor, Pose::IDENTITY).unwrap_err();
        assert!(
            matches!(error, CompartmentError::BadExtent { what, .. } if what == named),
            "{major} {minor}: {error}"
        );
    }
}
