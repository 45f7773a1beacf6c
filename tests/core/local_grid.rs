//! Queries of the grid of one molecule against brute force.

use std::ops::ControlFlow;

use bevy_rapier_molecules::molecule::LocalGrid;
use glam::Vec3;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Sorted indices of the touching atoms.
fn touching(grid: &LocalGrid, center: Vec3, radius: f32) -> Vec<u32> {
    let mut found = Vec::new();
    let _ = grid.visit_touching(center, radius, |atom| {
        found.push(atom.index);
        ControlFlow::<()>::Continue(())
    });
    found.sort_unstable();
    found
}

fn brute_force(positions: &[Vec3], radii: &[f32], center: Vec3, radius: f32) -> Vec<u32> {
    (0..positions.len())
        .filter(|&k| {
            let sum = radii[k] + radius;
            sum >= 0.0 && positions[k].distance_squared(center) <= sum * sum
        })
        .map(|k| k as u32)
        .collect()
}

fn point(random: &mut impl Rng, side: f32) -> Vec3 {
    Vec3::from_array([(); 3].map(|()| random.random_range(-side..side)))
}

#[test]
fn touching_atoms_match_brute_force() {
    let mut random = Pcg64::seed_from_u64(7);
    for (count, side) in [(1, 0.1), (2, 5.0), (100, 0.5), (100, 20.0), (10_000, 3.0)] {
        let positions: Vec<Vec3> = (0..count).map(|_| point(&mut random, side)).collect();
        let radii: Vec<f32> = (0..count).map(|_| random.random_range(0.05..0.2)).collect();
        let grid = LocalGrid::new(&positions, &radii);
        for query in 0..200 {
            let center = point(&mut random, 1.3 * side);
            let radius = [0.0, -0.05, 0.12, 0.25, 1.5, 100.0][query % 6];
            assert_eq!(
                touching(&grid, center, radius),
                brute_force(&positions, &radii, center, radius),
                "{count} atoms, ball of {radius} nm at {center}"
            );
        }
    }
}

#[test]
fn atoms_on_cell_faces_and_coincident_atoms_are_found() {
    let positions: Vec<Vec3> = (0..27)
        .map(|k| Vec3::new((k % 3) as f32, (k / 3 % 3) as f32, (k / 9) as f32) * 0.225)
        .chain([Vec3::ZERO; 3])
        .collect();
    let radii = vec![0.1; positions.len()];
    let grid = LocalGrid::new(&positions, &radii);
    for &center in &positions {
        assert_eq!(
            touching(&grid, center, 0.1251),
            brute_force(&positions, &radii, center, 0.1251)
        );
    }
}

#[test]
fn empty_grids_and_non_finite_points_find_nothing() {
    let empty = LocalGrid::new(&[], &[]);
    assert!(touching(&empty, Vec3::ZERO, 1.0).is_empty());
    assert!(touching(&empty, Vec3::ZERO, 0.0).is_empty());
    let one = LocalGrid::new(&[Vec3::ONE], &[0.1]);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
        assert!(touching(&one, Vec3::splat(bad), 0.1).is_empty());
    }
    assert!(touching(&one, Vec3::ONE, f32::NAN).is_empty());
    assert_eq!(touching(&one, Vec3::ONE, f32::MAX.sqrt() / 2.0), [0]);
}
