//! Numbers of lipids against areas computed by hand.

use std::f32::consts::{PI, TAU};
use std::sync::Arc;

use bevy_rapier_molecules::compartment::{Confinement, ShapeCompartment, Surface, Torus};
use bevy_rapier_molecules::membrane::{
    Composition, LeafletReport, Membrane, MembraneConfig, Species, membrane,
};
use bevy_rapier_molecules::prelude::*;

use super::fixtures::{along, flat, lipid, popc, rod, species_of, sphere};

fn popc_membrane(config: MembraneConfig) -> Membrane {
    let composition = Some(Composition::ratios(&[(0, 1.0)]));
    let config = MembraneConfig {
        outer: composition.clone(),
        inner: composition,
        ..config
    };
    membrane(&[popc()], &config).unwrap()
}

fn leaflets(membrane: &Membrane) -> [&LeafletReport; 2] {
    [&membrane.report.outer, &membrane.report.inner].map(|leaflet| leaflet.as_ref().unwrap())
}

/// Half of the mean distance of the heads, from the conformers.
fn middle(species: &Species) -> f32 {
    let conformers = species.conformers().iter();
    let heads: f32 = conformers.map(|c| c.depth + c.head_height).sum();
    0.5 * heads / species.conformers().len() as f32
}

#[test]
fn a_sphere_of_8_nm_has_the_lipids_of_the_two_spheres_in_its_leaflets() {
    let built = popc_membrane(sphere(8.0));
    let plane = middle(&popc());
    assert!((0.8..1.05).contains(&plane), "{plane} nm");
    let expected = [8.0 + plane, 8.0 - plane].map(|r| (4.0 * PI * r * r / 0.65).round() as u32);
    let found = leaflets(&built).map(LeafletReport::lipids);
    assert_eq!(found, expected);
    assert_eq!(
        [built.outer.len(), built.inner.len()],
        expected.map(|n| n as usize)
    );
    let mismatch = built.report.number_mismatch().unwrap();
    assert_eq!(mismatch, i64::from(expected[0]) - i64::from(expected[1]));
    assert!(built.report.filling_mismatch().unwrap().abs() < 0.01);
    for leaflet in leaflets(&built) {
        assert!((leaflet.area_per_lipid() - 0.65).abs() < 0.001);
        assert!((leaflet.filling() - 1.0).abs() < 0.002);
    }
}

#[test]
fn leaflets_of_a_flat_square_are_equal() {
    let built = popc_membrane(flat(20.0));
    // 400 / 0.65 = 615.4
    assert_eq!(leaflets(&built).map(LeafletReport::lipids), [615, 615]);
    assert_eq!(built.report.number_mismatch(), Some(0));
    let roomy = popc_membrane(MembraneConfig {
        area_scale: 1.1,
        ..flat(20.0)
    });
    // 400 / 0.715 = 559.4
    assert_eq!(leaflets(&roomy).map(LeafletReport::lipids), [559, 559]);
}

#[test]
fn capsules_and_tori_have_the_numbers_of_their_parallel_surfaces() {
    let plane = middle(&popc());
    let count = |area: f32| (area / 0.65).round() as i64;
    let capsule = ShapeCompartment::capsule(5.0, 6.0, Pose::IDENTITY).unwrap();
    let torus = Torus::new(10.0, 5.0, Pose::IDENTITY).unwrap();
    let cases: [(MembraneConfig, fn(f32) -> f32); 2] = [
        // Cylinder of 10 nm and a sphere.
        (along(capsule), |d| {
            TAU * (6.0 + d) * 10.0 + 4.0 * PI * (6.0 + d).powi(2)
        }),
        // Pappus: the length of the circle times that of the tube.
        (along(torus), |d| TAU * 10.0 * TAU * (5.0 + d)),
    ];
    for (config, area) in cases {
        let built = popc_membrane(config);
        let found = leaflets(&built).map(LeafletReport::lipids);
        for (found, offset) in found.into_iter().zip([plane, -plane]) {
            let expected = count(area(offset));
            assert!(
                (i64::from(found) - expected).abs() <= 1,
                "{found} {expected}"
            );
        }
    }
}

#[test]
fn all_lipids_are_in_place_upright_and_at_the_depth_of_their_conformer() {
    let torus = Torus::new(9.0, 4.5, Pose::IDENTITY).unwrap();
    let species = [popc(), lipid("cholesterol", 0.38)];
    let composition = Some(Composition::ratios(&[(0, 2.0), (1, 1.0)]));
    for config in [flat(12.0), sphere(7.0), along(torus)] {
        let built = membrane(
            &species,
            &MembraneConfig {
                outer: composition.clone(),
                inner: composition.clone(),
                leeway: 0.0,
                tilt_leeway: 0.0,
                ..config
            },
        )
        .unwrap();
        let crowd = &built.crowd;
        assert_eq!(crowd.members().len(), built.kinds.len());
        for (index, member) in crowd.members().iter().enumerate() {
            let (surface, confinement) = crowd.confinement_of(member).unwrap();
            let Confinement::Surface(placement) = confinement else {
                panic!("in the surface");
            };
            let deviation = placement.deviation(surface, &member.pose);
            assert!(deviation.is_in_place(placement), "{deviation:?}");
            let leaflet = if index < built.outer.end {
                Leaflet::Outer
            } else {
                Leaflet::Inner
            };
            assert_eq!(placement.leaflet, leaflet);
        }
    }
}

