//! Results of cellPACK.

use std::fs;
use std::path::Path;

use bevy_rapier_molecules::molecule::Element;
use bevy_rapier_molecules::scene_files::{ReadSceneOptions, Scene, SceneReadError, read_scene};
use glam::{Mat4, Quat, Vec3};
use serde_json::{Value, json};

use super::placement_fixtures::{
    assert_error, assert_invalid_scenes_leave_nothing, assert_same, assert_same_poses, assets,
    periodic, read, scratch, vesicle, write,
};

/// Maximum error of a position, nm.
const TOLERANCE: f32 = 2.0e-5;

fn with_assets() -> ReadSceneOptions {
    ReadSceneOptions {
        structure_folders: vec![assets()],
        ..ReadSceneOptions::default()
    }
}

#[test]
fn a_scene_comes_back_with_its_structure_files() {
    let folder = scratch("results");
    for (name, mut scene) in [
        ("vesicle.json", vesicle()),
        ("periodic.json", periodic()),
        ("empty.json", Scene::default()),
    ] {
        for kind in &mut scene.kinds {
            if kind.template.name() == "popc" {
                kind.file = Some("popc.pdb".to_owned());
            }
        }
        let path = folder.join(name);
        write(&path, &scene);
        let found = read_scene(&path, &with_assets()).unwrap();
        assert_same(&found, &scene, TOLERANCE);
        for (found, written) in found.kinds.iter().zip(&scene.kinds) {
            assert_eq!(found.file, written.file);
        }
        let bytes = fs::read(&path).unwrap();
        write(&path, &scene);
        assert_eq!(fs::read(&path).unwrap(), bytes, "the same input");
    }
}

#[test]
fn without_structure_files_molecules_are_their_spheres() {
    let path = scratch("results without files").join("vesicle.json");
    let scene = vesicle();
    write(&path, &scene);
    let found = read(&path).unwrap();
    assert_eq!(found.kinds.len(), scene.kinds.len());
    let (lipid, protein) = (&found.kinds[0], &found.kinds[1]);
    assert_eq!(lipid.template.atom_count(), 134, "an atom is a sphere");
    assert_eq!(protein.template.atom_count(), 64, "k-means proxies");
    assert_eq!(lipid.template.elements()[0], Element::UNKNOWN);
    for (read, written) in lipid.poses.iter().zip(&scene.kinds[0].poses) {
        for atom in [0, 77, 133] {
            let a = read.transform_point(lipid.template.positions()[atom]);
            let b = written.transform_point(scene.kinds[0].template.positions()[atom]);
            assert!(a.abs_diff_eq(b, 4.0e-5), "{a} {b}");
        }
    }
    // A coarse molecule is exact.
    assert_same_poses(&found.kinds[3], &scene.kinds[3], TOLERANCE);
    assert_eq!(
        found.kinds[3].template.radii(),
        scene.kinds[3].template.radii()
    );
    for (found, written) in found.kinds.iter().zip(&scene.kinds) {
        assert_eq!((&found.name, &found.path), (&written.name, &written.path));
    }
}

#[test]
fn a_file_with_other_atoms_than_the_molecule_is_not_taken_for_it() {
    let path = scratch("results other file").join("vesicle.json");
    let mut scene = vesicle();
    scene.kinds[0].file = Some("1ubq.cif".to_owned());
    write(&path, &scene);
    let found = read_scene(&path, &with_assets()).unwrap();
    assert_eq!(found.kinds[0].template.atom_count(), 134);
}

#[test]
fn invalid_scenes_leave_nothing() {
    assert_invalid_scenes_leave_nothing("results.json");
}

#[test]
fn leaflets_are_the_surface_of_their_compartment() {
    let path = scratch("results places").join("vesicle.json");
    write(&path, &vesicle());
    let document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let compartment = &document["compartments"]["vesicle"];
    let surface = compartment["surface"]["ingredients"].as_object().unwrap();
    assert_eq!(surface.len(), 2);
    assert_eq!(surface["popc"]["compartment_id"], 1);
    assert_eq!(surface["popc_2"]["compartment_id"], 1);
    assert_eq!(surface["popc_2"]["name"], "popc");
    let interior = compartment["interior"]["ingredients"].as_object().unwrap();
    assert!(interior.values().all(|kind| kind["compartment_id"] == -1));
    let outside = document["cytoplasme"]["ingredients"].as_object().unwrap();
    assert_eq!(outside.len(), 2);
    let granule = &outside["granule"];
    assert_eq!(granule["compartment_id"], 0);
    let radii: Vec<f32> = serde_json::from_value(granule["radii"][0]["radii"].clone()).unwrap();
    assert_eq!(radii, [20.0, 12.5, 5.0], "ångström");
    // World positions of spheres are R p + t, in ångström.
    let result = &granule["results"][3];
    let number = |value: &Value| value.as_f64().unwrap() as f32;
    let rows = [0, 1, 2, 3].map(|row| [0, 1, 2, 3].map(|k| number(&result[1][row][k])));
    let matrix = Mat4::from_cols_array_2d(&rows).transpose();
    let position = Vec3::from_array([0, 1, 2].map(|k| number(&result[0][k])));
    let ball = Vec3::from_array([0, 1, 2].map(|k| number(&granule["positions"][0]["coords"][k])));
    let found = (matrix.transform_point3(ball) + position) / 10.0;
    let kind = &vesicle().kinds[3];
    let expected = kind.poses[3].transform_point(kind.template.positions()[0]);
    assert!(found.abs_diff_eq(expected, 2.0e-5), "{found} {expected}");
}

