//! Every key of the block `bevy_rapier_molecules` has an effect. The unit is tested with the
//! spellings.

use bevy_rapier_molecules::compartment::{Confinement, Placement};
use bevy_rapier_molecules::molecule::AssemblyChoice;
use bevy_rapier_molecules::recipe::{IngredientShape, Population, Recipe};
use glam::Vec3;
use serde_json::{Value, json};

use super::packed_spheres::{
    change, overlaps, packed, populated, poses, read, spheres, try_read, warnings,
};

/// A ball in a cell with these additions, whose lengths are nm.
fn recipe_with(changes: &Value, additions: &Value) -> Recipe {
    let atomic = |id: &str| json!({ "type": "single_sphere", "radius": 2, "representations": { "atomic": { "id": id } } });
    let mut recipe = json!({
        "name": "cell",
        "format_version": "2.1",
        "bounding_box": [[0, 0, 0], [20, 20, 20]],
        "objects": {
            "shell": { "type": "single_sphere", "radius": 5 },
            "ball": { "type": "single_sphere", "radius": 1.5 },
            "protein": atomic("1ubq"), "large": atomic("1gzx"), "lipid": atomic("popc"),
            "porin": atomic("2por"),
        },
        "composition": {
            "space": { "regions": { "interior": ["A"] } },
            "A": { "object": "protein", "count": 1 },
        },
    });
    change(&mut recipe, changes);
    let mut additions = additions.clone();
    additions["unit"] = json!("nm");
    recipe["bevy_rapier_molecules"] = additions;
    let recipe = read(&recipe);
    assert_eq!(warnings(&recipe), [""; 0]);
    recipe
}

/// With these items in a surface of 5 nm around the middle of the box, `cell`.
fn with_cell(regions: &Value, objects: &Value, cell: &Value) -> Recipe {
    let mut cell = cell.clone();
    if cell.get("position").is_none() {
        cell["position"] = json!([10, 10, 10]);
    }
    recipe_with(
        &json!({ "composition": {
            "space": { "regions": { "interior": ["cell"] } },
            "cell": { "object": "shell", "regions": regions },
            "A": null,
        } }),
        &json!({ "objects": objects, "composition": { "cell": cell } }),
    )
}

/// Number of spheres of the first molecule.
fn sphere_count(recipe: &Recipe) -> usize {
    let crowd = populated(recipe).crowd;
    crowd.template_of(&crowd.members()[0]).atom_count()
}

#[test]
fn a_periodic_box_has_molecules_across_its_faces() {
    let crowded = json!({
        "bounding_box": [[0, 0, 0], [8, 8, 8]], "composition": { "A": { "object": "ball", "count": 12 } },
    });
    let crosses = |recipe: &Recipe| {
        let packing = packed(recipe);
        assert_eq!(overlaps(&packing.crowd), 0);
        let spheres = spheres(&packing.crowd).into_iter();
        let across = |axis: f64| (axis - 1.5).div_euclid(8.0) != (axis + 1.5).div_euclid(8.0);
        let crosses = spheres.filter(|s| s.center.to_array().into_iter().any(across));
        (
            crosses.count(),
            packing.crowd.periodic_box().map(|periodic| periodic.size()),
        )
    };
    let (periodic, size) = crosses(&recipe_with(&crowded, &json!({ "periodic": true })));
    assert!(periodic > 3, "{periodic}");
    assert_eq!(size, Some(Vec3::splat(8.0)));
    let sparse = json!({
        "bounding_box": [[0, 0, 0], [8, 8, 8]], "composition": { "A": { "object": "ball", "count": 4 } },
    });
    assert_eq!(crosses(&recipe_with(&sparse, &json!({}))), (0, None));
}

#[test]
fn the_tolerance_is_the_least_distance_of_atoms() {
    for (additions, expected) in [(json!({}), 0.1), (json!({ "tolerance": 0.35 }), 0.175)] {
        let population = populated(&recipe_with(&json!({}), &additions));
        for sphere in spheres(&population.crowd) {
            assert!((sphere.radius - expected).abs() < 1.0e-6, "{additions}");
        }
    }
}

