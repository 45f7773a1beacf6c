//! The searches that are compared by name, and what they tell about the spheres.

use bevy_rapier_molecules::search::{HierarchicalGrid, PairSearch, SearchKind};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;

#[test]
fn the_name_of_a_kind_is_that_of_its_searches() {
    for kind in SearchKind::ALL {
        assert_eq!(kind.search().name(), kind.name());
        if let Some(search) = kind.box_search() {
            assert_eq!(search.name(), kind.name());
        }
    }
}

#[test]
fn every_kind_finds_the_neighbors_in_a_row() {
    let mut spheres = SphereSet::new();
    for k in 0..1000 {
        spheres.push(Vec3::X * 0.3 * k as f32, 0.17, k).unwrap();
    }
    for kind in SearchKind::ALL {
        let mut search = kind.search();
        assert_eq!(search.count_pairs(&spheres, 0.0), Ok(999), "{kind:?}");
        // Neighbors of neighbors too.
        assert_eq!(search.count_pairs(&spheres, 0.3), Ok(1997), "{kind:?}");
    }
}

#[test]
fn the_extent_covers_every_sphere() {
    let mut spheres = SphereSet::new();
    for k in 0..19 {
        let k = k as f32;
        spheres.push(Vec3::new(k, -k, 2.0 * k), 0.1 + k, 0).unwrap();
    }
    let extent = spheres.extent().unwrap();
    assert_eq!(extent.low, Vec3::new(0.0, -18.0, 0.0));
    assert_eq!(extent.high, Vec3::new(18.0, 0.0, 36.0));
    assert_eq!((extent.smallest_radius, extent.largest_radius), (0.1, 18.1));
}

#[test]
fn a_nanoparticle_among_atoms_gets_its_own_level() {
    let mut spheres = SphereSet::new();
    spheres.push(Vec3::ZERO, 8.0, 0).unwrap();
    for k in 0..1000 {
        // Ten atoms overlap it.
        let distance = if k < 10 { 8.1 } else { 9.0 + k as f32 };
        let center = Vec3::new(distance, k as f32, 0.0).normalize() * distance;
        spheres.push(center, 0.17, k + 1).unwrap();
    }
    let mut grid = HierarchicalGrid::new();
    assert_eq!(grid.count_pairs(&spheres, 0.0), Ok(10));
    assert_eq!(grid.level_count(), 2);
}
