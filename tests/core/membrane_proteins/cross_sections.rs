//! Area, pores and outline of proteins in the plane of the membrane.

use std::f32::consts::{PI, TAU};
use std::sync::Arc;

use bevy_rapier_molecules::membrane::{
    CrossSection, CrossSectionConfig, CrossSectionError, MembraneProtein,
};
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use glam::{Quat, Vec2, Vec3};

use super::fixtures::{barrel_axis, carbons, porin};

/// Radius of the circle of atoms, and of an atom, nm.
const RING: f32 = 1.5;
const ATOM: f32 = 0.2;

/// Atoms on a part of a circle about z, 0.1 nm apart.
fn arc(part: f32) -> Arc<MoleculeTemplate> {
    let count = (part * TAU * RING / 0.1) as u32;
    let angle = |index: u32| part * TAU * index as f32 / count as f32;
    carbons(
        (0..count).map(|index| Quat::from_rotation_z(angle(index)) * (Vec3::X * RING)),
        ATOM,
    )
}

fn upright(template: Arc<MoleculeTemplate>) -> MembraneProtein {
    MembraneProtein::with_axis("test", template, Vec3::Z, 0.0).unwrap()
}

fn section(protein: &MembraneProtein, low: f32, high: f32, probe: f32) -> CrossSection {
    CrossSection::new(protein, &CrossSectionConfig { low, high, probe }).unwrap()
}

#[test]
fn a_ring_has_the_area_of_its_disc_and_a_pore() {
    let ring = upright(arc(1.0));
    for probe in [0.0, 0.1, 0.2] {
        let section = section(&ring, -0.1, 0.1, probe);
        let disc = PI * (RING + ATOM).powi(2);
        let hole = PI * (RING - ATOM).powi(2);
        let [area, pore] = [section.area(), section.pore_area()];
        assert!((area / disc - 1.0).abs() < 0.03, "{probe}: {area} {disc}");
        assert!((pore / hole - 1.0).abs() < 0.05, "{probe}: {pore} {hole}");
        for (place, [inside, in_pore]) in [
            (0.0, [true, true]),
            (1.1, [true, true]),
            (1.5, [true, false]),
            (1.8, [false, false]),
            (50.0, [false, false]),
        ] {
            for turn in [0.0, 1.0, 2.5, 4.0] {
                let point = Vec2::from_angle(turn) * place;
                assert_eq!(section.contains(point), inside, "{probe} {point}");
                assert_eq!(section.is_pore(point), in_pore, "{probe} {point}");
            }
        }
        assert!((section.bounding_radius() - RING - ATOM).abs() < 0.1);
    }
}

#[test]
fn an_open_ring_has_no_pore() {
    let section = section(&upright(arc(0.8)), -0.1, 0.1, 0.2);
    assert_eq!(section.pore_area(), 0.0);
    // Filled, it would have 9 nm².
    assert!(section.area() < 5.0, "{}", section.area());
}

#[test]
fn the_probe_closes_gaps_that_it_does_not_fit_through() {
    // Gaps of 0.24 nm between the surfaces of 14 atoms.
    let place = |index: u32| Quat::from_rotation_z(TAU * index as f32 / 14.0) * (Vec3::X * RING);
    let sieve = upright(carbons((0..14).map(place), ATOM));
    assert_eq!(section(&sieve, -0.1, 0.1, 0.0).pore_area(), 0.0);
    assert!(section(&sieve, -0.1, 0.1, 0.2).pore_area() > 4.0);
}

#[test]
fn the_slab_selects_atoms_by_their_height_above_the_mid_plane() {
    let pair = carbons([Vec3::ZERO, Vec3::new(2.0, 0.0, 2.0)], ATOM);
    let pair = MembraneProtein::with_axis("pair", pair, Vec3::Z, 1.0).unwrap();
    let one = PI * ATOM * ATOM;
    // The heights are 0 and 2 nm.
    for ((low, high), atoms) in [
        ((-0.5, 0.5), 1.0),
        ((1.5, 2.5), 1.0),
        ((-0.5, 2.5), 2.0),
        ((0.5, 1.5), 0.0),
        ((3.0, f32::INFINITY), 0.0),
    ] {
        let section = section(&pair, low, high, 0.0);
        assert!((section.area() - atoms * one).abs() < 0.1 * one + 1.0e-6);
        assert_eq!(section.pore_area(), 0.0);
    }
    let empty = section(&pair, 0.5, 1.5, 0.2);
    assert!(!empty.contains(Vec2::ZERO));
    assert_eq!(empty.bounding_radius(), 0.0);
}