#[test]
fn results_of_cellpack_are_read() {
    let path = scratch("results foreign").join("foreign.json");
    let turn = Quat::from_rotation_z(0.5);
    let rows = Mat4::from_quat(turn).transpose().to_cols_array_2d();
    let rows3 = rows[..3].iter().map(|row| &row[..3]).collect::<Vec<_>>();
    let w_first = [turn.w, turn.x, turn.y, turn.z];
    let levels = json!([{"coords": [0, 0, 0]}, {"coords": [10, 0, 0, -10, 0, 0]}]);
    let spheres = |results: Value| {
        json!({
            "positions": levels, "radii": [{"radii": [20]}, {"radii": [10, 10]}],
            "results": results, "nbCurve": 0, "unknown": {"a": [1]},
        })
    };
    let document = json!({
        "recipe": {"name": "foreign", "version": "1.0", "paths": []},
        "options": {"boundingBox": [[-100, -100, -100], [100, 200, 300]], "other": 1},
        "cytoplasme": {"ingredients": {
            "four": spheres(json!([[[10, 20, 30], rows]])),
            "three": spheres(json!([[[10, 20, 30], rows3, "more", 1]])),
            "quaternion": spheres(json!([[[10, 20, 30], w_first]])),
            "fiber": {"nbCurve": 1, "curve0": [[0, 0, 0], [1, 1, 1]], "results": []},
        }},
        "compartments": {"cell": {
            "geom": "cell.obj",
            "surface": {"ingredients": {"x": {
                "name": "lipid", "color": [1, 0.5, 0], "results": [[[0, 0, 0], rows]],
                "source": {"pdb": "popc", "transform": {"center": true}},
            }}},
            "interior": {"ingredients": {"y": {
                "results": [[[0, 0, 0], rows]], "source": {"pdb": "popc.pdb"},
            }}},
        }},
        "exteriorRecipe": {"old": {
            "positions": [[[10, 0, 0], [-10, 0, 0]]], "radii": [[10, 10]],
            "results": [[[10, 20, 30], rows]],
        }},
        "cell_surfaceRecipe": {"ingredients": {"old": spheres(json!([]))}},
        "cell_innerRecipe": {"old": spheres(json!([]))},
    });
    fs::write(&path, document.to_string()).unwrap();
    let scene = read_scene(&path, &with_assets()).unwrap();
    assert_eq!(scene.name, "foreign");
    let bounds = [Vec3::splat(-10.0), Vec3::new(10.0, 20.0, 30.0)];
    assert_eq!(scene.bounds, Some(bounds));
    let kinds: Vec<(&str, &[String])> = scene
        .kinds
        .iter()
        .map(|kind| (kind.name.as_str(), kind.path.as_slice()))
        .collect();
    let surface = ["cell".to_owned(), "surface".to_owned()];
    let interior = ["cell".to_owned(), "interior".to_owned()];
    let expected: [(&str, &[String]); 8] = [
        ("four", &[]),
        ("quaternion", &[]),
        ("three", &[]),
        ("lipid", &surface),
        ("y", &interior),
        ("old", &interior),
        ("old", &surface),
        ("old", &[]),
    ];
    let mut kinds = kinds;
    let mut sorted = expected;
    kinds.sort_unstable();
    sorted.sort_unstable();
    assert_eq!(kinds, sorted);
    for kind in scene
        .kinds
        .iter()
        .filter(|kind| kind.template.atom_count() == 2)
    {
        assert_eq!(kind.template.radii(), [1.0, 1.0], "the deepest level");
        for pose in &kind.poses {
            let ball = pose.transform_point(kind.template.positions()[0]);
            let expected = turn * Vec3::X + Vec3::new(1.0, 2.0, 3.0);
            assert!(ball.abs_diff_eq(expected, 1.0e-5), "{ball}");
        }
    }
    let find = |name: &str| scene.kinds.iter().find(|kind| kind.name == name).unwrap();
    let world = |name: &str| {
        let kind = find(name);
        let atoms = kind.template.positions().iter();
        atoms.map(move |atom| kind.poses[0].transform_point(*atom))
    };
    let mean = world("lipid").sum::<Vec3>() / 134.0;
    assert!(mean.length() < 1.0e-4, "centered: {mean}");
    let file = find("y").template.file_pose();
    let first = turn * file.transform_point(find("y").template.positions()[0]);
    assert!(world("y").next().unwrap().abs_diff_eq(first, 1.0e-5));
    assert_eq!(find("lipid").color, Some([1.0, 0.5, 0.0]));

    // The order of quaternions is an option.
    let options = ReadSceneOptions {
        w_first: false,
        ..with_assets()
    };
    let other = read_scene(&path, &options).unwrap();
    let kind = other.kinds.iter().find(|kind| kind.name == "quaternion");
    let rotation = kind.unwrap().poses[0].rotation;
    assert!(rotation.abs_diff_eq(Quat::from_array(w_first), 1.0e-6));
    // Lipids are nothing without their file.
    let error = read(&path).unwrap_err();
    assert!(matches!(error, SceneReadError::MissingStructure { .. }));
}

