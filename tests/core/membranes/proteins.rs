//! Proteins in membranes: lipids stay out of their outlines, exact numbers, periodic images.

use std::f32::consts::{PI, TAU};
use std::sync::Arc;

use bevy_rapier_molecules::compartment::{FlatPatch, ShapeCompartment, Surface, Torus};
use bevy_rapier_molecules::membrane::{
    Composition, CrossSection, CrossSectionConfig, MemberKind, Membrane, MembraneConfig,
    MembraneProtein, ProteinEntry, ProteinPlace, ProteinPlaces, Species, membrane,
};
use bevy_rapier_molecules::prelude::*;
use glam::{DVec3, Vec2, Vec3};

use super::fixtures::{BOX_HEIGHT, along, barrel, flat, popc, porin, rod, sphere};

/// Distance of lipids that a protein may touch, nm: more than its radius.
const NEAR: f32 = 6.0;

fn lipids() -> [Species; 2] {
    [popc().take(4), rod("rod", 10, 0.4)]
}

fn build(proteins: Vec<ProteinEntry>, config: MembraneConfig) -> Membrane {
    let composition = Some(Composition::ratios(&[(0, 1.0), (1, 1.0)]));
    let config = MembraneConfig {
        outer: composition.clone(),
        inner: composition,
        proteins,
        ..config
    };
    membrane(&lipids(), &config).unwrap()
}

/// Number of centers of mass inside the outline of each protein in their leaflet: in the protein,
/// and in a pore. Brute force over all pairs.
fn lipids_inside(built: &Membrane, entries: &[ProteinEntry]) -> [usize; 2] {
    let crowd = &built.crowd;
    let [mut inside, mut in_pore] = [0, 0];
    for index in built.proteins.clone() {
        let MemberKind::Protein { entry } = built.kinds[index] else {
            panic!("a protein");
        };
        let member = &crowd.members()[index];
        let (surface, confinement) = crowd.confinement_of(member).unwrap();
        let normal = surface.normal(member.pose.position);
        let protein = &entries[entry as usize].protein;
        let is_up = (member.pose.rotation * protein.up).dot(normal) > 0.0;
        let protein = if is_up {
            protein.clone()
        } else {
            protein.flipped()
        };
        let placement = confinement.placement().unwrap();
        assert!(placement.up.abs_diff_eq(protein.up, 1.0e-5));
        let reports = [&built.report.outer, &built.report.inner];
        for (report, range) in reports.into_iter().zip([&built.outer, &built.inner]) {
            let heads = 2.0 * report.as_ref().unwrap().offset;
            let config = CrossSectionConfig {
                low: heads.min(0.0),
                high: heads.max(0.0),
                ..CrossSectionConfig::default()
            };
            let section = CrossSection::new(&protein, &config).unwrap();
            for lipid in &crowd.members()[range.clone()] {
                let mut point = lipid.pose.position;
                if surface.normal(point).dot(normal) < 0.0 {
                    continue;
                }
                if surface.period().is_some() {
                    let apart: DVec3 = (point - member.pose.position).as_dvec3();
                    let periodic = crowd.periodic_box().unwrap();
                    point = member.pose.position + periodic.shortest(apart).as_vec3();
                }
                // Not the other side of the ring.
                if point.distance(member.pose.position) > NEAR {
                    continue;
                }
                let in_plane = section.in_plane(&member.pose, point);
                in_pore += usize::from(section.is_pore(in_plane));
                inside += usize::from(section.contains(in_plane) && !section.is_pore(in_plane));
            }
        }
    }
    [inside, in_pore]
}

