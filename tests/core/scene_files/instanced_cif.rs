//! Instances in mmCIF and `BinaryCIF` are read back as they were written.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bevy_rapier_molecules::export::{ExportError, ExportOptions};
use bevy_rapier_molecules::molecule::{
    AssemblyChoice, Atom, Element, LoadOptions, MoleculeTemplate, Residue, load,
};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::scene_files::instanced_cif::{write_binary_cif, write_instanced_mmcif};
use bevy_rapier_molecules::scene_files::{
    ReadSceneOptions, Scene, SceneFormat, SceneKind, SceneReadError, read_scene, write_scene,
};
use glam::{DMat3, DVec3, Quat, Vec3};

/// Largest error of an atom in the body frame, nm: half of the fifth decimal (Å), and that of the
/// center of mass.
const ATOM_ROUNDING: f32 = 1.0e-6;

/// Largest error of a pose near the origin, nm.
const POSE_ROUNDING: f32 = 2.0e-6;

/// Largest error of a rotation, radian: seven decimals of a matrix and a quaternion in single
/// precision.
const ANGLE_ROUNDING: f32 = 1.0e-6;

const FORMATS: [(SceneFormat, &str); 4] = [
    (SceneFormat::InstancedMmcif, "cif"),
    (SceneFormat::InstancedMmcif, "cif.gz"),
    (SceneFormat::BinaryCif, "bcif"),
    (SceneFormat::BinaryCif, "bcif.gz"),
];

fn asset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets/molecules")
        .join(name)
}

/// An empty folder for a test.
fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("instanced_cif")
        .join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn loaded(name: &str) -> Arc<MoleculeTemplate> {
    Arc::new(load(asset(name), &LoadOptions::default()).unwrap())
}

fn dot(name: &str, radius: f32) -> Arc<MoleculeTemplate> {
    let atom = Atom {
        position: Vec3::ZERO,
        radius,
        element: Element::NA,
        name: name.into(),
        residue: 0,
    };
    let residue = Residue {
        name: "ION".into(),
        number: -3,
        insertion_code: Some('B'),
        chain: "".into(),
    };
    Arc::new(MoleculeTemplate::new("dot", vec![atom], vec![residue]).unwrap())
}

fn coarse() -> Arc<MoleculeTemplate> {
    let balls = [
        (Vec3::ZERO, 2.5),
        (Vec3::X * 3.0, 1.25),
        (Vec3::new(0.1, 7.0, -2.0), 0.7),
    ];
    Arc::new(MoleculeTemplate::coarse("granule", &balls).unwrap())
}

/// Reproducible poses within `size` nm of `center`.
fn poses(count: usize, center: Vec3, size: f32) -> Vec<Pose> {
    let mut state = 7_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let mut pose = |_| {
        let offset = Vec3::new(next(), next(), next()) * size;
        let rotation = Quat::from_xyzw(next(), next(), next(), next() + 0.01);
        Pose::new(center + offset, rotation.normalize())
    };
    (0..count).map(&mut pose).collect()
}

fn kind(
    name: &str,
    path: &[&str],
    template: &Arc<MoleculeTemplate>,
    poses: Vec<Pose>,
) -> SceneKind {
    SceneKind {
        path: path.iter().map(|&group| group.to_owned()).collect(),
        poses,
        ..SceneKind::new(name, Arc::clone(template))
    }
}