#[test]
fn porin_has_the_area_of_a_barrel_and_a_pore() {
    let porin = porin();
    let axis = barrel_axis(&porin);
    let protein = MembraneProtein::with_axis("porin", porin, axis, 0.0).unwrap();
    for protein in [protein.clone(), protein.flipped()] {
        let middle = section(&protein, -0.3, 0.3, 0.2);
        let [area, pore] = [middle.area(), middle.pore_area()];
        // The CA atoms of a barrel of 16 strands are 1.55 nm from its axis, the tips of the outer
        // side chains about 2.1 nm: 14 nm².
        assert!((11.0..16.0).contains(&area), "{area} nm²");
        assert!(pore > 0.5 && pore < area, "{pore} nm²");
        // The union over a leaflet contains all thinner slabs.
        let leaflet = section(&protein, -0.3, 1.3, 0.2);
        assert!(leaflet.area() > 0.95 * area);
        assert!(leaflet.pore_area() < pore);
    }
}

#[test]
fn atoms_of_a_placed_protein_are_inside_its_section() {
    let porin = porin();
    let protein = MembraneProtein::guess("porin", Arc::clone(&porin)).unwrap();
    let all = CrossSection::new(&protein, &CrossSectionConfig::default()).unwrap();
    let pose = protein.pose_at(Vec3::new(7.0, -2.0, 3.0), Vec3::new(0.6, 0.8, 0.0), 2.0);
    for atom in porin.positions() {
        let point = all.in_plane(&pose, pose.transform_point(*atom));
        assert!(all.contains(point), "{point}");
        // The distance to the axis through the center of mass stays.
        let radius = atom.reject_from_normalized(protein.up).length();
        assert!((point.length() - radius).abs() < 1.0e-4);
    }
    let far = pose.transform_point(protein.plane_axes()[0] * 5.0);
    assert!(!all.contains(all.in_plane(&pose, far)));
    for point in [Vec2::NAN, Vec2::INFINITY, Vec2::splat(-1.0e30)] {
        assert!(!all.contains(point) && !all.is_pore(point));
    }
}

#[test]
fn invalid_sections_are_rejected() {
    let protein = upright(carbons([Vec3::ZERO], ATOM));
    let default = CrossSectionConfig::default();
    for (low, high) in [(1.0, 0.0), (f32::NAN, 0.0), (0.0, f32::NAN)] {
        let error = CrossSection::new(
            &protein,
            &CrossSectionConfig {
                low,
                high,
                ..default
            },
        );
        assert!(matches!(error, Err(CrossSectionError::EmptySlab { .. })));
    }
    for probe in [-0.1, f32::NAN, f32::INFINITY] {
        let error = CrossSection::new(&protein, &CrossSectionConfig { probe, ..default });
        assert!(matches!(error, Err(CrossSectionError::InvalidProbe { .. })));
    }
    for (up, depth) in [(Vec3::ZERO, 0.0), (Vec3::NAN, 0.0), (Vec3::Z, f32::NAN)] {
        let invalid = MembraneProtein {
            up,
            depth,
            ..protein.clone()
        };
        let error = CrossSection::new(&invalid, &default);
        assert!(matches!(
            error,
            Err(CrossSectionError::InvalidProtein { .. })
        ));
    }
    let wide = upright(carbons([Vec3::ZERO, Vec3::new(9.0e4, 9.0e4, 0.0)], ATOM));
    let error = CrossSection::new(&wide, &default);
    assert!(matches!(error, Err(CrossSectionError::TooLarge { .. })));
}
