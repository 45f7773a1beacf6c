//! Data files and input scripts of LAMMPS.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bevy_rapier_molecules::export::{ExportError, ExportOptions};
use bevy_rapier_molecules::molecule::{Element, MoleculeTemplate};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::scene_files::{
    ReadSceneOptions, Scene, SceneKind, read_scene, write_scene,
};
use glam::{DVec3, Vec3};

use super::mixed_scene::{LOW, assert_same_places, mixed_scene, water};

/// Maximum difference between a position and its value in a file with three decimals (Å), nm: the
/// rounding of the file and of the template read from another molecule.
const FILE_ROUNDING: f64 = 0.0003;

fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("lammps")
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

fn read_text(folder: &Path, text: &str) -> Scene {
    let path = folder.join("foreign.data");
    fs::write(&path, text).unwrap();
    read(&path)
}

#[test]
fn scenes_return_with_names_box_and_molecules() {
    let folder = scratch("round_trip");
    let path = folder.join("cell.data");
    for is_periodic in [true, false] {
        let scene = mixed_scene(is_periodic);
        write(&path, &scene);
        let found = read(&path);
        assert_same_places(&found, &scene, DVec3::ZERO, FILE_ROUNDING);
        assert_eq!(found.periodic_box, scene.periodic_box);
        let low = found.bounds.unwrap()[0];
        assert_eq!(low == LOW, is_periodic, "{low}");
        let kinds: Vec<(&str, usize)> = found
            .kinds
            .iter()
            .map(|kind| (kind.name.as_str(), kind.poses.len()))
            .collect();
        let expected = [
            ("ubiquitin", 2),
            ("popc", 150),
            ("granule", 1),
            ("sodium", 5),
            ("water", 7),
            ("popc", 66),
        ];
        assert_eq!(kinds, expected);
        for (found, written) in found.kinds.iter().zip(&scene.kinds) {
            let (found, written) = (&found.template, &written.template);
            assert_eq!(found.elements(), written.elements());
            assert!((found.mass() / written.mass() - 1.0).abs() < 1.0e-4);
        }
        assert_eq!(found.kinds[2].template.bounding_radius(), 1.5);
        assert_eq!(
            found.kinds[1].template.radii(),
            scene.kinds[1].template.radii()
        );
    }
}

#[test]
fn the_data_file_has_counts_box_masses_and_molecule_numbers() {
    let folder = scratch("columns");
    let path = folder.join("a b.data");
    let mut kind = SceneKind::new("water & \"ions\"", Arc::new(water()));
    kind.poses = vec![
        Pose::IDENTITY,
        Pose::from_translation(Vec3::new(7.0, 0.0, -200.0)),
    ];
    let ball = MoleculeTemplate::coarse("ball", &[(Vec3::ZERO, 20.0)]).unwrap();
    let mut balls = SceneKind::new("ball", Arc::new(ball));
    balls.poses = vec![Pose::from_translation(Vec3::splat(1.0))];
    let scene = Scene {
        name: "water\n# and balls".into(),
        kinds: vec![balls, kind],
        periodic_box: Some(PeriodicBox::new(Vec3::new(3.0, 4.0, 500.0)).unwrap()),
        bounds: Some([Vec3::new(-1.0, -2.0, -250.0), Vec3::ZERO]),
    };
    let text = write(&path, &scene);
    let expected = "LAMMPS data file: water__ and balls, units = real

7 atoms
3 atom types

-10.000000 20.000000 xlo xhi
-20.000000 20.000000 ylo yhi
-2500.000000 2500.000000 zlo zhi

Masses

1 27243892 # ball, radius 20 nm
2 15.999 # O
3 1.008 # H

Atoms # molecular

1 1 1 10.000 10.000 10.000
2 2 2 -0.0";
    assert!(text.starts_with(expected), "{text}");
    assert!(
        text.lines().last().unwrap().starts_with("7 3 3 9."),
        "{text}"
    );
    let script = fs::read_to_string(folder.join("a b.in")).unwrap();
    for line in [
        "# molecules 1 to 1: ball",
        "# molecules 2 to 3: water _ _ions_",
        "boundary p p p",
        "read_data \"a b.data\"",
        "neighbor 2 multi",
        "group points molecule 1:1",
        "pair_coeff 1 1 0.0 400 # ball, radius 20 nm",
        "fix bodies bodies rigid/small molecule langevin ${temperature} ${temperature} ${damping} 42011",
        "write_data \"a b.relaxed.data\" nocoeff",
    ] {
        assert!(
            script.lines().any(|found| found == line),
            "{line}\n{script}"
        );
    }
}