#[test]
fn details_are_atoms_spheres_or_proxies() {
    for (additions, expected) in [
        (json!({}), 602),
        (json!({ "detail": "atoms" }), 602),
        (json!({ "detail": "spheres" }), 1),
        (json!({ "detail": "proxies" }), 8),
        (json!({ "detail": "proxies", "proxies": 3 }), 3),
    ] {
        let recipe = recipe_with(&json!({}), &json!({ "objects": { "protein": additions } }));
        assert_eq!(sphere_count(&recipe), expected, "{additions}");
    }
}

#[test]
fn chains_hydrogens_and_assemblies_are_chosen() {
    let count = |object: &str, additions: Value| {
        let changes = json!({ "composition": { "A": { "object": object } } });
        sphere_count(&recipe_with(
            &changes,
            &json!({ "objects": { object: additions } }),
        ))
    };
    let all = count("large", json!({}));
    let chains = [["A"], ["B"], ["C"], ["D"]].map(|c| count("large", json!({ "chains": c })));
    assert_eq!(chains.iter().sum::<usize>(), all);
    assert_eq!(
        count("large", json!({ "chains": ["A", "D"] })),
        chains[0] + chains[3]
    );
    assert_eq!(count("lipid", json!({})), 134);
    assert_eq!(count("lipid", json!({ "hydrogens": false })), 52);
    let additions = json!({ "objects": { "protein": { "assembly": "1" } } });
    let recipe = recipe_with(&json!({}), &additions);
    let IngredientShape::Atoms { options, .. } = &recipe.ingredients[0].shape else {
        panic!("no atoms");
    };
    assert_eq!(options.assembly, AssemblyChoice::OneBody("1".to_owned()));
}

/// The placement of the first molecule in a surface.
fn placement(population: &Population) -> Placement {
    let crowd = &population.crowd;
    match crowd.confinement_of(&crowd.members()[0]) {
        Some((_, Confinement::Surface(placement))) => *placement,
        other => panic!("{other:?}"),
    }
}

#[test]
fn axis_and_depth_place_molecules_in_surfaces() {
    let item = json!({ "surface": [{ "object": "protein", "count": 1 }] });
    let given = json!({ "protein": { "up": [0, 0, -3], "depth": 1.25 } });
    let population = populated(&with_cell(&item, &given, &json!({})));
    assert!(population.warnings.is_empty(), "{:?}", population.warnings);
    let found = placement(&population);
    assert_eq!((found.up, found.depth), (Vec3::NEG_Z, 1.25));
    let pose = poses(&population.crowd)[0];
    assert!((pose.position.distance(Vec3::splat(10.0)) - 6.25).abs() < 1.0e-4);
    // Without them, the orientation is a guess, and said to be one.
    let population = populated(&with_cell(&item, &json!({}), &json!({})));
    let said: Vec<String> = population
        .warnings
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        said,
        [
            "objects.protein: the orientation of 'protein' in the surface is a guess; give up and depth in the block bevy_rapier_molecules"
        ]
    );
}

/// Number of lipids, and of their conformers, in a membrane with these additions.
fn lipids(objects: &Value, cell: &Value) -> (f64, usize) {
    let mut additions = json!({ "lipid": { "hydrogens": false, "conformers": 4 } });
    change(&mut additions, objects);
    let population = populated(&with_cell(&json!({}), &additions, cell));
    let crowd = &population.crowd;
    let mut templates: Vec<u32> = crowd
        .members()
        .iter()
        .map(|member| member.template)
        .collect();
    templates.sort_unstable();
    templates.dedup();
    (crowd.members().len() as f64, templates.len())
}

#[test]
fn leaflets_areas_and_conformers_make_membranes() {
    let [outer, inner] =
        ["outer_leaflet", "inner_leaflet"].map(|key| json!({ key: { "lipid": 1 } }));
    let mut both = outer.clone();
    change(&mut both, &inner);
    let none = json!({});
    let number = |objects: &Value, cell: &Value| lipids(objects, cell).0;
    let [outside, inside] = [&outer, &inner].map(|cell| number(&none, cell));
    assert!(
        outside > 1.5 * inside && inside > 50.0,
        "{outside} outside, {inside} inside"
    );
    assert_eq!(number(&none, &both), outside + inside);
    // POPC has 0.64 to 0.68 nm²: twice as much leaves half as many.
    let doubled = json!({ "lipid": { "area": 1.3 } });
    let half = number(&doubled, &outer) / outside;
    assert!((0.48..0.54).contains(&half), "{half}");
    let mut scaled = outer.clone();
    scaled["area_scale"] = json!(2);
    let half = number(&none, &scaled) / outside;
    assert!((0.49..0.51).contains(&half), "{half}");
    assert_eq!(lipids(&none, &outer).1, 4);
    assert_eq!(
        lipids(&json!({ "lipid": { "conformers": 1 } }), &outer).1,
        1
    );
}

