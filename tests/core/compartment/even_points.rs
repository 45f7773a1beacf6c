//! Even points of all surfaces, measured by brute force.

use std::sync::Arc;

use bevy_rapier_molecules::compartment::{
    FlatPatch, ShapeCompartment, SphereShell, Surface, Torus, even_points,
};
use bevy_rapier_molecules::pose::Pose;
use glam::{DVec2, DVec3, Vec2, Vec3};

use crate::common::thread_pool::with_threads;
use crate::compartment::fixtures::{concave_cells, pose, random};

const COUNTS: [usize; 9] = [0, 1, 2, 3, 7, 97, 100, 997, 1_000];

/// Smallest distance of neighbors, as a fraction of the spacing of a hexagonal lattice.
const LEAST: f64 = 0.7;

/// With as many points, their spacing is small compared to the surface.
const MANY: usize = 97;

const PATCH: Vec2 = Vec2::new(20.0, 13.0);

fn surfaces() -> Vec<(&'static str, Arc<dyn Surface>)> {
    let [disc, bell] = concave_cells(pose());
    let half = Vec3::new(6.0, 5.0, 4.0);
    let cuboid = ShapeCompartment::cuboid(half, pose()).unwrap();
    let sphere = SphereShell::new(pose().position, 8.0).unwrap();
    let capsule = ShapeCompartment::capsule(10.0, 4.0, pose()).unwrap();
    vec![
        ("sphere", Arc::new(sphere)),
        ("flat patch", Arc::new(FlatPatch::new(PATCH, 4.0).unwrap())),
        ("torus", Arc::new(Torus::new(10.0, 3.0, pose()).unwrap())),
        ("capsule", Arc::new(capsule)),
        ("cuboid", Arc::new(cuboid)),
        (disc.0, Arc::new(disc.1)),
        (bell.0, Arc::new(bell.1)),
    ]
}

/// Spacing of a hexagonal lattice with as many points per area.
fn hexagonal_spacing(area: f32, count: usize) -> f64 {
    (2.0 / 3.0_f64.sqrt() * f64::from(area) / count as f64).sqrt()
}

/// From one point to another; to the closest image in a periodic patch.
fn arm(from: Vec3, to: Vec3, period: Option<Vec2>) -> DVec3 {
    let arm = to.as_dvec3() - from.as_dvec3();
    let Some(period) = period.map(Vec2::as_dvec2) else {
        return arm;
    };
    let across = arm.truncate();
    let wrapped: DVec2 = across - (across / period).round() * period;
    wrapped.extend(arm.z)
}

/// Smallest distance of two points that are not on opposite sides of a thin part.
fn smallest_distance(surface: &dyn Surface, points: &[Vec3], period: Option<Vec2>) -> f64 {
    let normals: Vec<Vec3> = points.iter().map(|point| surface.normal(*point)).collect();
    let mut smallest = f64::INFINITY;
    for (k, one) in points.iter().enumerate() {
        for (j, other) in points.iter().enumerate().skip(k + 1) {
            if normals[k].dot(normals[j]) > -0.5 {
                smallest = smallest.min(arm(*one, *other, period).length());
            }
        }
    }
    smallest
}

fn period_of(name: &str) -> Option<Vec2> {
    (name == "flat patch").then_some(PATCH)
}

#[test]
fn exactly_as_many_points_as_asked_lie_on_the_offset_surface() {
    for (name, surface) in surfaces() {
        for offset in [-1.0, 0.0, 1.5] {
            for count in COUNTS {
                let points = even_points(&*surface, offset, count, &mut random(71));
                assert_eq!(points.len(), count, "{name} at {offset}");
                for point in points {
                    let error = surface.signed_distance(point) - offset;
                    assert!(
                        error.abs() < 5.0e-5,
                        "{count} on {name} at {offset}: {error}"
                    );
                }
            }
        }
    }
}

#[test]
fn neighbors_are_almost_as_far_apart_as_in_a_hexagonal_lattice() {
    for (name, surface) in surfaces() {
        for offset in [-1.0, 0.0, 1.5] {
            for count in COUNTS.into_iter().filter(|count| *count >= MANY) {
                for seed in [72, 73] {
                    let points = even_points(&*surface, offset, count, &mut random(seed));
                    let spacing = hexagonal_spacing(surface.area_at(offset), count);
                    let smallest = smallest_distance(&*surface, &points, period_of(name));
                    let share = smallest / spacing;
                    assert!(share >= LEAST, "{count} on {name} at {offset}: {share}");
                }
            }
        }
    }
}

