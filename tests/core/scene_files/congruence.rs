//! Molecules of files with all atoms: copies become one kind.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::scene_files::{
    ReadSceneOptions, Scene, SceneKind, read_scene, write_scene,
};
use glam::{Quat, Vec3};

/// Largest change of a position by the rounding of a file, nm.
const ROUNDING_NM: f32 = 3.0e-4;

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("scene_files");
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

fn kind(file: &str, name: &str, count: u32) -> SceneKind {
    let path = format!("assets/molecules/{file}");
    let mut kind = SceneKind::new(name, Arc::new(load(path, &LoadOptions::default()).unwrap()));
    let pose = |k: u32| {
        let position = Vec3::new(7.0 * k as f32 - 20.0, name.len() as f32, -3.3 * k as f32);
        Pose::new(
            position,
            Quat::from_euler(glam::EulerRot::XYZ, k as f32, 0.4, -2.0 * k as f32),
        )
    };
    kind.poses = (0..count).map(pose).collect();
    kind
}

fn scene() -> Scene {
    Scene {
        name: "a scene".to_owned(),
        kinds: vec![
            kind("popc.pdb", "popc", 6),
            kind("1ubq.cif", "ubiquitin", 4),
            kind("p_xylene.pdb", "p_xylene", 1),
        ],
        ..Scene::default()
    }
}

/// Asserts that the molecules of both scenes have their atoms at the same places.
fn assert_same_atoms(before: &Scene, after: &Scene) {
    assert_eq!(before.molecule_count(), after.molecule_count());
    for ((a, at), (b, bt)) in before.instances().zip(after.instances()) {
        assert_eq!(a.elements(), b.elements());
        for (p, q) in a.positions().iter().zip(b.positions()) {
            let [p, q] = [at.transform_point(*p), bt.transform_point(*q)];
            assert!(p.abs_diff_eq(q, ROUNDING_NM), "{p} and {q}");
        }
    }
}

#[test]
fn copies_in_a_file_become_one_kind() {
    let scene = scene();
    for extension in ["pdb", "cif", "cif.gz"] {
        let path = scratch(&format!("copies.{extension}"));
        write_scene(&path, &scene, None, &ExportOptions::default(), &mut |_| {}).unwrap();
        let read = read_scene(&path, &ReadSceneOptions::default()).unwrap();
        let counts: Vec<usize> = read.kinds.iter().map(|kind| kind.poses.len()).collect();
        assert_eq!(counts, [6, 4, 1], "{extension}");
        assert_same_atoms(&scene, &read);
    }
}

#[test]
fn copies_stay_apart_if_asked() {
    let scene = scene();
    let path = scratch("apart.pdb");
    write_scene(&path, &scene, None, &ExportOptions::default(), &mut |_| {}).unwrap();
    let options = ReadSceneOptions {
        merge_copies: false,
        ..ReadSceneOptions::default()
    };
    let read = read_scene(&path, &options).unwrap();
    assert_eq!(read.kinds.len(), 11);
    assert_same_atoms(&scene, &read);
}

#[test]
fn mirror_images_are_another_kind() {
    let [mut left, mut right] = [kind("popc.pdb", "popc", 1), kind("popc.pdb", "popc", 1)];
    let text = fs::read_to_string("assets/molecules/popc.pdb").unwrap();
    let mirrored: String = text
        .lines()
        .map(|row| {
            match row
                .get(30..38)
                .filter(|_| row.starts_with("HETATM") || row.starts_with("ATOM"))
            {
                Some(x) => {
                    let x: f32 = x.trim().parse().unwrap();
                    format!("{}{:8.3}{}\n", &row[..30], -x, &row[38..])
                }
                None => format!("{row}\n"),
            }
        })
        .collect();
    let path = scratch("mirrored.pdb");
    fs::write(&path, mirrored).unwrap();
    right.template = Arc::new(load(&path, &LoadOptions::default()).unwrap());
    left.poses[0] = Pose::IDENTITY;
    right.poses[0] = Pose::from_translation(Vec3::X * 9.0);
    let scene = Scene {
        kinds: vec![left, right],
        ..Scene::default()
    };
    let path = scratch("both_hands.cif");
    write_scene(&path, &scene, None, &ExportOptions::default(), &mut |_| {}).unwrap();
    let read = read_scene(&path, &ReadSceneOptions::default()).unwrap();
    assert_eq!(read.kinds.len(), 2);
}

#[test]
fn molecule_types_are_grouped_in_the_order_of_their_first_kinds() {
    let names = ["b", "a", "b", "c", "a"];
    let mut scene = Scene {
        kinds: names
            .iter()
            .map(|name| kind("p_xylene.pdb", name, 2))
            .collect(),
        ..Scene::default()
    };
    scene.kinds[3].topology.molecule_type = Some("a".to_owned());
    let mut order: Vec<u32> = (0..10).collect();
    scene.group_molecule_types(&mut order);
    let types: Vec<&str> = scene.kinds.iter().map(SceneKind::molecule_type).collect();
    assert_eq!(types, ["b", "b", "a", "a", "a"]);
    assert_eq!(order, [0, 1, 4, 5, 2, 3, 6, 7, 8, 9]);
}