#[test]
fn pores_are_empty_unless_lipids_may_fill_them() {
    let number = |additions: Value| {
        let mut porin = json!({ "up": [-0.69, 0.62, 0.36], "depth": 0.3 });
        change(&mut porin, &additions);
        let objects = json!({ "porin": porin, "lipid": { "hydrogens": false, "conformers": 4 } });
        let item = json!({ "surface": [{ "object": "porin", "count": 1 }] });
        let recipe = with_cell(&item, &objects, &json!({ "outer_leaflet": { "lipid": 1 } }));
        let kept = recipe
            .ingredients
            .iter()
            .find(|i| i.name == "porin")
            .unwrap()
            .keep_pore_empty;
        (kept, populated(&recipe).crowd.members().len())
    };
    let (kept, empty) = number(json!({}));
    assert!(kept);
    assert_eq!(number(json!({ "keep_pore_empty": true })), (true, empty));
    let (kept, filled) = number(json!({ "keep_pore_empty": false }));
    assert!(
        !kept && filled >= empty,
        "{filled} with lipids in the pore, {empty} without"
    );
}

#[test]
fn tints_replace_colors() {
    let red = json!({ "objects": { "protein": { "color": [1, 0, 0] } } });
    let color = |additions: Value| recipe_with(&red, &additions).ingredients[0].color;
    assert_eq!(color(json!({})), Some([1.0, 0.0, 0.0]));
    let tint = json!({ "objects": { "protein": { "tint": [0, 0.5, 1] } } });
    assert_eq!(color(tint), Some([0.0, 0.5, 1.0]));
}

/// The center of the first compartment, and the distance of points from its surface.
fn surface_of(recipe: &Recipe) -> (Vec3, impl Fn([f32; 3]) -> f32 + use<>) {
    let surface = recipe.compartments[1].surface.clone().unwrap();
    (surface.center(), move |point: [f32; 3]| {
        surface.signed_distance(Vec3::from_array(point))
    })
}

#[test]
fn compartments_have_positions_rotations_and_shapes() {
    let none = json!({});
    let (center, distance) =
        surface_of(&with_cell(&none, &none, &json!({ "position": [1, 2, 3] })));
    assert_eq!(center, Vec3::new(1.0, 2.0, 3.0));
    assert!((distance([1.0, 2.0, 9.0]) - 1.0).abs() < 1.0e-5);
    let distance = |shape: Value, rotation: Value, point: [f32; 3]| {
        let cell = json!({ "shape": shape, "rotation": rotation });
        let offset = point.map(|part| part + 10.0);
        surface_of(&with_cell(&none, &none, &cell)).1(offset)
    };
    let (no_turn, turn) = (json!([0, 0, 0, 1]), json!([0, 0, 1, 1]));
    let check = |shape: Value, rotation: &Value, cases: &[([f32; 3], f32)]| {
        for (point, expected) in cases {
            let found = distance(shape.clone(), rotation.clone(), *point);
            assert!(
                (found - expected).abs() < 1.0e-4,
                "{shape} at {point:?}: {found}"
            );
        }
    };
    let sphere = json!({ "sphere": { "radius": 3 } });
    check(
        sphere,
        &turn,
        &[([5.0, 0.0, 0.0], 2.0), ([0.0, 1.0, 0.0], -2.0)],
    );
    let cuboid = json!({ "cuboid": { "size": [2, 4, 6] } });
    check(
        cuboid.clone(),
        &no_turn,
        &[([3.0, 0.0, 0.0], 2.0), ([0.0, 3.0, 0.0], 1.0)],
    );
    check(
        cuboid,
        &turn,
        &[([3.0, 0.0, 0.0], 1.0), ([0.0, 3.0, 0.0], 2.0)],
    );
    let capsule = json!({ "capsule": { "radius": 1, "length": 8 } });
    check(
        capsule.clone(),
        &no_turn,
        &[([0.0, 5.0, 0.0], 1.0), ([5.0, 0.0, 0.0], 4.0)],
    );
    check(
        capsule,
        &turn,
        &[([0.0, 5.0, 0.0], 4.0), ([5.0, 0.0, 0.0], 1.0)],
    );
    let torus = json!({ "torus": { "major_radius": 4, "minor_radius": 1 } });
    check(
        torus,
        &no_turn,
        &[
            ([0.0, 4.0, 0.0], -1.0),
            ([0.0, 0.0, 4.0], 32.0_f32.sqrt() - 1.0),
        ],
    );
}

