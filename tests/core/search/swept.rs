//! Swept searches return the collisions of brute force, bit for bit.

use bevy_rapier_molecules::search::swept::{
    CellList, CellListVersion, Collision, SweptBruteForce, SweptError, SweptSearch,
};
use bevy_rapier_molecules::spheres::{SphereError, SphereSet};
use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use CellListVersion::{A, B, C};

fn searches() -> Vec<CellList> {
    let mut searches: Vec<CellList> = [A, B, C].map(CellList::new).into();
    for version in [A, B, C] {
        searches.extend(CellList::with_cell_width(version, 1.0));
    }
    searches
}

/// Compares every search with brute force in each step between consecutive sets; returns the
/// number of collisions.
#[track_caller]
fn assert_exact(sets: &[SphereSet]) -> usize {
    let mut count = 0;
    for mut search in searches() {
        let [mut expected, mut found] = [Vec::new(), Vec::new()];
        count = 0;
        for (step, ends) in sets.windows(2).enumerate() {
            SweptBruteForce::new()
                .find_collisions(&ends[0], &ends[1], &mut expected)
                .unwrap();
            search
                .find_collisions(&ends[0], &ends[1], &mut found)
                .unwrap();
            let name = search.name();
            assert!(
                found == expected,
                "{name} finds {} of {} collisions in step {step}",
                found.len(),
                expected.len()
            );
            count += expected.len();
        }
    }
    count
}

fn point(random: &mut Pcg64Mcg) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| random.random::<f32>() - 0.5))
}

/// Spheres in a cube that move randomly, some of them further.
fn crowd(count: u32, edge: f32, jump: f32, steps: usize, seed: u64) -> Vec<SphereSet> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut sets = vec![SphereSet::new()];
    for owner in 0..count {
        let radius = 0.05 + 0.1 * random.random::<f32>();
        let center = edge * point(&mut random);
        sets[0].push(center, radius, owner / 2).unwrap();
    }
    for step in 0..steps {
        let mut next = SphereSet::new();
        let previous = &sets[step];
        for index in 0..previous.len() {
            let far = if index % 97 == 0 { 20.0 } else { 1.0 };
            let center = previous.center(index) + far * jump * point(&mut random);
            next.push(center, previous.radius(index), previous.owner(index))
                .unwrap();
        }
        sets.push(next);
    }
    sets
}

#[test]
fn moving_crowds_of_all_sizes_are_exact() {
    for (count, edge) in [(0, 1.0), (1, 1.0), (2, 0.2), (100, 2.0), (2000, 5.0)] {
        let found = assert_exact(&crowd(count, edge, 0.3, 3, u64::from(count)));
        assert!(
            count < 100 || found > 10,
            "{found} collisions of {count} spheres"
        );
    }
}

#[test]
fn overlapping_spheres_at_rest_collide() {
    let sets = crowd(500, 3.0, 0.0, 2, 8);
    assert!(assert_exact(&sets) > 10);
}

#[test]
fn coincident_spheres_and_points_collide_at_time_zero() {
    let mut set = SphereSet::new();
    for owner in 0..30 {
        set.push(Vec3::ONE, [0.0, 0.1][owner as usize % 2], owner)
            .unwrap();
    }
    assert_eq!(assert_exact(&[set.clone(), set]), 30 * 29 / 2);
}

#[test]
fn crowds_far_from_the_origin_are_exact() {
    for offset in [1.0e3, -1.0e6, 1.0e9, 1.0e15] {
        let mut sets = crowd(150, 2.0, 0.3, 2, 9);
        for set in &mut sets {
            let mut far = SphereSet::new();
            for index in 0..set.len() {
                let shift = if index < 3 {
                    Vec3::ZERO
                } else {
                    Vec3::splat(offset)
                };
                far.push(
                    set.center(index) + shift,
                    set.radius(index),
                    set.owner(index),
                )
                .unwrap();
            }
            *set = far;
        }
        assert_exact(&sets);
    }
}

#[test]
fn a_giant_and_a_bullet_are_outliers_and_collide() {
    let mut sets = crowd(300, 4.0, 0.1, 1, 10);
    for (set, x) in sets.iter_mut().zip([-50.0, 50.0]) {
        set.push(Vec3::X * x, 0.05, 7000).unwrap();
        set.push(Vec3::splat(2.0), 2.5, 7001).unwrap();
    }
    assert!(assert_exact(&sets) > 50);
    let mut collisions = Vec::new();
    for version in [A, B, C] {
        let mut search = CellList::new(version);
        let work = search
            .find_collisions(&sets[0], &sets[1], &mut collisions)
            .unwrap();
        assert!((2..10).contains(&work.outliers), "{}", work.outliers);
    }
}

/// Result 1: a sphere may move by half a cell minus its radius.
#[test]
fn spheres_too_fast_for_their_cells_are_outliers() {
    let ends = |displacement: f32| {
        [0.0, displacement].map(|x| {
            let mut set = SphereSet::new();
            set.push(Vec3::X * x, 0.25, 0).unwrap();
            set.push(Vec3::X * 0.9, 0.25, 1).unwrap();
            set
        })
    };
    let mut collisions: Vec<Collision> = Vec::new();
    for version in [A, B, C] {
        let mut search = CellList::with_cell_width(version, 1.0).unwrap();
        // d − r is 0.25 nm.
        for (displacement, outliers) in [(0.2, 0), (0.26, 1), (0.0, 0)] {
            let [start, end] = ends(displacement);
            let work = search.find_collisions(&start, &end, &mut collisions);
            assert_eq!(work.unwrap().outliers, outliers, "{displacement}");
        }
    }
    assert!(CellList::with_cell_width(A, f32::NAN).is_err());
    assert!(CellList::with_cell_width(A, 0.0).is_err());
}

#[test]
fn cells_behind_a_sphere_are_not_visited() {
    // Alone in the upper corner of its cell, moving up: 8 of 27 cells remain.
    let ends = [0.8, 0.85].map(|at| {
        let mut set = SphereSet::new();
        set.push(Vec3::splat(at), 0.1, 0).unwrap();
        set
    });
    let mut collisions = Vec::new();
    for (version, cells) in [(A, 8), (B, 8), (C, 2)] {
        let mut search = CellList::with_cell_width(version, 1.0).unwrap();
        let work = search
            .find_collisions(&ends[0], &ends[1], &mut collisions)
            .unwrap();
        assert_eq!(work.cells, cells);
    }
}

#[test]
fn sets_of_different_spheres_are_rejected() {
    let sets = crowd(20, 1.0, 0.1, 1, 11);
    let mut shorter = SphereSet::new();
    shorter.push(Vec3::ZERO, 0.1, 0).unwrap();
    let mut searches: Vec<Box<dyn SweptSearch>> = vec![Box::new(SweptBruteForce::new())];
    searches.extend([A, B, C].map(|version| Box::new(CellList::new(version)) as Box<_>));
    for mut search in searches {
        let mut collisions = Vec::new();
        search
            .find_collisions(&sets[0], &sets[1], &mut collisions)
            .unwrap();
        let error = search.find_collisions(&sets[0], &shorter, &mut collisions);
        assert!(matches!(
            error,
            Err(SweptError::DifferentSpheres { start: 20, end: 1 })
        ));
        assert!(collisions.is_empty());
        assert!(matches!(
            shorter.clone().push(Vec3::NAN, 0.1, 1),
            Err(SphereError::BadCenter { .. })
        ));
    }
}
