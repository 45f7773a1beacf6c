//! Scenes and comparisons shared by the tests of placement formats.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bevy_rapier_molecules::export::ExportOptions;
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::scene_files::{
    ReadSceneOptions, Scene, SceneKind, SceneReadError, read_scene, write_scene,
};
use glam::{Quat, Vec3};

pub fn assets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/molecules")
}

/// An empty folder for a test.
pub fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("scene_files")
        .join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

pub fn template(name: &str) -> Arc<MoleculeTemplate> {
    Arc::new(load(assets().join(name), &LoadOptions::default()).unwrap())
}

/// Poses around `center` (nm), all with different rotations.
pub fn poses(count: usize, center: Vec3) -> Vec<Pose> {
    let pose = |k: usize| {
        let at = |step: usize| (k / step % 10) as f32 * 1.7 - 8.0;
        let axis = Vec3::new(1.0, 0.1 * (k % 7) as f32, -0.3).normalize();
        Pose::new(
            center + Vec3::new(at(1), at(10), at(100)),
            Quat::from_axis_angle(axis, 0.7 * k as f32),
        )
    };
    (0..count).map(pose).collect()
}

/// A vesicle of two leaflets of one lipid, a protein of more than 256 atoms, a coarse molecule, and
/// a kind without molecules.
pub fn vesicle() -> Scene {
    let lipid = template("popc.pdb");
    let kind = |name: &str, path: &[&str], template: &Arc<MoleculeTemplate>| {
        let mut kind = SceneKind::new(name, Arc::clone(template));
        kind.path = path.iter().map(|&group| group.to_owned()).collect();
        kind
    };
    let mut outer = kind("popc", &["vesicle", "outer_leaflet"], &lipid);
    outer.poses = poses(40, Vec3::ZERO);
    outer.color = Some([1.0, 0.5, 0.0]);
    outer.file = Some("popc.pdb".to_owned());
    outer.topology.molecule_type = Some("POPC".to_owned());
    outer.topology.includes = vec!["forcefield.itp".to_owned(), "popc.itp".to_owned()];
    let mut inner = kind("popc", &["vesicle", "inner_leaflet"], &lipid);
    inner.poses = poses(30, Vec3::new(200.0, -200.0, 150.0));
    inner.topology.includes = vec!["forcefield.itp".to_owned()];
    let mut protein = kind(
        "a \"protein\" of µ",
        &["vesicle", "interior"],
        &template("1ubq.cif"),
    );
    protein.poses = poses(20, Vec3::new(3.0, 5.0, 7.0));
    protein.file = Some("1ubq.cif".to_owned());
    let balls = [(Vec3::ZERO, 2.0), (Vec3::X * 3.0, 1.25), (Vec3::Y, 0.5)];
    let granule = Arc::new(MoleculeTemplate::coarse("granule", &balls).unwrap());
    let mut granule = kind("granule", &[], &granule);
    granule.poses = poses(10, Vec3::splat(40.0));
    granule.color = Some([0.0, 0.2, 1.0]);
    let nothing = kind("nothing", &["cytosol"], &lipid);
    Scene {
        name: "a vesicle, \"quoted\"".to_owned(),
        kinds: vec![outer, protein, inner, granule, nothing],
        periodic_box: None,
        bounds: None,
    }
}

/// A scene with a box from a corner that is not the origin.
pub fn periodic() -> Scene {
    let mut scene = vesicle();
    scene.kinds.truncate(2);
    let low = Vec3::new(-10.0, -9.0, -8.5);
    let size = Vec3::new(30.0, 40.0, 50.0);
    scene.bounds = Some([low, low + size]);
    scene.periodic_box = Some(PeriodicBox::new(size).unwrap());
    scene
}

pub fn write(path: &Path, scene: &Scene) {
    let mut last = 0;
    let mut progress = |count| last = count;
    let summary = write_scene(path, scene, None, &ExportOptions::default(), &mut progress).unwrap();
    assert_eq!(summary.molecules, scene.molecule_count());
    assert_eq!(summary.atoms, scene.atom_count());
    assert_eq!(last, summary.molecules);
}