#[test]
fn cubes_and_cylinders_of_cellpack_are_compartments() {
    let distance = |object: Value, point: [f32; 3]| {
        let changes = json!({
            "objects": { "shape": object },
            "composition": {
                "space": { "regions": { "interior": ["cell"] } },
                "cell": { "object": "shape", "regions": {} },
                "A": null,
            },
        });
        surface_of(&recipe_with(&changes, &json!({}))).1(point)
    };
    let cube = json!({ "type": "single_cube", "bounds": [[5, 5, 5], [7, 9, 11]] });
    for (point, expected) in [([6.0, 7.0, 8.0], -1.0), ([6.0, 12.0, 8.0], 3.0)] {
        assert!((distance(cube.clone(), point) - expected).abs() < 1.0e-4);
    }
    let cylinder =
        json!({ "type": "single_cylinder", "radius": 2, "bounds": [[5, 5, 5], [5, 5, 15]] });
    for (point, expected) in [
        ([5.0, 5.0, 10.0], -2.0),
        ([5.0, 5.0, 14.5], -0.5),
        ([5.0, 5.0, 17.0], 2.0),
        ([9.0, 5.0, 10.0], 2.0),
        ([8.0, 5.0, 19.0], 17.0_f32.sqrt()),
    ] {
        let found = distance(cylinder.clone(), point);
        assert!(
            (found - expected).abs() < 1.0e-3,
            "{point:?}: {found}, not {expected}"
        );
    }
}

#[test]
fn given_places_are_kept_and_fixed_molecules_never_move() {
    let places = json!([
        { "position": [8, 10, 10] }, { "position": [12, 10, 10], "rotation": [0, 0, 2, 2] },
    ]);
    let changes = json!({ "composition": {
        "space": { "regions": { "interior": ["A", "B"] } },
        "A": { "object": "protein", "count": 3 },
        "B": { "object": "ball", "count": 250 },
    } });
    for fixed in [false, true] {
        let entry = json!({ "A": { "places": places, "fixed": fixed } });
        let recipe = recipe_with(&changes, &json!({ "composition": entry }));
        let first = populated(&recipe);
        let of_a = |rows: &[u32]| {
            (0..rows.len())
                .filter(|index| rows[*index] == 0)
                .collect::<Vec<_>>()
        };
        let members = of_a(&first.rows);
        assert_eq!(members.len(), 3, "the third one is at random");
        let given: Vec<_> = members[..2]
            .iter()
            .map(|index| poses(&first.crowd)[*index])
            .collect();
        assert_eq!(given[0].position, Vec3::new(8.0, 10.0, 10.0));
        assert_eq!(given[1].position, Vec3::new(12.0, 10.0, 10.0));
        assert!((given[1].rotation * Vec3::X - Vec3::Y).length() < 1.0e-6);
        let packing = packed(&recipe);
        assert_eq!(overlaps(&packing.crowd), 0);
        let kept = members
            .iter()
            .all(|m| poses(&packing.crowd)[*m] == poses(&first.crowd)[*m]);
        assert_eq!(kept, fixed);
    }
    // As many as there are places, without a count.
    let changes = json!({ "composition": { "A": { "count": null } } });
    let entry = json!({ "composition": { "A": { "places": places } } });
    assert_eq!(
        populated(&recipe_with(&changes, &entry))
            .crowd
            .members()
            .len(),
        2
    );
}

#[test]
fn additions_of_other_programs_do_not_matter() {
    let recipe = json!({
        "name": "cell", "format_version": "2.1", "objects": {}, "another_program": { "unit": "m" },
        "composition": { "space": { "regions": { "interior": [] } } },
    });
    // One key at the top level is unknown, whatever is in it; the box is that of cellPACK.
    assert_eq!(warnings(&read(&recipe)), ["another_program: unknown key"]);
    assert_eq!(
        try_read(&recipe).unwrap().bounds,
        [Vec3::ZERO, Vec3::splat(10.0)]
    );
}
