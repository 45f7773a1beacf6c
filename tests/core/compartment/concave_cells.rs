//! Closed meshes with concavities and a waist, against the exact solid of revolution.

use bevy_rapier_molecules::compartment::Surface;
use bevy_rapier_molecules::pose::Pose;
use glam::{DVec2, Vec2, Vec3};

use crate::compartment::fixtures::{
    biconcave_profile, concave_cells, dumb_bell_profile, in_cube, pose, random,
};

/// Largest distance of the meshes from the exact solids, nm.
const SAGITTA: f64 = 0.08;

/// Signed distance from a solid of revolution: the closest point lies in the half plane of the
/// point.
fn exact_distance(profile: &[Vec2], point: Vec3) -> f64 {
    let at = DVec2::new(
        f64::from(point.x).hypot(f64::from(point.z)),
        f64::from(point.y),
    );
    let (mut nearest, mut is_inside) = (f64::INFINITY, false);
    for pair in profile.windows(2) {
        let [a, b] = [pair[0].as_dvec2(), pair[1].as_dvec2()];
        let share = (at - a).dot(b - a) / (b - a).length_squared();
        nearest = nearest.min(at.distance(a.lerp(b, share.clamp(0.0, 1.0))));
        // A ray away from the axis crosses the profile an odd number of times.
        if (a.y > at.y) != (b.y > at.y) {
            let crossing = a.lerp(b, (at.y - a.y) / (b.y - a.y));
            is_inside ^= crossing.x > at.x;
        }
    }
    if is_inside { -nearest } else { nearest }
}

#[test]
fn signed_distances_are_those_of_the_solid_of_revolution() {
    let solids = [
        (biconcave_profile(20_001), Vec3::new(18.0, 7.0, 18.0)),
        (dumb_bell_profile(20_001), Vec3::new(6.0, 12.0, 6.0)),
    ];
    for ((name, cell), (profile, half)) in concave_cells(pose()).iter().zip(solids) {
        let mut random = random(41);
        let (mut inside, mut outside) = (0, 0);
        for _ in 0..400 {
            let point = in_cube(1.0, &mut random) * half;
            let exact = exact_distance(&profile, point);
            let distance = cell.signed_distance(pose().transform_point(point));
            let error = f64::from(distance) - exact;
            assert!(error.abs() < SAGITTA, "{name} at {point}: {error}");
            inside += u32::from(exact < -SAGITTA);
            outside += u32::from(exact > SAGITTA);
        }
        assert!(inside > 40 && outside > 40, "{name}: {inside} {outside}");
    }
}

#[test]
fn concavities_are_outside() {
    let [(_, disc), (_, bell)] = concave_cells(Pose::IDENTITY);
    for side in [1.0, -1.0] {
        // In the dimple, below the height of the rim.
        let dimple = disc.distance_and_normal(Vec3::Y * 3.0 * side);
        assert!((1.0..1.4).contains(&dimple.distance), "{dimple:?}");
        assert!(dimple.normal.dot(Vec3::Y * side) > 0.8, "{dimple:?}");
        // Around the waist, within the width of both ends.
        let waist = bell.distance_and_normal(Vec3::X * 3.0 * side);
        assert!((0.5..1.0).contains(&waist.distance), "{waist:?}");
        assert!(bell.signed_distance(Vec3::new(3.0 * side, 7.0, 0.0)) < -0.3);
        assert!((disc.signed_distance(Vec3::Y * side) + 0.62).abs() < 0.1);
        assert!((bell.signed_distance(Vec3::X * side) + 1.0).abs() < 0.1);
    }
}

#[test]
fn samples_reach_into_concavities() {
    let [(_, disc), (_, bell)] = concave_cells(Pose::IDENTITY);
    for offset in [-0.4, 0.0, 0.5] {
        let mut random = random(42);
        let (mut dimple, mut waist) = (0, 0);
        for _ in 0..2_000 {
            let on_disc = disc.sample(offset, &mut random);
            let on_bell = bell.sample(offset, &mut random);
            for (cell, point) in [(&disc, on_disc), (&bell, on_bell)] {
                let error = cell.signed_distance(point) - offset;
                assert!(error.abs() < 1.0e-3, "{offset} at {point}: {error}");
            }
            dimple += u32::from(Vec2::new(on_disc.x, on_disc.z).length() < 5.0);
            waist += u32::from(on_bell.y.abs() < 2.0);
        }
        // Of the area, at least 2 · 5² π of 1,800 nm² and 4 nm of a waist of 4 π nm of 600 nm².
        assert!(dimple > 80 && waist > 40, "{offset}: {dimple} {waist}");
    }
}
