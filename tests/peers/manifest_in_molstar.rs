//! The mesoscale explorer of Mol* opens manifests, and has all molecules where they are here.

use std::sync::Arc;

use bevy_rapier_molecules::export::ExportOptions;
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::scene_files::{Scene, SceneKind, write_scene};
use glam::{Quat, Vec3};
use serde_json::Value;

use crate::programs::{node, run_script, scratch};

/// Maximum error of a position, ångström.
const TOLERANCE: f32 = 0.01;

fn poses(count: usize, center: Vec3) -> Vec<Pose> {
    let pose = |k: usize| {
        let angle = 0.37 * k as f32;
        let axis = Vec3::new(angle.cos(), 0.4, angle.sin()).normalize();
        let position = center + Vec3::new(angle.sin(), angle.cos(), 0.1 * angle) * 20.0;
        Pose::new(position, Quat::from_axis_angle(axis, angle))
    };
    (1..=count).map(pose).collect()
}

fn scene() -> Scene {
    let asset = |name: &str| {
        let path = format!("{}/assets/molecules/{name}", env!("CARGO_MANIFEST_DIR"));
        Arc::new(load(path, &LoadOptions::default()).unwrap())
    };
    let lipid = asset("popc.pdb");
    let balls = [(Vec3::ZERO, 2.0), (Vec3::X * 3.0, 1.25), (Vec3::Y, 0.5)];
    let granule = Arc::new(MoleculeTemplate::coarse("granule", &balls).unwrap());
    let kind = |name: &str, path: &[&str], template: &Arc<MoleculeTemplate>, count, center| {
        let mut kind = SceneKind::new(name, Arc::clone(template));
        kind.path = path.iter().map(|&group| group.to_owned()).collect();
        kind.color = Some([0.2, 0.4, 0.6]);
        kind.poses = poses(count, center);
        kind
    };
    let far = Vec3::new(200.0, -150.0, 100.0);
    let kinds = vec![
        kind(
            "popc",
            &["vesicle", "outer_leaflet"],
            &lipid,
            500,
            Vec3::ZERO,
        ),
        kind("popc", &["vesicle", "inner_leaflet"], &lipid, 300, far),
        kind(
            "one \"µ\"",
            &["vesicle", "interior"],
            &asset("1ubq.cif"),
            1,
            far,
        ),
        kind("hemoglobin", &["cytosol"], &asset("1gzx.pdb"), 20, far),
        kind("granule", &[], &granule, 10, Vec3::ZERO),
        kind("nothing", &[], &lipid, 0, Vec3::ZERO),
    ];
    Scene {
        name: "scene".to_owned(),
        kinds,
        ..Scene::default()
    }
}

fn angstrom(value: &Value) -> Vec3 {
    Vec3::from_array([0, 1, 2].map(|axis| value[axis].as_f64().unwrap() as f32))
}

#[test]
fn molstar_has_all_molecules_of_a_manifest_where_they_are() {
    let Some(node) = node() else { return };
    let path = scratch("manifest in Mol*").join("scene.zip");
    let mut scene = scene();
    let options = ExportOptions::default();
    write_scene(&path, &scene, None, &options, &mut |_| {}).unwrap();
    let found = run_script(node, "manifest_in_molstar.js", [&path]);
    // A kind without molecules is no structure.
    scene.kinds.retain(|kind| !kind.poses.is_empty());
    let structures = found["structures"].as_array().unwrap();
    assert_eq!(structures.len(), scene.kinds.len(), "{found}");
    for (structure, kind) in structures.iter().zip(&scene.kinds) {
        let atoms = kind.template.atom_count();
        assert_eq!(structure["label"], kind.name);
        let groups: Vec<&str> = structure["path"]
            .as_array()
            .unwrap()
            .iter()
            .map(|label| label.as_str().unwrap())
            .collect();
        assert_eq!(groups[0], "scene");
        assert_eq!(groups[1..], kind.path);
        assert_eq!(structure["units"], kind.poses.len());
        assert_eq!(structure["elements"], kind.poses.len() * atoms);
        let ends = [
            ("first", kind.poses[0], 0),
            ("last", kind.poses[kind.poses.len() - 1], atoms - 1),
        ];
        for (end, pose, atom) in ends {
            let expected = pose.transform_point(kind.template.positions()[atom]) * 10.0;
            let error = angstrom(&structure[end]).distance(expected);
            assert!(error < TOLERANCE, "{end} of {}: {error} Å", kind.name);
        }
    }
    let radii: Vec<f32> = serde_json::from_value(structures[4]["radii"].clone()).unwrap();
    assert_eq!(radii, [20.0, 12.5, 5.0], "ångström");
}
