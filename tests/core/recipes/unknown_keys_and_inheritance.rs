//! Unknown keys are warnings with suggestions; objects inherit fields, and items override them.

use bevy_rapier_molecules::recipe::{BodyAxis, IngredientShape, Recipe, RotationRange};
use glam::Vec3;
use serde_json::{Value, json};

use super::packed_spheres::{change, read, try_read, warnings};

/// A box with the molecules `A`, of the object `ball`.
fn recipe_with(changes: &Value) -> Value {
    let mut recipe = json!({
        "name": "cell",
        "format_version": "2.1",
        "bounding_box": [[-100, -100, -100], [100, 100, 100]],
        "objects": { "ball": { "type": "single_sphere", "radius": 5 } },
        "composition": {
            "space": { "regions": { "interior": ["A"] } },
            "A": { "object": "ball", "count": 3 },
        },
    });
    change(&mut recipe, changes);
    recipe
}

/// The radius of the ingredient of an entry, nm.
fn radius(recipe: &Recipe, entry: usize) -> f32 {
    match recipe.ingredients[recipe.entries[entry].ingredient].shape {
        IngredientShape::Sphere { radius } => radius,
        _ => panic!("not a sphere"),
    }
}

#[test]
fn unknown_keys_are_reported_at_their_places_with_suggestions() {
    for (changes, expected) in [
        (
            json!({ "descripton": "a" }),
            "descripton: unknown key; did you mean 'description'?",
        ),
        (json!({ "comment": "a" }), "comment: unknown key"),
        (
            json!({ "objects": { "ball": { "raduis": 5 } } }),
            "objects.ball.raduis: unknown key; did you mean 'radius'?",
        ),
        (
            json!({ "objects": { "ball": { "partners": [{ "name": "A", "propability": 1 }] } } }),
            "objects.ball.partners[0].propability: unknown key",
        ),
        (
            json!({ "objects": { "ball": { "partners": { "name": ["A"] } } } }),
            "objects.ball.partners.name: unknown key; did you mean 'names'?",
        ),
        (
            json!({ "objects": { "ball": { "gradient": { "mod": "x" } } } }),
            "objects.ball.gradient.mod: unknown key; did you mean 'mode'?",
        ),
        (
            json!({ "objects": { "ball": { "representations": { "packng": {} } } } }),
            "objects.ball.representations.packng: unknown key; did you mean 'packing'?",
        ),
        (
            json!({ "gradients": { "up": { "mode_settings": { "centre": [0, 0, 0] } } } }),
            "gradients.up.mode_settings.centre: unknown key; did you mean 'center'?",
        ),
        (
            json!({ "gradients": [{ "name": "up", "weight_mod": "cube" }] }),
            "gradients[0].weight_mod: unknown key; did you mean 'weight_mode'?",
        ),
        (
            json!({ "composition": { "A": { "cuont": 4 } } }),
            "composition.A.cuont: unknown key; did you mean 'count'?",
        ),
        (
            json!({ "composition": { "A": { "count_options": {
                "distribution": "uniform", "min": 1, "max": 2, "maks": 3 } } } }),
            "composition.A.count_options.maks: unknown key; did you mean 'max'?",
        ),
        (
            json!({ "composition": { "space": { "regions": { "inside": ["A"] } } } }),
            "composition.space.regions.inside: unknown key",
        ),
        (
            json!({ "composition": { "space": { "regions": { "interior": [
                "A", { "object": "ball", "count": 1, "molarty": 1 }] } } } }),
            "composition.space.regions.interior[1].molarty: unknown key; did you mean 'molarity'?",
        ),
        (
            json!({ "bevy_rapier_molecules": { "units": "nm" } }),
            "bevy_rapier_molecules.units: unknown key; did you mean 'unit'?",
        ),
        (
            json!({ "bevy_rapier_molecules": { "objects": { "ball": { "detial": "spheres" } } } }),
            "bevy_rapier_molecules.objects.ball.detial: unknown key; did you mean 'detail'?",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "A": { "place": [] } } } }),
            "bevy_rapier_molecules.composition.A.place: unknown key; did you mean 'places'?",
        ),
    ] {
        let recipe = read(&recipe_with(&changes));
        assert_eq!(warnings(&recipe), [expected], "{changes}");
    }
}