#[test]
fn a_few_points_do_not_coincide() {
    for (name, surface) in surfaces() {
        for count in [2, 3, 7] {
            let points = even_points(&*surface, 0.0, count, &mut random(74));
            let spacing = hexagonal_spacing(surface.area_at(0.0), count);
            let share = smallest_distance(&*surface, &points, period_of(name)) / spacing;
            assert!(share > 0.5, "{count} on {name}: {share}");
        }
    }
}

#[test]
fn points_far_from_the_origin_are_as_even() {
    // There, positions are rounded to 6·10⁻⁵ nm.
    let far = Pose::from_translation(Vec3::new(900.0, -700.0, 800.0));
    let torus = Torus::new(10.0, 3.0, far).unwrap();
    for count in [100, 2_000] {
        let points = even_points(&torus, 0.0, count, &mut random(75));
        let spacing = hexagonal_spacing(torus.area_at(0.0), count);
        let share = smallest_distance(&torus, &points, None) / spacing;
        assert!(share >= LEAST, "{count}: {share}");
    }
}

#[test]
fn a_patch_is_even_across_its_faces_whatever_the_number_and_the_shape() {
    for size in [PATCH, Vec2::splat(30.0), Vec2::new(40.0, 5.0)] {
        let patch = FlatPatch::new(size, 0.0).unwrap();
        for count in 20..60 {
            let points = even_points(&patch, 1.8, count, &mut random(76));
            let smallest = smallest_distance(&patch, &points, Some(size));
            let share = smallest / hexagonal_spacing(patch.area_at(1.8), count);
            assert!(share > 0.85, "{count} in {size}: {share}");
            for point in points {
                let share = point.truncate() / size;
                assert!(share.min_element() >= 0.0 && share.max_element() <= 1.0);
            }
        }
    }
}

#[test]
fn a_surface_of_which_nothing_is_left_has_finite_points() {
    for (name, surface) in surfaces() {
        for count in [0, 1, 2, 50] {
            let points = even_points(&*surface, -60.0, count, &mut random(77));
            assert_eq!(points.len(), count, "{name}");
            assert!(points.iter().all(|point| point.is_finite()), "{name}");
        }
    }
}

#[test]
fn the_points_depend_on_the_seed_and_not_on_the_number_of_threads() {
    for (name, surface) in surfaces() {
        let points = |threads, seed| {
            let mut random = random(seed);
            with_threads(threads, || even_points(&*surface, 0.5, 300, &mut random))
        };
        let one = points(1, 78);
        assert_eq!(one, points(2, 78), "{name}");
        assert_eq!(one, points(3, 78), "{name}");
        assert_ne!(one, points(1, 79), "{name}");
    }
}

#[test]
fn the_first_points_are_spread_over_the_whole_surface() {
    const FIRST: usize = 200;
    for (name, surface) in surfaces() {
        let points = even_points(&*surface, 0.0, 1_000, &mut random(80));
        let mean = |points: &[Vec3]| points.iter().sum::<Vec3>() / points.len() as f32;
        let all = mean(&points);
        let squares = points.iter().map(|point| point.distance_squared(all));
        let spread = (squares.sum::<f32>() / 1_000.0).sqrt();
        // Drawn at random, the mean of the first is as far from the mean of all as this.
        let deviation = spread * ((1.0 / FIRST as f32) * 0.8).sqrt();
        for first in [&points[..FIRST], &points[1_000 - FIRST..]] {
            let off = mean(first).distance(all);
            assert!(off < 2.5 * deviation, "{name}: {off} {deviation}");
        }
        // Points that follow each other are not neighbors, as on a spiral or in a row.
        let spacing = hexagonal_spacing(surface.area_at(0.0), 1_000) as f32;
        let steps = points.windows(2);
        let short = steps.filter(|pair| pair[0].distance(pair[1]) < 2.0 * spacing);
        let short = short.count();
        assert!(short < 60, "{name}: {short}");
    }
}
