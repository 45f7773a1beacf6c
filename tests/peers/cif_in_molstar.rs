//! Files with instances in Mol*, its mesoscale explorer, and gemmi: the same molecules, atoms,
//! coordinates and groups.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bevy_rapier_molecules::export::ExportOptions;
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::scene_files::{Scene, SceneFormat, SceneKind, write_scene};
use glam::{DMat3, DVec3, Quat, Vec3};
use serde_json::Value;

use crate::programs::{node, python, run_script, scratch};

/// Ångström in a nanometer.
const ANGSTROM: f64 = 10.0;

/// Largest difference of coordinates, Å.
const TOLERANCE: f64 = 0.01;

fn loaded(name: &str) -> Arc<MoleculeTemplate> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/molecules");
    Arc::new(load(path.join(name), &LoadOptions::default()).unwrap())
}

/// Reproducible poses.
fn poses(count: usize) -> Vec<Pose> {
    let mut state = 11_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let mut pose = |_| {
        let position = Vec3::new(next(), next(), next()) * 40.0 + Vec3::new(0.0, 150.0, 50.0);
        let rotation = Quat::from_xyzw(next(), next(), next(), next() + 0.01);
        Pose::new(position, rotation.normalize())
    };
    (0..count).map(&mut pose).collect()
}

/// Lipids with conformers, proteins with one and with several chains, DNA and balls, with names that
/// contain separators.
fn scene() -> Scene {
    let balls = [(Vec3::ZERO, 2.5), (Vec3::X * 3.0, 1.25)];
    let granule = Arc::new(MoleculeTemplate::coarse("granule", &balls).unwrap());
    let [lipid, other, chains, dna] =
        ["popc.pdb", "p_xylene.pdb", "1gzx.pdb", "4c64_dna.pdb"].map(loaded);
    let kind = |name: &str, path: &[&str], template: &Arc<MoleculeTemplate>, count| SceneKind {
        path: path.iter().map(|&group| group.to_owned()).collect(),
        poses: poses(count),
        ..SceneKind::new(name, Arc::clone(template))
    };
    Scene {
        name: "a vesicle".to_owned(),
        kinds: vec![
            kind("POPC", &["vesicle", "outer_leaflet"], &lipid, 200),
            kind("POPC", &["vesicle", "outer_leaflet"], &other, 3),
            kind("POPC", &["vesicle", "inner leaflet"], &lipid, 100),
            kind("hemoglobin, 1.7 Å", &["vesicle", "interior"], &chains, 5),
            kind("DNA", &[], &dna, 2),
            kind("granule", &["plas.ma"], &granule, 1),
        ],
        periodic_box: PeriodicBox::new(Vec3::new(100.0, 200.0, 100.0)).ok(),
        ..Scene::default()
    }
}

/// World coordinates of all atoms, Å.
fn coordinates(scene: &Scene) -> impl Iterator<Item = DVec3> {
    scene.instances().flat_map(|(template, pose)| {
        let rotation = DMat3::from_quat(pose.rotation.as_dquat().normalize());
        let atoms = template.positions().iter();
        atoms.map(move |p| (rotation * p.as_dvec3() + pose.position.as_dvec3()) * ANGSTROM)
    })
}

fn write(scene: &Scene, path: &Path, format: SceneFormat) {
    let options = ExportOptions {
        wrap: false,
        ..ExportOptions::default()
    };
    write_scene(path, scene, Some(format), &options, &mut |_| {}).unwrap();
}

fn vector(value: &Value) -> DVec3 {
    let at = |axis: usize| value[axis].as_f64().unwrap();
    DVec3::new(at(0), at(1), at(2))
}

fn assert_close(found: &Value, expected: DVec3) {
    let found = vector(found);
    let error = (found - expected).abs().max_element();
    assert!(error <= TOLERANCE, "{found} Å, expected {expected} Å");
}

