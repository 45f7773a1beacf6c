//! What has several spellings means the same in all of them: leaflets, partners, gradients,
//! versions and units.

use bevy_rapier_molecules::recipe::{
    Gradient, GradientMode, Inverted, PickMode, Recipe, Region, WeightMode,
};
use glam::Vec3;
use serde_json::{Value, json};

use super::packed_spheres::{change, populated, poses, read, warnings};

/// A sphere with lipids by number, binders and targets.
fn recipe_with(changes: &Value) -> Recipe {
    let mut recipe = json!({
        "name": "cell",
        "format_version": "2.1",
        "bounding_box": [[-100, -100, -100], [100, 100, 100]],
        "objects": {
            "shell": { "type": "single_sphere", "radius": 60 },
            "target": { "type": "single_sphere", "radius": 5 },
            "binder": { "type": "single_sphere", "radius": 3 },
            "other": { "type": "single_sphere", "radius": 2 },
        },
        "composition": {
            "space": { "regions": { "interior": ["cell", "A", "B", "C"] } },
            "cell": { "object": "shell", "regions": {} },
            "A": { "object": "target", "count": 3 },
            "B": { "object": "binder", "count": 3 },
            "C": { "object": "other", "count": 3 },
        },
    });
    change(&mut recipe, changes);
    let recipe = read(&recipe);
    assert_eq!(warnings(&recipe), [""; 0], "{changes}");
    recipe
}

#[test]
fn leaflets_are_spelled_with_underscores_or_hyphens() {
    for [inner, outer] in [
        ["inner_leaflet", "outer_leaflet"],
        ["inner-leaflet", "outer-leaflet"],
    ] {
        let lipids = |count: u32| json!([{ "object": "other", "count": count }, "D"]);
        let recipe = recipe_with(&json!({ "composition": {
            "cell": { "regions": { inner: lipids(4), outer: lipids(5) } },
            "D": { "object": "binder", "count": 2 },
        } }));
        let regions = recipe
            .entries
            .iter()
            .map(|entry| (entry.region, entry.count.mean() as u32));
        let regions: Vec<_> = regions
            .filter(|(region, _)| *region != Region::Interior)
            .collect();
        assert_eq!(
            regions,
            [
                (Region::OuterLeaflet, 5),
                (Region::OuterLeaflet, 2),
                (Region::InnerLeaflet, 4),
                (Region::InnerLeaflet, 2),
            ]
        );
        let shell = recipe.compartments[1].surface.as_ref().unwrap();
        let population = populated(&recipe);
        for (pose, row) in poses(&population.crowd).iter().zip(&population.rows) {
            let height = shell.signed_distance(pose.position);
            match recipe.entries[*row as usize].region {
                Region::OuterLeaflet => assert!(height > 0.1, "{height} nm"),
                Region::InnerLeaflet => assert!(height < -0.1, "{height} nm"),
                _ => {}
            }
        }
    }
}

#[test]
fn partners_have_three_forms() {
    let listed = json!([
        { "name": "A", "binding_probability": 0.25, "position": [1, 2, 3],
          "excluded_names": ["C"], "probability_repelled": 0.5 },
    ]);
    let columns = json!({
        "names": ["A"], "probability_binding": 0.25, "positions": [[1, 2, 3]],
        "excluded_names": ["C"], "probability_repelled": 0.5, "weight": 3,
    });
    let all = json!({ "all_partners": listed });
    let partners = |partners: &Value| {
        let recipe = recipe_with(&json!({ "objects": { "binder": { "partners": partners } } }));
        let binder = recipe
            .entries
            .iter()
            .find(|entry| entry.name == "B")
            .unwrap();
        let partners = binder.partners.iter();
        let partners: Vec<_> = partners
            .map(|p| {
                let names: Vec<String> = p
                    .entries
                    .iter()
                    .map(|e| recipe.entries[*e].name.clone())
                    .collect();
                (names, p.probability, p.weight, p.positions.clone())
            })
            .collect();
        partners
    };
    let expected = [
        (
            vec!["A".to_owned()],
            0.25,
            1.0,
            vec![Vec3::new(0.1, 0.2, 0.3)],
        ),
        (vec!["C".to_owned()], -0.5, 1.0, Vec::new()),
    ];
    for form in [&listed, &columns, &all] {
        assert_eq!(partners(form), expected, "{form}");
    }
    // Molecules may be excluded without partners.
    let only = json!({ "excluded_names": ["C"], "probability_repelled": 0.5 });
    assert_eq!(partners(&only), expected[1..]);
    let only = json!({ "all_partners": [], "excluded_names": ["C"] });
    assert_eq!(
        partners(&only),
        [(vec!["C".to_owned()], -1.0, 1.0, Vec::new())]
    );
    // Names are those of entries or objects; the origin as a place means anywhere.
    let by_object = json!([{ "name": "target", "position": [0, 0, 0], "weight": 2 }]);
    assert_eq!(
        partners(&by_object),
        [(vec!["A".to_owned()], 1.0, 2.0, Vec::new())]
    );
    let several = json!([{ "name": "A", "positions": [[1, 0, 0], [0, 2, 0]] }]);
    assert_eq!(partners(&several)[0].3, [0.1 * Vec3::X, 0.2 * Vec3::Y]);
}

