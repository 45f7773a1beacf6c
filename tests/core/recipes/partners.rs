//! Molecules next to their partners, at binding sites, or away from others.
//!
//! Numbers are binomial: of n molecules, those that bind with probability p differ from n p by more
//! than 3.29 √(n p (1 − p)) in one of 1,000 tests.

use bevy_rapier_molecules::recipe::{Population, populate};
use glam::Vec3;
use serde_json::{Value, json};

use super::packed_spheres::{change, packed, poses, read};

/// Number of binding molecules.
const BINDERS: usize = 600;

/// Radius of targets, of binders and of those to stay away from, nm.
const RADII: [f32; 3] = [1.0, 0.5, 1.5];

/// Gap between a molecule and its partner, as a part of the sum of their radii.
const GAP: f32 = 1.02;

/// 40 targets, 20 others and 600 binders with these fields in a box of 100 nm.
fn population(fields: &Value) -> Population {
    let mut recipe = json!({
        "name": "partners",
        "format_version": "2.1",
        "bounding_box": [[0, 0, 0], [100, 100, 100]],
        "objects": {
            "target": { "type": "single_sphere", "radius": RADII[0] },
            "binder": { "type": "single_sphere", "radius": RADII[1] },
            "other": { "type": "single_sphere", "radius": RADII[2] },
        },
        "composition": {
            "space": { "regions": { "interior": ["targets", "others", "binders"] } },
            "targets": { "object": "target", "count": 40 },
            "others": { "object": "other", "count": 20 },
            "binders": { "object": "binder", "count": BINDERS },
        },
        "bevy_rapier_molecules": { "unit": "nm" },
    });
    change(&mut recipe, &json!({ "objects": { "binder": fields } }));
    populate(&read(&recipe), Some(11)).unwrap()
}

/// Positions of the molecules of an entry of the recipe.
fn positions(population: &Population, entry: &str) -> Vec<Vec3> {
    let entries = &population.report.entries;
    let row = entries.iter().position(|row| row.name == entry).unwrap() as u32;
    let poses = poses(&population.crowd).into_iter().zip(&population.rows);
    let poses = poses.filter(|(_, found)| **found == row);
    poses.map(|(pose, _)| pose.position).collect()
}

/// Distance of a point from the closest one of several.
fn closest(point: Vec3, others: &[Vec3]) -> f32 {
    let distances = others.iter().map(|other| other.distance(point));
    distances.fold(f32::INFINITY, f32::min)
}

/// The binders that touch a molecule of an entry with this radius, at the gap of partners.
fn bound(population: &Population, entry: &str, radius: f32) -> usize {
    let others = positions(population, entry);
    let touching = GAP * (radius + RADII[1]);
    let binders = positions(population, "binders").into_iter();
    let is_bound = |binder: &Vec3| {
        others
            .iter()
            .any(|o| (o.distance(*binder) - touching).abs() < 1.0e-3)
    };
    binders.filter(is_bound).count()
}

/// Checks a binomial number of the binders.
fn check_binomial(found: usize, probability: f64) {
    let n = BINDERS as f64;
    let most = 3.29 * (n * probability * (1.0 - probability)).sqrt() + 0.5;
    let off = (found as f64 - n * probability).abs();
    assert!(off <= most, "{found} of {n}, expected {probability}");
}

#[test]
fn the_bound_part_is_the_probability() {
    for probability in [0.0, 0.1, 0.5, 0.9, 1.0] {
        let partner = json!([{ "name": "target", "binding_probability": probability }]);
        let population =
            population(&json!({ "partners": partner, "packing_mode": "closePartner" }));
        check_binomial(bound(&population, "targets", RADII[0]), probability);
    }
    // Without a probability, all bind; without partners, none does.
    let always = population(&json!({ "partners": [{ "name": "targets" }] }));
    assert_eq!(bound(&always, "targets", RADII[0]), BINDERS);
    assert_eq!(bound(&population(&json!({})), "targets", RADII[0]), 0);
}

#[test]
fn partners_are_chosen_by_their_weights() {
    let partners = json!([
        { "name": "target", "binding_probability": 0.8, "weight": 1 },
        { "name": "other", "binding_probability": 0.4, "weight": 3 },
    ]);
    let population = population(&json!({ "partners": partners }));
    check_binomial(bound(&population, "targets", RADII[0]), 0.25 * 0.8);
    check_binomial(bound(&population, "others", RADII[2]), 0.75 * 0.4);
}

#[test]
fn partners_are_placed_first_whatever_their_order() {
    // The binders are larger than their partners, and the first in the file.
    let recipe = read(&json!({
        "name": "partners", "format_version": "2.1",
        "bounding_box": [[0, 0, 0], [50, 50, 50]],
        "objects": {
            "binder": {
                "type": "single_sphere", "radius": 2, "partners": [{ "name": "target" }],
            },
            "target": { "type": "single_sphere", "radius": 1 },
        },
        "composition": { "space": { "regions": { "interior": [
            { "object": "binder", "count": 10 }, { "object": "target", "count": 10 },
        ] } } },
        "bevy_rapier_molecules": { "unit": "nm" },
    }));
    let population = populate(&recipe, None).unwrap();
    assert_eq!(population.rows[..10], [1; 10]);
    let (targets, binders) = (
        positions(&population, "target"),
        positions(&population, "binder"),
    );
    let touching = GAP * 3.0;
    assert!(
        binders
            .iter()
            .all(|b| (closest(*b, &targets) - touching).abs() < 1.0e-3)
    );
}

