//! Distances and normals of all shapes, against brute force.

use bevy_rapier_molecules::compartment::{
    CompartmentError, ShapeCompartment, SphereShell, Surface,
};
use bevy_rapier_molecules::pose::Pose;
use glam::{Quat, Vec2, Vec3};
use rand::RngExt;
use rapier3d::parry::shape::{Ball, Cone, Cylinder, SharedShape};

use crate::compartment::fixtures::{BOX, all_shapes, in_cube, pose, probes, random, solid};

/// Points of a surface at most `SPACING` from their neighbors.
type Cloud = Vec<Vec3>;
const SPACING: f32 = 0.1;

fn steps(half: f32) -> impl Iterator<Item = f32> + Clone {
    let count = (2.0 * half / (0.6 * SPACING)).ceil() as i32;
    (0..=count).map(move |i| -half + 2.0 * half * i as f32 / count as f32)
}

fn box_cloud() -> Cloud {
    let mut cloud = Cloud::new();
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for side in [-1.0, 1.0] {
            for a in steps(BOX[u]) {
                for b in steps(BOX[v]) {
                    let mut point = Vec3::ZERO;
                    (point[axis], point[u], point[v]) = (side * BOX[axis], a, b);
                    cloud.push(point);
                }
            }
        }
    }
    cloud
}

/// Revolves a profile (distance from the y axis, height) about that axis.
fn revolved(profile: &[Vec2]) -> Cloud {
    let mut cloud = Cloud::new();
    for pair in profile.windows(2) {
        let count = (pair[0].distance(pair[1]) / (0.6 * SPACING)).ceil() as i32;
        for i in 0..=count {
            let point = pair[0].lerp(pair[1], i as f32 / count as f32);
            let around = (point.x * std::f32::consts::TAU / (0.6 * SPACING))
                .ceil()
                .max(1.0);
            for j in 0..around as i32 {
                let angle = std::f32::consts::TAU * j as f32 / around;
                cloud.push(Vec3::new(
                    point.x * angle.cos(),
                    point.y,
                    point.x * angle.sin(),
                ));
            }
        }
    }
    cloud
}

fn capsule_profile(half_height: f32, radius: f32) -> Vec<Vec2> {
    let arc = |i: i32| {
        let angle = (i as f32 / 500.0 - 1.0) * std::f32::consts::FRAC_PI_2;
        let height = half_height.copysign(angle);
        Vec2::new(radius * angle.cos(), height + radius * angle.sin())
    };
    (0..=1_000).map(arc).collect()
}

fn clouds() -> Vec<(&'static str, Cloud)> {
    let points = |points: &[(f32, f32)]| -> Vec<Vec2> {
        points.iter().map(|&(x, y)| Vec2::new(x, y)).collect()
    };
    vec![
        ("cuboid", box_cloud()),
        ("mesh of a box", box_cloud()),
        ("ball", revolved(&capsule_profile(0.0, 3.0))),
        ("capsule", revolved(&capsule_profile(3.0, 1.5))),
        (
            "cylinder",
            revolved(&points(&[(0.0, -2.0), (3.0, -2.0), (3.0, 2.0), (0.0, 2.0)])),
        ),
        (
            "cone",
            revolved(&points(&[(0.0, -2.0), (3.0, -2.0), (0.0, 2.0)])),
        ),
    ]
}

fn is_inside(name: &str, point: Vec3) -> bool {
    let across = Vec2::new(point.x, point.z).length();
    match name {
        "ball" => point.length() < 3.0,
        "capsule" => (point - Vec3::Y * point.y.clamp(-3.0, 3.0)).length() < 1.5,
        "cylinder" => across < 3.0 && point.y.abs() < 2.0,
        "cone" => point.y > -2.0 && across < 3.0 * (2.0 - point.y) / 4.0,
        _ => point.abs().cmplt(BOX).all(),
    }
}

