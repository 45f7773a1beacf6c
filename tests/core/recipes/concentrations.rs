//! Concentrations: counts against volumes from the divergence theorem, without the compartments
//! inside.

use std::f64::consts::PI;

use bevy_rapier_molecules::recipe::populate;
use serde_json::{Value, json};

use super::packed_spheres::{folder, read};
use super::triangle_mesh::TriangleMesh;

/// Molecules per nm³ at 1 mol/l.
const PER_NM3: f64 = 0.602_214_076;

/// Volume of a mesh file whose lengths are nm, nm³.
fn volume(name: &str) -> f64 {
    TriangleMesh::load(&folder("tests/data/recipes/shapes").join(name), 1.0).volume()
}

fn mesh(name: &str) -> Value {
    let file = json!({ "path": "shapes", "name": name, "format": "obj" });
    json!({ "type": "mesh", "representations": { "mesh": file } })
}

#[test]
fn counts_are_concentrations_times_volumes_without_compartments_inside() {
    let molarities = [10.0, 40.0, 100.0, 1000.0];
    let [space, cell, nucleus, ball] =
        molarities.map(|molarity| json!({ "object": "small", "molarity": molarity }));
    let recipe = read(&json!({
        "name": "concentrations",
        "format_version": "2.1",
        "bounding_box": [[-5, -5, -5], [5, 5, 5]],
        "objects": {
            "outer": mesh("sphere_4.obj"),
            "inner": mesh("sphere_2.obj"),
            "round": { "type": "single_sphere", "radius": 0.8 },
            "small": { "type": "single_sphere", "radius": 0.001 },
        },
        "composition": {
            "space": { "regions": { "interior": ["cell", space] } },
            "cell": { "object": "outer", "regions": { "interior": ["nucleus", "granule", cell] } },
            "nucleus": { "object": "inner", "regions": { "interior": [nucleus] } },
            "granule": { "object": "round", "regions": { "interior": [ball] } },
        },
        "bevy_rapier_molecules": {
            "unit": "nm", "composition": { "granule": { "position": [2.9, 0, 0] } },
        },
    }));
    let population = populate(&recipe, None).unwrap();
    let (cell, nucleus) = (volume("sphere_4.obj"), volume("sphere_2.obj"));
    let ball = 4.0 / 3.0 * PI * 0.8_f64.powi(3);
    let volumes = [
        ("space.interior", 1000.0 - cell),
        ("cell.interior", cell - nucleus - ball),
        ("nucleus.interior", nucleus),
        ("granule.interior", ball),
    ];
    for ((region, volume), molarity) in volumes.into_iter().zip(molarities) {
        let entry = population
            .report
            .entries
            .iter()
            .find(|entry| entry.region == region);
        let placed = f64::from(entry.unwrap().placed);
        let expected = molarity * PER_NM3 * volume;
        assert!(expected > 1000.0, "{region}");
        assert!(
            (placed / expected - 1.0).abs() < 0.01,
            "{region}: {placed}, not {expected}"
        );
    }
}

/// The mean number over many seeds, and the counts that occurred.
fn counts(item: &Value) -> Vec<u32> {
    let recipe = read(&json!({
        "name": "one", "format_version": "2.1",
        "bounding_box": [[0, 0, 0], [10, 10, 10]],
        "objects": { "small": { "type": "single_sphere", "radius": 0.001 } },
        "composition": { "space": { "regions": { "interior": [item] } } },
        "bevy_rapier_molecules": { "unit": "nm" },
    }));
    let count = |seed| populate(&recipe, Some(seed)).unwrap().crowd.members().len() as u32;
    (0..400).map(count).collect()
}

#[test]
fn fractions_of_molecules_are_rounded_at_random() {
    // 2.3 molecules on average.
    let molarity = 2.3 / (PER_NM3 * 1000.0);
    let counts = counts(&json!({ "object": "small", "molarity": molarity }));
    assert!(
        counts.iter().all(|count| (2..=3).contains(count)),
        "{counts:?}"
    );
    let three = counts.iter().filter(|count| **count == 3).count();
    // 120 on average; 3.29 √(400 · 0.3 · 0.7) = 30.
    assert!((90..=150).contains(&three), "{three} of 400");
}

#[test]
fn molecules_of_a_concentration_are_added_to_the_count() {
    let molarity = 5.0001 / (PER_NM3 * 1000.0);
    let item = json!({ "object": "small", "molarity": molarity, "count": 7 });
    assert!(counts(&item).iter().all(|count| (12..=13).contains(count)));
    let item = json!({
        "object": "small", "molarity": molarity,
        "count_options": { "distribution": "uniform", "min": 1, "max": 3 },
    });
    let found = counts(&item);
    assert!((6..=8).all(|count| found.contains(&count)), "{found:?}");
}

#[test]
fn counts_follow_their_distributions() {
    let with = |options: Value| counts(&json!({ "object": "small", "count_options": options }));
    let uniform = with(json!({ "distribution": "uniform", "min": 2, "max": 4 }));
    for count in 2..=4 {
        let found = uniform.iter().filter(|found| **found == count).count();
        // 133 on average; 3.29 √(400 · 1/3 · 2/3) = 31.
        assert!((102..=165).contains(&found), "{found} of {count}");
    }
    assert!(uniform.iter().all(|count| (2..=4).contains(count)));
    let list = with(json!({ "distribution": "list", "list_values": [1, 5, 5, 9] }));
    let fives = list.iter().filter(|count| **count == 5).count();
    assert!(list.iter().all(|count| [1, 5, 9].contains(count)));
    // 200 on average; 3.29 √(400 / 4) = 33.
    assert!((167..=233).contains(&fives), "{fives}");
    let normal = with(json!({ "distribution": "normal", "mean": 20, "std": 4 }));
    let mean = normal.iter().sum::<u32>() as f64 / 400.0;
    let squares = normal
        .iter()
        .map(|count| (f64::from(*count) - mean).powi(2));
    let deviation = (squares.sum::<f64>() / 399.0).sqrt();
    // Errors of 4 / √400 = 0.2 and 4 / √800 = 0.14.
    assert!((mean - 20.0).abs() < 0.7, "{mean}");
    assert!((deviation - 4.0).abs() < 0.5, "{deviation}");
}