/// Many kinds of molecules, with names that need quotes.
fn mixture(center: Vec3) -> Scene {
    let [popc, chains] = ["popc.pdb", "1gzx.pdb"].map(loaded);
    let poses = |count| poses(count, center, 30.0);
    let kinds = vec![
        kind("POPC", &["vesicle", "outer leaflet"], &popc, poses(40)),
        kind("hemoglobin", &["plasma"], &chains, poses(3)),
        kind("POPC", &["vesicle", "inner leaflet"], &popc, poses(1)),
        kind(
            "Na+ 1.5, \"salt\"",
            &["it's", "a.b"],
            &dot("NA", 0.1),
            poses(17),
        ),
        kind(
            "POPC",
            &["vesicle", "outer leaflet"],
            &loaded("p_xylene.pdb"),
            poses(2),
        ),
        kind("Größe µ", &[], &coarse(), poses(5)),
        kind("loop_", &["", "root"], &dot("N'\"", 0.227 * 0.7), poses(1)),
    ];
    Scene {
        name: "A mixture, at 1.5 nm".to_owned(),
        kinds,
        ..Scene::default()
    }
}

fn written(scene: &Scene, format: SceneFormat, options: &ExportOptions) -> Vec<u8> {
    let mut bytes = Vec::new();
    let summary = match format {
        SceneFormat::InstancedMmcif => {
            write_instanced_mmcif(&mut bytes, scene, options, &mut |_| {})
        }
        _ => write_binary_cif(&mut bytes, scene, options, &mut |_| {}),
    };
    let summary = summary.unwrap();
    assert_eq!(summary.bytes, bytes.len() as u64);
    assert_eq!(summary.molecules, scene.molecule_count());
    assert_eq!(summary.atoms, scene.atom_count());
    bytes
}

fn text(scene: &Scene) -> String {
    let options = ExportOptions::default();
    String::from_utf8(written(scene, SceneFormat::InstancedMmcif, &options)).unwrap()
}

fn read_text(folder: &Path, text: &str) -> Result<Scene, SceneReadError> {
    let path = folder.join("scene.cif");
    fs::write(&path, text).unwrap();
    read_scene(&path, &ReadSceneOptions::default())
}

fn assert_same_templates(read: &MoleculeTemplate, written: &MoleculeTemplate) {
    assert_eq!(read.elements(), written.elements());
    assert_eq!(read.atom_names(), written.atom_names());
    assert_eq!(read.residues(), written.residues());
    assert_eq!(read.residue_indices(), written.residue_indices());
    assert!((read.mass() / written.mass() - 1.0).abs() < 1.0e-5);
    for (a, b) in read.positions().iter().zip(written.positions()) {
        assert!((*a - *b).abs().max_element() <= ATOM_ROUNDING, "{a} {b}");
    }
    for (a, b) in read.radii().iter().zip(written.radii()) {
        assert!((a - b).abs() <= ATOM_ROUNDING, "{a} {b}");
    }
}

fn assert_same_poses(read: &[Pose], written: &[Pose], rounding: f32) {
    assert_eq!(read.len(), written.len());
    for (a, b) in read.iter().zip(written) {
        let error = (a.position - b.position).abs().max_element();
        assert!(error <= rounding, "{a:?} {b:?}");
        let turn = (a.rotation * b.rotation.inverse()).xyz().length();
        assert!(2.0 * turn <= ANGLE_ROUNDING, "{a:?} {b:?}: {turn}");
    }
}

fn assert_same_kinds(read: &Scene, written: &Scene, rounding: f32) {
    let labels = |scene: &Scene| -> Vec<(Vec<String>, String)> {
        let kinds = scene.kinds.iter();
        kinds
            .map(|kind| (kind.path.clone(), kind.name.clone()))
            .collect()
    };
    assert_eq!(labels(read), labels(written));
    for (a, b) in read.kinds.iter().zip(&written.kinds) {
        assert_same_templates(&a.template, &b.template);
        assert_same_poses(&a.poses, &b.poses, rounding);
    }
}

#[test]
fn kinds_names_paths_and_poses_round_trip() {
    let folder = scratch("round_trip");
    let scene = mixture(Vec3::ZERO);
    for (format, ending) in FORMATS {
        let path = folder.join(format!("scene.{ending}"));
        let options = ExportOptions::default();
        let summary = write_scene(&path, &scene, Some(format), &options, &mut |_| {}).unwrap();
        assert_eq!(summary.molecules, scene.molecule_count());
        let read = read_scene(&path, &ReadSceneOptions::default()).unwrap();
        assert_eq!(read.name, scene.name);
        assert_eq!(read.periodic_box, None);
        assert_same_kinds(&read, &scene, POSE_ROUNDING);
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 4, "leftovers");
}

