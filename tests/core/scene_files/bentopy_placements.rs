//! Placements of bentopy.

use std::fs;
use std::path::Path;

use bevy_rapier_molecules::scene_files::{ReadSceneOptions, Scene, SceneReadError, read_scene};
use glam::{DMat3, DVec3, Vec3};
use serde_json::{Value, json};

use super::placement_fixtures::{
    assert_error, assert_invalid_scenes_leave_nothing, assert_same, assets, periodic, read,
    scratch, vesicle, write,
};

/// Maximum error of a position, nm: PDB files have 0.0001 nm.
const TOLERANCE: f32 = 1.0e-4;

#[test]
fn a_scene_comes_back() {
    let folder = scratch("placements");
    for (name, scene) in [
        ("placements.json", vesicle()),
        ("periodic.placements.json", periodic()),
        ("empty.placements.json", Scene::default()),
    ] {
        let path = folder.join(name);
        write(&path, &scene);
        assert_same(&read(&path).unwrap(), &scene, TOLERANCE);
        let bytes = fs::read(&path).unwrap();
        write(&path, &scene);
        assert_eq!(fs::read(&path).unwrap(), bytes, "the same input");
    }
    let structures = fs::read_dir(folder.join("placements_structures")).unwrap();
    assert_eq!(structures.count(), 3, "one file per template");
    assert!(folder.join("periodic_structures/popc.pdb").is_file());
    assert!(!folder.join("empty_structures").exists());
}

#[test]
fn invalid_scenes_leave_nothing() {
    assert_invalid_scenes_leave_nothing("placements.json");
}

/// Atoms of a PDB file, nm.
fn atoms_of(path: &Path) -> Vec<DVec3> {
    let text = fs::read_to_string(path).unwrap();
    let rows = text
        .lines()
        .filter(|row| row.starts_with("ATOM") || row.starts_with("HETATM"));
    let number = |row: &str, from: usize| row[from..from + 8].trim().parse::<f64>().unwrap();
    rows.map(|row| DVec3::new(number(row, 30), number(row, 38), number(row, 46)) / 10.0)
        .collect()
}

fn vector(value: &Value) -> DVec3 {
    DVec3::from_array([0, 1, 2].map(|axis| value[axis].as_f64().unwrap()))
}

/// Atoms as bentopy places them: centered, rotated, lowest corner at the position.
fn rendered(atoms: &[DVec3], rotation: &Value, position: &Value) -> Vec<DVec3> {
    let mean = atoms.iter().sum::<DVec3>() / atoms.len() as f64;
    let rows = [0, 1, 2].map(|row| vector(&rotation[row]));
    let rotated = atoms.iter().map(|atom| {
        let relative = *atom - mean;
        DVec3::from_array(rows.map(|row| row.dot(relative)))
    });
    let rotated: Vec<DVec3> = rotated.collect();
    let lowest = rotated
        .iter()
        .fold(DVec3::INFINITY, |low, atom| low.min(*atom));
    let corner = vector(position) - lowest;
    rotated.iter().map(|atom| *atom + corner).collect()
}

#[test]
fn bentopy_places_all_atoms_where_they_are_here() {
    let folder = scratch("placements rendered");
    for scene in [vesicle(), periodic()] {
        let path = folder.join("placements.json");
        write(&path, &scene);
        let document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let [low, high] = scene.extent();
        let size = vector(&document["size"]) - (high - low).as_dvec3();
        assert!(size.length() < 1.0e-4);
        let placements = document["placements"].as_array().unwrap();
        assert_eq!(placements.len(), scene.kinds.len());
        for (placement, kind) in placements.iter().zip(&scene.kinds) {
            assert_eq!(placement["name"], kind.molecule_type());
            assert_eq!(placement["tag"], Value::Null);
            let file = atoms_of(&folder.join(placement["path"].as_str().unwrap()));
            let mut poses = kind.poses.iter();
            for batch in placement["batches"].as_array().unwrap() {
                for position in batch["positions"].as_array().unwrap() {
                    let pose = poses.next().unwrap();
                    let atoms = rendered(&file, &batch["rotation"], position);
                    let turn = DMat3::from_quat(pose.rotation.as_dquat().normalize());
                    for (found, local) in atoms.iter().zip(kind.template.positions()) {
                        let expected = turn * local.as_dvec3() + (pose.position - low).as_dvec3();
                        // Half of the last decimal of the file in each direction, rotated.
                        assert!(found.distance(expected) < 1.2e-4, "{found} {expected}");
                    }
                }
            }
            assert_eq!(poses.next(), None);
        }
    }
    let document = fs::read_to_string(folder.join("placements.json")).unwrap();
    let includes = r#""topol_includes":["forcefield.itp","popc.itp"]"#;
    assert!(document.contains(includes), "each file once");
}

#[test]
fn molecules_with_the_same_rotation_share_a_batch() {
    let path = scratch("placements batches").join("placements.json");
    let mut scene = vesicle();
    scene.kinds.truncate(1);
    for (number, pose) in scene.kinds[0].poses.iter_mut().enumerate() {
        pose.rotation = vesicle().kinds[0].poses[number / 10].rotation;
    }
    write(&path, &scene);
    let document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let batches = document["placements"][0]["batches"].as_array().unwrap();
    assert_eq!(batches.len(), 4);
    assert_same(&read(&path).unwrap(), &scene, TOLERANCE);
}

