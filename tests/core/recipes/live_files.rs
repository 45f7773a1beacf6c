//! Recipes that replace others while they are edited, and saved ones.

use std::path::Path;

use bevy_rapier_molecules::recipe::{
    Edit, LivePacking, PackOptions, ReadOptions, Recipe, pack, populate,
};
use glam::Vec3;
use serde_json::{Value, json};

use super::live_scene::{
    balls, cell, check_at_rest, check_numbers, entry, ids_of, packed, read, set_count, settle,
};

/// What a molecule is, and the bits of its pose.
type Placed = (u32, Vec<u32>, [u32; 7], bool);

/// All molecules in an order of their own.
fn placed(packing: &LivePacking) -> Vec<Placed> {
    let members = packing
        .crowd()
        .members()
        .iter()
        .zip(packing.molecule_entries());
    let mut placed: Vec<Placed> = members
        .map(|(member, row)| {
            let template = packing.crowd().template_of(member);
            let shape = template.positions().iter().flat_map(Vec3::to_array);
            let shape = shape
                .chain(template.radii().iter().copied())
                .map(f32::to_bits);
            let [x, y, z] = member.pose.position.to_array();
            let [a, b, c, d] = member.pose.rotation.to_array();
            let pose = [x, y, z, a, b, c, d].map(f32::to_bits);
            (*row, shape.collect(), pose, member.fixed)
        })
        .collect();
    placed.sort();
    placed
}

fn live(value: &Value) -> LivePacking {
    LivePacking::new(read(value), &PackOptions::default()).unwrap()
}

#[test]
fn a_saved_recipe_has_the_same_molecules_bit_by_bit() {
    for unit in ["nm", "angstrom"] {
        let mut file = cell();
        if unit == "angstrom" {
            file = in_angstrom(file);
        }
        let mut packing = packed(&file);
        let lipids = entry(&packing, "vesicle.outer_leaflet", "POPC");
        let number = ids_of(&packing, lipids).len() as u32;
        set_count(&mut packing, lipids, number + 3);
        let balls = entry(&packing, "space.interior", "ball");
        set_count(&mut packing, balls, 25);
        let ids = ids_of(&packing, balls)[..5].to_vec();
        packing.apply(Edit::Freeze { ids, frozen: true }).unwrap();
        let sized = entry(&packing, "space.interior", "bead");
        set_count(&mut packing, sized, 15);
        let emptied = entry(&packing, "vesicle.outer_leaflet", "cholesterol");
        set_count(&mut packing, emptied, 0);
        settle(&mut packing);
        check_at_rest(&packing);

        let saved = packing.save().unwrap();
        let again = live(&saved);
        assert!(again.is_at_rest(), "{:?}", again.status());
        assert!(again.warnings().is_empty(), "{:?}", again.warnings());
        assert_eq!(placed(&again), placed(&packing), "{unit}");
        check_at_rest(&again);
        // Saving it again gives the same file.
        assert_eq!(again.save().unwrap(), saved);
        // All other programs of the library read it, too.
        let population = populate(&read(&saved), None).unwrap();
        assert_eq!(population.crowd.members(), again.crowd().members());
        assert_eq!(population.report.entries[balls].asked, Some(25));
    }
}

/// The same file with lengths in ångström.
fn in_angstrom(mut file: Value) -> Value {
    fn scale(value: &mut Value) {
        match value {
            Value::Number(number) => *value = json!(number.as_f64().unwrap() * 10.0),
            Value::Array(items) => items.iter_mut().for_each(scale),
            _ => {}
        }
    }
    file["bevy_rapier_molecules"]["unit"] = "angstrom".into();
    scale(&mut file["bounding_box"]);
    scale(&mut file["bevy_rapier_molecules"]["composition"]["vacuole"]["position"]);
    for object in ["membrane", "shell", "ball", "bead"] {
        scale(&mut file["objects"][object]["radius"]);
    }
    let sizes = &mut file["composition"]["space"]["regions"]["interior"][3]["size_options"];
    for key in ["min", "max"] {
        scale(&mut sizes[key]);
    }
    file
}

#[test]
fn saved_numbers_replace_those_of_the_composition() {
    let mut file = balls();
    file["composition"]["balls"]["molarity"] = json!(0.0005);
    file["bevy_rapier_molecules"]["composition"]["balls"] =
        json!({ "places": [{ "position": [-6, -6, -6] }] });
    let mut packing = packed(&file);
    let row = entry(&packing, "space.interior", "ball");
    set_count(&mut packing, row, 7);
    settle(&mut packing);
    let saved = packing.save().unwrap();
    let item = &saved["composition"]["balls"];
    assert_eq!(*item, json!({ "object": "ball", "count": 7 }));
    let interior = &saved["composition"]["space"]["regions"]["interior"];
    assert_eq!(
        *interior,
        json!(["vacuole", "balls", { "object": "bead", "count": 20 }])
    );
    let block = &saved["bevy_rapier_molecules"];
    assert_eq!(
        block["composition"]["balls"],
        json!({}),
        "in the list of all placements"
    );
    assert_eq!(saved["objects"], file["objects"]);
    assert_eq!(placed(&live(&saved)), placed(&packing));
}