#[test]
fn atoms_far_from_the_origin_are_read_to_a_ten_thousandth_of_a_nanometer() {
    let folder = scratch("far");
    // Half of the last bit of a position in single precision at 512 nm, and the rotation.
    let rounding = 3.1e-5 + 1.0e-5;
    let scene = mixture(Vec3::new(200.0, -310.0, 400.0));
    for (format, ending) in FORMATS {
        let path = folder.join(format!("far.{ending}"));
        let options = ExportOptions::default();
        write_scene(&path, &scene, Some(format), &options, &mut |_| {}).unwrap();
        let read = read_scene(&path, &ReadSceneOptions::default()).unwrap();
        let world = |(template, pose): (&MoleculeTemplate, Pose)| -> Vec<DVec3> {
            let rotation = DMat3::from_quat(pose.rotation.as_dquat().normalize());
            let atoms = template.positions().iter();
            let center = pose.position.as_dvec3();
            atoms.map(|p| rotation * p.as_dvec3() + center).collect()
        };
        for (a, b) in read.instances().zip(scene.instances()) {
            for (a, b) in world(a).iter().zip(world(b)) {
                assert!(a.distance(b) <= rounding, "{a} {b}");
            }
        }
    }
}

#[test]
fn vectors_that_do_not_fit_have_fewer_decimals() {
    let folder = scratch("very_far");
    let far = Vec3::new(9.0e4, -3.0, 2_500.0);
    let scene = Scene {
        kinds: vec![kind("dot", &[], &dot("NA", 0.1), poses(10, far, 1.0))],
        ..Scene::default()
    };
    for (format, ending) in FORMATS {
        let path = folder.join(format!("far.{ending}"));
        write_scene(
            &path,
            &scene,
            Some(format),
            &ExportOptions::default(),
            &mut |_| {},
        )
        .unwrap();
        let read = read_scene(&path, &ReadSceneOptions::default()).unwrap();
        // At 90,000 nm, single precision is 0.004 nm.
        assert_same_poses(&read.kinds[0].poses, &scene.kinds[0].poses, 1.0e-4);
    }
}