#[test]
fn the_crowd_has_a_conformer_set_for_each_species_and_leaflet() {
    let species = [
        popc().take(5),
        lipid("pope", 0.58),
        lipid("cholesterol", 0.38),
    ];
    let built = membrane(
        &species,
        &MembraneConfig {
            outer: Some(Composition::ratios(&[(2, 1.0), (0, 1.0)])),
            inner: Some(Composition::ratios(&[(0, 1.0)])),
            ..flat(10.0)
        },
    )
    .unwrap();
    let crowd = &built.crowd;
    // POPE is not used.
    assert_eq!(crowd.templates().len(), 4 + 5);
    assert_eq!(crowd.placements().len(), 4 + 5 + 5);
    // The placements of the conformers of each species in each leaflet.
    let placements = [0..4, 4..9, 9..14];
    assert_eq!(crowd.periodic_box(), flat(10.0).periodic_box);
    // Each member has a placement of its species, and all conformers are in use.
    for (leaflet, range, sets) in [
        (
            Leaflet::Outer,
            built.outer.clone(),
            [(2, 0), (0, 1)].as_slice(),
        ),
        (Leaflet::Inner, built.inner.clone(), &[(0, 2)]),
    ] {
        let kinds = species_of(&built, leaflet);
        let mut used = vec![0; crowd.placements().len()];
        for (member, species) in crowd.members()[range].iter().zip(kinds) {
            let (_, set) = sets.iter().find(|(known, _)| *known == species).unwrap();
            let placement = member.placement.unwrap();
            assert!(placements[*set].contains(&placement));
            used[placement as usize] += 1;
        }
        for (_, set) in sets {
            let mut placements = placements[*set].clone();
            assert!(placements.all(|one| used[one as usize] > 0), "{leaflet:?}");
        }
    }
}

#[test]
fn leaflets_may_differ_or_be_absent() {
    let species = [rod("a", 8, 0.5), rod("b", 8, 1.0)];
    let outer = Composition::ratios(&[(0, 1.0), (1, 3.0)]);
    let both = membrane(
        &species,
        &MembraneConfig {
            outer: Some(outer.clone()),
            inner: Some(Composition::numbers(&[(1, 7), (0, 30)])),
            ..flat(10.0)
        },
    )
    .unwrap();
    let [upper, lower] = leaflets(&both);
    // 100 / 0.875 = 114.3: 28.5 and 85.5, of which the first gets more.
    let numbers = |leaflet: &LeafletReport| -> Vec<(String, u32)> {
        let species = leaflet.species.iter();
        species.map(|s| (s.name.clone(), s.number)).collect()
    };
    assert_eq!(numbers(upper), [("a".to_owned(), 29), ("b".to_owned(), 85)]);
    assert_eq!(numbers(lower), [("b".to_owned(), 7), ("a".to_owned(), 30)]);
    for (leaflet, report) in [(Leaflet::Outer, upper), (Leaflet::Inner, lower)] {
        let kinds = species_of(&both, leaflet);
        for (index, name) in [(0, "a"), (1, "b")] {
            let found = kinds.iter().filter(|kind| **kind == index).count();
            let expected = report.species.iter().find(|s| s.name == name).unwrap();
            assert_eq!(found, expected.number as usize);
        }
    }
    assert_eq!(both.report.number_mismatch(), Some(114 - 37));
    assert!(both.report.filling_mismatch().unwrap() > 0.5);

    let upper = membrane(
        &species,
        &MembraneConfig {
            outer: Some(outer.clone()),
            ..flat(10.0)
        },
    )
    .unwrap();
    assert_eq!(
        (upper.outer.clone(), upper.inner.clone()),
        (0..114, 114..114)
    );
    assert!(upper.report.inner.is_none() && upper.report.number_mismatch().is_none());
    let lower = membrane(
        &species,
        &MembraneConfig {
            inner: Some(outer),
            ..flat(10.0)
        },
    )
    .unwrap();
    assert_eq!((lower.outer.clone(), lower.inner.clone()), (0..0, 0..114));
}

#[test]
fn more_lipids_than_fit_are_reported() {
    let species = [rod("a", 8, 0.5), rod("b", 8, 1.0)];
    let build = |a, b| {
        let config = MembraneConfig {
            outer: Some(Composition::numbers(&[(0, a), (1, b)])),
            ..flat(10.0)
        };
        membrane(&species, &config).unwrap()
    };
    // 100 nm² hold 133 of the mean area 0.75 nm².
    for (a, b, overfull) in [(60, 60, None), (66, 67, None), (200, 200, Some(133))] {
        let built = build(a, b);
        assert_eq!(built.outer.len(), (a + b) as usize);
        let report = built.report.outer.as_ref().unwrap();
        assert_eq!(report.overfull, overfull, "{a} {b}");
        let text = built.report.to_string();
        assert_eq!(
            text.contains("overfull: 133 lipids would fit"),
            overfull.is_some()
        );
    }
}

#[test]
fn the_report_is_a_table_and_can_be_stored() {
    let built = popc_membrane(sphere(6.0));
    let text = built.report.to_string();
    for part in [
        "outer leaflet at +",
        "inner leaflet at -",
        "popc",
        "100.0 %",
        "0.650 nm²",
        " nm² - 0.0 nm² of protein",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let stored = serde_json::to_string(&built.report).unwrap();
    let read: bevy_rapier_molecules::membrane::MembraneReport =
        serde_json::from_str(&stored).unwrap();
    assert_eq!(read, built.report);
}

#[test]
fn surfaces_far_from_the_origin_have_the_same_numbers() {
    let near = ShapeCompartment::capsule(3.0, 6.0, Pose::IDENTITY).unwrap();
    let far: Arc<dyn Surface> = near
        .with_pose(&Pose::from_translation(glam::Vec3::new(
            2.0e3, -1.0e3, 500.0,
        )))
        .unwrap();
    let here = popc_membrane(along(near));
    let there = popc_membrane(MembraneConfig::new(far));
    assert_eq!(here.report.outer, there.report.outer);
    assert_eq!(here.report.inner, there.report.inner);
}