#[test]
fn entries_of_the_same_names_stay_apart() {
    let mut file = balls();
    let ball = |count: u32| json!({ "object": "ball", "count": count });
    file["composition"]["space"]["regions"]["interior"] =
        json!(["vacuole", "balls", ball(3), ball(4), "balls"]);
    let packing = packed(&file);
    let saved = packing.save().unwrap();
    assert_eq!(placed(&live(&saved)), placed(&packing));
}

#[test]
fn more_than_the_saved_molecules_are_placed_around_them() {
    let packing = packed(&cell());
    let mut saved = packing.save().unwrap();
    let balls = entry(&packing, "space.interior", "ball");
    let lipids = entry(&packing, "vesicle.inner_leaflet", "cholesterol");
    saved["composition"]["space"]["regions"]["interior"][2]["count"] = json!(33);
    saved["composition"]["vesicle"]["regions"]["inner_leaflet"][0]["count"] = json!(9);
    let mut more = live(&saved);
    assert_eq!(ids_of(&more, balls).len(), 33);
    assert_eq!(ids_of(&more, lipids).len(), 9);
    let before = placed(&packing);
    let after = placed(&more);
    assert!(
        before
            .iter()
            .all(|molecule| after.binary_search(molecule).is_ok())
    );
    settle(&mut more);
    check_at_rest(&more);
    // As do packings without edits.
    let packed = pack(&read(&saved), &PackOptions::default(), |_| {
        std::ops::ControlFlow::Continue(())
    });
    assert!(packed.unwrap().is_complete());
}