#[test]
fn the_text_has_the_layout_of_cellpack() {
    let atom = dot("NA", 0.3);
    let at = |x: f32| Pose::from_translation(Vec3::X * x);
    let quarter = Pose::new(
        Vec3::new(1.0, 2.0, -0.25),
        Quat::from_rotation_z(std::f32::consts::FRAC_PI_2),
    );
    let scene = Scene {
        name: "salt water".to_owned(),
        kinds: vec![
            kind(
                "sodium",
                &["cell", "cytosol"],
                &atom,
                vec![at(1.0), quarter],
            ),
            kind("empty", &["cell"], &atom, vec![]),
            kind("sodium", &["cell", "cytosol"], &atom, vec![at(-2.0)]),
        ],
        periodic_box: Some(PeriodicBox::new(Vec3::new(5.0, 6.0, 7.5)).unwrap()),
        ..Scene::default()
    };
    let expected = "\
data_cellpack_salt_water
#
_entry.id cellpack_salt_water
#
_struct.entry_id cellpack_salt_water
_struct.title 'salt water'
#
_cell.entry_id cellpack_salt_water
_cell.length_a 50.000000
_cell.length_b 60.000000
_cell.length_c 75.000000
_cell.angle_alpha 90.00
_cell.angle_beta 90.00
_cell.angle_gamma 90.00
#
_symmetry.entry_id cellpack_salt_water
_symmetry.space_group_name_H-M 'P 1'
#
_entity.id 1
_entity.type non-polymer
_entity.pdbx_description root.cell.cytosol.sodium
#
loop_
_struct_asym.id
_struct_asym.entity_id
 A 1
 B 1
#
_pdbx_struct_assembly.id 1
_pdbx_struct_assembly.details software_defined_assembly
_pdbx_struct_assembly.method_details CELLPACK
_pdbx_struct_assembly.oligomeric_details ?
_pdbx_struct_assembly.oligomeric_count 3
#
loop_
_pdbx_struct_assembly_gen.assembly_id
_pdbx_struct_assembly_gen.oper_expression
_pdbx_struct_assembly_gen.asym_id_list
 1 (1-2) A
 1 (3-3) B
#
loop_
_pdbx_struct_oper_list.id
_pdbx_struct_oper_list.type
_pdbx_struct_oper_list.matrix[1][1]
_pdbx_struct_oper_list.matrix[1][2]
_pdbx_struct_oper_list.matrix[1][3]
_pdbx_struct_oper_list.matrix[2][1]
_pdbx_struct_oper_list.matrix[2][2]
_pdbx_struct_oper_list.matrix[2][3]
_pdbx_struct_oper_list.matrix[3][1]
_pdbx_struct_oper_list.matrix[3][2]
_pdbx_struct_oper_list.matrix[3][3]
_pdbx_struct_oper_list.vector[1]
_pdbx_struct_oper_list.vector[2]
_pdbx_struct_oper_list.vector[3]
1 ? 1.0000000 0.0000000 0.0000000 0.0000000 1.0000000 0.0000000 0.0000000 0.0000000 1.0000000 10.00000 0.00000 0.00000
2 ? 0.0000000 -1.0000000 0.0000000 1.0000000 0.0000000 0.0000000 0.0000000 0.0000000 1.0000000 10.00000 20.00000 72.50000
3 ? 1.0000000 0.0000000 0.0000000 0.0000000 1.0000000 0.0000000 0.0000000 0.0000000 1.0000000 30.00000 0.00000 0.00000
#
loop_
_atom_site.group_PDB
_atom_site.id
_atom_site.type_symbol
_atom_site.label_atom_id
_atom_site.label_alt_id
_atom_site.label_comp_id
_atom_site.label_asym_id
_atom_site.label_entity_id
_atom_site.label_seq_id
_atom_site.pdbx_PDB_ins_code
_atom_site.Cartn_x
_atom_site.Cartn_y
_atom_site.Cartn_z
_atom_site.occupancy
_atom_site.B_iso_or_equiv
_atom_site.auth_seq_id
_atom_site.auth_comp_id
_atom_site.auth_asym_id
_atom_site.auth_atom_id
_atom_site.pdbx_PDB_model_num
_atom_site.brm_radius
_atom_site.brm_chain
 HETATM 1 NA NA . ION A 1 1 B 0.00000 0.00000 0.00000 1.00 0.00 -3 ION A NA 1 3.000000 ?
 HETATM 2 NA NA . ION B 1 1 B 0.00000 0.00000 0.00000 1.00 0.00 -3 ION B NA 1 3.000000 ?
#
";
    let found = text(&scene);
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found, expected);
}

#[test]
fn molecules_are_moved_into_the_periodic_box_unless_they_are_not_wrapped() {
    let folder = scratch("periodic");
    let periodic = PeriodicBox::new(Vec3::new(20.0, 21.5, 30.25)).unwrap();
    let scene = Scene {
        periodic_box: Some(periodic),
        ..mixture(Vec3::splat(-10.0))
    };
    for (format, ending) in FORMATS {
        for wrap in [true, false] {
            let path = folder.join(format!("scene.{ending}"));
            let options = ExportOptions {
                wrap,
                ..ExportOptions::default()
            };
            write_scene(&path, &scene, Some(format), &options, &mut |_| {}).unwrap();
            let read = read_scene(&path, &ReadSceneOptions::default()).unwrap();
            assert_eq!(read.periodic_box, Some(periodic));
            for (a, b) in read.kinds.iter().zip(&scene.kinds) {
                let expected = b.poses.iter().map(|pose| match wrap {
                    true => periodic.wrap_pose(pose),
                    false => *pose,
                });
                let expected: Vec<Pose> = expected.collect();
                assert_same_poses(&a.poses, &expected, 2.0 * POSE_ROUNDING);
            }
        }
    }
}

