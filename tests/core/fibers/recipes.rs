//! Fibers in recipes.

use std::ops::ControlFlow;
use std::path::Path;

use bevy_rapier_molecules::fiber::FiberPath;
use bevy_rapier_molecules::recipe::{
    PackOptions, Packing, ReadOptions, Recipe, pack, populate, recipe_schema,
};
use serde_json::{Value, json};

use super::fixtures::{self, least_distance, links, strained};
use crate::relaxation::fixtures::out_of_place;

/// A recipe with one fiber object, `dna`, in a sphere.
fn recipe(object: Value, kind: Value, entry: Value) -> Value {
    json!({
        "name": "fibers",
        "format_version": "2.1",
        "bounding_box": [[-200, -200, -200], [200, 200, 200]],
        "objects": {
            "sphere": { "type": "single_sphere", "radius": 150 },
            "link": object,
        },
        "composition": {
            "space": { "regions": { "interior": ["vesicle"] } },
            "vesicle": { "object": "sphere", "count": 1, "regions": { "interior": ["dna"] } },
            "dna": { "object": "link", "count": 2 },
        },
        "bevy_rapier_molecules": {
            "objects": { "link": { "fiber": kind } },
            "composition": { "dna": { "fiber": entry } },
        },
    })
}

fn dna() -> Value {
    json!({ "type": "grow", "representations": { "atomic": { "id": "4c64" } } })
}

fn read(value: &Value) -> Result<Recipe, String> {
    let text = value.to_string();
    let folder = Path::new("");
    let recipe = Recipe::read(
        text.as_bytes(),
        "fibers.json",
        folder,
        &ReadOptions::default(),
    );
    recipe.map_err(|error| error.to_string())
}

fn packed(value: &Value) -> Packing {
    let recipe = read(value).unwrap();
    assert!(recipe.warnings.is_empty(), "{:?}", recipe.warnings);
    pack(&recipe, &PackOptions::default(), |_| {
        ControlFlow::Continue(())
    })
    .unwrap()
}

#[test]
fn lengths_are_links_nanometers_or_base_pairs() {
    let rise = 4.3289;
    let cases = [
        (json!({ "links": 10 }), 10),
        (json!({ "length": 10.0 * 10.0 * rise }), 10),
        (json!({ "base_pairs": 100 }), 8),
        (json!({ "base_pairs": 1 }), 1),
    ];
    for (entry, links) in cases {
        let value = recipe(dna(), json!({}), entry.clone());
        let population = populate(&read(&value).unwrap(), None).unwrap();
        let row = &population.report.entries[0];
        assert_eq!(
            (row.asked, row.placed, row.fibers),
            (Some(2 * links), 2 * links, Some(2)),
            "{entry}"
        );
        assert_eq!(population.crowd.members().len(), 2 * links as usize);
        assert_eq!(population.crowd.joints().len(), 2 * (links as usize - 1));
        let words = format!("{} links in 2 fibers", 2 * links);
        assert!(population.report.to_string().contains(&words));
    }
}

#[test]
fn fibers_of_recipes_come_to_rest_inside_of_their_compartment() {
    let kinds = [
        json!({ "persistence_length": 300 }),
        json!({ "persistence_length": 300, "closed": true, "max_twist": 1, "max_gap": 4 }),
    ];
    for kind in kinds {
        let packing = packed(&recipe(dna(), kind.clone(), json!({ "links": 20 })));
        assert!(packing.is_complete(), "{kind}: {packing}");
        let crowd = &packing.crowd;
        assert_eq!((out_of_place(crowd), strained(crowd)), (0, 0));
        let furthest = crowd.instances().flat_map(|(template, pose)| {
            let atoms = template.positions().iter();
            atoms.map(move |atom| pose.transform_point(*atom).length() + 0.1)
        });
        assert!(furthest.fold(0.0, f32::max) < 15.002);
        assert!(
            packing
                .to_string()
                .ends_with("0 out of place, 0 joints beyond a limit")
        );
    }
}

