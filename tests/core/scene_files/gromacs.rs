//! Coordinates and topologies of GROMACS.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bevy_rapier_molecules::export::{ExportError, ExportOptions};
use bevy_rapier_molecules::molecule::{
    Atom, Element, LoadOptions, MoleculeTemplate, Residue, SplitBy, load, load_structure,
    read_bytes,
};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::scene_files::{
    ReadSceneOptions, Scene, SceneKind, read_scene, write_scene,
};
use glam::{DVec3, Quat, Vec3};

use super::mixed_scene::{LOW, assert_same_places, asset, mixed_scene, water};

/// Maximum difference between a position and its value in a file with three decimals, nm: the
/// rounding of the file and of the template read from another molecule.
const FILE_ROUNDING: f64 = 0.003;

fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("gromacs")
        .join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn write(path: &Path, scene: &Scene) -> String {
    write_scene(path, scene, None, &ExportOptions::default(), &mut |_| {}).unwrap();
    fs::read_to_string(path).unwrap()
}

fn read(path: &Path) -> Scene {
    read_scene(path, &ReadSceneOptions::default()).unwrap()
}

fn one_kind(name: &str, template: MoleculeTemplate, poses: Vec<Pose>) -> Scene {
    let mut kind = SceneKind::new(name, Arc::new(template));
    kind.poses = poses;
    Scene {
        kinds: vec![kind],
        ..Scene::default()
    }
}

/// A molecule of one atom in one residue.
fn named(atom: &str, residue: &str) -> MoleculeTemplate {
    let atom = Atom {
        position: Vec3::ZERO,
        radius: 0.1,
        element: Element::O,
        name: atom.into(),
        residue: 0,
    };
    let residue = Residue {
        name: residue.into(),
        ..Residue::default()
    };
    MoleculeTemplate::new("named", vec![atom], vec![residue]).unwrap()
}

/// The kinds in the order of the file: conformers follow each other.
fn grouped(mut scene: Scene) -> Scene {
    let lipids = scene.kinds.pop().unwrap();
    scene.kinds[1].poses.extend(lipids.poses);
    scene
}