#[test]
fn the_box_and_the_title_of_the_options_take_precedence() {
    let [first, second] = [10.0, 12.0].map(|edge| PeriodicBox::new(Vec3::splat(edge)).ok());
    let scene = Scene {
        periodic_box: first,
        ..mixture(Vec3::ZERO)
    };
    let options = ExportOptions {
        title: "Another title".to_owned(),
        periodic_box: second,
        ..ExportOptions::default()
    };
    let folder = scratch("options");
    for (format, ending) in FORMATS {
        let path = folder.join(format!("scene.{ending}"));
        write_scene(&path, &scene, Some(format), &options, &mut |_| {}).unwrap();
        let read = read_scene(&path, &ReadSceneOptions::default()).unwrap();
        assert_eq!(
            (read.periodic_box, read.name.as_str()),
            (second, "Another title")
        );
    }
}

#[test]
fn the_same_scene_gives_the_same_bytes() {
    let options = ExportOptions::default();
    for format in [SceneFormat::InstancedMmcif, SceneFormat::BinaryCif] {
        let first = written(&mixture(Vec3::ONE), format, &options);
        let second = written(&mixture(Vec3::ONE), format, &options);
        assert!(first == second);
    }
}

#[test]
fn one_molecule_round_trips_and_none_is_an_error() {
    let folder = scratch("small");
    let one = Scene {
        kinds: vec![kind("dot", &[], &dot("NA", 0.1), poses(1, Vec3::ZERO, 1.0))],
        ..Scene::default()
    };
    let none = Scene {
        kinds: vec![kind("dot", &[], &dot("NA", 0.1), vec![])],
        ..Scene::default()
    };
    for (format, ending) in FORMATS {
        let path = folder.join(format!("small.{ending}"));
        let write = |scene| {
            write_scene(
                &path,
                scene,
                Some(format),
                &ExportOptions::default(),
                &mut |_| {},
            )
            .unwrap()
        };
        write(&one);
        let read = read_scene(&path, &ReadSceneOptions::default()).unwrap();
        assert_eq!(read.name, "small");
        assert_same_kinds(&read, &one, POSE_ROUNDING);
        write(&none);
        let error = read_scene(&path, &ReadSceneOptions::default()).unwrap_err();
        assert!(error.to_string().contains("no atoms found"), "{error}");
    }
}

#[test]
fn invalid_poses_boxes_and_names_are_not_written() {
    let folder = scratch("invalid");
    let with = |pose: Pose| Scene {
        kinds: vec![kind(
            "dot",
            &[],
            &dot("NA", 0.1),
            vec![Pose::IDENTITY, pose],
        )],
        ..Scene::default()
    };
    let named = |name: &str, atom: &str| Scene {
        kinds: vec![kind(name, &[], &dot(atom, 0.1), vec![Pose::IDENTITY])],
        ..Scene::default()
    };
    let huge = Scene {
        periodic_box: PeriodicBox::new(Vec3::new(1.0, 2.0e5, 1.0)).ok(),
        ..named("dot", "NA")
    };
    let cases = [
        (
            with(Pose::from_translation(Vec3::NAN)),
            "molecule 1 ('dot') has an invalid pose",
        ),
        (
            with(Pose::from_translation(Vec3::Y * 1.0e5)),
            "molecule 1 ('dot') has an atom at",
        ),
        (
            with(Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 2.0))),
            "invalid pose",
        ),
        (named("a\nb", "NA"), "control characters"),
        (named("a", "N\tA"), "control characters"),
        (huge, "the periodic box of 1 × 200000 × 1 nm does not fit"),
    ];
    for (scene, expected) in cases {
        for (format, ending) in FORMATS {
            let path = folder.join(format!("scene.{ending}"));
            let result = write_scene(
                &path,
                &scene,
                Some(format),
                &ExportOptions::default(),
                &mut |_| {},
            );
            let error = result.unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            assert!(!matches!(error, ExportError::File { .. }));
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "leftovers");
}