/// The gradients of the binders.
fn gradients_with(changes: &Value) -> Vec<(Gradient, f32)> {
    let recipe = recipe_with(changes);
    let binder = recipe
        .entries
        .iter()
        .find(|entry| entry.name == "B")
        .unwrap();
    binder.gradients.clone()
}

#[test]
fn gradients_are_named_listed_or_inline_in_both_formats() {
    let of_2_1 = json!({
        "mode": "radial", "mode_settings": { "center": [10, 0, 0], "radius": 50 },
        "weight_mode": "power", "weight_mode_settings": { "power": 1.5 },
        "pick_mode": "max", "invert": "distance",
    });
    let of_2_0 = json!({
        "mode": "radial", "center": [10, 0, 0], "radius": 50,
        "weight_mode": "power", "weight_mode_settings": { "power": 1.5 },
        "pick_mode": "max", "invert": "distance",
    });
    let mut named = of_2_1.clone();
    named["name"] = json!("near");
    let inline = |gradient: &Value| json!({ "objects": { "binder": { "gradient": gradient } } });
    let by_name = json!({
        "gradients": { "near": of_2_1 }, "objects": { "binder": { "gradient": "near" } },
    });
    let by_list = json!({
        "gradients": [named], "objects": { "binder": { "gradient": ["near"] } },
    });
    for changes in [
        by_name,
        by_list,
        inline(&of_2_1),
        inline(&of_2_0),
        inline(&json!([of_2_0])),
    ] {
        let gradients = gradients_with(&changes);
        let [(gradient, weight)] = gradients.as_slice() else {
            panic!("{changes}");
        };
        let GradientMode::Radial { center, radius } = gradient.mode else {
            panic!("{changes}");
        };
        assert_eq!((center, radius, *weight), (Vec3::X, 5.0, 1.0), "{changes}");
        assert_eq!(
            (gradient.weight, gradient.pick, gradient.inverted),
            (
                WeightMode::Power(1.5),
                PickMode::Largest,
                Inverted::Distance
            )
        );
    }
    let direction = json!({ "mode": "vector", "direction": [0, 0, 2], "center": [0, 0, 50] });
    let [(gradient, _)] = &gradients_with(&inline(&direction))[..] else {
        panic!("one gradient");
    };
    let GradientMode::Plane {
        center,
        normal,
        reach,
    } = gradient.mode
    else {
        panic!("{gradient:?}");
    };
    // The farthest corner is 15 nm below the plane.
    assert_eq!((center, normal, reach), (5.0 * Vec3::Z, Vec3::Z, 15.0));
}

#[test]
fn modes_may_be_in_capital_letters_and_inverts_are_flags_or_words() {
    for (mode, expected) in [("X", 0), ("x", 0), ("Y", 1), ("y", 1), ("Z", 2), ("z", 2)] {
        let gradient = json!({ "objects": { "binder": { "gradient": { "mode": mode } } } });
        let GradientMode::Axis { axis, low, high } = gradients_with(&gradient)[0].0.mode else {
            panic!("{mode}");
        };
        assert_eq!((axis, low, high), (expected, -10.0, 10.0));
    }
    for (invert, expected) in [
        (json!("weight"), Inverted::Weight),
        (json!(true), Inverted::Weight),
        (json!("distance"), Inverted::Distance),
        (json!(false), Inverted::No),
    ] {
        let gradient = json!({ "objects": { "binder": { "gradient": { "invert": invert } } } });
        assert_eq!(
            gradients_with(&gradient)[0].0.inverted,
            expected,
            "{invert}"
        );
    }
    for (pick, expected) in [
        ("max", PickMode::Largest),
        ("min", PickMode::Smallest),
        ("rnd", PickMode::Random),
        ("linear", PickMode::Random),
        ("binary", PickMode::Random),
        ("sub", PickMode::Random),
        ("reg", PickMode::Random),
    ] {
        let gradient = json!({ "objects": { "binder": { "gradient": { "pick_mode": pick } } } });
        assert_eq!(gradients_with(&gradient)[0].0.pick, expected, "{pick}");
    }
}