#[test]
fn distances_equal_brute_force_over_a_point_cloud() {
    for (name, cloud) in clouds() {
        let compartment = solid(name);
        let mut random = random(1);
        for _ in 0..200 {
            let point = in_cube(6.0, &mut random);
            let nearest = cloud
                .iter()
                .map(|other| other.distance(point))
                .fold(f32::INFINITY, f32::min);
            let distance = compartment.signed_distance(point);
            assert_eq!(distance < 0.0, is_inside(name, point), "{name} at {point}");
            // The closest point of the cloud is further than the surface by less than the
            // spacing.
            let excess = nearest - distance.abs();
            assert!(
                (-1.0e-4..SPACING).contains(&excess),
                "{name} at {point}: {excess}"
            );
            // A cloud point at a distance s from the closest point, on a surface with a radius of
            // curvature of at least 1.5, is at most s² (1/d + 1/1.5) / 2 further.
            let bend = 0.5 * SPACING * SPACING * (1.0 / nearest + 1.0 / 1.5);
            assert!(excess < bend + 1.0e-4, "{name} at {point}: {excess}");
        }
    }
}

#[test]
fn the_normal_points_along_the_gradient_of_the_distance() {
    for (name, compartment) in all_shapes(pose()) {
        let mut random = random(2);
        for _ in 0..2_000 {
            let point = compartment.center() + in_cube(7.0, &mut random);
            let surface = compartment.distance_and_normal(point);
            let closest = point - surface.normal * surface.distance;
            let error = compartment.signed_distance(closest);
            assert!(error.abs() < 2.0e-5, "{name} at {point}: {error}");
            // The distance grows outwards.
            let further = compartment.signed_distance(point + surface.normal * 1.0e-2);
            let grown = further - surface.distance;
            // Inside, a step across the medial axis may decrease it again.
            assert!(
                grown < 1.01e-2 && (surface.distance < 0.0 || grown > 0.99e-2),
                "{name}"
            );
        }
    }
}

#[test]
fn normals_are_finite_and_of_unit_length_everywhere() {
    for (name, compartment) in all_shapes(pose()) {
        for point in probes(&compartment, 10_000, 3) {
            let surface = compartment.distance_and_normal(point);
            assert!(surface.distance.is_finite(), "{name} at {point}");
            let length = surface.normal.length();
            assert!(
                (length - 1.0).abs() < 1.0e-5,
                "{name} at {point}: {surface:?}"
            );
            assert_eq!(surface.normal, compartment.normal(point));
            assert_eq!(surface.distance, compartment.signed_distance(point));
        }
    }
}

#[test]
fn corners_edges_and_axes_have_normals() {
    for (name, compartment) in all_shapes(Pose::IDENTITY) {
        for i in 0..125 {
            let half = Vec3::new((i % 5) as f32, (i / 5 % 5) as f32, (i / 25) as f32) / 2.0 - 1.0;
            for size in [
                BOX,
                Vec3::splat(2.0),
                Vec3::splat(3.0),
                Vec3::splat(1.0e-20),
            ] {
                let normal = compartment.normal(half * size);
                assert!(
                    (normal.length() - 1.0).abs() < 1.0e-5,
                    "{name} at {}",
                    half * size
                );
            }
        }
        assert!(compartment.normal(Vec3::splat(1.0e25)).is_normalized());
        assert!(compartment.normal(Vec3::NAN).is_normalized());
    }
}

#[test]
fn on_the_surface_the_normal_is_the_face_normal() {
    for name in ["cuboid", "mesh of a box"] {
        let normal = solid(name).normal(Vec3::new(BOX.x, 0.3, -0.2));
        assert!((normal - Vec3::X).length() < 1.0e-4, "{name}: {normal}");
    }
    let cylinder = solid("cylinder");
    assert!((cylinder.normal(Vec3::new(0.1, 2.0, 0.2)) - Vec3::Y).length() < 1.0e-3);
    assert!((cylinder.normal(Vec3::Z * 3.0) - Vec3::Z).length() < 1.0e-3);
}