#[test]
fn progress_counts_molecules() {
    let scene = Scene {
        kinds: vec![kind(
            "dot",
            &[],
            &dot("NA", 0.1),
            poses(5_000, Vec3::ZERO, 9.0),
        )],
        ..Scene::default()
    };
    for (format, ending) in FORMATS {
        let path = scratch("progress").join(format!("scene.{ending}"));
        let mut seen = Vec::new();
        let mut progress = |molecules| seen.push(molecules);
        write_scene(
            &path,
            &scene,
            Some(format),
            &ExportOptions::default(),
            &mut progress,
        )
        .unwrap();
        assert!(seen.len() >= 4 && seen.is_sorted(), "{seen:?}");
        assert!(seen.iter().all(|&molecules| molecules <= 5_000));
    }
}

/// A file has as many operators as it likes, each used once.
#[test]
fn many_molecules_are_read() {
    let folder = scratch("many");
    let scene = Scene {
        kinds: vec![
            kind(
                "a",
                &["x"],
                &dot("NA", 0.1),
                poses(150_000, Vec3::ZERO, 99.0),
            ),
            kind("b", &["x"], &coarse(), poses(75_000, Vec3::ZERO, 99.0)),
        ],
        ..Scene::default()
    };
    for (format, ending) in [FORMATS[0], FORMATS[2]] {
        let path = folder.join(format!("scene.{ending}"));
        write_scene(
            &path,
            &scene,
            Some(format),
            &ExportOptions::default(),
            &mut |_| {},
        )
        .unwrap();
        let read = read_scene(&path, &ReadSceneOptions::default()).unwrap();
        // Half of the last bit of a position in single precision at 128 nm.
        assert_same_kinds(&read, &scene, 8.0e-6);
        if format == SceneFormat::BinaryCif {
            let bytes = fs::metadata(&path).unwrap().len();
            assert!(bytes < 225_000 * 48 + 10_000, "{bytes}");
        }
    }
}