#[test]
fn lipids_stay_out_of_proteins_and_pores_on_any_surface() {
    let capsule = ShapeCompartment::capsule(4.0, 6.0, Pose::IDENTITY).unwrap();
    let torus = Torus::new(10.0, 5.5, Pose::IDENTITY).unwrap();
    for (name, config) in [
        ("flat", flat(14.0)),
        ("sphere", sphere(8.0)),
        ("capsule", along(capsule)),
        ("torus", along(torus)),
    ] {
        let entries = vec![
            ProteinEntry::new(porin(), ProteinPlaces::Random(2)),
            ProteinEntry {
                flipped: true,
                ..ProteinEntry::new(porin(), ProteinPlaces::Random(1))
            },
            ProteinEntry::new(barrel(1.2), ProteinPlaces::Random(2)),
        ];
        let built = build(entries.clone(), config);
        assert_eq!(lipids_inside(&built, &entries), [0, 0], "{name}");
        assert_eq!(built.proteins, 0..5);
        let numbers: Vec<u32> = built.report.proteins.iter().map(|p| p.number).collect();
        assert_eq!(numbers, [2, 1, 2]);
        for (report, range) in [
            (&built.report.outer, &built.outer),
            (&built.report.inner, &built.inner),
        ] {
            let report = report.as_ref().unwrap();
            assert!(
                report.protein_area > 5.0 * 5.0,
                "{name}: {}",
                report.protein_area
            );
            // POPC 0.65 and rods 0.4, 1:1.
            let free = report.area - report.protein_area;
            assert_eq!(report.lipids(), (free / 0.525).round() as u32, "{name}");
            assert_eq!(range.len(), report.lipids() as usize, "{name}");
        }
    }
}

#[test]
fn the_area_of_a_barrel_is_that_of_its_disc_or_of_its_wall() {
    for keep_pore_empty in [true, false] {
        let entries = vec![ProteinEntry {
            keep_pore_empty,
            ..ProteinEntry::new(barrel(1.5), ProteinPlaces::Random(1))
        }];
        let built = build(entries.clone(), flat(10.0));
        let disc = PI * 1.7 * 1.7;
        let expected = if keep_pore_empty {
            disc
        } else {
            disc - PI * 1.3 * 1.3
        };
        for leaflet in [&built.report.outer, &built.report.inner] {
            let area = leaflet.as_ref().unwrap().protein_area;
            // The wall is 0.4 nm thick, between atoms less.
            let error = if keep_pore_empty { 0.05 } else { 0.12 };
            assert!((area / expected - 1.0).abs() < error, "{area} {expected}");
        }
        let [inside, in_pore] = lipids_inside(&built, &entries);
        assert_eq!(inside, 0);
        assert_eq!(
            in_pore > 0,
            !keep_pore_empty,
            "{in_pore} lipids in the pore"
        );
    }
}

/// A barrel of 3 nm above the mid-plane needs space in one leaflet, on the side that it is on.
#[test]
fn a_protein_on_one_side_takes_the_area_of_that_leaflet() {
    let template = Arc::clone(&barrel(1.5).template);
    let high = MembraneProtein::with_axis("high", template, Vec3::Z, 2.0).unwrap();
    for (flipped, place_flipped) in [(false, false), (true, false), (false, true), (true, true)] {
        let place = ProteinPlace {
            point: Vec3::splat(5.0),
            flipped: place_flipped,
            ..ProteinPlace::default()
        };
        let entry = ProteinEntry {
            flipped,
            ..ProteinEntry::new(high.clone(), ProteinPlaces::At(vec![place]))
        };
        let built = build(vec![entry], flat(10.0));
        let areas = [&built.report.outer, &built.report.inner]
            .map(|leaflet| leaflet.as_ref().unwrap().protein_area);
        let is_below = flipped != place_flipped;
        assert!(areas[usize::from(is_below)] > 8.0 && areas[usize::from(!is_below)] == 0.0);
        let height = built.crowd.members()[0].pose.position.z - 0.5 * BOX_HEIGHT;
        assert!((height - if is_below { -2.0 } else { 2.0 }).abs() < 1.0e-5);
    }
}