#[test]
fn keys_that_only_cellpack_reads_cause_no_warning() {
    let recipe = recipe_with(&json!({
        "$schema": "recipe.schema.json",
        "description": "a", "version": "1.0.0", "grid_file_path": "a",
        "objects": { "ball": {
            "jitter_attempts": 5, "max_jitter": [1, 1, 1], "jitterMax": [1, 1, 1],
            "rejection_threshold": 30, "place_method": "jitter", "weight": 0.2,
            "is_attractor": false, "encapsulating_radius": 5, "available_regions": {},
            "packing": { "mode": "random" }, "name": "a", "description": "a",
        } },
        "gradients": { "up": { "reversed": true, "gblob": 4, "description": "a" } },
    }));
    assert_eq!(warnings(&read(&recipe)), [""; 0]);
}

#[test]
fn what_is_replaced_is_reported() {
    let recipe = read(&recipe_with(&json!({ "objects": {
        "ball": { "packing_mode": "hexatile", "representations": { "atomic": { "id": "8abc" } } },
    } })));
    assert_eq!(
        warnings(&recipe),
        [
            "objects.ball.representations.atomic: there is no structure file next to the recipe, \
             nor a bundled one, named '8abc'; its spheres are used instead",
            "composition.A.packing_mode: tiles are not supported; places are random",
        ]
    );
    assert_eq!(radius(&recipe, 0), 0.5);
}

#[test]
fn fields_are_inherited_over_several_generations_in_any_order() {
    // The names are in the order opposite to the generations.
    let recipe = read(&recipe_with(&json!({
        "objects": {
            "a": { "inherit": "b", "color": [0, 1, 0] },
            "b": { "inherit": "c", "radius": 20, "perturb_axis_amplitude": 0.3 },
            "c": { "type": "single_sphere", "radius": 10, "color": [1, 0, 0] },
        },
        "composition": {
            "space": { "regions": { "interior": ["A", "B", "C"] } },
            "A": { "object": "a" },
            "B": { "object": "b", "count": 1 },
            "C": { "object": "c", "count": 1 },
        },
    })));
    let ingredients = recipe
        .entries
        .iter()
        .map(|entry| &recipe.ingredients[entry.ingredient]);
    let found: Vec<_> = ingredients.map(|i| (&*i.name, i.color, i.tilt)).collect();
    let (red, green) = (Some([1.0, 0.0, 0.0]), Some([0.0, 1.0, 0.0]));
    assert_eq!(found, [("a", green, 0.3), ("b", red, 0.3), ("c", red, 0.1)]);
    assert_eq!(
        [0, 1, 2].map(|entry| radius(&recipe, entry)),
        [2.0, 2.0, 1.0]
    );
}

