//! Links, splines, midpoint displacement, frames.

use std::f32::consts::TAU;

use bevy_rapier_molecules::compartment::SphereShell;
use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::fiber::{
    Fiber, FiberLink, FiberPath, Interior, MidpointPath, SplinePath, worm_like_mean_square,
};
use glam::Vec3;

use super::fixtures::{dna, state_by_hand};
use crate::relaxation::fixtures::overlaps;

/// Straight fiber of three links.
fn straight(link: &FiberLink) -> Crowd {
    let points = (0..4).map(|point| Vec3::new(1.0, 2.0, 2.0) / 3.0 * link.rise() * point as f32);
    let path = FiberPath::new(points.collect(), false).unwrap();
    let mut crowd = Crowd::new();
    Fiber::new(link.clone(), path).add_to(&mut crowd).unwrap();
    crowd
}

#[test]
fn the_rise_is_the_least_without_overlaps_of_straight_links() {
    for twist in [0.0, 1.0, 2.5, 12.0 * TAU / 10.5, -0.7] {
        let link = dna().with_twist(twist).unwrap();
        assert!(
            (3.9..4.5).contains(&link.rise()),
            "{twist}: {}",
            link.rise()
        );
        assert_eq!(overlaps(&straight(&link)), 0, "{twist}");
        let closer = link.clone().with_rise(link.rise() - 0.02).unwrap();
        assert!(overlaps(&straight(&closer)) >= 2, "{twist}");
    }
    let link = dna();
    assert_eq!(link.base_pairs(), 12);
    assert!((link.twist() - 12.0 * TAU / 10.5).abs() < 1.0e-5);
}

#[test]
fn rods_touch_with_their_ends() {
    for (radius, length) in [(1.0, 2.0), (1.0, 4.0), (0.5, 7.3), (10.0, 200.0)] {
        let rod = FiberLink::rod("rod", radius, length).unwrap();
        assert!((rod.rise() - length - 0.01).abs() < 1.0e-4 * length);
        assert!((rod.length() - length).abs() < 1.0e-4 * length);
        assert!((rod.radius() - radius).abs() < 1.0e-4 * radius);
        assert_eq!(rod.axis(), Vec3::Z);
        assert_eq!(rod.base_pairs(), 0);
    }
}

#[test]
fn straight_fibers_turn_by_the_twist() {
    let link = dna().with_twist(0.8).unwrap();
    let crowd = straight(&link);
    assert_eq!((crowd.members().len(), crowd.joints().len()), (3, 2));
    for joint in crowd.joints() {
        let [gap, bend, twist] = state_by_hand(&crowd, joint);
        assert!(gap < 1.0e-5 && bend < 1.0e-3 && twist.abs() < 1.0e-5);
    }
    let [first, second] = [0, 1].map(|member| crowd.members()[member].pose.rotation);
    let turn = second * first.inverse();
    let (axis, angle) = turn.to_axis_angle();
    assert!((angle - 0.8).abs() < 1.0e-4, "{angle}");
    assert!(
        axis.abs_diff_eq(Vec3::new(1.0, 2.0, 2.0) / 3.0, 1.0e-3),
        "{axis}"
    );
}

#[test]
fn links_of_a_closed_fiber_share_the_rest_of_a_turn() {
    let link = FiberLink::rod("rod", 0.5, 4.0).unwrap();
    for twist in [0.0, 0.3, -2.0] {
        let link = link.clone().with_twist(twist).unwrap();
        // Not flat, so that the frames do not return by themselves.
        let points = (0..40).map(|point| {
            let angle = TAU * point as f32 / 40.0;
            Vec3::new(
                25.0 * angle.cos(),
                25.0 * angle.sin(),
                8.0 * (3.0 * angle).sin(),
            )
        });
        let path = FiberPath::new(points.collect(), true).unwrap();
        let mut crowd = Crowd::new();
        Fiber::new(link, path).add_to(&mut crowd).unwrap();
        assert_eq!(crowd.joints().len(), 40);
        let twists: Vec<f64> = crowd
            .joints()
            .iter()
            .map(|joint| state_by_hand(&crowd, joint)[2])
            .collect();
        for angle in &twists {
            assert!((angle - twists[0]).abs() < 1.0e-4, "{angle}, {}", twists[0]);
            assert!(angle.abs() <= f64::from(TAU) / 80.0 + 1.0e-4, "{angle}");
        }
    }
}