#[test]
fn data_that_lammps_has_written_is_read_with_the_script_of_the_input() {
    let folder = scratch("relaxed");
    let mut kind = SceneKind::new("water", Arc::new(water()));
    kind.poses = vec![Pose::IDENTITY, Pose::from_translation(Vec3::X)];
    let scene = Scene {
        kinds: vec![kind],
        ..Scene::default()
    };
    write(&folder.join("cell.data"), &scene);
    // Unsorted, without comments, with image flags.
    let text = "LAMMPS data file via write_data, version 29 Sep 2021, timestep = 200

6 atoms
2 atom types

-5 20 xlo xhi
-5 5 ylo yhi
-5 5 zlo zhi

Masses

1 15.999
2 1.008

Atoms # molecular

6 2 2 10.24 0.5 0 0 0 0
4 2 1 10 0 0 0 0 0
1 1 1 0 0 0 0 0 0
3 1 2 -0.24 -9.073 0 0 1 0
2 1 2 0.957 0 0 0 0 0
5 2 2 10.957 0 0 0 0 0

Velocities

6 0 0 0
";
    fs::write(folder.join("cell.relaxed.data"), text).unwrap();
    let found = read(&folder.join("cell.relaxed.data"));
    assert_eq!(
        found.periodic_box, None,
        "the script has no periodic boundary"
    );
    assert_eq!(found.kinds[0].name, "water");
    let first = &found.kinds[0];
    let elements = [Element::O, Element::H, Element::H];
    assert_eq!(first.template.elements(), elements);
    let third = first.poses[0].transform_point(first.template.positions()[2]);
    assert!(
        third.abs_diff_eq(Vec3::new(-0.024, 0.0927, 0.0), 1.0e-6),
        "{third}"
    );
}

#[test]
fn foreign_atom_styles_are_read() {
    let folder = scratch("styles");
    let head = "comment\n\n2 atoms\n1 atom types\n 0 10 xlo xhi\n0.0 20 ylo yhi\n0 30 zlo zhi\n\nMasses\n\n1 12.01\n\n";
    for (comment, rows, molecules) in [
        ("# atomic", "1 1 1 2 3\n2 1 2 2 3", 2),
        ("", "1 1 1 2 3 0 0 0\n2 1 2 2 3 0 0 0", 2),
        ("# charge", "1 1 -0.5 1 2 3\n2 1 0.5 2 2 3", 2),
        ("# molecular", "1 7 1 1 2 3\n2 7 1 2 2 3", 1),
        ("# bond", "1 7 1 1 2 3 # C\n2 7 1 2 2 3", 1),
        ("# full", "1 7 1 -0.5 1 2 3\n2 7 1 0.5 2 2 3", 1),
        ("", "1 7 1 -0.5 1 2 3 0 0 0\n2 7 1 0.5 2 2 3 0 0 0", 1),
        ("# molecular", "1 0 1 1 2 3\n2 0 1 2 2 3", 2),
    ] {
        let text = format!("{head}Atoms {comment}\n\n{rows}\n\nBonds\n\n1 1 1 2\n");
        let scene = read_text(&folder, &text);
        assert_eq!(scene.molecule_count(), molecules, "{rows}");
        assert_eq!(scene.atom_count(), 2);
        assert_eq!(scene.kinds.len(), 1);
        assert_eq!(scene.periodic_box.unwrap().size(), Vec3::new(1.0, 2.0, 3.0));
        assert_eq!(scene.bounds, None, "the corner is the origin");
        assert_eq!(scene.kinds[0].template.elements()[0], Element::C);
        let (template, pose) = scene.instances().next().unwrap();
        let first = pose.transform_point(template.positions()[0]);
        assert!(first.abs_diff_eq(Vec3::new(0.1, 0.2, 0.3), 1.0e-6));
    }
}

#[test]
fn beads_are_balls_and_tilted_boxes_are_left_out() {
    let folder = scratch("beads");
    let text = "martini\n\n2 atoms\n1 atom types\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n5 0 0 xy xz yz\n\nMasses\n\n1 72.0 # P4\n\nAtoms # molecular\n\n1 1 1 1 1 1 0 0 0\n2 1 1 1 -5 1 0 1 0\n";
    let scene = read_text(&folder, text);
    assert_eq!((scene.periodic_box, scene.bounds), (None, None));
    let template = &scene.kinds[0].template;
    assert_eq!(template.elements(), [Element::UNKNOWN; 2]);
    assert!((template.mass() - 144.0).abs() < 0.1, "{}", template.mass());
    let across = template.positions()[1] - template.positions()[0];
    assert!(
        across.abs_diff_eq(Vec3::new(0.5, 0.4, 0.0), 1.0e-5),
        "{across}"
    );
}

