//! Degenerate scenes: coincident, touching, distant and very different spheres.

use bevy_rapier_molecules::search::{Pair, PairBuffer, PairSearch, SearchError, UniformGrid};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;

use crate::search::oracle::{Expected, assert_exact, expected_result};
use crate::search::searches::{Guarantee, Selection, with_searches};

fn equal_spheres(centers: impl IntoIterator<Item = Vec3>, radius: f32) -> SphereSet {
    let mut spheres = SphereSet::new();
    for (owner, center) in centers.into_iter().enumerate() {
        spheres.push(center, radius, owner as u32).unwrap();
    }
    spheres
}

/// The search is quadratic, like its result.
#[test]
fn coincident_spheres_all_overlap() {
    let count = 3000;
    let spheres = equal_spheres(std::iter::repeat_n(Vec3::new(3.0, -1.0, 0.5), count), 0.1);
    assert_eq!(assert_exact(&spheres, 0.0), count * (count - 1) / 2);
}

#[test]
fn coincident_points_without_margin_do_not_overlap() {
    let spheres = equal_spheres([Vec3::ONE; 10], 0.0);
    assert_eq!(assert_exact(&spheres, 0.0), 0);
    assert_eq!(assert_exact(&spheres, 0.1), 45);
}

#[test]
fn spheres_that_just_touch_do_not_overlap() {
    // Powers of two: no rounding.
    let spheres = equal_spheres((0..9).map(|k| Vec3::X * k as f32), 0.5);
    assert_eq!(assert_exact(&spheres, 0.0), 0);
    assert_eq!(assert_exact(&spheres, 0.0625), 8);
}

/// A row as long as a plain grid allows, with neighbors just in reach: rounding must not put them
/// two cells apart.
#[test]
fn neighbors_just_in_reach_are_found_along_a_long_row() {
    let reach = 0.34_f32;
    let row = 4000;
    for origin in [0.0, -700.0, 1000.0] {
        let center = |k: u32| Vec3::X * (origin + k as f32 * reach * 0.9999);
        let mut spheres = equal_spheres((0..row).map(center), reach / 2.0);
        // A large molecule along the row gives the grid a budget of many cells.
        for k in 0..20_000 {
            let center = Vec3::X * (origin + k as f32 * 0.06);
            spheres.push(center, reach / 2.0, u32::MAX).unwrap();
        }
        let mut pairs = PairBuffer::new();
        UniformGrid::new()
            .find_pairs(&spheres, 0.0, &mut pairs)
            .unwrap();
        with_searches(Selection::All, &spheres, |search, guarantee| {
            let mut found = PairBuffer::new();
            if guarantee == Guarantee::UniformOrder {
                search.find_pairs(&spheres, 0.0, &mut found)?;
                assert!(found.iter().eq(pairs.iter()), "{}", search.name());
            }
            Ok::<_, SearchError>(())
        })
        .unwrap();
        let pairs = pairs.to_sorted_vec();
        for k in 0..row - 1 {
            let missing = pairs.binary_search(&Pair::new(k, k + 1)).is_err();
            let (a, b) = (k as usize, k as usize + 1);
            assert!(!missing || expected_result(&spheres, 0.0, a, b) != Expected::Overlaps);
        }
    }
}

/// Cell coordinates relative to the distant molecule would have steps of more than a cell.
#[test]
fn a_distant_molecule_hides_no_pair() {
    for exponent in 3..38 {
        for side in [1.0_f32, -1.0] {
            let far = Vec3::X * side * 10.0_f32.powi(exponent);
            let near = (0..200).map(|k| Vec3::new(0.099 * k as f32, 0.0, 0.0));
            let spheres = equal_spheres(near.chain([far, far]), 0.05);
            assert!(
                assert_exact(&spheres, 0.0) >= 199,
                "10^{exponent} nm on side {side}"
            );
        }
    }
}

#[test]
fn a_speck_beside_a_giant_is_found() {
    let mut spheres = SphereSet::new();
    spheres.push(Vec3::ZERO, 1000.0, 0).unwrap();
    for k in 1..100 {
        spheres.push(Vec3::X * 11.0 * k as f32, 0.001, k).unwrap();
    }
    assert_eq!(assert_exact(&spheres, 0.0), 90);
}