#[test]
fn placements_of_bentopy_are_read() {
    let folder = scratch("placements foreign");
    let path = folder.join("foreign.json");
    fs::create_dir(folder.join("structures")).unwrap();
    fs::copy(
        assets().join("1ubq.cif"),
        folder.join("structures/1ubq.cif"),
    )
    .unwrap();
    let corners = [[1.0, 2.0, 3.0], [5.0, 6.0, 7.5]];
    let turned = json!([[0, -1, 0], [1, 0, 0], [0, 0, 1]]);
    let document = json!({
        "placements": [
            {"path": "structures/1ubq.cif", "name": "ubiquitin", "tag": "UBI",
             "batches": [
                {"positions": corners, "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]},
                [turned, corners]]},
            {"name": "lipid", "path": "elsewhere/popc.pdb", "batches": []}],
        "topol_includes": ["a.itp"],
        "size": [10, 11, 12],
        "seed": 1, "max_tries_mult": 1000, "max_tries_per_rotation_divisor": 100,
        "bead_radius": 0.2,
        "title": "foreign",
    });
    fs::write(&path, document.to_string()).unwrap();
    let error = read(&path).unwrap_err();
    assert!(matches!(error, SceneReadError::MissingStructure { .. }));
    let text = error.to_string();
    assert!(
        text.contains("placements[1].path") && text.contains("popc.pdb"),
        "{text}"
    );
    let options = ReadSceneOptions {
        structure_folders: vec![assets()],
        ..ReadSceneOptions::default()
    };
    let scene = read_scene(&path, &options).unwrap();
    assert_eq!(scene.name, "foreign");
    assert_eq!(
        scene.bounds,
        Some([Vec3::ZERO, Vec3::new(10.0, 11.0, 12.0)])
    );
    let kind = &scene.kinds[0];
    assert_eq!((kind.name.as_str(), kind.poses.len()), ("ubiquitin", 4));
    assert_eq!(kind.topology.includes, ["a.itp"]);
    assert_eq!(kind.file.as_deref(), Some("structures/1ubq.cif"));
    for (pose, corner) in kind.poses.iter().zip([corners, corners].concat()) {
        let atoms = kind.template.positions().iter();
        let atoms = atoms.map(|atom| pose.transform_point(*atom));
        let lowest = atoms.fold(Vec3::INFINITY, Vec3::min);
        assert!(lowest.abs_diff_eq(Vec3::from_array(corner.map(|x| x as f32)), 1.0e-5));
    }
    let x = kind.poses[2].rotation * Vec3::X;
    assert!(x.abs_diff_eq(Vec3::Y, 1.0e-6), "rows: {x}");
}

#[test]
fn malformed_placements_are_rejected_with_file_and_place() {
    let folder = scratch("malformed placements");
    let path = folder.join("placements.json");
    fs::copy(assets().join("popc.pdb"), folder.join("popc.pdb")).unwrap();
    fs::write(folder.join("broken.pdb"), "ATOM  broken\n").unwrap();
    let of = |rotation: &str, positions: &str| {
        let batch = format!("{{\"rotation\": {rotation}, \"positions\": {positions}}}");
        format!(
            "{{\"title\": \"a\", \"size\": [1, 1, 1], \"topol_includes\": [], \"placements\": [\
             {{\"name\": \"a\", \"path\": \"popc.pdb\", \"batches\": [{batch}]}}]}}"
        )
    };
    let one = "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]";
    let with_path = |path: &str| of(one, "[]").replace("popc.pdb", path);
    let cases = [
        (String::new(), "line 1: invalid JSON"),
        ("{\"placements\": [".to_owned(), "invalid JSON"),
        ("{\"placements\": 1}".to_owned(), "placements: invalid type"),
        (
            "{\"placements\": [{}]}".to_owned(),
            "placements[0]: missing field",
        ),
        (of(one, "[[0, 0]]"), "placements[0].batches[0].positions[0]"),
        (of(one, "[[0, 0, NaN]]"), "invalid JSON"),
        (of(one, "[[0, 0, 1e39]]"), "positions[0]: the position"),
        (
            of(one, "[[0, 0, 0], [0, \"a\", 0]]"),
            "batches[0].positions[1][1]",
        ),
        (of("[[1, 0, 0], [0, 1, 0]]", "[]"), "batches[0].rotation"),
        (
            of("[[2, 0, 0], [0, 1, 0], [0, 0, 1]]", "[]"),
            "batches[0].rotation: the matrix",
        ),
        (
            of("[[1, 0, 0], [0, 1, 0], [0, 0, -1]]", "[]"),
            "it reflects",
        ),
        (
            of("[[0, 0, 0], [0, 0, 0], [0, 0, 0]]", "[]"),
            "it scales or shears",
        ),
        (
            of(one, "[]").replace("[1, 1, 1]", "[1, 1, -1]"),
            "size: expected edges",
        ),
        (of(one, "[]") + " 7", "invalid JSON: trailing"),
        (
            with_path("nothing.pdb"),
            "placements[0].path: there is no structure file",
        ),
        (
            with_path(""),
            "placements[0].path: there is no structure file",
        ),
        (
            with_path("."),
            "placements[0].path: there is no structure file",
        ),
    ];
    for (text, expected) in cases {
        fs::write(&path, text).unwrap();
        assert_error(&path, expected);
    }
    fs::write(&path, with_path("broken.pdb")).unwrap();
    let error = read(&path).unwrap_err();
    assert!(error.to_string().contains("broken.pdb, line 1"), "{error}");
}
