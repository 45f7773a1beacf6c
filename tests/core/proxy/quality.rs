//! More proxies are closer to the atoms, and a tolerance is kept.

use bevy_rapier_molecules::proxy::{ProxyError, ProxySet};

use crate::proxy::fixtures::molecule;

#[test]
fn more_proxies_overestimate_less() {
    for file in ["1ubq.cif", "popc.pdb"] {
        let molecule = molecule(file);
        let mut last = f32::INFINITY;
        for count in [1, 4, 17, 64] {
            let set = ProxySet::from_atoms(&*molecule, count, 1).unwrap();
            let quality = set.quality(&*molecule).unwrap();
            assert!(quality.overestimate() < last, "{file}, {count} proxies");
            assert!(quality.proxy_volume_nm3 > quality.atom_volume_nm3);
            last = quality.overestimate();
        }
    }
}

#[test]
fn a_tolerance_is_kept_with_no_more_proxies_than_it_takes() {
    let molecule = molecule("1ubq.cif");
    let mut fewer = usize::MAX;
    for tolerance in [0.2, 0.5, 3.0] {
        let set = ProxySet::for_tolerance(&*molecule, tolerance, 1).unwrap();
        let quality = set.quality(&*molecule).unwrap();
        assert!(quality.max_distance_nm <= tolerance);
        assert!(
            set.len() < fewer,
            "{} proxies for {tolerance} nm",
            set.len()
        );
        fewer = set.len();
        if set.len() > 1 {
            let worse = ProxySet::from_atoms(&*molecule, set.len() - 1, 1).unwrap();
            let quality = worse.quality(&*molecule).unwrap();
            assert!(quality.max_distance_nm > tolerance);
        }
    }
    assert_eq!(fewer, 1);
    let exact = ProxySet::for_tolerance(&*molecule, 0.0, 1).unwrap();
    assert_eq!(exact.len(), molecule.atom_count());
    for bad in [-0.1, f32::NAN, f32::INFINITY] {
        let refused = ProxySet::for_tolerance(&*molecule, bad, 1);
        assert!(matches!(refused, Err(ProxyError::InvalidTolerance { .. })));
    }
}