#[test]
fn a_saved_file_is_replaced_as_a_whole() {
    let folder = std::env::temp_dir().join(format!("live-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("cell.json");
    std::fs::write(&path, balls().to_string()).unwrap();
    let recipe = Recipe::load(&path, &ReadOptions::default()).unwrap();
    let mut packing = LivePacking::new(recipe, &PackOptions::default()).unwrap();
    settle(&mut packing);
    packing.save_to(&path).unwrap();
    let recipe = Recipe::load(&path, &ReadOptions::default()).unwrap();
    let again = LivePacking::new(recipe, &PackOptions::default()).unwrap();
    assert_eq!(placed(&again), placed(&packing));
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    std::fs::remove_dir_all(&folder).unwrap();
    let error = packing.save_to(&path).unwrap_err().to_string();
    let expected = format!("{}: cannot write the file: ", path.display());
    assert!(error.starts_with(&expected), "{error}");
}

#[test]
fn a_changed_number_adds_or_removes_and_all_others_stay() {
    let file = balls();
    let mut packing = packed(&file);
    let beads = entry(&packing, "space.interior", "bead");
    // An edit that the file does not know of.
    set_count(&mut packing, beads, 22);
    settle(&mut packing);
    let before = placed(&packing);
    let ids = packing.molecule_ids().to_vec();

    let mut changed = file.clone();
    changed["composition"]["balls"]["count"] = json!(24);
    let change = packing.replace_recipe(read(&changed)).unwrap();
    assert!(!change.repopulated);
    assert_eq!(
        (change.added.len(), change.removed.len(), change.kept),
        (4, 0, ids.len())
    );
    let after = placed(&packing);
    assert!(
        before
            .iter()
            .all(|molecule| after.binary_search(molecule).is_ok())
    );
    assert!(packing.molecule_ids().starts_with(&ids));
    assert_eq!(ids_of(&packing, beads).len(), 22, "unchanged in the recipe");
    settle(&mut packing);
    check_at_rest(&packing);

    changed["composition"]["balls"]["count"] = json!(18);
    let change = packing.replace_recipe(read(&changed)).unwrap();
    assert_eq!((change.added.len(), change.removed.len()), (0, 6));
    assert!(!packing.can_undo());
    check_at_rest(&packing);
}

#[test]
fn new_entries_are_filled_and_old_ones_disappear() {
    let file = balls();
    let mut packing = packed(&file);
    let row = entry(&packing, "space.interior", "bead");
    let beads = ids_of(&packing, row);
    let mut changed = file.clone();
    changed["objects"]["giant"] = json!({ "type": "single_sphere", "radius": 1.7 });
    changed["composition"]["space"]["regions"]["interior"] =
        json!([{ "object": "giant", "count": 3 }, "vacuole", "balls"]);
    let change = packing.replace_recipe(read(&changed)).unwrap();
    assert_eq!(change.removed, beads);
    assert_eq!(change.added.len(), 3);
    let giants = entry(&packing, "space.interior", "giant");
    assert_eq!(ids_of(&packing, giants), change.added);
    settle(&mut packing);
    check_at_rest(&packing);
}

#[test]
fn molecules_of_another_shape_are_new_ones() {
    let file = balls();
    let mut packing = packed(&file);
    let row = entry(&packing, "space.interior", "ball");
    let balls = ids_of(&packing, row);
    let mut changed = file.clone();
    changed["objects"]["ball"]["radius"] = json!(0.7);
    let change = packing.replace_recipe(read(&changed)).unwrap();
    assert_eq!(change.removed, balls);
    assert_eq!(change.added.len(), 20);
    assert!(change.added.iter().all(|id| !balls.contains(id)));
    settle(&mut packing);
    check_at_rest(&packing);
}

#[test]
fn another_shape_of_a_compartment_places_all_molecules_anew() {
    let file = cell();
    let mut packing = packed(&file);
    let ids = packing.molecule_ids().to_vec();
    let mut changed = file.clone();
    changed["bevy_rapier_molecules"]["composition"]["vacuole"]["position"] = json!([5.5, 5.4, 5.5]);
    let change = packing.replace_recipe(read(&changed)).unwrap();
    assert!(change.repopulated);
    assert_eq!((change.removed.len(), change.kept), (ids.len(), 0));
    assert_eq!(change.added, packing.molecule_ids());
    assert!(change.added.iter().all(|id| !ids.contains(id)));
    check_numbers(&packing);
}

#[test]
fn lipids_stay_when_other_numbers_change() {
    let file = cell();
    let mut packing = packed(&file);
    let row = entry(&packing, "vesicle.outer_leaflet", "POPC");
    let lipids = ids_of(&packing, row);
    let mut changed = file.clone();
    changed["composition"]["vesicle"]["regions"]["interior"][0]["count"] = json!(16);
    let change = packing.replace_recipe(read(&changed)).unwrap();
    assert_eq!((change.added.len(), change.removed.len()), (1, 0));
    assert_eq!(ids_of(&packing, row), lipids);
    settle(&mut packing);
    check_at_rest(&packing);
    // The file that is saved is the current one.
    let saved = packing.save().unwrap();
    let change = packing.replace_recipe(read(&saved)).unwrap();
    assert_eq!((change.added.len(), change.removed.len()), (0, 0));
    check_at_rest(&packing);
}

#[test]
fn a_recipe_that_cannot_be_placed_leaves_the_old_one() {
    let mut packing = packed(&balls());
    let before = placed(&packing);
    let mut changed = cell();
    changed["composition"]["vesicle"]["regions"]["outer_leaflet"] =
        json!([{ "object": "POPC", "count": 1 }]);
    let error = packing
        .replace_recipe(read(&changed))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("cell.json: composition.vesicle: "),
        "{error}"
    );
    assert_eq!(placed(&packing), before);
    let id = packing.molecule_ids()[0];
    packing.start_drag(id, Vec3::ZERO).unwrap();
}

#[test]
fn recipes_of_bentopy_cannot_be_saved() {
    let text = "[ space ]\ndimensions 12, 10, 8\nperiodic false\n[ compartments ]\n\
                whole is all\n[ segments ]\nubiquitin 1 from \"1ubq\" in whole\n";
    let read = Recipe::read(
        text.as_bytes(),
        "cell.bent",
        Path::new(""),
        &ReadOptions::default(),
    );
    let packing = LivePacking::new(read.unwrap(), &PackOptions::default()).unwrap();
    assert_eq!(
        packing.save().unwrap_err().to_string(),
        "cell.bent: only recipes of cellPACK (.json) can be saved with their molecules"
    );
}

#[test]
fn errors_in_saved_molecules_name_the_place() {
    let placement = |changes: Value| {
        let mut placement = json!({
            "compartment": "space", "region": "interior", "object": "bead",
            "poses": [[1, 2, 3, 0, 0, 0, 1]],
        });
        for (key, value) in changes.as_object().unwrap() {
            placement[key] = value.clone();
        }
        let mut file = balls();
        file["bevy_rapier_molecules"]["placements"] = json!([placement]);
        let text = file.to_string();
        let read = Recipe::read(
            text.as_bytes(),
            "cell.json",
            Path::new(""),
            &ReadOptions::default(),
        );
        read.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(placement(json!({})), Ok(()));
    let cases = [
        (
            json!({ "compartment": "spce" }),
            "compartment: there is no compartment 'spce'; did you mean 'space'?",
        ),
        (
            json!({ "object": "beads" }),
            "object: there is no such entry of this region, with the object 'beads'; did you mean 'bead'?",
        ),
        (
            json!({ "nth": 1 }),
            "nth: nth must be less than the number of entries with these names, not 1",
        ),
        (
            json!({ "conformer": 16 }),
            "conformer: a conformer must be less than the number of conformers of the lipid, not 16",
        ),
        (
            json!({ "radius": -1 }),
            "radius: a radius must be positive and at most 0.1 mm, not -1",
        ),
        (
            json!({ "poses": [[0, 0, 0, 1, 1, 0, 0]] }),
            "poses[0]: a rotation must be a unit quaternion x, y, z, w, not [1.0, 1.0, 0.0, 0.0]",
        ),
    ];
    for (changes, expected) in cases {
        let expected = format!("cell.json: bevy_rapier_molecules.placements[0].{expected}");
        assert_eq!(placement(changes), Err(expected));
    }
}
