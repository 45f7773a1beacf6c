//! The mid-plane of a flat bilayer.

use bevy_rapier_molecules::compartment::{CompartmentError, FlatPatch, Surface};
use bevy_rapier_molecules::pose::Pose;
use glam::{Quat, Vec2, Vec3};

use crate::compartment::fixtures::{chi_squared, in_cube, random};

const SIZE: Vec2 = Vec2::new(20.0, 13.0);

fn patch() -> FlatPatch {
    FlatPatch::new(SIZE, 4.0).unwrap()
}

#[test]
fn distances_are_heights_everywhere() {
    let mut random = random(51);
    for _ in 0..1_000 {
        // Also beyond the rectangle.
        let point = in_cube(100.0, &mut random);
        let surface = patch().distance_and_normal(point);
        let exact = f64::from(point.z) - 4.0;
        assert!((f64::from(surface.distance) - exact).abs() < 1.0e-5);
        assert_eq!(surface.normal, Vec3::Z);
        assert_eq!(surface.distance, patch().signed_distance(point));
    }
    assert_eq!(patch().signed_distance(Vec3::new(1.0e30, 0.0, 4.0)), 0.0);
}

#[test]
fn all_offsets_have_the_area_of_the_rectangle() {
    for offset in [-50.0, -1.8, 0.0, 1.8, 50.0] {
        assert_eq!(patch().area_at(offset), 260.0);
    }
    assert_eq!((patch().size(), patch().height()), (SIZE, 4.0));
    assert_eq!(patch().center(), Vec3::new(10.0, 6.5, 4.0));
}

#[test]
fn samples_are_uniform_over_the_rectangle() {
    for offset in [-1.8, 0.0, 1.8] {
        let mut random = random(52);
        let mut counts = [0; 50];
        for _ in 0..50_000 {
            let point = patch().sample(offset, &mut random);
            assert!((point.z - 4.0 - offset).abs() < 1.0e-6);
            let share = point.truncate() / SIZE;
            assert!(share.min_element() >= 0.0 && share.max_element() <= 1.0);
            let [x, y] = [share.x * 10.0, share.y * 5.0].map(|at| at as usize);
            counts[x.min(9) + 10 * y.min(4)] += 1;
        }
        // 49 degrees of freedom: 85.4 is exceeded once in a thousand.
        let chi = chi_squared(&counts, &[1.0; 50]);
        assert!(chi < 85.4, "{offset}: {chi}");
    }
}

#[test]
fn a_pose_moves_the_corner() {
    let moved = patch().with_pose(&Pose::from_translation(Vec3::new(-3.0, 7.0, 9.0)));
    let moved = moved.unwrap();
    assert_eq!(moved.center(), Vec3::new(7.0, 13.5, 9.0));
    assert_eq!(moved.signed_distance(Vec3::Z * 10.0), 1.0);
    assert_eq!(moved.area_at(0.0), 260.0);
    let mut random = random(53);
    for _ in 0..100 {
        let share = (moved.sample(0.0, &mut random) - Vec3::new(-3.0, 7.0, 9.0)).truncate() / SIZE;
        assert!(share.min_element() >= 0.0 && share.max_element() < 1.0 + 1.0e-6);
    }
}

#[test]
fn a_rotated_pose_is_an_error() {
    let turned = |rotation| patch().with_pose(&Pose::new(Vec3::ONE, rotation));
    for angle in [0.001, 1.0, std::f32::consts::PI, -0.5] {
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let error = turned(Quat::from_axis_angle(axis, angle)).unwrap_err();
            assert!(
                matches!(error, CompartmentError::Rotated { .. }),
                "{angle} about {axis}: {error}"
            );
        }
    }
    // The same rotation has two quaternions, and rounding is no rotation.
    assert!(turned(-Quat::IDENTITY).is_ok());
    assert!(turned(Quat::from_rotation_x(1.0e-6)).is_ok());
    for bad in [Quat::from_xyzw(0.0, 0.0, 0.0, 2.0), Quat::NAN] {
        let error = turned(bad).unwrap_err();
        assert!(matches!(error, CompartmentError::BadPose { .. }), "{error}");
    }
}

#[test]
fn invalid_edges_and_heights_are_errors() {
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        for (size, edge) in [
            (Vec2::new(bad, 1.0), "x edge"),
            (Vec2::new(1.0, bad), "y edge"),
        ] {
            let error = FlatPatch::new(size, 0.0).unwrap_err();
            assert!(
                matches!(error, CompartmentError::BadExtent { what, .. } if what == edge),
                "{error}"
            );
        }
    }
    for bad in [f32::NAN, f32::INFINITY] {
        let error = FlatPatch::new(SIZE, bad).unwrap_err();
        assert!(matches!(error, CompartmentError::BadPose { .. }), "{error}");
    }
}