#[test]
fn maps_are_merged_and_lists_replaced() {
    let recipe = read(&recipe_with(&json!({
        "objects": {
            "parent": {
                "type": "multi_sphere",
                "representations": { "packing": {
                    "positions": [[[0, 0, 0], [10, 0, 0], [20, 0, 0]]],
                    "radii": [[5, 5, 5]],
                } },
                "partners": [{ "name": "ball" }, { "name": "parent" }],
                "rotation_axis": [0, 0, 1], "use_rotation_axis": true,
            },
            "child": {
                "inherit": "parent",
                // The radii are those of the parent.
                "representations": { "packing": { "positions": [[[0, 0, 0], [0, 30, 0], [0, 0, 30]]] } },
                "partners": [{ "name": "parent" }],
            },
        },
        "composition": {
            "space": { "regions": { "interior": ["A", "B", "C"] } },
            "B": { "object": "parent", "count": 1 },
            "C": { "object": "child", "count": 1 },
        },
    })));
    let shape = |entry: usize| match &recipe.ingredients[recipe.entries[entry].ingredient].shape {
        IngredientShape::Spheres(spheres) => spheres.to_vec(),
        _ => panic!("no spheres"),
    };
    let half = |point: Vec3| (point, 0.5);
    assert_eq!(shape(1), [Vec3::ZERO, Vec3::X, 2.0 * Vec3::X].map(half));
    assert_eq!(
        shape(2),
        [Vec3::ZERO, 3.0 * Vec3::Y, 3.0 * Vec3::Z].map(half)
    );
    let partners = |entry: usize| {
        let partners = recipe.entries[entry].partners.iter();
        partners
            .map(|partner| partner.entries.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(partners(1), [vec![0], vec![1]]);
    assert_eq!(partners(2), [vec![1]]);
    let turned = recipe.ingredients[recipe.entries[2].ingredient].rotation;
    assert!(
        matches!(turned, RotationRange::About { axis: Vec3::Z, .. }),
        "{turned:?}"
    );
}

#[test]
fn null_hides_an_inherited_field() {
    let recipe = recipe_with(&json!({
        "objects": { "parent": { "type": "single_sphere", "radius": 5, "color": [1, 0, 0] } },
        "composition": { "A": { "object": "child" } },
    }));
    let text = recipe.to_string();
    let child = "\"objects\":{\"child\":{\"inherit\":\"parent\",\"color\":null},";
    let text = text.replace("\"objects\":{", child);
    let read = super::packed_spheres::try_read_text(&text).unwrap();
    assert_eq!((read.ingredients[0].color, radius(&read, 0)), (None, 0.5));
}

#[test]
fn items_override_fields_of_their_object() {
    let recipe = read(&recipe_with(&json!({
        "objects": { "ball": { "color": [1, 0, 0], "cutoff_boundary": 10, "principal_vector": [0, 0, 2] } },
        "composition": {
            "space": { "regions": { "interior": [
                "A",
                { "object": "ball", "count": 1, "radius": 7, "color": [0, 0, 1] },
                { "object": "ball", "count": 1, "cutoff_boundary": 20, "priority": -2 },
                { "object": "ball", "count": 1, "radius": 7, "color": [0, 0, 1] },
            ] } },
            "A": { "principal_vector": [0, 3, 0] },
        },
    })));
    let entry = |index: usize| &recipe.entries[index];
    let ingredient = |index: usize| &recipe.ingredients[entry(index).ingredient];
    assert_eq!(
        [0, 1, 2, 3].map(|index| radius(&recipe, index)),
        [0.5, 0.7, 0.5, 0.7]
    );
    assert_eq!(ingredient(0).axis, BodyAxis::Principal(Vec3::Y));
    assert_eq!(ingredient(2).axis, BodyAxis::Principal(Vec3::Z));
    assert_eq!(ingredient(1).color, Some([0.0, 0.0, 1.0]));
    assert_eq!(
        entry(1).ingredient,
        entry(3).ingredient,
        "equal molecules are shared"
    );
    let cutoffs = [0, 1, 2].map(|index| entry(index).cutoff_boundary);
    assert_eq!(cutoffs, [Some(1.0), Some(1.0), Some(2.0)]);
    assert_eq!([0, 2].map(|index| entry(index).priority), [0.0, -2.0]);
    // Places are no part of the molecule: the object is used as it is.
    assert_eq!(&*ingredient(2).place, "objects.ball");
    assert_eq!(
        &*ingredient(1).place,
        "composition.space.regions.interior[1]"
    );
    // A wrong override is reported where it is written.
    let wrong = json!({ "composition": { "A": { "radius": -1 } } });
    assert_eq!(
        try_read(&recipe_with(&wrong)).unwrap_err(),
        "cell.json: composition.A.radius: the radius must be positive and at most 0.1 mm, not -1"
    );
}

#[test]
fn long_chains_of_inheritance_are_resolved() {
    const LENGTH: usize = 3_000;
    let mut objects = json!({ "object_0": { "type": "single_sphere", "radius": 5 } });
    for index in 1..LENGTH {
        objects[format!("object_{index}")] = json!({ "inherit": format!("object_{}", index - 1) });
    }
    let last = format!("object_{}", LENGTH - 1);
    let changes = json!({ "objects": objects, "composition": { "A": { "object": last } } });
    let recipe = read(&recipe_with(&changes));
    assert_eq!(
        (&*recipe.ingredients[0].name, radius(&recipe, 0)),
        (&*last, 0.5)
    );
}
