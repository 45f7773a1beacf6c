//! The hashed grid of the docking bench finds the same atoms as `LocalGrid`.

use std::ops::ControlFlow;

use bevy_rapier_molecules::molecule::LocalGrid;
use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::hashed_grid::HashedGrid;

/// Sorted indices of the atoms that the hash grid and the local grid find.
fn both(positions: &[Vec3], radii: &[f32]) -> impl Fn(Vec3, f32) -> [Vec<u32>; 2] + use<> {
    let hashed = HashedGrid::new(positions, radii);
    let local = LocalGrid::new(positions, radii);
    move |center, radius| {
        let mut found = [Vec::new(), Vec::new()];
        let _ = hashed.visit_touching(center, radius, |atom| {
            found[0].push(atom.index);
            ControlFlow::<()>::Continue(())
        });
        let _ = local.visit_touching(center, radius, |atom| {
            found[1].push(atom.index);
            ControlFlow::<()>::Continue(())
        });
        found.iter_mut().for_each(|indices| indices.sort_unstable());
        found
    }
}

#[test]
fn the_hash_grid_matches_the_local_grid() {
    let mut random = Pcg64::seed_from_u64(17);
    let mut point =
        |side: f32| Vec3::from_array([(); 3].map(|()| random.random_range(-side..side)));
    for (count, side) in [(1, 0.1), (2, 5.0), (100, 0.5), (100, 20.0), (10_000, 3.0)] {
        for offset in [Vec3::ZERO, Vec3::splat(1000.0)] {
            let positions: Vec<Vec3> = (0..count).map(|_| offset + point(side)).collect();
            let radii: Vec<f32> = (0..count).map(|k| 0.05 + 0.01 * (k % 15) as f32).collect();
            let find = both(&positions, &radii);
            for query in 0..200 {
                let center = offset + point(1.3 * side);
                let radius = [0.0, -0.05, 0.12, 0.25, 1.5, 100.0][query % 6];
                let [hashed, local] = find(center, radius);
                assert_eq!(hashed, local, "{count} atoms, {radius} nm at {center}");
            }
        }
    }
}

#[test]
fn atoms_on_cell_faces_and_coincident_atoms_are_found_once() {
    let lattice = |k: i32| Vec3::new((k % 3) as f32, (k / 3 % 3) as f32, (k / 9) as f32);
    let positions: Vec<Vec3> = (0..27).map(|k| lattice(k) * 0.225).collect();
    let positions = [positions, vec![Vec3::ZERO; 3]].concat();
    let find = both(&positions, &vec![0.1; positions.len()]);
    for &center in &positions {
        let [hashed, local] = find(center, 0.1251);
        assert_eq!(hashed, local);
    }
}

#[test]
fn empty_sparse_and_non_finite_input_is_supported() {
    assert!(both(&[], &[])(Vec3::ZERO, 1.0)[0].is_empty());
    assert_eq!(HashedGrid::new(&[], &[]).mean_occupancy(), 0.0);
    let find = both(&[Vec3::splat(-1.0e5), Vec3::splat(1.0e5)], &[0.1, 0.1]);
    assert_eq!(find(Vec3::splat(1.0e5), 0.1)[0], [1]);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
        assert!(find(Vec3::splat(bad), 0.1)[0].is_empty());
    }
    assert!(find(Vec3::ZERO, f32::NAN)[0].is_empty());
    assert_eq!(find(Vec3::ZERO, f32::MAX.sqrt() / 2.0)[0], [0, 1]);
}