fn as_count(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

#[test]
fn molstar_shows_all_molecules_of_instanced_mmcif_and_binary_cif() {
    let folder = scratch("cif_in_molstar");
    let scene = scene();
    for (name, format) in [
        ("scene.cif", SceneFormat::InstancedMmcif),
        ("scene.bcif", SceneFormat::BinaryCif),
        ("scene.bcif.gz", SceneFormat::BinaryCif),
    ] {
        let Some(node) = node() else { return };
        let path: PathBuf = folder.join(name);
        write(&scene, &path, format);
        let found = run_script(node, "cif_in_molstar.js", [&path]);

        let assembly = &found["assembly"];
        let header = assembly["header"].as_str().unwrap();
        assert_eq!(header.to_ascii_uppercase(), "CELLPACK_A_VESICLE");
        assert_eq!(as_count(&assembly["units"]), scene.molecule_count());
        assert_eq!(as_count(&assembly["elements"]), scene.atom_count());
        assert_eq!(as_count(&assembly["kinds"]), scene.kinds.len());
        assert_close(&assembly["first"], coordinates(&scene).next().unwrap());
        assert_close(&assembly["last"], coordinates(&scene).last().unwrap());

        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let groups = found["tree"]["groups"].as_array().unwrap().iter();
        let groups: HashSet<(String, String)> = groups
            .map(|group| (text(&group["path"]), text(&group["label"])))
            .collect();
        let expected = [
            ("root", "root"),
            ("root.vesicle", "vesicle"),
            ("root.vesicle.outer_leaflet", "outer_leaflet"),
            ("root.vesicle.inner leaflet", "inner leaflet"),
            ("root.vesicle.interior", "interior"),
            ("root.plas․ma", "plas․ma"),
        ];
        let expected = expected.map(|(path, label)| (path.to_owned(), label.to_owned()));
        assert_eq!(groups, HashSet::from(expected));

        let structures = found["tree"]["structures"].as_array().unwrap().iter();
        let structures: Vec<_> = structures
            .map(|shown| {
                let counts = [&shown["units"], &shown["elements"]].map(as_count);
                (text(&shown["path"]), text(&shown["label"]), counts)
            })
            .collect();
        let atoms = |kind: usize| scene.kinds[kind].template.atom_count();
        let expected = [
            (
                "root.vesicle.outer_leaflet",
                "POPC",
                [203, 200 * atoms(0) + 3 * atoms(1)],
            ),
            ("root.vesicle.inner leaflet", "POPC", [100, 100 * atoms(2)]),
            (
                "root.vesicle.interior",
                "hemoglobin‚ 1․7 Å",
                [5, 5 * atoms(3)],
            ),
            ("root", "DNA", [2, 2 * atoms(4)]),
            ("root.plas․ma", "granule", [1, 2]),
        ];
        let expected =
            expected.map(|(path, label, counts)| (path.to_owned(), label.to_owned(), counts));
        assert_eq!(structures, expected);
    }
}

#[test]
fn gemmi_expands_instanced_mmcif() {
    let Some(python) = python() else { return };
    let folder = scratch("cif_in_gemmi");
    let scene = scene();
    let path = folder.join("scene.cif");
    write(&scene, &path, SceneFormat::InstancedMmcif);
    let found = run_script(python, "cif_in_gemmi.py", [&path]);
    let sum = |count: fn(&MoleculeTemplate) -> usize| -> usize {
        scene.kinds.iter().map(|kind| count(&kind.template)).sum()
    };
    let template_atoms = sum(MoleculeTemplate::atom_count);
    assert_eq!(as_count(&found["template_atoms"]), template_atoms);
    let residues = sum(|template| template.residues().len());
    assert_eq!(as_count(&found["template_residues"]), residues);
    assert_eq!(
        found["entities"],
        serde_json::json!(["1", "2", "3", "4", "5"])
    );
    assert_eq!(found["cell"], serde_json::json!([1000.0, 2000.0, 1000.0]));
    assert_eq!(as_count(&found["atoms"]), scene.atom_count());
    let (low, high) = coordinates(&scene)
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| {
            (low.min(p), high.max(p))
        });
    assert_close(&found["low"], low);
    assert_close(&found["high"], high);
}