pub fn read(path: &Path) -> Result<Scene, SceneReadError> {
    read_scene(path, &ReadSceneOptions::default())
}

/// Names, groups, colors, topologies and box are equal, and atoms are as close as `tolerance`, nm.
pub fn assert_same(read: &Scene, written: &Scene, tolerance: f32) {
    assert_eq!(read.name, written.name);
    assert_eq!(read.bounds, written.bounds);
    assert_eq!(read.periodic_box, written.periodic_box);
    assert_eq!(read.kinds.len(), written.kinds.len());
    for (read, written) in read.kinds.iter().zip(&written.kinds) {
        assert_eq!(read.name, written.name);
        assert_eq!(read.path, written.path);
        assert_eq!(read.topology, written.topology);
        let color = |kind: &SceneKind| kind.color.map(|c| c.map(|part| (part * 255.0).round()));
        assert_eq!(color(read), color(written));
        let (a, b) = (&read.template, &written.template);
        assert_eq!(a.elements(), b.elements());
        assert_eq!(a.atom_names(), b.atom_names());
        for (a, b) in a.radii().iter().zip(b.radii()) {
            assert!((a - b).abs() < 1.0e-5, "radius {a} nm, expected {b} nm");
        }
        assert_same_poses(read, written, tolerance);
    }
}

/// Poses and the atoms of their molecules are as close as `tolerance`, nm.
pub fn assert_same_poses(read: &SceneKind, written: &SceneKind, tolerance: f32) {
    assert_eq!(read.poses.len(), written.poses.len());
    for (a, b) in read.poses.iter().zip(&written.poses) {
        assert!(a.is_rigid());
        let error = (a.position - b.position).abs().max_element();
        assert!(error <= tolerance, "{a:?}, expected {b:?}");
        assert!(a.rotation.angle_between(b.rotation) < 2.0e-3);
        let (p, q) = (read.template.positions(), written.template.positions());
        for atom in [0, p.len() / 2, p.len() - 1] {
            let (a, b) = (a.transform_point(p[atom]), b.transform_point(q[atom]));
            let error = (a - b).abs().max_element();
            assert!(error <= 2.0 * tolerance, "atom at {a}, expected {b}");
        }
    }
}

/// Reading the text fails with this sentence, or a part of it.
pub fn assert_error(path: &Path, expected: &str) {
    let error = read(path).unwrap_err().to_string();
    assert!(error.contains(expected), "{error:?}, expected {expected:?}");
    let file = path.file_name().unwrap().to_str().unwrap();
    assert!(error.contains(file), "{error:?} has no file name");
}

/// A scene that cannot be written leaves no file.
pub fn assert_invalid_scenes_leave_nothing(name: &str) {
    use bevy_rapier_molecules::export::ExportError;
    let folder = scratch(&format!("invalid {name}"));
    let write = |path: &Path, scene: &Scene| {
        let options = ExportOptions::default();
        write_scene(path, scene, None, &options, &mut |_| {}).unwrap_err()
    };
    let mut scene = vesicle();
    scene.kinds[1].poses[3].rotation = Quat::from_xyzw(0.0, 0.0, 0.0, 2.0);
    let error = write(&folder.join(name), &scene);
    assert!(matches!(
        error,
        ExportError::InvalidPose { molecule: 43, .. }
    ));
    scene.kinds[1].poses[3] = Pose::from_translation(Vec3::new(0.0, f32::NAN, 0.0));
    let error = write(&folder.join(name), &scene);
    assert!(matches!(
        error,
        ExportError::InvalidPose { molecule: 43, .. }
    ));
    let error = write(&folder.join("no folder").join(name), &vesicle());
    assert!(matches!(error, ExportError::File { .. }));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    fs::create_dir(folder.join(name)).unwrap();
    let error = write(&folder.join(name), &vesicle());
    assert!(matches!(error, ExportError::File { .. }), "{error}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "leftovers");
}