fn written(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}

#[test]
fn malformed_results_are_rejected_with_file_and_place() {
    let path = scratch("malformed results").join("results.json");
    let of = |results: &str| {
        format!(
            "{{\"cytoplasme\": {{\"ingredients\": {{\"a\": {{\
             \"positions\": [{{\"coords\": [0, 0, 0]}}], \"radii\": [{{\"radii\": [1]}}],\
             \"results\": {results}}}}}}}}}"
        )
    };
    let one = "[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]";
    let placed = |position: &str, rotation: &str| of(&format!("[[{position}, {rotation}]]"));
    let origin = "[0, 0, 0]";
    let place = "cytoplasme.ingredients.a.results[0]";
    let cases = [
        (String::new(), "line 1: invalid JSON"),
        ("[]".to_owned(), "results of cellPACK"),
        ("{}".to_owned(), "no results of cellPACK"),
        ("{\"cytoplasme\": 7}".to_owned(), "cytoplasme: invalid type"),
        (of("{}"), "cytoplasme.ingredients.a.results: invalid type"),
        (of("[7]"), place),
        (of("[[[0, 0, 0]]]"), place),
        (placed("[0, 0]", one), place),
        (placed("[0, 0, \"a\"]", one), "results[0][0][2]"),
        (placed("[0, 0, NaN]", one), "invalid JSON"),
        (placed("[0, 0, 1e300]", one), "results[0]: the position"),
        (placed(origin, "[0, 0, 0, 0]"), "not a unit quaternion"),
        (
            placed(origin, "[1, 0, 0]"),
            "a matrix of 4×4 or 3×3 numbers",
        ),
        (placed(origin, "[1, 0, 0, 0, 0]"), place),
        (placed(origin, "[[1, 0], [0, 1]]"), "a row of three or four"),
        (placed(origin, "[[1, 0, 0], 1, 2, 3]"), place),
        (
            placed(origin, "[[2, 0, 0], [0, 1, 0], [0, 0, 1]]"),
            "it scales or shears",
        ),
        (
            placed(origin, "[[1, 0, 0], [0, 1, 0], [0, 0, -1]]"),
            "it reflects",
        ),
        (
            placed(
                origin,
                "[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [5, 0, 0, 1]]",
            ),
            "is it transposed?",
        ),
        (
            placed(origin, one).replace("[1]}", "[1, 2]}"),
            "3 coordinates and 2 radii",
        ),
        (placed(origin, one).replace("[1]}", "[-1]}"), "radius"),
        (
            placed(origin, one)
                .replace("positions", "p")
                .replace("radii", "r"),
            "neither spheres",
        ),
        (
            placed(origin, one).replace("\"positions\"", "\"source\": {\"pdb\": \"b.pdb\"}, \"p\""),
            "source.pdb: there is no structure file 'b.pdb'",
        ),
        (
            "{\"options\": {\"boundingBox\": [[1, 1, 1], [0, 0, 0]]}, \"cytoplasme\": {}}"
                .to_owned(),
            "options.boundingBox",
        ),
    ];
    for (text, expected) in cases {
        written(&path, &text);
        assert_error(&path, expected);
    }
}
