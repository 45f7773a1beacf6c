//! The quality of proxies, and tolerances.

use bevy_rapier_molecules::proxy::{ProxyError, ProxySet};

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