#[test]
fn a_ball_equals_a_sphere_shell() {
    let shell = SphereShell::new(pose().position, 3.0).unwrap();
    let ball = ShapeCompartment::new(SharedShape::new(Ball::new(3.0)), pose()).unwrap();
    assert_eq!(shell.center(), ball.center());
    let mut random = random(4);
    for _ in 0..1_000 {
        let point = shell.center() + in_cube(6.0, &mut random);
        let (a, b) = (
            shell.distance_and_normal(point),
            ball.distance_and_normal(point),
        );
        assert!((a.distance - b.distance).abs() < 1.0e-5);
        assert!((a.normal - b.normal).length() < 1.0e-4);
        let offset = random.random_range(-4.0..4.0);
        let (a, b) = (shell.area_at(offset), ball.area_at(offset));
        assert!((a - b).abs() <= 1.0e-5 * a);
    }
}

#[test]
fn with_pose_moves_the_surface() {
    for (name, still) in all_shapes(Pose::IDENTITY) {
        let moved = still.with_pose(&pose()).unwrap();
        for point in probes(&still, 200, 5) {
            let there = moved.distance_and_normal(pose().transform_point(point));
            let here = still.distance_and_normal(point);
            assert!((here.distance - there.distance).abs() < 1.0e-4, "{name}");
        }
    }
    let not_finite = Pose::from_translation(Vec3::NAN);
    let not_unit = Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 0.0));
    let shell = SphereShell::new(Vec3::ZERO, 1.0).unwrap();
    for bad in [not_finite, not_unit] {
        assert!(matches!(
            shell.with_pose(&bad),
            Err(CompartmentError::BadPose { .. })
        ));
        assert!(matches!(
            solid("cone").with_pose(&bad),
            Err(CompartmentError::BadPose { .. })
        ));
        assert!(ShapeCompartment::cuboid(Vec3::ONE, bad).is_err());
    }
}

#[test]
fn invalid_lengths_are_rejected() {
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let cuboid = ShapeCompartment::cuboid(Vec3::new(1.0, bad, 1.0), pose());
        assert!(
            matches!(cuboid, Err(CompartmentError::BadExtent { .. })),
            "{bad}"
        );
        let shapes = [
            SharedShape::ball(bad),
            SharedShape::capsule_y(1.0, bad),
            SharedShape::new(Cylinder {
                half_height: bad,
                radius: 1.0,
            }),
            SharedShape::new(Cylinder {
                half_height: 1.0,
                radius: bad,
            }),
            SharedShape::new(Cone {
                half_height: bad,
                radius: 1.0,
            }),
            SharedShape::new(Cone {
                half_height: 1.0,
                radius: bad,
            }),
        ];
        for shape in shapes {
            let error = ShapeCompartment::new(shape, pose()).unwrap_err();
            assert!(
                matches!(error, CompartmentError::BadExtent { .. }),
                "{error}"
            );
        }
    }
    for bad in [-1.0, f32::NAN, f32::INFINITY] {
        assert!(ShapeCompartment::capsule(bad, 1.0, pose()).is_err());
        let round = SharedShape::round_cuboid(1.0, 1.0, 1.0, bad);
        assert!(ShapeCompartment::new(round, pose()).is_err());
    }
    assert!(ShapeCompartment::capsule(0.0, 1.0, pose()).is_ok());
}

#[test]
fn shapes_without_volume_are_rejected_by_name() {
    let compound = vec![(Default::default(), SharedShape::ball(1.0))];
    let shapes = [
        (SharedShape::segment(Vec3::X, Vec3::Y), "segment"),
        (SharedShape::triangle(Vec3::X, Vec3::Y, Vec3::Z), "triangle"),
        (SharedShape::halfspace(Vec3::Y), "half space"),
        (SharedShape::compound(compound), "compound"),
    ];
    for (shape, name) in shapes {
        let error = ShapeCompartment::new(shape, pose()).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}
