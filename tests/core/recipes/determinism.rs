//! The same seed gives the same bits, on any number of threads; entries do not disturb each other.

use std::ops::ControlFlow;

use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::recipe::{PackOptions, Packing, Recipe, pack, populate};
use bevy_rapier_molecules::relax::{Relaxer, StopReason};
use serde_json::{Value, json};

use super::packed_spheres::{change, poses, read};
use crate::common::thread_pool::with_threads;

/// Atoms and spheres in a mesh, in its surface and around it, with gradients, partners,
/// distributions and concentrations.
fn recipe_with(changes: &Value) -> Recipe {
    let mut recipe = json!({
        "name": "mixture",
        "format_version": "2.1",
        "bounding_box": [[-7, -7, -7], [7, 7, 7]],
        "gradients": { "near": { "mode": "surface", "mode_settings": { "object": "cell" } } },
        "objects": {
            "shape": { "type": "mesh", "representations": { "mesh": {
                "path": "shapes", "name": "sphere_4.obj",
            } } },
            "xylene": { "representations": { "atomic": { "id": "p_xylene" } } },
            "ball": { "type": "single_sphere", "radius": 0.4 },
            "gate": {
                "type": "multi_sphere", "principal_vector": [0, 1, 0],
                "representations": { "packing": {
                    "positions": [[[0, 0, 0], [0, 0.6, 0]]], "radii": [[0.4, 0.3]],
                } },
            },
        },
        "composition": {
            "space": { "regions": { "interior": ["cell", "outside"] } },
            "outside": { "object": "ball", "count": 2500, "gradient": "near" },
            "cell": { "object": "shape", "regions": {
                "surface": ["gates"], "interior": ["balls", "xylenes"],
            } },
            "gates": { "object": "gate", "count": 120 },
            "balls": {
                "object": "ball", "count": 60,
                "size_options": { "distribution": "uniform", "min": 0.2, "max": 0.5 },
            },
            "xylenes": {
                "object": "xylene", "molarity": 0.8,
                "partners": [{ "name": "balls", "binding_probability": 0.5 }],
            },
        },
        "bevy_rapier_molecules": { "unit": "nm" },
    });
    change(&mut recipe, changes);
    read(&recipe)
}

fn packed_with(recipe: &Recipe, seed: Option<u64>) -> Packing {
    let options = PackOptions {
        seed,
        ..PackOptions::default()
    };
    let packing = pack(recipe, &options, |_| ControlFlow::Continue(())).unwrap();
    assert!(packing.is_complete(), "{packing}");
    packing
}

/// The bits of all poses.
fn bits(poses: &[Pose]) -> Vec<[u32; 7]> {
    let parts = poses.iter().map(|pose| {
        let ([x, y, z], [a, b, c, d]) = (pose.position.to_array(), pose.rotation.to_array());
        [x, y, z, a, b, c, d].map(f32::to_bits)
    });
    parts.collect()
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let recipe = recipe_with(&json!({}));
    let on = |threads| {
        let packing = with_threads(threads, || packed_with(&recipe, Some(7)));
        (
            bits(&poses(&packing.crowd)),
            packing.rows,
            packing.relaxed.iterations,
        )
    };
    let first = on(1);
    assert!(first.2 > 5, "{} iterations", first.2);
    assert!(on(2) == first);
    assert!(on(3) == first);
}

#[test]
fn the_seed_is_given_or_that_of_the_recipe_or_one() {
    let with = |recipe: &Recipe, seed| {
        let population = populate(recipe, seed).unwrap();
        (population.seed, bits(&poses(&population.crowd)))
    };
    let few = json!({ "composition": { "outside": { "count": 100 } } });
    let none = recipe_with(&few);
    let mut seeded = few;
    seeded["randomness_seed"] = json!(5);
    let five = recipe_with(&seeded);
    assert_eq!(with(&none, None), with(&five, Some(1)));
    assert_eq!(with(&five, None), with(&none, Some(5)));
    assert_eq!([with(&none, None).0, with(&five, None).0], [1, 5]);
    // Other seeds give other places, also those that differ in the highest bits only.
    for seed in [0, 2, 5, u64::MAX, 1 << 63 | 1] {
        let other = with(&none, Some(seed)).1;
        let same = other
            .iter()
            .zip(with(&none, None).1)
            .filter(|(a, b)| *a == b);
        assert_eq!(same.count(), 0, "{seed}");
    }
}

