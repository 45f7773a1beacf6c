//! Invalid input is rejected with a reason, and the search stays usable.

use std::sync::atomic::{AtomicU64, Ordering};

use bevy_rapier_molecules::search::{
    AutoGrid, BruteForce, MAX_REACH_NM, PairBuffer, PairSearch, SearchError, UniformGrid,
};
use bevy_rapier_molecules::spheres::{SphereError, SphereSet};
use glam::Vec3;

use crate::search::searches::{self, Guarantee, Selection, with_searches};
use crate::search::sizes::liquid;

#[test]
fn an_invalid_margin_is_rejected_and_the_search_stays_usable() {
    let spheres = liquid(200, true, 3);
    for mut search in searches::all() {
        let mut pairs = PairBuffer::new();
        search.find_pairs(&spheres, 0.0, &mut pairs).unwrap();
        let expected = pairs.to_sorted_vec();
        assert!(!expected.is_empty());
        for margin in [f32::NAN, -0.1, f32::INFINITY, f32::NEG_INFINITY] {
            let error = search.find_pairs(&spheres, margin, &mut pairs).unwrap_err();
            assert!(matches!(error, SearchError::BadMargin { .. }), "{error}");
            assert!(pairs.is_empty());
            assert!(search.count_pairs(&spheres, margin).is_err());
        }
        search.find_pairs(&spheres, 0.0, &mut pairs).unwrap();
        assert_eq!(pairs.to_sorted_vec(), expected);
    }
}

#[test]
fn invalid_cell_widths_are_rejected() {
    for width in [f32::NAN, -0.1, 0.0, f32::INFINITY, 2.0 * MAX_REACH_NM] {
        let error = UniformGrid::with_cell_width(width).unwrap_err();
        assert!(matches!(error, SearchError::BadWidth { .. }), "{error}");
    }
}

#[test]
fn a_reach_beyond_the_limit_is_rejected() {
    let mut spheres = SphereSet::new();
    spheres.push(Vec3::ZERO, MAX_REACH_NM, 0).unwrap();
    spheres.push(Vec3::ONE, 0.1, 1).unwrap();
    for mut search in searches::all() {
        // Brute force computes in 64 bits and has no limit.
        if search.name() == BruteForce.name() {
            continue;
        }
        let mut pairs = PairBuffer::new();
        let error = search.find_pairs(&spheres, 0.0, &mut pairs).unwrap_err();
        assert!(matches!(error, SearchError::ReachTooLong { .. }), "{error}");
        assert!(pairs.is_empty());
    }
}

#[test]
fn reaches_too_short_to_square_in_32_bits_are_rejected() {
    for radius in [5.0e-40, 1.0e-23] {
        let mut spheres = SphereSet::new();
        spheres.push(Vec3::ZERO, radius, 0).unwrap();
        spheres.push(Vec3::X * 1.8 * radius, radius, 1).unwrap();
        assert!(matches!(
            UniformGrid::new().count_pairs(&spheres, 0.0),
            Err(SearchError::ReachTooShort { .. })
        ));
    }
    let mut points = SphereSet::new();
    points.push(Vec3::ZERO, 0.0, 0).unwrap();
    points.push(Vec3::ZERO, 0.0, 1).unwrap();
    assert_eq!(UniformGrid::new().count_pairs(&points, 0.0), Ok(0));
}

/// Half a million spheres in one place have 10¹¹ pairs.
#[test]
fn every_grid_rejects_a_crowded_place_with_the_same_error() {
    let mut spheres = liquid(1000, true, 4);
    for owner in 0..1 << 19 {
        spheres.push(Vec3::splat(0.5), 0.1, owner).unwrap();
    }
    let mut pairs = PairBuffer::new();
    let expected = UniformGrid::new()
        .find_pairs(&spheres, 0.0, &mut pairs)
        .unwrap_err();
    assert!(matches!(expected, SearchError::TooCrowded { .. }));
    with_searches(Selection::All, &spheres, |search, guarantee| {
        if guarantee == Guarantee::UniformOrder {
            let error = search.find_pairs(&spheres, 0.0, &mut pairs);
            assert_eq!(error, Err(expected.clone()), "{}", search.name());
            assert!(pairs.is_empty());
        }
        Ok::<_, ()>(())
    })
    .unwrap();
}

#[test]
fn an_invalid_sphere_is_not_added() {
    let mut spheres = SphereSet::new();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for axis in Vec3::AXES {
            let error = spheres.push(axis.map(|v| if v == 1.0 { bad } else { 0.0 }), 0.1, 0);
            assert!(matches!(
                error,
                Err(SphereError::BadCenter { index: 0, .. })
            ));
        }
    }
    for radius in [f32::NAN, f32::INFINITY, -0.1] {
        let error = spheres.push(Vec3::ZERO, radius, 0);
        assert!(matches!(
            error,
            Err(SphereError::BadRadius { index: 0, .. })
        ));
    }
    assert!(spheres.is_empty());
}

#[test]
fn pairs_beyond_the_limit_are_counted_and_visited_but_not_stored() {
    let count = 24_000_u64;
    let expected = count * (count - 1) / 2;
    let mut spheres = SphereSet::new();
    for owner in 0..count {
        spheres.push(Vec3::ONE, 0.1, owner as u32).unwrap();
    }
    let mut search = AutoGrid::new();
    let mut pairs = PairBuffer::new();
    let error = search.find_pairs(&spheres, 0.0, &mut pairs).unwrap_err();
    assert!(
        matches!(error, SearchError::TooManyPairs { pairs, .. } if pairs == expected),
        "{error}"
    );
    assert!(pairs.is_empty());
    let visited = AtomicU64::new(0);
    search
        .visit_pairs(&spheres, 0.0, &|pairs, gaps| {
            assert_eq!(pairs.len(), gaps.len());
            visited.fetch_add(pairs.len() as u64, Ordering::Relaxed);
        })
        .unwrap();
    assert_eq!(visited.into_inner(), expected);
}