#[test]
fn statistics_of_a_straight_path_and_of_a_ring() {
    let points: Vec<Vec3> = (0..=10)
        .map(|point| Vec3::X * (2.0 * point as f32))
        .collect();
    let path = FiberPath::new(points, false).unwrap();
    assert_eq!((path.links(), path.contour_length()), (10, 20.0));
    assert_eq!(path.end_to_end_distance(), 20.0);
    assert_eq!(path.mean_squared_distance(3), Some(36.0));
    assert_eq!(path.mean_squared_distance(11), None);
    assert_eq!(path.mean_cosine(9), Some(1.0));
    assert_eq!(path.mean_cosine(10), None);

    let square = [Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y].to_vec();
    let ring = FiberPath::new(square, true).unwrap();
    assert_eq!((ring.links(), ring.contour_length()), (4, 4.0));
    assert_eq!(ring.end_to_end_distance(), 0.0);
    assert_eq!(ring.mean_squared_distance(2), Some(2.0));
    assert_eq!(
        [1, 2].map(|links| ring.mean_cosine(links)),
        [Some(0.0), Some(-1.0)]
    );

    // Straight if short, a random walk of steps 2 P if long.
    assert!((worm_like_mean_square(50.0, 0.1) - 0.01).abs() < 1.0e-4);
    assert!((worm_like_mean_square(50.0, 5.0e4) / (2.0 * 50.0 * 5.0e4) - 1.0).abs() < 2.0e-3);
}

/// Distance of a point from the nearest point of a path.
fn distance_from(path: &FiberPath, point: Vec3) -> f32 {
    let distances = path.points().iter().map(|other| other.distance(point));
    distances.fold(f32::INFINITY, f32::min)
}

#[test]
fn splines_pass_through_their_points_with_equal_steps() {
    let points = vec![
        Vec3::ZERO,
        Vec3::new(30.0, 0.0, 5.0),
        Vec3::new(40.0, 30.0, 0.0),
        Vec3::new(5.0, 40.0, 10.0),
    ];
    for is_closed in [false, true] {
        let spline = SplinePath {
            points: points.clone(),
            step: 2.0,
            max_bend: 0.8,
            is_closed,
        };
        let path = spline.path(None).unwrap();
        for point in &points {
            let distance = distance_from(&path, *point);
            assert!(distance < 2.0, "{point}: {distance} nm");
        }
        let steps = path.points().windows(2);
        for pair in steps {
            assert!((pair[0].distance(pair[1]) - 2.0).abs() < 5.0e-3);
        }
        assert!(path.mean_cosine(1).unwrap() > 0.97);
    }
}

#[test]
fn midpoint_paths_stay_inside_and_reach_their_points() {
    let sphere = SphereShell::new(Vec3::ZERO, 30.0).unwrap();
    let inside = Interior {
        surface: &sphere,
        clearance: 1.5,
    };
    let points = vec![Vec3::NEG_X * 25.0, Vec3::Y * 20.0, Vec3::X * 25.0];
    for is_closed in [false, true] {
        for seed in 0..10 {
            let midpoint = MidpointPath {
                points: points.clone(),
                step: 2.0,
                roughness: 0.3,
                max_bend: 1.2,
                is_closed,
                seed,
            };
            let path = midpoint.path(Some(&inside)).unwrap();
            assert!(path.links() > 30, "{}", path.links());
            for point in path.points() {
                assert!(point.length() <= 28.55, "{point}");
            }
            for pair in path.points().windows(2) {
                assert!((pair[0].distance(pair[1]) - 2.0).abs() < 0.02);
            }
            // The corners are cut where the bend is too large.
            assert!(
                points
                    .iter()
                    .all(|point| distance_from(&path, *point) < 6.0)
            );
        }
    }
}

#[test]
fn invalid_links_and_paths_are_errors() {
    let sentence = |error: bevy_rapier_molecules::fiber::FiberError| error.to_string();
    let rod = FiberLink::rod("rod", 1.0, 1.5).unwrap_err();
    assert_eq!(
        sentence(rod),
        "the length of a link must be at least its diameter and at most 5,000 radii, not 1.5"
    );
    assert_eq!(
        sentence(FiberLink::rod("rod", 0.0, 1.5).unwrap_err()),
        "the radius of a link must be positive and at most 0.1 mm, not 0"
    );
    assert_eq!(
        sentence(dna().with_rise(f32::NAN).unwrap_err()),
        "the rise of a link must be positive and at most 0.1 mm, not NaN"
    );
    assert_eq!(
        sentence(dna().with_twist(f32::INFINITY).unwrap_err()),
        "the twist of a link must be finite, not inf"
    );
    assert_eq!(
        sentence(FiberPath::new(vec![Vec3::ZERO; 2], true).unwrap_err()),
        "a path needs at least 3 different points, not 2"
    );
    let spline = SplinePath {
        points: vec![Vec3::ZERO, Vec3::ZERO],
        ..SplinePath::default()
    };
    assert_eq!(
        sentence(spline.path(None).unwrap_err()),
        "a path needs at least 2 different points, not 1"
    );
    let short = SplinePath {
        points: vec![Vec3::ZERO, Vec3::X],
        step: 2.0,
        ..SplinePath::default()
    };
    assert_eq!(
        sentence(short.path(None).unwrap_err()),
        "the path is 1 nm long, shorter than one link of 2 nm"
    );
    let rough = MidpointPath {
        roughness: 0.75,
        ..MidpointPath::default()
    };
    assert_eq!(
        sentence(rough.path(None).unwrap_err()),
        "the roughness of a path must be from 0 to 0.5, not 0.75"
    );
}