#[test]
fn binding_sites_turn_with_their_partner() {
    let recipe = read(&json!({
        "name": "sites", "format_version": "2.1",
        "bounding_box": [[-50, -50, -50], [50, 50, 50]],
        "objects": {
            "binder": {
                "type": "single_sphere", "radius": 0.5,
                "partners": [{ "name": "target", "positions": [[3, 0, 0], [0, 4, 0]] }],
            },
            "target": { "type": "single_sphere", "radius": 1 },
        },
        "composition": {
            "space": { "regions": { "interior": ["pair", { "object": "binder", "count": 60 }] } },
            "pair": { "object": "target" },
        },
        "bevy_rapier_molecules": {
            "unit": "nm",
            "composition": { "pair": { "places": [
                { "position": [10, 0, 0] },
                // A quarter turn about z.
                { "position": [-10, 0, 0], "rotation": [0, 0, 1, 1] },
            ] } },
        },
    }));
    let population = populate(&recipe, None).unwrap();
    let sites =
        [[13, 0], [10, 4], [-10, 3], [-14, 0]].map(|[x, y]| glam::IVec3::new(x, y, 0).as_vec3());
    let binders = positions(&population, "binder");
    assert_eq!(binders.len(), 60);
    let mut numbers = [0; 4];
    for binder in binders {
        let site = sites.iter().position(|site| site.distance(binder) < 1.0e-4);
        numbers[site.unwrap_or_else(|| panic!("{binder}"))] += 1;
    }
    // 15 on average; fewer than 4 have a probability below 1 in 2,000.
    assert!(numbers.iter().all(|number| *number >= 4), "{numbers:?}");
}

#[test]
fn repelled_molecules_stay_away() {
    // Up to 1.5 times the sum of the radii is near: 3 nm for these.
    let reach = 1.5 * (RADII[2] + RADII[1]);
    let near = |fields: &Value| {
        let population = population(fields);
        let others = positions(&population, "others");
        let binders = positions(&population, "binders").into_iter();
        // With a wide part of the space near them.
        binders
            .filter(|binder| closest(*binder, &others) < reach)
            .count()
    };
    for always in [
        json!({ "partners": [{ "name": "other", "binding_probability": -1 }] }),
        json!({ "partners": { "excluded_names": ["others"] } }),
        json!({ "partners": [{ "name": "target", "excluded_names": ["other"] }] }),
    ] {
        assert_eq!(near(&always), 0, "{always}");
    }
}

#[test]
fn some_are_repelled_by_a_probability() {
    // The only other place is near: an arm's length around a fixed molecule in a small box.
    let recipe = |probability: f64| {
        read(&json!({
            "name": "repelled", "format_version": "2.1",
            "bounding_box": [[-10, -10, -10], [10, 10, 10]],
            "objects": {
                "center": { "type": "single_sphere", "radius": 6 },
                "small": {
                    "type": "single_sphere", "radius": 1.0e-3,
                    "partners": [{ "name": "center", "binding_probability": probability }],
                },
            },
            "composition": {
                "space": { "regions": { "interior": ["middle", { "object": "small", "count": BINDERS }] } },
                "middle": { "object": "center" },
            },
            "bevy_rapier_molecules": {
                "unit": "nm", "composition": { "middle": { "places": [{ "position": [0, 0, 0] }] } },
            },
        }))
    };
    let far = |probability: f64| {
        let population = populate(&recipe(probability), None).unwrap();
        let small = positions(&population, "small").into_iter();
        small.filter(|place| place.length() >= 9.0).count()
    };
    // Part of the box outside of the ball of 6 nm that is outside of that of 9 nm too.
    let ball = |radius: f64| 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
    let free = (8_000.0 - ball(9.0)) / (8_000.0 - ball(6.0));
    for probability in [0.0, 0.3, 0.7] {
        check_binomial(far(-probability), probability + (1.0 - probability) * free);
    }
    assert_eq!(far(-1.0), BINDERS);
}

#[test]
fn close_molecules_lie_next_to_what_is_there() {
    let population = population(&json!({ "packing_mode": "close" }));
    let all = poses(&population.crowd);
    let radius = |row: u32| RADII[[0, 2, 1][row as usize]];
    let mut touching = 0;
    for index in 60..all.len() {
        let before = (0..index).any(|other| {
            let apart = all[index].position.distance(all[other].position);
            let sum = radius(population.rows[index]) + radius(population.rows[other]);
            (apart - GAP * sum).abs() < 1.0e-3
        });
        touching += usize::from(before);
    }
    assert_eq!(touching, BINDERS);
}

#[test]
fn partners_stay_together_when_they_are_relaxed() {
    let recipe = read(&json!({
        "name": "partners", "format_version": "2.1",
        "bounding_box": [[0, 0, 0], [40, 40, 40]],
        "objects": {
            "target": { "type": "single_sphere", "radius": 2 },
            "binder": {
                "type": "single_sphere", "radius": 1, "packing_mode": "closePartner",
                "partners": [{ "name": "target" }],
            },
        },
        "composition": { "space": { "regions": { "interior": [
            { "object": "target", "count": 20 }, { "object": "binder", "count": 80 },
        ] } } },
        "bevy_rapier_molecules": { "unit": "nm" },
    }));
    let packing = packed(&recipe);
    let poses = poses(&packing.crowd);
    let of = |row: u32| -> Vec<Vec3> {
        let found = poses.iter().zip(&packing.rows).filter(|(_, r)| **r == row);
        found.map(|(pose, _)| pose.position).collect()
    };
    let targets = of(0);
    let near = of(1)
        .into_iter()
        .filter(|binder| closest(*binder, &targets) < 3.5)
        .count();
    assert!(near >= 72, "{near} of 80");
}
