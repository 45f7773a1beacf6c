//! The quality of proxies, and tolerances.

use std::f32::consts::PI;

use bevy_rapier_molecules::molecule::BodySpheres;
use bevy_rapier_molecules::proxy::{ProxyError, ProxySet};

use glam::Vec3;

use crate::proxy::fixtures::molecule;

#[test]
fn more_proxies_have_less_excess_volume() {
    for file in ["1ubq.cif", "popc.pdb"] {
        let molecule = molecule(file);
        let mut previous = f32::INFINITY;
        for count in [1, 4, 17, 64] {
            let set = ProxySet::from_atoms(&*molecule, count, 1).unwrap();
            let quality = set.quality(&*molecule).unwrap();
            assert!(quality.overestimate() < previous, "{file}, {count} proxies");
            assert!(quality.proxy_volume_nm3 > quality.atom_volume_nm3);
            previous = quality.overestimate();
        }
    }
}

#[test]
fn a_tolerance_is_met_with_the_fewest_proxies() {
    let molecule = molecule("1ubq.cif");
    let mut previous = usize::MAX;
    for tolerance in [0.2, 0.5, 3.0] {
        let set = ProxySet::for_tolerance(&*molecule, tolerance, 1).unwrap();
        let quality = set.quality(&*molecule).unwrap();
        assert!(quality.max_distance_nm <= tolerance);
        assert!(
            set.len() < previous,
            "{} proxies for {tolerance} nm",
            set.len()
        );
        previous = set.len();
        if set.len() > 1 {
            let fewer = ProxySet::from_atoms(&*molecule, set.len() - 1, 1).unwrap();
            let quality = fewer.quality(&*molecule).unwrap();
            assert!(quality.max_distance_nm > tolerance);
        }
    }
    assert_eq!(previous, 1);
    let exact = ProxySet::for_tolerance(&*molecule, 0.0, 1).unwrap();
    assert_eq!(exact.len(), molecule.atom_count());
    for bad in [-0.1, f32::NAN, f32::INFINITY] {
        let rejected = ProxySet::for_tolerance(&*molecule, bad, 1);
        assert!(matches!(rejected, Err(ProxyError::InvalidTolerance { .. })));
    }
}

#[test]
fn volumes_and_distances_of_two_balls_are_exact() {
    let ball = 4.0 / 3.0 * PI * 0.5_f32.powi(3);
    let positions = [Vec3::ZERO, Vec3::X * 3.0];
    let atoms = BodySpheres {
        centers: &positions,
        radii: &[0.5, 0.5],
    };
    let both = ProxySet::from_atoms(atoms, 2, 1).unwrap();
    let quality = both.quality(atoms).unwrap();
    assert!((quality.atom_volume_nm3 - 2.0 * ball).abs() < 0.01 * ball);
    assert_eq!(quality.overestimate(), 0.0);
    assert!(quality.max_distance_nm < 1.0e-6);
    // One sphere of radius 2 around both.
    let one = ProxySet::from_atoms(atoms, 1, 1).unwrap();
    assert!((one.radii()[0] - 2.0).abs() < 1.0e-5);
    let quality = one.quality(atoms).unwrap();
    let expected = 4.0 / 3.0 * PI * 8.0;
    assert!((quality.proxy_volume_nm3 - expected).abs() < 0.01 * expected);
    assert!((quality.overestimate() - 31.0).abs() < 0.5);
    // The circle halfway between the atoms is farthest: √(1.5² + 2²) − 0.5.
    assert!((quality.max_distance_nm - 2.0).abs() < 0.01);
}
