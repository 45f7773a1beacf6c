//! Every atom is inside exactly one proxy.

use bevy_rapier_molecules::molecule::BodySpheres;
use bevy_rapier_molecules::proxy::{ProxyError, ProxySet};
use glam::Vec3;
use proptest::prelude::*;

use crate::common::thread_pool::with_threads;
use crate::proxy::fixtures::{STRUCTURES, molecule};

/// What is wrong with the proxies of `atoms`, in double and in single precision.
fn violation(atoms: BodySpheres<'_>, set: &ProxySet, count: usize) -> Option<String> {
    if set.len() != count.min(atoms.centers.len()) || set.len() != set.centers().len() {
        return Some(format!("{} proxies instead of {count}", set.len()));
    }
    let mut seen = vec![0; atoms.centers.len()];
    for proxy in 0..set.len() {
        if set.atoms_of(proxy).is_empty() {
            return Some(format!("proxy {proxy} is empty"));
        }
        for &atom in set.atoms_of(proxy) {
            let (center, radius) = (set.centers()[proxy], set.radii()[proxy]);
            let (position, own) = (atoms.centers[atom as usize], atoms.radii[atom as usize]);
            let in_64 = position.as_dvec3().distance(center.as_dvec3()) + f64::from(own);
            if in_64 > f64::from(radius) || position.distance(center) + own > radius {
                return Some(format!("atom {atom} protrudes from proxy {proxy}"));
            }
            seen[atom as usize] += 1;
        }
    }
    seen.iter()
        .position(|&times| times != 1)
        .map(|atom| format!("atom {atom} is in {} proxies", seen[atom]))
}

#[test]
fn atoms_of_all_structures_are_inside_their_proxies() {
    for file in STRUCTURES {
        let molecule = molecule(file);
        for count in [1, 2, 17, 100, molecule.atom_count(), usize::MAX] {
            let set = ProxySet::from_atoms(&*molecule, count, 1).unwrap();
            let violation = violation((&*molecule).into(), &set, count);
            assert_eq!(violation, None, "{file}, {count} proxies");
            assert!(set.max_protrusion(&*molecule).unwrap() <= 0.0);
        }
    }
}

#[test]
fn one_proxy_is_at_most_as_large_as_the_bounding_sphere() {
    for file in STRUCTURES {
        let molecule = molecule(file);
        let one = ProxySet::from_atoms(&*molecule, 1, 1).unwrap();
        assert!(
            one.radii()[0] <= 1.00001 * molecule.bounding_radius(),
            "{file}"
        );
    }
}

#[test]
fn as_many_proxies_as_atoms_are_the_atoms() {
    let molecule = molecule("popc.pdb");
    for count in [134, 135, 1_000_000] {
        let set = ProxySet::from_atoms(&*molecule, count, 3).unwrap();
        assert_eq!(set.centers(), molecule.positions());
        assert_eq!(set.radii(), molecule.radii());
        assert!(set.assignment().into_iter().eq(0..134));
    }
}

#[test]
fn proxies_depend_on_the_seed_and_not_on_threads() {
    let molecule = molecule("1gzx.pdb");
    let run = |threads: usize, seed: u64| {
        with_threads(threads, || {
            ProxySet::from_atoms(&*molecule, 40, seed).unwrap()
        })
    };
    let set = run(1, 1);
    assert_eq!(set, run(2, 1));
    assert_eq!(set, run(7, 1));
    assert_ne!(set, run(1, 2));
}

#[test]
fn invalid_atoms_and_counts_are_rejected() {
    let of = |positions: &[Vec3], radii: &[f32], count: usize| {
        ProxySet::from_atoms(
            BodySpheres {
                centers: positions,
                radii,
            },
            count,
            1,
        )
        .map(|set| set.len())
    };
    let two = [Vec3::ZERO, Vec3::X];
    assert_eq!(of(&[], &[], 3), Err(ProxyError::NoAtoms));
    assert_eq!(of(&two, &[0.1, 0.1], 0), Err(ProxyError::NoProxies));
    let mismatch = ProxyError::Mismatch {
        positions: 2,
        radii: 1,
    };
    assert_eq!(of(&two, &[0.1], 1), Err(mismatch));
    for (bad, radius) in [
        (Vec3::NAN, 0.1),
        (Vec3::X * f32::INFINITY, 0.1),
        (Vec3::X * 1.0e30, 0.1),
        (Vec3::X, 0.0),
        (Vec3::X, -1.0),
        (Vec3::X, f32::NAN),
    ] {
        let error = of(&[Vec3::ZERO, bad], &[0.1, radius], 1).unwrap_err();
        assert!(
            matches!(error, ProxyError::InvalidAtom { index: 1, .. }),
            "{error}"
        );
    }
    let molecule = molecule("popc.pdb");
    let other =
        ProxySet::from_atoms(&*crate::proxy::fixtures::molecule("p_xylene.pdb"), 2, 1).unwrap();
    assert!(other.max_protrusion(&*molecule).is_err());
}

/// Atoms in a box, a plane, a line or a point, near and far from the origin.
fn atoms() -> impl Strategy<Value = (Vec<Vec3>, Vec<f32>)> {
    let shape = prop_oneof![
        Just((Vec3::ONE, 0.0)),
        Just((Vec3::X, 0.0)),
        Just((Vec3::new(1.0, 1.0, 0.0), 0.0)),
        Just((Vec3::ZERO, 3.0)),
        Just((Vec3::ONE, 5.0e4)),
        Just((Vec3::splat(1.0e4), 0.0)),
    ];
    let atom = (prop::array::uniform3(-2.0_f32..2.0), 0.01_f32..0.5);
    (shape, prop::collection::vec(atom, 1..80)).prop_map(|((spread, shift), atoms)| {
        let transform = |at: [f32; 3]| Vec3::from_array(at) * spread + shift;
        atoms.into_iter().map(|(at, r)| (transform(at), r)).unzip()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn atoms_of_random_molecules_are_inside_their_proxies(
        (positions, radii) in atoms(),
        count in 1_usize..90,
        seed in any::<u64>(),
    ) {
        let atoms = BodySpheres { centers: &positions, radii: &radii };
        let set = ProxySet::from_atoms(atoms, count, seed).unwrap();
        prop_assert_eq!(violation(atoms, &set, count), None);
    }
}
