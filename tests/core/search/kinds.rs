//! The searches that are compared by name, and the cell occupancy of the paper.

use bevy_rapier_molecules::search::{CellOccupancy, SearchKind, cell_occupancy};
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
fn a_sphere_is_in_every_cell_that_it_overlaps() {
    let mut spheres = SphereSet::new();
    // Cells of 1 nm: one sphere in the middle of a cell, one around a corner of eight.
    spheres.push(Vec3::splat(0.5), 0.4, 0).unwrap();
    spheres.push(Vec3::splat(5.0), 0.5, 1).unwrap();
    let occupancy = cell_occupancy(&spheres).unwrap();
    assert_eq!(occupancy.full, 1.0);
    assert!(occupancy.hashed >= 1.0);
    spheres.push(Vec3::splat(0.5), 0.4, 2).unwrap();
    assert_eq!(cell_occupancy(&spheres).unwrap().full, 10.0 / 9.0);
    assert_eq!(
        cell_occupancy(&SphereSet::new()),
        Ok(CellOccupancy::default())
    );
}