#[test]
fn empty_scenes_and_failures_leave_whole_files() {
    let folder = scratch("failures");
    let path = folder.join("cell.lmp");
    let options = ExportOptions::default();
    let mut scene = mixed_scene(false);
    scene.kinds[0].poses[1].position.x = f32::INFINITY;
    let error = write_scene(&path, &scene, None, &options, &mut |_| {}).unwrap_err();
    assert!(
        matches!(error, ExportError::InvalidPose { molecule: 1, .. }),
        "{error}"
    );
    scene.kinds[0].poses[1].position.x = 2.0e5;
    let error = write_scene(&path, &scene, None, &options, &mut |_| {}).unwrap_err();
    assert!(
        matches!(error, ExportError::OutOfRange { molecule: 1, .. }),
        "{error}"
    );
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "leftovers");
    let text = write(&path, &Scene::default());
    assert!(text.contains("\n0 atoms\n"));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    let text = write(&path, &mixed_scene(true));
    assert_eq!(write(&path, &mixed_scene(true)), text, "the same bytes");
    let taken = folder.join("cell.in");
    let error = write_scene(
        &taken,
        &Scene::default(),
        Some(bevy_rapier_molecules::scene_files::SceneFormat::LammpsData),
        &options,
        &mut |_| {},
    );
    assert!(error.unwrap_err().to_string().contains("the same name"));
}

#[test]
fn malformed_files_are_reported_with_their_line() {
    let folder = scratch("malformed");
    let path = folder.join("bad.data");
    let head = "title\n1 atoms\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\nMasses\n\n1 12.01\n\n";
    let cases = [
        (String::new(), "Atoms: no atoms found"),
        (
            "t\n1.5 atoms\n".into(),
            "line 2: atoms is '1.5', expected a whole number",
        ),
        (
            "t\n99999999999 atoms\n".into(),
            "Atoms: there are 0 atoms, but 99999999999 in the header",
        ),
        ("t\n0 nan xlo xhi\n".into(), "line 2: the box is 'nan'"),
        (
            "t\n10 0 xlo xhi\n".into(),
            "line 2: the box is from 10 to 0 Å",
        ),
        (
            "t, units = lj\n".into(),
            "line 1: the units are 'lj', expected real or metal",
        ),
        (
            "t\nMasses\n\n1 -3\n".into(),
            "line 4: the mass of atom type 1 is '-3'",
        ),
        (
            "t\nMasses\n\nC1 12\n".into(),
            "line 4: the type of an atom is 'C1', expected a whole number",
        ),
        (
            format!("{head}Atoms # sphere\n\n1 1 1 1 1 1 1\n"),
            "line 10: the atom style is 'sphere'",
        ),
        (
            format!("{head}Atoms\n\n1 1 1 1\n"),
            "line 12: the atom has 4 columns",
        ),
        (
            format!("{head}Atoms # full\n\n1 1 1 1 1 1\n"),
            "line 12: the atom has 6 columns, expected 7, or 10",
        ),
        (
            format!("{head}Atoms # atomic\n\n1 1 1e9 1 1\n"),
            "line 12: a coordinate is '1e9'",
        ),
        (
            format!("{head}Atoms # atomic\n\n1 1 1 1 1 0 0 1.5\n"),
            "line 12: an image flag is '1.5'",
        ),
        (
            format!("{head}Atoms # atomic\n\n1.5 1 1 1 1\n"),
            "line 12: the number of an atom is '1.5'",
        ),
        (
            format!("{head}Atoms # atomic\n\n1 2 1 1 1\n"),
            "atom 1: its type 2 has no mass",
        ),
        (
            format!("{head}Atoms # atomic\n\n1 1 1 1 1 2147483647 0 0\n"),
            "has position",
        ),
    ];
    for (text, expected) in cases {
        fs::write(&path, &text).unwrap();
        let error = read_scene(&path, &ReadSceneOptions::default()).map(|_| ());
        let error = error.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}\n{text}");
        assert!(!error.contains('\n'));
    }
    fs::write(&path, b"t\n\xff\xfe\n").unwrap();
    let error = read_scene(&path, &ReadSceneOptions::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("bad.data: line 2: found bytes that are not text")
    );
}