#[test]
fn weights_of_gradients_are_in_their_order_or_by_name() {
    for weights in [json!([70, 30]), json!({ "b": 30, "a": 70 })] {
        let gradients = gradients_with(&json!({
            "gradients": { "a": { "mode": "x" }, "b": { "mode": "y" } },
            "objects": { "binder": { "gradient": ["a", "b"], "gradient_weights": weights } },
        }));
        let weights: Vec<f32> = gradients.iter().map(|(_, weight)| *weight).collect();
        assert_eq!(weights, [70.0, 30.0]);
    }
}

#[test]
fn versions_are_text_or_numbers() {
    for version in [
        json!("2.0"),
        json!("2.1"),
        json!("2"),
        json!("2.0.0"),
        json!(2),
        json!(2.1),
    ] {
        recipe_with(&json!({ "format_version": version }));
    }
}

#[test]
fn a_recipe_in_nanometers_is_that_in_angstroms() {
    let recipe = |unit: &str, nm: f64| {
        recipe_with(&json!({
            "bounding_box": [[-10.0 * nm, -10.0 * nm, -10.0 * nm], [10.0 * nm, 10.0 * nm, 10.0 * nm]],
            "gradients": { "near": {
                "mode": "radial", "mode_settings": { "center": [nm, 0, 0], "radius": 20.0 * nm },
            } },
            "objects": {
                "shell": { "radius": 6.0 * nm },
                "target": { "radius": 0.5 * nm, "cutoff_boundary": 0.5 * nm, "cutoff_surface": nm },
                "binder": {
                    "radius": 0.25 * nm, "gradient": "near",
                    "partners": [{ "name": "A", "position": [nm, 0, 0], "binding_probability": 0.5 }],
                },
                "other": { "type": "multi_sphere", "radius": null, "representations": { "packing": {
                    "positions": [[[0, 0, 0], [nm, 0, 0]]], "radii": [[0.5 * nm, 0.25 * nm]],
                } } },
                "mesh": { "type": "mesh", "representations": { "mesh": {
                    "path": "shapes", "name": "sphere_2.obj",
                    "transform": { "translate": [0.5 * nm, 0, 0] },
                } } },
            },
            "composition": {
                "A": { "size_options": { "distribution": "uniform", "min": 0.25 * nm, "max": 0.5 * nm } },
                "cell": { "regions": { "surface": [{ "object": "other", "molarity": 0.01, "count": 2 }] } },
            },
            "bevy_rapier_molecules": {
                "unit": unit,
                "tolerance": 0.25 * nm,
                "objects": { "other": { "depth": 0.5 * nm } },
                "composition": {
                    "cell": { "position": [nm, 0, 0] },
                    "C": { "places": [{ "position": [0, 8.0 * nm, 0] }] },
                },
            },
        }))
    };
    let [a, b] = [recipe("angstrom", 10.0), recipe("nm", 1.0)].map(|recipe| populated(&recipe));
    assert_eq!(a.crowd.members().len(), b.crowd.members().len());
    for (a, b) in poses(&a.crowd).iter().zip(&poses(&b.crowd)) {
        assert!(a.position.distance(b.position) < 1.0e-4, "{a:?} {b:?}");
    }
    for (a, b) in a.crowd.templates().iter().zip(b.crowd.templates()) {
        assert!((a.bounding_radius() - b.bounding_radius()).abs() < 1.0e-5);
    }
    assert_eq!(recipe("nm", 1.0).tolerance, 0.25);
    assert_eq!(recipe("nm", 1.0).size(), Vec3::splat(20.0));
}
