//! Each error of the builder.

use std::f32::consts::PI;
use std::sync::Arc;

use bevy_rapier_molecules::compartment::{FlatPatch, Torus};
use bevy_rapier_molecules::crowd::CrowdError;
use bevy_rapier_molecules::membrane::{
    Composition, MembraneConfig, MembraneError, MembraneProtein, ProteinEntry, ProteinPlace,
    ProteinPlaces, Share, Species, membrane,
};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::prelude::*;
use glam::{Vec2, Vec3};

use super::fixtures::{along, barrel, flat, popc, rod, sphere};

/// The error of a membrane with one composition in the outer leaflet.
fn error(species: &[Species], composition: Composition, config: MembraneConfig) -> MembraneError {
    let config = MembraneConfig {
        outer: Some(composition),
        ..config
    };
    let error = membrane(species, &config).unwrap_err();
    let text = error.to_string();
    assert!(!text.is_empty() && !text.contains('\n') && !text.ends_with('.'));
    error
}

fn pure() -> Composition {
    Composition::ratios(&[(0, 1.0)])
}

fn rods() -> [Species; 1] {
    [rod("rod", 10, 0.5)]
}

#[test]
fn a_membrane_without_lipids_is_rejected() {
    let none = membrane(&rods(), &flat(10.0));
    assert!(matches!(none, Err(MembraneError::NoLeaflet)));
    for shares in [
        Composition::default(),
        Composition::ratios(&[(0, 0.0)]),
        Composition::numbers(&[(0, 0)]),
    ] {
        let empty = error(&rods(), shares, flat(10.0));
        assert!(matches!(
            empty,
            MembraneError::EmptyComposition {
                leaflet: Leaflet::Outer
            }
        ));
    }
}

#[test]
fn invalid_shares_are_rejected() {
    for ratio in [-1.0, f32::NAN, f32::INFINITY] {
        let bad = error(&rods(), Composition::ratios(&[(0, ratio)]), flat(10.0));
        assert!(matches!(bad, MembraneError::BadRatio { .. }), "{ratio}");
    }
    let mixed = Composition {
        shares: vec![(0, Share::Ratio(1.0)), (0, Share::Number(3))],
    };
    let mixed = error(&rods(), mixed, flat(10.0));
    assert!(matches!(mixed, MembraneError::MixedShares { .. }));
    let unknown = error(&rods(), Composition::ratios(&[(1, 1.0)]), flat(10.0));
    assert!(matches!(
        unknown,
        MembraneError::UnknownSpecies {
            species: 1,
            count: 1
        }
    ));
    let unknown = error(&[], pure(), flat(10.0));
    assert!(matches!(unknown, MembraneError::UnknownSpecies { .. }));
    let no_conformers = error(&[popc().take(0)], pure(), flat(10.0));
    assert!(matches!(no_conformers, MembraneError::NoConformers { .. }));
}

#[test]
fn invalid_scales_and_leeways_are_rejected() {
    for area_scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let config = MembraneConfig {
            area_scale,
            ..flat(10.0)
        };
        let bad = error(&rods(), pure(), config);
        assert!(matches!(bad, MembraneError::BadAreaScale { .. }));
    }
    let config = MembraneConfig {
        leeway: -0.1,
        ..flat(10.0)
    };
    let bad = error(&rods(), pure(), config);
    assert!(matches!(
        bad,
        MembraneError::Crowd(CrowdError::Placement(_))
    ));
}

#[test]
fn a_leaflet_needs_a_surface_at_its_heads() {
    let inner = |config, composition| MembraneConfig {
        inner: Some(composition),
        ..config
    };
    // The heads of POPC are 1.8 nm from the mid-surface.
    for (radius, fits) in [(0.5, false), (1.6, false), (2.6, true)] {
        let config = inner(sphere(radius), pure());
        match membrane(&[popc()], &config) {
            Ok(built) => assert!(fits && built.inner.len() > 10),
            Err(error) => assert!(matches!(
                error,
                MembraneError::LeafletWithoutRoom { leaflet: Leaflet::Inner, .. } if !fits
            )),
        }
    }
    let thin = Torus::new(9.0, 1.0, Pose::IDENTITY).unwrap();
    let thin = membrane(&[popc()], &inner(along(thin), pure()));
    assert!(matches!(
        thin,
        Err(MembraneError::LeafletWithoutRoom { .. })
    ));
    // A patch of 4 nm² has no room for a lipid of 1000 nm².
    let huge = error(&[rod("huge", 3, 1000.0)], pure(), flat(2.0));
    assert!(matches!(huge, MembraneError::LeafletWithoutRoom { .. }));
}

#[test]
fn a_plane_needs_a_box_that_repeats_with_it() {
    let config = MembraneConfig {
        periodic_box: None,
        ..flat(10.0)
    };
    let none = error(&rods(), pure(), config);
    assert!(matches!(none, MembraneError::NoPeriodicBox { .. }));
    for size in [Vec3::new(10.0, 10.1, 14.0), Vec3::new(20.0, 10.0, 14.0)] {
        let config = MembraneConfig {
            periodic_box: Some(PeriodicBox::new(size).unwrap()),
            ..flat(10.0)
        };
        let mismatch = error(&rods(), pure(), config);
        assert!(matches!(mismatch, MembraneError::BoxMismatch { .. }));
    }
}