#[test]
fn files_in_the_layout_of_cellpack_by_other_programs_are_read() {
    let text = "\
data_X
loop_
_entity.id
_entity.pdbx_description
7 'cell.membrane.PORIN'
8 'water'
loop_
_pdbx_struct_assembly.id
_pdbx_struct_assembly.method_details
first PISA
2 cellpack
loop_
_pdbx_struct_assembly_gen.assembly_id
_pdbx_struct_assembly_gen.oper_expression
_pdbx_struct_assembly_gen.asym_id_list
first 1 A,B,C
2 (X)(1-2) A,B
2 2,1 C
2 X C
loop_
_pdbx_struct_oper_list.id
_pdbx_struct_oper_list.vector[1]
_pdbx_struct_oper_list.vector[2]
_pdbx_struct_oper_list.vector[3]
_pdbx_struct_oper_list.matrix[1][1]
_pdbx_struct_oper_list.matrix[1][2]
_pdbx_struct_oper_list.matrix[1][3]
_pdbx_struct_oper_list.matrix[2][1]
_pdbx_struct_oper_list.matrix[2][2]
_pdbx_struct_oper_list.matrix[2][3]
_pdbx_struct_oper_list.matrix[3][1]
_pdbx_struct_oper_list.matrix[3][2]
_pdbx_struct_oper_list.matrix[3][3]
1 0 0 0 1 0 0 0 1 0 0 0 1
2 50 0 0 1 0 0 0 1 0 0 0 1
X 0 10 0 0 -1 0 1 0 0 0 0 1
loop_
_atom_site.type_symbol
_atom_site.label_atom_id
_atom_site.label_comp_id
_atom_site.label_asym_id
_atom_site.label_entity_id
_atom_site.label_seq_id
_atom_site.Cartn_x
_atom_site.Cartn_y
_atom_site.Cartn_z
C CA ALA A 7 1 1.0 0 0
C CA ALA B 7 1 3.0 0 0
O O HOH C 8 . 4.0 0 0
";
    let scene = read_text(&scratch("cellpack"), text).unwrap();
    let [porin, water] = &scene.kinds[..] else {
        panic!("{scene:?}");
    };
    assert_eq!((scene.name.as_str(), scene.periodic_box), ("scene", None));
    assert_eq!(
        (porin.name.as_str(), water.name.as_str()),
        ("PORIN", "water")
    );
    assert_eq!(porin.path, ["cell", "membrane"]);
    assert!(water.path.is_empty());
    assert_eq!(
        (porin.template.atom_count(), water.template.atom_count()),
        (2, 1)
    );
    assert_eq!(porin.template.name(), "PORIN");
    let positions =
        |kind: &SceneKind| -> Vec<Vec3> { kind.poses.iter().map(|pose| pose.position).collect() };
    // The center of mass is at 2 Å; X turns x to y.
    let expected = [Vec3::new(0.0, 1.2, 0.0), Vec3::new(0.0, 6.2, 0.0)];
    for (found, expected) in positions(porin).iter().zip(expected) {
        assert!(found.distance(expected) < 1.0e-6, "{found}");
    }
    let expected = [Vec3::X * 5.4, Vec3::X * 0.4, Vec3::Y * 1.4];
    for (found, expected) in positions(water).iter().zip(expected) {
        assert!(found.distance(expected) < 1.0e-6, "{found}");
    }
}

#[test]
fn deposited_entries_are_read_as_they_are_unless_an_assembly_is_requested() {
    let read = |name: &str, assembly: AssemblyChoice| {
        let mut options = ReadSceneOptions::default();
        options.load.assembly = assembly;
        let scene = read_scene(asset(name), &options).unwrap();
        (
            scene.kinds.len(),
            scene.molecule_count(),
            scene.atom_count(),
        )
    };
    let one = || "1".to_owned();
    assert_eq!(read("1ubq.cif", AssemblyChoice::None), (1, 1, 660));
    assert_eq!(
        read("1ubq.cif", AssemblyChoice::Instances(one())),
        (1, 1, 660)
    );
    assert_eq!(
        read("1ubq.cif", AssemblyChoice::OneBody(one())),
        (1, 1, 660)
    );
    let atoms = loaded("4udv.pdb").atom_count();
    // Protein and RNA, and 49 copies of each.
    assert_eq!(read("4udv.pdb", AssemblyChoice::None), (2, 2, atoms));
    let copies = (2, 98, 49 * atoms);
    assert_eq!(read("4udv.pdb", AssemblyChoice::Instances(one())), copies);
    let body = (1, 1, 49 * atoms);
    assert_eq!(read("4udv.pdb", AssemblyChoice::OneBody(one())), body);
    let whole = read("4hhb.bcif.gz", AssemblyChoice::None);
    assert_eq!(
        read("4hhb.bcif.gz", AssemblyChoice::Instances(one())),
        whole
    );

    let mut options = ReadSceneOptions::default();
    options.load.assembly = AssemblyChoice::Instances("9".to_owned());
    let error = read_scene(asset("1ubq.cif"), &options).unwrap_err();
    assert!(error.to_string().contains("no assembly '9'"), "{error}");
}

