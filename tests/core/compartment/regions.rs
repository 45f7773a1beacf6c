//! Regions against samples of their surfaces.

use std::sync::Arc;

use bevy_rapier_molecules::compartment::{
    CompartmentError, FlatPatch, Region, ShapeCompartment, SphereShell, Surface, Torus,
};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use glam::{Quat, Vec2, Vec3};

use crate::compartment::fixtures::{concave_mesh, in_cube, octasphere, pose, random};

fn shell(center: Vec3, radius: f32) -> Arc<dyn Surface> {
    Arc::new(SphereShell::new(center, radius).unwrap())
}

/// A cell with three organelles that neither touch each other nor the cell.
fn cell() -> Region {
    let (vertices, triangles) = octasphere(10.0, 4);
    let cell = ShapeCompartment::mesh(&vertices, &triangles, Pose::IDENTITY).unwrap();
    let capsule = ShapeCompartment::capsule(1.5, 1.0, Pose::from_translation(Vec3::Y * -5.0));
    let ring = Torus::new(2.0, 0.8, Pose::from_translation(Vec3::new(-5.0, 2.0, 1.0))).unwrap();
    let organelles = vec![
        shell(Vec3::new(4.0, 2.0, 0.0), 3.0),
        Arc::new(capsule.unwrap()),
        Arc::new(ring),
    ];
    Region::new(Some(Arc::new(cell)), organelles, None).unwrap()
}

fn region(inside: Option<Arc<dyn Surface>>, without: Vec<Arc<dyn Surface>>) -> Region {
    Region::new(inside, without, None).unwrap()
}

/// The gradient of the distance, by central differences.
fn gradient(surface: &dyn Surface, point: Vec3) -> Vec3 {
    const STEP: f32 = 5.0e-3;
    let along = |axis: Vec3| {
        let ends = [STEP, -STEP].map(|step| surface.signed_distance(point + axis * step));
        (ends[0] - ends[1]) / (2.0 * STEP)
    };
    Vec3::from_array(Vec3::AXES.map(along))
}

#[test]
fn distances_inside_are_those_of_the_closest_of_many_samples() {
    let cell = cell().with_pose(&pose()).unwrap();
    let mut random = random(61);
    let samples: Vec<Vec3> = (0..20_000).map(|_| cell.sample(0.0, &mut random)).collect();
    let mut inside = 0;
    for _ in 0..200 {
        let point = cell.center() + in_cube(6.0, &mut random);
        let distance = cell.signed_distance(point);
        if distance > 0.0 {
            continue;
        }
        inside += 1;
        let closest = samples.iter().map(|sample| sample.distance(point));
        let closest = closest.fold(f32::INFINITY, f32::min);
        assert!(
            closest >= -distance - 2.0e-3,
            "{point}: {distance} {closest}"
        );
        // The samples are about 0.3 nm apart.
        let allowed = (distance * distance + 0.5).sqrt();
        assert!(closest <= allowed, "{point}: {distance} {closest}");
    }
    assert!(inside > 80, "{inside}");
}

#[test]
fn distances_are_the_maximum_over_the_parts() {
    let (outer, hole) = (shell(Vec3::ZERO, 5.0), shell(Vec3::X * 2.0, 1.5));
    let region = region(Some(outer.clone()), vec![hole.clone()]);
    let mut random = random(62);
    for _ in 0..1_000 {
        let point = in_cube(7.0, &mut random);
        let [from_outer, from_hole] = [&outer, &hole].map(|one| one.distance_and_normal(point));
        let found = region.distance_and_normal(point);
        let expected = from_outer.distance.max(-from_hole.distance);
        assert_eq!(found.distance, expected);
        let normal = if from_outer.distance >= -from_hole.distance {
            from_outer.normal
        } else {
            -from_hole.normal
        };
        assert_eq!(found.normal, normal);
    }
}

