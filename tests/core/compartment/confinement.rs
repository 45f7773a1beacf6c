//! How far molecules exceed their leeways, in surfaces and in volumes.

use bevy_rapier_molecules::compartment::Confinement;
use bevy_rapier_molecules::prelude::*;
use glam::{Quat, Vec3};

use crate::common::carbons::rod;

fn height(confinement: Confinement, distance: f32) -> f32 {
    let shell = SphereShell::new(Vec3::ZERO, 5.0).unwrap();
    let pose = Pose::from_translation(Vec3::X * (5.0 + distance));
    let excess = confinement.excess(&shell, &rod(1), &pose);
    assert_eq!((excess.tilt, excess.total_tilt), (0.0, 0.0));
    excess.height
}

#[test]
fn volumes_confine_on_one_side_only() {
    let inside = Confinement::Inside { distance: 1.0 };
    assert_eq!(height(inside, -4.0), 0.0);
    assert_eq!(height(inside, -1.0), 0.0);
    assert_eq!(height(inside, 0.5), 1.5);
    let outside = Confinement::Outside { distance: 1.0 };
    assert_eq!(height(outside, 7.0), 0.0);
    assert_eq!(height(outside, 0.5), -0.5);
}

#[test]
fn in_a_surface_the_excess_starts_at_the_leeway() {
    let shell = SphereShell::new(Vec3::ZERO, 5.0).unwrap();
    let placement = Placement {
        leaflet: Leaflet::Outer,
        depth: 1.0,
        up: Vec3::Y,
        leeway: 0.5,
        tilt_leeway: 0.25,
    };
    let confinement = Confinement::from(placement).checked().unwrap();
    let at = |height: f32, tilt: f32| {
        let pose = Pose::new(Vec3::Y * (6.0 + height), Quat::from_rotation_x(tilt));
        confinement.excess(&shell, &rod(1), &pose)
    };
    assert!(at(0.4, -0.2).is_in_place());
    assert_eq!((at(0.4, -0.2).height, at(0.4, -0.2).tilt), (0.0, 0.0));
    let out = at(-1.5, 1.25);
    assert!((out.height + 1.0).abs() < 1e-5 && (out.tilt - 1.0).abs() < 1e-5);
    assert!((out.total_tilt - 1.25).abs() < 1e-5 && (out.axis + Vec3::X).length() < 1e-5);
    assert!(!out.is_in_place());
}

#[test]
fn non_finite_distances_are_rejected() {
    for distance in [f32::NAN, f32::INFINITY] {
        assert!(Confinement::Inside { distance }.checked().is_err());
        assert!(Confinement::Outside { distance }.checked().is_err());
        let clearance = distance;
        assert!(Confinement::WholeInside { clearance }.checked().is_err());
        assert!(Confinement::WholeOutside { clearance }.checked().is_err());
    }
    assert!(Confinement::Inside { distance: -1.0 }.checked().is_ok());
}