#[test]
fn molecules_return_with_their_types_in_the_order_of_the_topology() {
    let folder = scratch("round_trip");
    let path = folder.join("cell.gro");
    let scene = mixed_scene(true);
    let text = write(&path, &scene);
    let topology = fs::read_to_string(folder.join("cell.top")).unwrap();
    let lines: Vec<&str> = topology
        .lines()
        .filter(|line| !line.starts_with(';'))
        .collect();
    let expected = [
        "",
        "#include \"forcefield.itp\"",
        "#include \"ubiquitin.itp\"",
        "#include \"popc.itp\"",
        "#include \"granule.itp\"",
        "#include \"sodium.itp\"",
        "#include \"water.itp\"",
        "",
        "[ system ]",
        "mixed scene",
        "",
        "[ molecules ]",
        "ubiquitin                    2 ; 602 atoms each",
        "popc                       216 ; 134 atoms each",
        "granule                      1 ; 1 atoms each",
        "sodium                       5 ; 1 atoms each",
        "water                        7 ; 3 atoms each",
    ];
    assert_eq!(lines, expected);
    let first = text.lines().next().unwrap();
    assert_eq!(first, "mixed scene, moved by 3.00000 -5.25000 0.00000 nm");
    assert_eq!(text.lines().nth(1).unwrap(), scene.atom_count().to_string());
    let last = text.lines().last().unwrap();
    assert_eq!(last, "   12.00000   12.00000   16.00000");

    let found = read(&path);
    assert_eq!(found.periodic_box, scene.periodic_box);
    let kinds: Vec<(&str, usize)> = found
        .kinds
        .iter()
        .map(|kind| (kind.molecule_type(), kind.poses.len()))
        .collect();
    let expected = [
        ("ubiquitin", 2),
        ("popc", 216),
        ("granule", 1),
        ("sodium", 5),
        ("water", 7),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(found.kinds[1].topology.includes.len(), 6);
    assert_eq!(found.kinds[0].template.residues().len(), 76);
    assert_eq!(found.kinds[3].template.elements(), [Element::NA]);
    assert_eq!(found.kinds[2].template.elements(), [Element::UNKNOWN]);
    let scene = grouped(scene);
    assert_same_places(&found, &scene, LOW.as_dvec3(), FILE_ROUNDING);
    for (found, written) in found.kinds.iter().zip(&scene.kinds) {
        assert_eq!(found.template.atom_names(), written.template.atom_names());
        assert_eq!(found.template.elements(), written.template.elements());
    }

    // What was read is written the same, except for the title.
    let again = folder.join("again.gro");
    let text_again = write(&again, &found);
    assert_eq!(text.lines().count(), text_again.lines().count());
    let topology_again = fs::read_to_string(folder.join("again.top")).unwrap();
    let molecules = |text: &str| text.split_once("[ molecules ]").unwrap().1.to_owned();
    assert_eq!(molecules(&topology), molecules(&topology_again));
}

#[test]
fn without_a_topology_bonded_residues_are_one_molecule() {
    let folder = scratch("no_topology");
    let path = folder.join("cell.gro.gz");
    let scene = mixed_scene(true);
    write_scene(&path, &scene, None, &ExportOptions::default(), &mut |_| {}).unwrap();
    fs::remove_file(folder.join("cell.top")).unwrap();
    let found = read(&path);
    let proteins: Vec<_> = found
        .kinds
        .iter()
        .filter(|kind| kind.template.residues().len() > 1)
        .collect();
    assert_eq!(proteins[0].template.atom_count(), 602);
    assert!(
        found
            .kinds
            .iter()
            .any(|kind| kind.name == "SOL" && kind.poses.len() == 7)
    );
    let options = ReadSceneOptions {
        split_by: SplitBy::Residue,
        ..ReadSceneOptions::default()
    };
    let residues = read_scene(&path, &options).unwrap();
    assert_eq!(residues.molecule_count(), 2 * 76 + 216 + 1 + 5 + 7);
}

#[test]
fn molecule_types_are_found_in_included_files() {
    let folder = scratch("included_types");
    let path = folder.join("cell.gro");
    let mut scene = one_kind("Water", water(), vec![]);
    scene.kinds[0].poses = (0..4)
        .map(|k| Pose::from_translation(Vec3::X * k as f32))
        .collect();
    write(&path, &scene);
    let topology = r#"
#include "missing.ff/forcefield.itp"
#ifdef FLEXIBLE
#include "flexible.itp"
#else
#include "rigid.itp"
#endif
[ system ]
water ; and nothing else
[ molecules ]
WATER 2
Water 2
"#;
    fs::write(folder.join("cell.top"), topology).unwrap();
    let water_type = "#include \"rigid.itp\"\n[ moleculetype ]\n; name\nwater 2\n[ atoms ]\n 1 OW\n 2 HW\n 3 HW\n[ bonds ]\n1 2\n";
    fs::write(folder.join("rigid.itp"), water_type).unwrap();
    fs::write(folder.join("flexible.itp"), "[ atoms ]\n 1 OW\n").unwrap();
    let found = read(&path);
    assert_eq!(found.molecule_count(), 4);
    let names: Vec<&str> = found.kinds.iter().map(|kind| kind.name.as_str()).collect();
    assert_eq!(names, ["WATER", "Water"]);
    let includes = ["missing.ff/forcefield.itp", "rigid.itp"];
    assert_eq!(found.kinds[0].topology.includes, includes);
}

#[test]
fn columns_and_decimals_are_those_of_the_format() {
    let folder = scratch("columns");
    let path = folder.join("a.gro");
    let mut scene = one_kind("ion", named("NA", "NA"), vec![]);
    scene.kinds[0].poses = [Vec3::new(1.0, 2.5, -0.25), Vec3::new(200.0, 0.0, 3.54321)]
        .map(Pose::from_translation)
        .to_vec();
    scene.periodic_box = Some(PeriodicBox::new(Vec3::splat(250.5)).unwrap());
    scene.name = "two ions; [ t ]\n".into();
    let mut options = ExportOptions {
        wrap: false,
        ..ExportOptions::default()
    };
    let mut rows = |decimals: u8| {
        options.decimals = decimals;
        write_scene(&path, &scene, None, &options, &mut |_| {}).unwrap();
        fs::read_to_string(&path).unwrap()
    };
    let usual = "two ions    t
2
    1NA      NA    1   1.000   2.500  -0.250
    2NA      NA    2 200.000   0.000   3.543
   250.50000   250.50000   250.50000
";
    assert_eq!(rows(3), usual);
    assert_eq!(rows(0), usual, "at least three decimals");
    let text = rows(5);
    let expected = "    2NA      NA    2 200.00000   0.00000   3.54321";
    assert_eq!(text.lines().nth(3).unwrap(), expected);
    let found = read(&path);
    let z = found.kinds[0].poses[1].position.z;
    assert!((z - 3.54321).abs() < 1.0e-6, "{z}");
    assert!(rows(200).contains(" 200.000000   0.000000   3.543210"));
}

#[test]
fn numbers_restart_after_99999() {
    let folder = scratch("many_residues");
    let path = folder.join("many.gro");
    let side = 50;
    let place = |k: usize| {
        Vec3::new(
            (k % side) as f32,
            (k / side % side) as f32,
            (k / side / side) as f32,
        ) * 0.35
    };
    let turn = Quat::from_rotation_y(1.0);
    let poses = (0..100_003).map(|k| Pose::new(place(k), turn)).collect();
    let scene = one_kind("water", water(), poses);
    let text = write(&path, &scene);
    let row = |atom: usize| &text.lines().nth(atom + 1).unwrap()[..20];
    assert_eq!(row(99_999), "33333SOL    HW299999");
    assert_eq!(row(100_000), "33334SOL     OW    0");
    assert_eq!(row(300_000), "    0SOL    HW2    0");
    assert_eq!(row(300_001), "    1SOL     OW    1");
    assert_eq!(row(300_009), "    3SOL    HW2    9");
    fs::remove_file(folder.join("many.top")).unwrap();
    let found = read(&path);
    assert_eq!(found.molecule_count(), 100_003);
    assert_eq!(found.kinds.len(), 1, "congruent in spite of the rounding");
}

#[test]
fn scenes_without_a_periodic_box_get_a_box_around_their_atoms() {
    let folder = scratch("boxes");
    let path = folder.join("a.gro");
    let mut scene = one_kind("ion", named("NA", "NA"), vec![]);
    scene.kinds[0].poses = [Vec3::splat(-200.0), Vec3::new(10.0, -200.0, 300.0)]
        .map(Pose::from_translation)
        .to_vec();
    let text = write(&path, &scene);
    let lines: Vec<&str> = text.lines().collect();
    // The radius and half a nanometer.
    assert_eq!(
        lines[0],
        "molecules, moved by 200.60000 200.60000 200.60000 nm"
    );
    assert!(
        lines[2].ends_with("   0.600   0.600   0.600"),
        "{}",
        lines[2]
    );
    assert!(
        lines[3].ends_with(" 210.600   0.600 500.600"),
        "{}",
        lines[3]
    );
    assert_eq!(lines[4], "   211.20000   1.20000   501.20000");
    // Bounds are the box.
    scene.bounds = Some([Vec3::splat(-300.0), Vec3::splat(400.0)]);
    let text = write(&path, &scene);
    assert!(text.ends_with("\n   700.00000   700.00000   700.00000\n"));

    let empty = Scene::default();
    assert_eq!(
        write(&path, &empty),
        "molecules, moved by 0.50000 0.50000 0.50000 nm\n0\n   1.00000   1.00000   1.00000\n"
    );
}

#[test]
fn whole_molecules_are_moved_into_the_periodic_box() {
    let folder = scratch("wrapped");
    let path = folder.join("a.gro");
    let edge = Vec3::splat(6.0);
    let outside = Vec3::new(-0.3, 13.0, 2.0);
    let mut scene = one_kind(
        "popc",
        asset("popc.pdb"),
        vec![Pose::from_translation(outside)],
    );
    scene.periodic_box = Some(PeriodicBox::new(edge).unwrap());
    write(&path, &scene);
    let found = read(&path);
    let moved = DVec3::new(-6.0, 12.0, 0.0);
    assert_same_places(&found, &scene, moved, FILE_ROUNDING);
}

#[test]
fn names_of_more_than_five_characters_are_cut_if_they_stay_unique() {
    let folder = scratch("names");
    let path = folder.join("a.gro");
    let at_origin = || vec![Pose::IDENTITY];
    let text = write(
        &path,
        &one_kind("a b;c", named("OXYGEN1", "LIPID12"), at_origin()),
    );
    assert!(
        text.lines()
            .nth(2)
            .unwrap()
            .starts_with("    1LIPIDOXYGE    1")
    );
    let topology = fs::read_to_string(folder.join("a.top")).unwrap();
    assert!(topology.contains("\na_b_c  "), "{topology}");
    let text = write(&path, &one_kind("", named("", ""), at_origin()));
    assert!(
        text.lines()
            .nth(2)
            .unwrap()
            .starts_with("    1UNK      O    1")
    );

    let mut scene = one_kind("one", named("O", "LIPID12"), at_origin());
    scene
        .kinds
        .extend(one_kind("two", named("O", "LIPID13"), at_origin()).kinds);
    let write = |scene: &Scene| {
        write_scene(&path, scene, None, &ExportOptions::default(), &mut |_| {}).unwrap_err()
    };
    let error = write(&scene);
    assert!(
        matches!(error, ExportError::UnsupportedName { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("LIPID13"), "{error}");
    for name in ["a b", "Cµ", "C\nA"] {
        let error = write(&one_kind("x", named(name, "LIG"), at_origin()));
        assert!(
            matches!(error, ExportError::UnsupportedName { .. }),
            "{error}"
        );
    }
    // Conformers have the same atoms.
    let mut scene = one_kind("lipid", water(), at_origin());
    scene
        .kinds
        .extend(one_kind("lipid", named("O", "LIG"), at_origin()).kinds);
    let error = write(&scene).to_string();
    assert!(error.contains("'lipid' have 3 and 1 atoms"), "{error}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "leftovers");
}

#[test]
fn failed_exports_leave_both_files_as_they_were() {
    let folder = scratch("failed");
    let path = folder.join("cell.gro");
    let mut scene = mixed_scene(true);
    scene.kinds[5].poses.push(Pose::from_translation(Vec3::NAN));
    let options = ExportOptions::default();
    let error = write_scene(&path, &scene, None, &options, &mut |_| {}).unwrap_err();
    assert!(
        matches!(error, ExportError::InvalidPose { molecule: 231, .. }),
        "{error}"
    );
    scene.kinds[5].poses.pop();
    scene.kinds[5]
        .poses
        .push(Pose::from_translation(Vec3::X * 30_000.0));
    let far = ExportOptions {
        wrap: false,
        ..ExportOptions::default()
    };
    let error = write_scene(&path, &scene, None, &far, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("use mmCIF instead"), "{error}");
    scene.kinds[5].poses.pop();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "leftovers");
    // The topology cannot be written.
    fs::create_dir(folder.join("cell.top")).unwrap();
    let error = write_scene(&path, &scene, None, &options, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("cell.top"), "{error}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "leftovers");
    fs::remove_dir(folder.join("cell.top")).unwrap();
    let mut calls = Vec::new();
    write_scene(&path, &scene, None, &options, &mut |count| {
        calls.push(count);
    })
    .unwrap();
    assert_eq!(calls, [0]);
    let bytes = fs::read(&path).unwrap();
    write_scene(&path, &scene, None, &options, &mut |_| {}).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes, "the same bytes");
}

#[test]
fn structure_files_are_loaded() {
    let folder = scratch("structures");
    let path = folder.join("protein.gro");
    let protein = asset("1ubq.cif");
    let pose = protein.file_pose();
    write(&path, &one_kind("ubiquitin", protein.clone(), vec![pose]));
    let loaded = load(&path, &LoadOptions::default()).unwrap();
    assert_eq!(loaded.elements(), protein.elements());
    assert_eq!(loaded.atom_names(), protein.atom_names());
    assert!((loaded.mass() - protein.mass()).abs() < 0.1);
    let structure = load_structure(&path, &LoadOptions::default()).unwrap();
    assert!(structure.unit_cell().unwrap().orthorhombic().is_some());
    let parts = structure.split_by(SplitBy::Molecule, &LoadOptions::default());
    assert_eq!(parts.unwrap().len(), 1, "residues are bonded");
}

#[test]
fn frames_are_models_and_velocities_are_ignored() {
    let text = "Water, t= 0.0
3
    1SOL     OW    1   0.126   1.624   1.679  0.1227 -0.0580  0.0434
    1SOL    HW1    2   0.190   1.661   1.747  0.8085  0.3191 -0.7791
    1SOL    HW2    3   0.177   1.568   1.613 -0.9045 -2.6469  1.3180
   1.82060   1.82060   1.82060
Water, t= 1.0
3
    1SOL     OW    1   0.226   1.624   1.679
    1SOL    HW1    2   0.290   1.661   1.747
    1SOL    HW2    3   0.277   1.568   1.613
   1.82060   1.82060   1.82060

";
    let options = LoadOptions {
        waters: true,
        ..LoadOptions::default()
    };
    let structure = read_bytes(text.as_bytes(), "water.gro", &options).unwrap();
    assert_eq!(
        (structure.atoms().len(), structure.models()),
        (6, &[1, 2][..])
    );
    assert_eq!(structure.template(&options).unwrap().atom_count(), 3);
    let crlf = text.replace('\n', "\r\n");
    let same = read_bytes(crlf.as_bytes(), "water.gro", &options).unwrap();
    assert_eq!(same, structure);
}

#[test]
fn malformed_files_are_reported_with_their_line() {
    let folder = scratch("malformed");
    let path = folder.join("bad.gro");
    let atom = "    1SOL     OW    1   0.126   1.624   1.679";
    let cases = [
        (String::new(), "the file is empty"),
        ("title".into(), "line 1: '' is not a number of atoms"),
        (
            "title\nthree\n".into(),
            "line 2: 'three' is not a number of atoms",
        ),
        (
            "title\n-1\n".into(),
            "line 2: '-1' is not a number of atoms",
        ),
        (
            format!("title\n2\n{atom}\n"),
            "line 3: the file ends after 1 of 2 atoms",
        ),
        (
            "title\n18446744073709551615\n".into(),
            "line 2: the file ends after 0 of 18446744073709551615 atoms",
        ),
        (
            "title\n1\n    1SOL\n".into(),
            "line 3: the atom has no three coordinates",
        ),
        (
            format!("title\n2\n{atom}\n    1SOL    HW1    2   0.190\n"),
            "line 4: the atom record has 28 columns",
        ),
        (
            "title\n1\n    1SOL     OW    1   0.126   1.xx4   1.679\n".into(),
            "line 3: the y coordinate is '1.xx4'",
        ),
        (
            "title\n1\n    1SOL     OW    1   0.126   1.624     nan.\n".into(),
            "line 3: the atom has no three coordinates",
        ),
        (
            "title\n1\n    1SOL     O\u{b5}    1   0.126   1.624   1.679\n".into(),
            "line 3: found bytes that are not text",
        ),
        ("title\n0\n 1 1 1\n".into(), "no atoms found"),
        (
            format!("title\n1\n{atom}\n 1 1 1\nrest\n"),
            "line 5: '' is not a number of atoms",
        ),
    ];
    for (text, expected) in cases {
        fs::write(&path, &text).unwrap();
        let error = read_scene(&path, &ReadSceneOptions::default())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("bad.gro") && error.contains(expected),
            "{error}\n{text}"
        );
        assert!(!error.contains('\n'));
    }
    let good = format!("title\n1\n{atom}\n 1 1 1\n");
    fs::write(&path, good).unwrap();
    for (topology, expected) in [
        (
            "[ molecules ]\nSOL 2 ; 1 atoms each\n",
            "bad.gro, line 2: there are 1 atoms, but 2 in the molecules of the topology",
        ),
        (
            "[ molecules ]\nSOL\n",
            "bad.top: line 2: expected a molecule type and the number",
        ),
        (
            "[ molecules ]\nSOL 99999999999999999999\n",
            "bad.top: line 2: expected a molecule type",
        ),
        (
            "[ molecules ]\nSOL 18446744073709551615 ; 3 atoms each\n",
            "too many in the molecules",
        ),
    ] {
        fs::write(folder.join("bad.top"), topology).unwrap();
        let error = read_scene(&path, &ReadSceneOptions::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}\n{topology}");
    }
    // Molecule types without a size are no error.
    fs::write(
        folder.join("bad.top"),
        "#include \"a.itp\"\n[ molecules ]\nSOL 1\n",
    )
    .unwrap();
    assert_eq!(read(&path).kinds[0].name, "SOL");
}