#[test]
fn normals_are_the_gradient_of_the_distance() {
    let cells: [Arc<dyn Surface>; 2] = [Arc::new(cell()), cell().with_pose(&pose()).unwrap()];
    for cell in cells {
        let mut random = random(63);
        let mut smooth = 0;
        for _ in 0..400 {
            let point = cell.center() + in_cube(9.0, &mut random);
            let normal = cell.normal(point);
            assert!((normal.length() - 1.0).abs() < 1.0e-4);
            let slope = gradient(&*cell, point);
            // Not where two surfaces or triangles are equally close.
            if (slope.length() - 1.0).abs() < 0.02 {
                smooth += 1;
                assert!(slope.dot(normal) > 0.97, "{point}: {slope} {normal}");
            }
        }
        assert!(smooth > 300, "{smooth}");
    }
}

#[test]
fn samples_are_on_the_boundary_in_proportion_to_the_areas() {
    let cell = cell();
    for offset in [0.0, -0.3, 0.3] {
        let mut random = random(64);
        let nucleus = SphereShell::new(Vec3::new(4.0, 2.0, 0.0), 3.0).unwrap();
        let mut on_nucleus = 0;
        for _ in 0..4_000 {
            let point = cell.sample(offset, &mut random);
            let distance = cell.signed_distance(point);
            assert!((distance - offset).abs() < 2.0e-3, "{offset}: {distance}");
            on_nucleus += u32::from((nucleus.signed_distance(point) + offset).abs() < 2.0e-3);
        }
        let share = f64::from(nucleus.area_at(-offset) / cell.area_at(offset));
        let deviation = (share * (1.0 - share) / 4_000.0).sqrt();
        let found = f64::from(on_nucleus) / 4_000.0;
        assert!(
            (found - share).abs() < 4.0 * deviation,
            "{offset}: {found} {share}"
        );
    }
}

#[test]
fn samples_are_not_on_parts_that_are_cut_off() {
    // A ball from which another one cuts a lens.
    let region = region(
        Some(shell(Vec3::ZERO, 4.0)),
        vec![shell(Vec3::X * 4.0, 2.5)],
    );
    let mut random = random(65);
    for _ in 0..2_000 {
        let point = region.sample(0.0, &mut random);
        assert!(region.signed_distance(point).abs() < 2.0e-3, "{point}");
        assert!(point.length() < 4.01 && point.distance(Vec3::X * 4.0) > 2.49);
    }
}

#[test]
fn volumes_are_the_difference() {
    let cell = cell();
    let mut random = random(66);
    let points = (0..40_000).map(|_| in_cube(10.0, &mut random));
    let inside = points.filter(|point| cell.signed_distance(*point) < 0.0);
    let share = inside.count() as f32 / 40_000.0;
    let volume = cell.volume().unwrap();
    assert!(
        (volume / (8_000.0 * share) - 1.0).abs() < 0.02,
        "{volume} {share}"
    );
    let posed = cell.with_pose(&pose()).unwrap();
    assert_eq!(posed.volume(), Some(volume));
    // Everywhere is not bounded; a plane encloses nothing.
    let hole = || vec![shell(Vec3::ONE, 1.0)];
    assert_eq!(region(None, hole()).volume(), None);
    let plane = FlatPatch::new(Vec2::ONE, 1.0).unwrap();
    assert_eq!(region(Some(Arc::new(plane)), hole()).volume(), None);
    let periodic = PeriodicBox::new(Vec3::new(4.0, 5.0, 6.0)).unwrap();
    let solvent = Region::new(None, hole(), Some(periodic)).unwrap();
    let expected = 120.0 - 4.0 / 3.0 * std::f32::consts::PI;
    assert!((solvent.volume().unwrap() - expected).abs() < 1.0e-3);
}

#[test]
fn everywhere_but_inside_is_outside() {
    let ball = shell(Vec3::ONE, 2.0);
    let region = region(None, vec![ball.clone()]);
    for point in [Vec3::ZERO, Vec3::X * 5.0, Vec3::splat(1.0e3)] {
        let found = region.distance_and_normal(point);
        let outside = ball.distance_and_normal(point);
        assert_eq!(
            (found.distance, found.normal),
            (-outside.distance, -outside.normal)
        );
    }
    assert_eq!(region.area_at(0.5), ball.area_at(-0.5));
}