#[test]
fn malformed_files_are_reported_in_one_sentence() {
    let folder = scratch("malformed");
    let scene = Scene {
        kinds: vec![
            kind("a", &[], &dot("NA", 0.1), poses(2, Vec3::ZERO, 1.0)),
            kind("b", &[], &coarse(), poses(2, Vec3::ZERO, 1.0)),
        ],
        ..Scene::default()
    };
    let text = text(&scene);
    assert!(read_text(&folder, &text).is_ok());
    let operator = text.lines().find(|line| line.starts_with("2 ? ")).unwrap();
    let cases = [
        (
            "(1-2) A",
            "(1-9) A",
            "the assembly operator '5' is not in _pdbx_struct_oper_list",
        ),
        (
            "(1-2) A",
            "(1-4000000000) A",
            "the number of assembly operators exceeds the limit",
        ),
        (
            "(1-2) A",
            "(1-4)(1-4)(1-4)(1-4)(1-4)(1-4)(1-4)(1-4)(1-4)(1-4) A",
            "the number of assembly operators exceeds the limit",
        ),
        (
            "(1-2) A",
            "(1-2) A extra",
            "the last row of the table has 1 of 3 values",
        ),
        (
            operator,
            "2 ? 1 0 0 0 x 0 0 0 1 0 0 0",
            "the assembly operator entry is 'x'",
        ),
        (
            operator,
            "2 ? 1 0 0 0 ? 0 0 0 1 0 0 0",
            "the assembly operator entry is '?'",
        ),
        (
            operator,
            "2 ? 1 0 0 0 1 0 0 0 1 nan 0 0",
            "the assembly operator entry is 'nan'",
        ),
        (
            operator,
            "2 ? 2 0 0 0 2 0 0 0 2 0 0 0",
            "operator 2 of assembly '1' is not a rotation: it scales or shears",
        ),
        (
            operator,
            "2 ? 1 0 0 0 1 0 0 0 -1 0 0 0",
            "operator 2 of assembly '1' is not a rotation: it reflects",
        ),
        (
            operator,
            "2 ? 1 0 0",
            "the assembly operator entry is '?', expected a finite number",
        ),
        (
            "_atom_site.Cartn_x",
            "_atom_site.x",
            "the atom table has no column '_atom_site.Cartn_x'",
        ),
        (
            " 25.000000 ",
            " -25.0 ",
            "brm_radius is -2.5 nm, expected more than 0",
        ),
        (
            " 25.000000 ",
            " big ",
            "brm_radius is 'big', expected a finite number",
        ),
        ("(1-2) A", "() A", ""),
        ("(1-2) A", "(1-2) Z", ""),
        ("CELLPACK", "PISA", ""),
    ];
    for (from, to, expected) in cases {
        assert!(text.contains(from), "{from}");
        let result = read_text(&folder, &text.replacen(from, to, 1));
        match result {
            Ok(_) => assert!(expected.is_empty(), "{to}"),
            Err(error) => {
                let error = error.to_string();
                assert!(
                    !expected.is_empty() && error.contains(expected),
                    "{to}: {error}"
                );
                assert!(error.contains("scene.cif"), "{error}");
            }
        }
    }
}

#[test]
fn damaged_binary_files_are_errors_or_scenes() {
    let folder = scratch("damaged");
    let bytes = written(
        &mixture(Vec3::ZERO),
        SceneFormat::BinaryCif,
        &ExportOptions::default(),
    );
    let path = folder.join("scene.bcif");
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        read_scene(&path, &ReadSceneOptions::default())
    };
    for cut in 0..40 {
        assert!(read(&bytes[..bytes.len() * cut / 40]).is_err());
    }
    // The names and numbers of the tables, more than in the data of the atoms.
    for step in 0..400 {
        let mut damaged = bytes.clone();
        let at = (step * 7_919) % damaged.len();
        damaged[at] ^= 1 << (step % 8);
        if let Err(error) = read(&damaged) {
            assert!(error.to_string().contains("scene.bcif"), "{error}");
        }
    }
}