#[test]
fn a_box_holds_each_molecule_and_the_membrane() {
    let boxed = |x, z| MembraneConfig {
        periodic_box: Some(PeriodicBox::new(Vec3::new(x, 10.0, z)).unwrap()),
        inner: Some(pure()),
        ..along(FlatPatch::new(Vec2::new(x, 10.0), 2.0).unwrap())
    };
    // Rods with a length of 1.5 nm and a radius of 0.15 nm.
    let narrow = error(&rods(), pure(), boxed(1.0, 9.0));
    assert!(matches!(
        narrow,
        MembraneError::BoxTooSmall { axis: 'x', .. }
    ));
    // Higher than a rod, lower than two.
    let low = error(&rods(), pure(), boxed(10.0, 2.2));
    let MembraneError::BoxTooSmall {
        axis: 'z',
        what,
        needed,
        ..
    } = low
    else {
        panic!("{low}");
    };
    assert_eq!(what, "the membrane");
    assert!((2.5..3.5).contains(&needed), "{needed}");
    let protein = MembraneConfig {
        proteins: vec![ProteinEntry::new(barrel(2.0), ProteinPlaces::Random(1))],
        ..boxed(4.0, 9.0)
    };
    let protein = error(&rods(), pure(), protein);
    let MembraneError::BoxTooSmall {
        axis: 'x', what, ..
    } = protein
    else {
        panic!("{protein}");
    };
    assert_eq!(what, "barrel");
    // A protein far above the plane needs the space on its own side only.
    let template = Arc::clone(&barrel(1.0).template);
    let high = MembraneProtein::with_axis("high", template, Vec3::Z, 3.0).unwrap();
    for (flipped, copies) in [(false, 1), (true, 1), (false, 0)] {
        let high = ProteinEntry {
            flipped,
            ..ProteinEntry::new(high.clone(), ProteinPlaces::Random(copies))
        };
        let config = MembraneConfig {
            proteins: vec![high],
            outer: Some(pure()),
            ..boxed(10.0, 7.0)
        };
        assert!(membrane(&rods(), &config).is_ok(), "{flipped} {copies}");
    }
    // The box around a closed surface holds each molecule, too.
    let around = MembraneConfig {
        periodic_box: Some(PeriodicBox::new(Vec3::splat(1.0)).unwrap()),
        ..sphere(5.0)
    };
    let around = error(&rods(), pure(), around);
    assert!(matches!(around, MembraneError::BoxTooSmall { .. }));
}

#[test]
fn proteins_need_free_places() {
    let with = |places| MembraneConfig {
        proteins: vec![ProteinEntry::new(barrel(1.5), places)],
        ..flat(10.0)
    };
    let crowded = error(&rods(), pure(), with(ProteinPlaces::Random(50)));
    let MembraneError::ProteinsDoNotFit { wanted: 50, placed } = crowded else {
        panic!("{crowded}");
    };
    // Discs of 9.1 nm² on 100 nm².
    assert!((5..=9).contains(&placed), "{placed}");
    let place = |x| ProteinPlace {
        point: Vec3::new(x, 5.0, 7.0),
        ..ProteinPlace::default()
    };
    let overlap = with(ProteinPlaces::At(vec![place(1.0), place(4.0)]));
    let overlap = error(&rods(), pure(), overlap);
    assert!(matches!(overlap, MembraneError::ProteinsOverlap { .. }));
    // Through the border of the box.
    let overlap = with(ProteinPlaces::At(vec![place(1.0), place(8.8)]));
    let overlap = error(&rods(), pure(), overlap);
    assert!(matches!(overlap, MembraneError::ProteinsOverlap { .. }));
    for (point, spin) in [(Vec3::NAN, 0.0), (Vec3::ONE, f32::INFINITY)] {
        let place = ProteinPlace {
            point,
            spin,
            flipped: false,
        };
        let bad = error(&rods(), pure(), with(ProteinPlaces::At(vec![place])));
        assert!(matches!(bad, MembraneError::BadPlace { .. }));
    }
}

#[test]
fn more_protein_than_surface_is_rejected() {
    // The outline of the barrel is larger than the inner leaflet of this sphere, 4π 1.3² nm².
    let radius = 1.3 + 0.5 * rods()[0].head_distance();
    let config = MembraneConfig {
        inner: Some(pure()),
        proteins: vec![ProteinEntry::new(barrel(3.0), ProteinPlaces::Random(1))],
        ..sphere(radius)
    };
    let covered = error(&rods(), pure(), config);
    let MembraneError::MoreProteinThanSurface {
        leaflet: Leaflet::Inner,
        protein_area,
        area,
    } = covered
    else {
        panic!("{covered}");
    };
    assert!((area - 4.0 * PI * 1.3 * 1.3).abs() < 0.1);
    assert!(
        (protein_area - PI * 3.2 * 3.2).abs() < 1.0,
        "{protein_area}"
    );
}

#[test]
fn too_many_lipids_are_rejected_before_they_use_memory() {
    let many = error(&rods(), pure(), sphere(1.0e5));
    assert!(matches!(many, MembraneError::TooManyLipids { .. }));
    let shares = Composition::numbers(&[(0, u32::MAX), (0, u32::MAX)]);
    let many = error(&rods(), shares, flat(10.0));
    assert!(matches!(many, MembraneError::TooManyLipids { .. }));
    let tiny = rod("tiny", 3, f32::MIN_POSITIVE);
    let many = error(&[tiny], pure(), flat(10.0));
    assert!(matches!(many, MembraneError::TooManyLipids { .. }));
    let shell = SphereShell::new(Vec3::ZERO, 1.0e30).unwrap();
    let many = error(&rods(), pure(), MembraneConfig::new(Arc::new(shell)));
    assert!(matches!(many, MembraneError::TooManyLipids { .. }));
}