#[test]
fn a_region_moves_as_a_body() {
    let cell = cell();
    let moved = cell.with_pose(&pose()).unwrap();
    let mut random = random(67);
    for _ in 0..300 {
        let point = in_cube(12.0, &mut random);
        let [here, there] = [
            cell.distance_and_normal(point),
            moved.distance_and_normal(pose().transform_point(point)),
        ];
        assert!((here.distance - there.distance).abs() < 1.0e-4, "{point}");
        let turned = pose().rotation * here.normal;
        let is_far = here.distance.abs() > 0.01;
        assert!(!is_far || turned.dot(there.normal) > 0.999 || at_medial_axis(&cell, point));
    }
    assert!(moved.center().abs_diff_eq(pose().position, 1.0e-3));
    // The pose replaces the previous one.
    let back = moved.with_pose(&Pose::IDENTITY).unwrap();
    assert_eq!(
        back.signed_distance(Vec3::ONE),
        cell.signed_distance(Vec3::ONE)
    );
    let invalid = Pose::from_translation(Vec3::NAN);
    assert!(matches!(
        moved.with_pose(&invalid),
        Err(CompartmentError::BadPose { .. })
    ));
}

/// Whether two parts of the boundary are almost equally close.
fn at_medial_axis(surface: &dyn Surface, point: Vec3) -> bool {
    (gradient(surface, point).length() - 1.0).abs() > 0.02
}

#[test]
fn images_in_a_periodic_box_are_excluded() {
    let size = Vec3::new(9.0, 10.0, 11.0);
    let periodic = PeriodicBox::new(size).unwrap();
    let (vertices, triangles) = concave_mesh();
    let frame = Pose::new(Vec3::new(8.0, 1.0, 5.0), Quat::from_rotation_y(0.7));
    let mesh = ShapeCompartment::mesh(&vertices, &triangles, frame).unwrap();
    let ring = Torus::new(2.0, 0.8, Pose::from_translation(Vec3::ONE)).unwrap();
    let parts: [Arc<dyn Surface>; 3] = [
        shell(Vec3::new(0.5, 9.0, 10.5), 2.0),
        Arc::new(mesh),
        Arc::new(ring),
    ];
    let mut random = random(68);
    for part in &parts {
        let region = Region::new(None, vec![part.clone()], Some(periodic)).unwrap();
        let moved = region
            .with_pose(&Pose::from_translation(Vec3::ONE))
            .unwrap();
        for _ in 0..300 {
            let point = in_cube(15.0, &mut random);
            let images = (0..729).map(|image| {
                let steps = [image % 9 - 4, image / 9 % 9 - 4, image / 81 - 4];
                part.signed_distance(point + periodic.shift(steps))
            });
            let closest = images.fold(f32::INFINITY, f32::min);
            let distance = region.signed_distance(point);
            // Inside an image that is not smaller than the box, any of them is closest.
            assert!(
                (distance + closest).abs() < 2.0e-5,
                "{point}: {distance} {closest}"
            );
            let shifted = moved.signed_distance(point + Vec3::ONE);
            assert!((shifted - distance).abs() < 2.0e-5);
        }
        let turned = Pose::new(Vec3::ZERO, Quat::from_rotation_x(0.1));
        let error = region.with_pose(&turned).unwrap_err();
        assert!(matches!(error, CompartmentError::Rotated { .. }), "{error}");
    }
}

#[test]
fn a_region_without_a_surface_is_rejected() {
    let error = Region::new(None, Vec::new(), None).unwrap_err();
    assert_eq!(error, CompartmentError::NoSurface);
    // Nothing needs to be excluded.
    let ball = shell(Vec3::ZERO, 2.0);
    let same = region(Some(ball.clone()), Vec::new());
    assert_eq!(same.signed_distance(Vec3::X), ball.signed_distance(Vec3::X));
}

#[test]
fn regions_are_nested() {
    let vesicle = region(Some(shell(Vec3::ZERO, 3.0)), vec![shell(Vec3::ZERO, 1.0)]);
    let cell = region(Some(shell(Vec3::ZERO, 9.0)), vec![Arc::new(vesicle)]);
    // In the cell, in the wall of the vesicle, and in its hole.
    for (x, distance) in [(6.0, -3.0), (2.5, 0.5), (0.0, -1.0)] {
        assert_eq!(cell.signed_distance(Vec3::X * x), distance, "{x}");
    }
}