#[test]
fn given_places_are_kept_on_the_mid_surface() {
    let place = |x, y, z, spin| ProteinPlace {
        point: Vec3::new(x, y, z),
        spin,
        flipped: false,
    };
    let places = vec![place(2.0, 3.0, 6.0, 0.0), place(7.0, 8.0, 7.9, 1.0)];
    let entry = ProteinEntry {
        fixed: true,
        ..ProteinEntry::new(porin(), ProteinPlaces::At(places))
    };
    let built = build(vec![entry], flat(10.0));
    let members = built.crowd.members();
    let porin = porin();
    for (member, (x, y, spin)) in members.iter().zip([(2.0, 3.0, 0.0), (7.0, 8.0, 1.0)]) {
        let expected = porin.pose_at(Vec3::new(x, y, 0.5 * BOX_HEIGHT), Vec3::Z, spin);
        assert!(member.pose.position.abs_diff_eq(expected.position, 1.0e-4));
        assert!(member.pose.rotation.angle_between(expected.rotation) < 2.0e-3);
        assert!(member.fixed, "the flag is passed on");
    }
    assert!(members[2..].iter().all(|lipid| !lipid.fixed));
}

#[test]
fn proteins_on_the_border_of_a_periodic_box_push_lipids_away_on_the_other_side() {
    for (point, corner) in [
        (Vec3::new(0.1, 9.8, 7.0), Vec2::new(0.1, 9.8)),
        (Vec3::new(-20.0, 30.0, 7.0), Vec2::new(0.0, 0.0)),
        (Vec3::new(5.0, 0.0, 7.0), Vec2::new(5.0, 0.0)),
    ] {
        let place = ProteinPlace {
            point,
            ..ProteinPlace::default()
        };
        let entries = vec![ProteinEntry::new(
            barrel(1.5),
            ProteinPlaces::At(vec![place]),
        )];
        let built = build(entries.clone(), flat(10.0));
        let position = built.crowd.members()[0].pose.position.truncate();
        assert!(position.abs_diff_eq(corner, 1.0e-4), "{position}");
        assert_eq!(lipids_inside(&built, &entries), [0, 0], "{point}");
        // Lipids of the other half of the box are not affected.
        let lipids = built.crowd.members()[built.outer.clone()].iter();
        let periodic = built.crowd.periodic_box().unwrap();
        let far = lipids.filter(|lipid| {
            let apart = (lipid.pose.position - point).as_dvec3();
            periodic.shortest(apart).truncate().length() > 2.5
        });
        let area = 100.0 - PI * 2.5 * 2.5;
        let density = far.count() as f32 / area;
        assert!((density * 0.525 - 1.0).abs() < 0.1, "{density}");
    }
}

#[test]
fn random_proteins_do_not_overlap_and_have_any_spin() {
    let mut quarters = [0; 4];
    for seed in 0..12 {
        let entries = vec![
            ProteinEntry::new(barrel(1.0), ProteinPlaces::Random(3)),
            ProteinEntry::new(barrel(2.0), ProteinPlaces::Random(4)),
        ];
        let config = MembraneConfig { seed, ..flat(13.0) };
        let built = build(entries, config);
        let periodic = built.crowd.periodic_box().unwrap();
        let proteins = &built.crowd.members()[built.proteins.clone()];
        let radius = |index: usize| if index < 3 { 1.2 } else { 2.2 };
        for a in 0..proteins.len() {
            for b in 0..a {
                let apart = proteins[a].pose.position - proteins[b].pose.position;
                let apart = periodic.shortest(apart.as_dvec3()).length() as f32;
                assert!(apart > radius(a) + radius(b) - 0.02, "{apart} {a} {b}");
            }
            let x = proteins[a].pose.rotation * Vec3::X;
            quarters[((x.y.atan2(x.x) / TAU + 0.5) * 4.0) as usize % 4] += 1;
        }
    }
    // 84 spins, 21 ± 4 in each quarter.
    assert!(
        quarters.iter().all(|count| (7..36).contains(count)),
        "{quarters:?}"
    );
}