#[test]
fn rods_and_balls_are_links_without_structure_files() {
    let cases = [
        (
            json!({ "type": "grow" }),
            json!({ "radius": 10, "length": 40, "rise": 45 }),
            4.5,
        ),
        (
            json!({ "type": "multi_cylinder", "radius": 12 }),
            json!({}),
            2.41,
        ),
        (
            json!({ "type": "single_sphere", "radius": 12 }),
            json!({}),
            2.41,
        ),
    ];
    for (object, kind, rise) in cases {
        let packing = packed(&recipe(object.clone(), kind, json!({ "links": 8 })));
        assert!(packing.is_complete(), "{object}: {packing}");
        let [first, second] = [0, 1].map(|k| packing.crowd.joints()[0].frames[k].position);
        let found = first.distance(second);
        assert!((found - rise).abs() < 0.01, "{object}: {found} nm");
    }
}

#[test]
fn paths_through_points_start_at_the_first_and_follow_the_others() {
    let points = json!([[-100, 0, 0], [0, 80, 0], [100, 0, 0]]);
    for path in ["midpoint", "control_points"] {
        let entry = json!({ "path": path, "points": points });
        let mut value = recipe(dna(), json!({}), entry);
        value["composition"]["dna"]["count"] = json!(1);
        let population = populate(&read(&value).unwrap(), None).unwrap();
        let row = &population.report.entries[0];
        assert_eq!((row.asked, row.fibers), (None, Some(1)));
        assert!((5..12).contains(&row.placed), "{path}: {}", row.placed);
        let members = population.crowd.members();
        assert!(members[0].pose.position.x < -6.0, "{path}");
        let packing = packed(&value);
        assert!(packing.is_complete(), "{path}: {packing}");
    }
}

#[test]
fn a_fiber_fills_the_box_of_a_recipe_without_compartments() {
    for periodic in [false, true] {
        let mut value = recipe(dna(), json!({}), json!({ "links": 60 }));
        value["composition"] = json!({
            "space": { "regions": { "interior": ["dna"] } },
            "dna": { "object": "link", "count": 1 },
        });
        value["bevy_rapier_molecules"]["periodic"] = json!(periodic);
        let packing = packed(&value);
        assert!(packing.is_complete(), "{periodic}: {packing}");
        assert_eq!(strained(&packing.crowd), 0);
    }
}

#[test]
fn what_is_wrong_with_a_fiber_is_said_with_its_place() {
    let (kind, links) = (json!({}), json!({ "links": 10 }));
    let with = |path: &[&str], value: Value| {
        let mut recipe = recipe(dna(), kind.clone(), links.clone());
        let mut at = &mut recipe;
        for key in path {
            at = &mut at[*key];
        }
        *at = value;
        recipe
    };
    let block = "bevy_rapier_molecules";
    let entry = [block, "composition", "dna", "fiber"];
    let object = [block, "objects", "link", "fiber"];
    let cases = [
        (
            with(&entry, Value::Null),
            "composition.dna: 'link' is the link of a fiber; expected its length in bevy_rapier_molecules.composition.dna.fiber, with links, length, base_pairs or points",
        ),
        (
            with(&object, Value::Null),
            "bevy_rapier_molecules.composition.dna.fiber: expected bevy_rapier_molecules.objects.link.fiber as well",
        ),
        (
            with(&entry, json!({})),
            "bevy_rapier_molecules.composition.dna.fiber: expected links, length or base_pairs of a random walk",
        ),
        (
            with(&entry, json!({ "links": 3, "length": 3 })),
            "bevy_rapier_molecules.composition.dna.fiber: expected only one of links, length and base_pairs",
        ),
        (
            with(&entry, json!({ "links": 0 })),
            "bevy_rapier_molecules.composition.dna.fiber.links: the number of links must be from 1 to 10,000,000, not 0",
        ),
        (
            with(
                &entry,
                json!({ "links": 3, "points": [[0, 0, 0], [90, 0, 0]] }),
            ),
            "bevy_rapier_molecules.composition.dna.fiber: a length of a path through points is not supported; remove the points, or links, length and base_pairs",
        ),
        (
            with(&object, json!({ "rise": -1 })),
            "bevy_rapier_molecules.objects.link.fiber.rise: the rise must be positive and at most 0.1 mm, not -1",
        ),
        (
            with(&object, json!({ "max_bend": 4 })),
            "bevy_rapier_molecules.objects.link.fiber.max_bend: the largest bend must be from 0 to π, not 4",
        ),
        (
            with(&["objects", "link"], json!({ "type": "grow" })),
            "bevy_rapier_molecules.objects.link.fiber.radius: expected the radius of the links",
        ),
    ];
    for (value, sentence) in cases {
        let expected = format!("fibers.json: {sentence}");
        assert_eq!(read(&value).map(|_| ()), Err(expected));
    }
    let mut without = with(&["objects", "link"], json!({ "type": "grow", "radius": 9 }));
    without[block] = json!({});
    assert_eq!(
        read(&without).map(|_| ()).unwrap_err(),
        "fibers.json: objects.link.type: an ingredient of type grow is not supported; make it a fiber in the block bevy_rapier_molecules: objects.NAME.fiber and composition.NAME.fiber"
    );
    let mut surface = with(&entry, links.clone());
    surface["composition"]["vesicle"]["regions"] = json!({ "surface": ["dna"] });
    assert_eq!(
        read(&surface).map(|_| ()).unwrap_err(),
        "fibers.json: composition.dna: a fiber in a region surface is not supported; put it into interior"
    );
}