#[test]
fn a_change_of_one_entry_leaves_the_first_places_of_others_alone() {
    // So sparse that no molecule gives way to another.
    let sparse = |changes: &Value| {
        let mut recipe = json!({
            "name": "sparse",
            "format_version": "2.1",
            "bounding_box": [[0, 0, 0], [1000, 1000, 1000]],
            "objects": {
                "a": { "type": "single_sphere", "radius": 1.0e-3 },
                "b": { "inherit": "a" },
                "c": { "inherit": "a", "gradient": { "mode": "x" } },
            },
            "composition": {
                "space": { "regions": { "interior": ["A", "B", "C"] } },
                "A": { "object": "a", "count": 50 },
                "B": { "object": "b", "count": 50 },
                "C": { "object": "c", "molarity": 1.0e-7 },
            },
            "bevy_rapier_molecules": { "unit": "nm" },
        });
        change(&mut recipe, changes);
        let population = populate(&read(&recipe), None).unwrap();
        [0, 1, 2].map(|row| {
            let poses = poses(&population.crowd).into_iter().zip(&population.rows);
            let poses: Vec<Pose> = poses
                .filter(|(_, r)| **r == row)
                .map(|(pose, _)| pose)
                .collect();
            bits(&poses)
        })
    };
    let [a, b, c] = sparse(&json!({}));
    assert_eq!((a.len(), b.len()), (50, 50));
    for changes in [
        json!({ "composition": { "B": { "count": 90 } } }),
        json!({ "composition": { "B": { "count": 0 } } }),
        json!({ "composition": { "B": { "count_options": {
            "distribution": "uniform", "min": 5, "max": 90 } } } }),
        json!({ "objects": { "b": { "radius": 0.01 } } }),
        json!({ "objects": { "b": { "gradient": { "mode": "z" } } } }),
        json!({ "composition": { "B": { "priority": -3 } } }),
        json!({ "composition": { "B": { "partners": [{ "name": "A" }] } } }),
    ] {
        let [first, second, third] = sparse(&changes);
        assert!(first == a && third == c, "{changes}");
        let is_other = changes["composition"]["B"]["count"] != Value::Null;
        assert!(!is_other || second != b, "{changes}");
    }
    // More molecules of an entry are added behind those that are there.
    let [_, more, _] = sparse(&json!({ "composition": { "B": { "count": 90 } } }));
    assert!(more[..50] == b);
}

#[test]
fn breaking_keeps_the_poses_of_that_moment() {
    let recipe = recipe_with(&json!({}));
    for stop in [0, 3] {
        let mut seen = Vec::new();
        let mut calls = 0;
        let packing = pack(&recipe, &PackOptions::default(), |relaxer: &Relaxer| {
            assert_eq!(relaxer.iterations(), calls);
            seen = poses(relaxer.crowd());
            calls += 1;
            if relaxer.iterations() == stop {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        let packing = packing.unwrap();
        assert_eq!(
            (packing.relaxed.reason, packing.relaxed.iterations),
            (StopReason::Interrupted, stop)
        );
        assert!(
            !packing.is_complete() && !packing.left.is_empty(),
            "{packing}"
        );
        assert_eq!(bits(&poses(&packing.crowd)), bits(&seen));
        if stop == 0 {
            let first = populate(&recipe, None).unwrap();
            assert_eq!(bits(&seen), bits(&poses(&first.crowd)));
        }
    }
}