#[test]
fn random_proteins_avoid_given_ones() {
    let place = ProteinPlace {
        point: Vec3::new(6.0, 6.0, 7.0),
        ..ProteinPlace::default()
    };
    let entries = vec![
        ProteinEntry::new(barrel(1.0), ProteinPlaces::Random(4)),
        ProteinEntry::new(barrel(2.5), ProteinPlaces::At(vec![place])),
    ];
    let built = build(entries, flat(12.0));
    let proteins = &built.crowd.members()[built.proteins.clone()];
    let kinds: Vec<MemberKind> = built.kinds[..5].to_vec();
    let entry = |entry| MemberKind::Protein { entry };
    assert_eq!(kinds, [entry(0), entry(0), entry(0), entry(0), entry(1)]);
    for small in &proteins[..4] {
        let apart = small.pose.position.distance(proteins[4].pose.position);
        assert!(apart > 1.2 + 2.7 - 0.02, "{apart}");
    }
}

#[test]
fn no_lipids_are_counted_for_an_entry_without_copies() {
    let none = ProteinEntry::new(porin(), ProteinPlaces::Random(0));
    let nowhere = ProteinEntry::new(porin(), ProteinPlaces::At(Vec::new()));
    let with = build(vec![none, nowhere], flat(14.0));
    let without = build(Vec::new(), flat(14.0));
    assert_eq!(with.proteins, 0..0);
    assert_eq!(with.report.outer, without.report.outer);
}

#[test]
fn lipids_between_many_proteins_have_exact_numbers_and_even_places() {
    for count in [1, 12, 18] {
        let entries = vec![ProteinEntry::new(barrel(1.5), ProteinPlaces::Random(count))];
        let built = build(entries.clone(), flat(18.0));
        assert_eq!(lipids_inside(&built, &entries), [0, 0]);
        let report = built.report.outer.as_ref().unwrap();
        let free = 18.0 * 18.0 - count as f32 * PI * 1.7 * 1.7;
        assert!((report.lipid_area() / free - 1.0).abs() < 0.04);
        let periodic = built.crowd.periodic_box().unwrap();
        let lipids = &built.crowd.members()[built.outer.clone()];
        let lattice = (2.0 / 3.0_f64.sqrt() * 0.525).sqrt();
        for a in 0..lipids.len() {
            for b in 0..a {
                let apart = lipids[a].pose.position - lipids[b].pose.position;
                let apart = periodic.shortest(apart.as_dvec3()).truncate().length();
                assert!(apart > 0.8 * lattice, "{apart} nm with {count} proteins");
            }
        }
    }
}

#[test]
fn a_single_lipid_finds_a_place_next_to_a_protein() {
    let entries = vec![ProteinEntry::new(barrel(1.5), ProteinPlaces::Random(1))];
    for seed in 0..20 {
        let config = MembraneConfig {
            outer: Some(Composition::numbers(&[(1, 1)])),
            inner: Some(Composition::numbers(&[(0, 1)])),
            proteins: entries.clone(),
            seed,
            ..flat(4.8)
        };
        let built = membrane(&lipids(), &config).unwrap();
        assert_eq!(lipids_inside(&built, &entries), [0, 0]);
        assert_eq!((built.outer, built.inner), (1..2, 2..3));
    }
}

#[test]
fn a_plane_may_start_anywhere_in_its_box() {
    let patch = FlatPatch::new(Vec2::splat(10.0), 7.0).unwrap();
    let shift = Pose::from_translation(Vec3::new(103.3, -57.1, 7.0));
    let config = MembraneConfig {
        surface: patch.with_pose(&shift).unwrap(),
        ..flat(10.0)
    };
    let entries = vec![ProteinEntry::new(barrel(1.5), ProteinPlaces::Random(3))];
    let built = build(entries.clone(), config);
    assert_eq!(lipids_inside(&built, &entries), [0, 0]);
    let there = build(entries, flat(10.0));
    assert_eq!(built.report, there.report);
}