#[test]
fn fibers_that_cannot_be_placed_are_errors_with_their_place() {
    let failed = |value: &Value| {
        let error = populate(&read(value).unwrap(), None).unwrap_err();
        error.to_string()
    };
    let ball = json!({ "type": "single_sphere", "radius": 10 });
    assert_eq!(
        failed(&recipe(ball, json!({}), json!({ "base_pairs": 10 }))),
        "fibers.json: bevy_rapier_molecules.composition.dna.fiber: a number of base pairs of 'link', which has none is not supported; give links or length"
    );
    let stiff = json!({ "persistence_length": 1.0e6 });
    let error = failed(&recipe(dna(), stiff, json!({ "links": 100 })));
    assert!(error.ends_with(
        "of 100 links of a fiber fit into their space; make it wider or the fiber more flexible"
    ));
}

#[test]
fn the_schema_knows_the_keys_of_fibers() {
    let schema = recipe_schema();
    let keys = |name: &str| {
        let properties = schema["$defs"][name]["properties"].as_object().unwrap();
        properties.keys().map(String::as_str).collect::<Vec<_>>()
    };
    for key in ["rise", "twist", "persistence_length", "closed", "max_bend"] {
        assert!(keys("FiberKindFile").contains(&key), "{key}");
    }
    for key in ["links", "length", "base_pairs", "path", "points"] {
        assert!(keys("FiberEntryFile").contains(&key), "{key}");
    }
}

#[test]
fn the_bundled_recipe_asks_for_ten_kilobases_and_proteins() {
    let path = "assets/recipes/dna_in_a_sphere.json";
    let recipe = Recipe::load(path, &ReadOptions::default()).unwrap();
    assert!(recipe.warnings.is_empty(), "{:?}", recipe.warnings);
    let population = populate(&recipe, None).unwrap();
    let rows = &population.report.entries;
    let placed: Vec<_> = rows.iter().map(|row| (row.placed, row.fibers)).collect();
    assert_eq!(placed, [(830, Some(1)), (2_000, None)]);
    assert_eq!(population.crowd.joints().len(), 829);
    // The fiber first, its links in the report of its row.
    assert!(population.rows[..830].iter().all(|row| *row == 0));
    assert!(population.warnings.is_empty(), "{:?}", population.warnings);
}

/// The distance is a quarter of the diameter of 2.7 nm.
#[test]
fn fibers_in_a_compartment_start_without_crossings() {
    let link = fixtures::dna();
    for seed in 1..4 {
        let value = recipe(
            dna(),
            json!({ "persistence_length": 300 }),
            json!({ "links": 40 }),
        );
        let population = populate(&read(&value).unwrap(), Some(seed)).unwrap();
        let members = population.crowd.members();
        let fibers = [&members[..40], &members[40..]].map(|members| {
            let poses = members.iter().map(|member| member.pose);
            links(&FiberPath::of_links(&link, poses, false).unwrap())
        });
        let least = [
            least_distance(&fibers[0], &fibers[0], Some(2)),
            least_distance(&fibers[1], &fibers[1], Some(2)),
            least_distance(&fibers[0], &fibers[1], None),
        ];
        assert!(least.iter().all(|least| *least > 0.67), "{seed}: {least:?}");
    }
}
