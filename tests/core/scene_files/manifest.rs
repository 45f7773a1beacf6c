//! Manifests of the mesoscale explorer: zip archives.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::scene_files::Scene;
use flate2::Crc;
use glam::{EulerRot, Mat3, Quat, Vec3};
use serde_json::json;

use super::placement_fixtures::{
    assert_error, assert_invalid_scenes_leave_nothing, assert_same, assets, periodic, read,
    scratch, vesicle, write,
};

/// Maximum error of a position, nm: half a unit in the last place of 2,000 Å.
const TOLERANCE: f32 = 2.0e-5;

/// An archive with stored files, made without the library.
fn stored(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let offset = bytes.len() as u32;
        let mut crc = Crc::new();
        crc.update(content);
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        common.extend(crc.sum().to_le_bytes());
        common.extend([content.len() as u32; 2].map(u32::to_le_bytes).concat());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0; 2]);
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&common);
        bytes.extend(name.as_bytes());
        bytes.extend(*content);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(common);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (offset, size) = (bytes.len() as u32, directory.len() as u32);
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([files.len() as u16; 2].map(u16::to_le_bytes).concat());
    bytes.extend(size.to_le_bytes());
    bytes.extend(offset.to_le_bytes());
    bytes.extend([0; 2]);
    bytes
}

fn written_manifest(path: &Path, manifest: &serde_json::Value, files: &[(&str, &[u8])]) {
    let text = manifest.to_string();
    let mut all = vec![("manifest.json", text.as_bytes())];
    all.extend(files);
    fs::write(path, stored(&all)).unwrap();
}

#[test]
fn a_scene_comes_back() {
    let folder = scratch("manifest");
    for (name, scene) in [
        ("vesicle.zip", vesicle()),
        ("periodic.zip", periodic()),
        ("empty.zip", Scene::default()),
    ] {
        let path = folder.join(name);
        write(&path, &scene);
        let found = read(&path).unwrap();
        assert_same(&found, &scene, TOLERANCE);
        // The same input gives the same bytes.
        let bytes = fs::read(&path).unwrap();
        write(&path, &scene);
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    let found = read(&folder.join("vesicle.zip")).unwrap();
    let template = |kind: usize| &found.kinds[kind].template;
    assert!(Arc::ptr_eq(template(0), template(2)), "one file");
    // Rotations are exact.
    let scene = vesicle();
    let pairs = found.kinds[0].poses.iter().zip(&scene.kinds[0].poses);
    for (found, written) in pairs {
        assert!(found.rotation.abs_diff_eq(written.rotation, 2.0e-7));
    }
}

#[test]
fn a_molecule_outside_of_the_periodic_box_is_moved_inside() {
    let path = scratch("manifest outside").join("scene.zip");
    let mut scene = periodic();
    let inside = scene.clone();
    scene.kinds[0].poses[0].position += Vec3::new(30.0, -80.0, 0.0);
    write(&path, &scene);
    assert_same(&read(&path).unwrap(), &inside, 2.0e-5);
}

#[test]
fn invalid_scenes_leave_nothing() {
    assert_invalid_scenes_leave_nothing("scene.zip");
}

#[test]
fn manifests_of_other_programs_are_read() {
    let path = scratch("manifest foreign").join("foreign.zip");
    let lipid = fs::read(assets().join("popc.pdb")).unwrap();
    let virus = fs::read(assets().join("4udv.pdb")).unwrap();
    let turn = Quat::from_euler(EulerRot::XYZ, 0.3, -0.4, 1.2);
    let matrix = Mat3::from_quat(turn).transpose().to_cols_array();
    let positions: Vec<f32> = vec![10.0, 20.0, 30.0];
    let mut numbers: Vec<u8> = vec![9; 4];
    numbers.extend(positions.iter().flat_map(|n| n.to_le_bytes()));
    let instances = |variant: &str, data: &[f32]| {
        json!({
            "positions": {"data": positions, "type": "x"},
            "rotations": {"variant": variant, "data": data},
        })
    };
    let entity = |instances: serde_json::Value| {
        let groups = json!([{"id": "lipids", "root": "function"}, {"id": "", "root": "other"}]);
        json!({"file": "models/popc.pdb", "groups": groups, "instances": instances})
    };
    let in_file = json!({
        "positions": {"data": {"file": "numbers.bin", "view": {"byteOffset": 4}}},
        "rotations": {"variant": "quaternion", "data": turn.to_array()},
    });
    let manifest = json!({
        "label": "foreign", "unknown": [1, {"a": null}],
        "roots": [{"id": "function", "children": [
            {"id": "membrane", "root": "function", "label": "Membrane", "children": [
                {"id": "lipids", "root": "function"}]}]},
            {"id": "other"}],
        "entities": [
            entity(instances("euler", &[0.3, -0.4, 1.2])),
            entity(instances("matrix", &matrix)),
            entity(instances("quaternion", &turn.to_array())),
            entity(in_file),
            {"file": "models/popc.pdb", "label": "one", "groups": [], "color": [255, 0, 51]},
            {"file": "surface.ply", "groups": []},
            {"file": "virus.pdb", "groups": []},
        ],
    });
    let files: [(&str, &[u8]); 3] = [
        ("models/popc.pdb", &lipid),
        ("numbers.bin", &numbers),
        ("virus.pdb", &virus),
    ];
    written_manifest(&path, &manifest, &files);
    let scene = read(&path).unwrap();
    assert_eq!(scene.name, "foreign");
    assert_eq!(scene.kinds.len(), 6);
    let motion = Pose::new(Vec3::new(1.0, 2.0, 3.0), turn);
    for kind in &scene.kinds[..4] {
        assert_eq!((kind.name.as_str(), kind.poses.len()), ("popc", 1));
        assert_eq!(kind.path, ["Membrane", "lipids"]);
        let expected = motion * kind.template.file_pose();
        let error = kind.poses[0].position - expected.position;
        assert!(error.length() < 1.0e-5);
        assert!(kind.poses[0].rotation.angle_between(turn) < 1.0e-3);
    }
    let one = &scene.kinds[4];
    assert_eq!((one.name.as_str(), one.path.len()), ("one", 0));
    assert_eq!(one.poses, [one.template.file_pose()]);
    assert_eq!(one.color, Some([1.0, 0.0, 0.2]));
    // Without instances, the first assembly of the file.
    assert_eq!(scene.kinds[5].poses.len(), 49);
}

#[test]
fn malformed_manifests_are_rejected_with_file_and_place() {
    let folder = scratch("malformed manifests");
    let lipid = fs::read(assets().join("popc.pdb")).unwrap();
    let of = |instances: serde_json::Value| json!({"roots": [], "entities": [{"file": "a.pdb", "groups": [], "instances": instances}]});
    let quaternions = |positions: serde_json::Value, rotations: serde_json::Value| {
        of(json!({
            "positions": {"data": positions},
            "rotations": {"variant": "quaternion", "data": rotations},
        }))
    };
    let view = |offset: i64, length: i64| {
        let view = json!({"byteOffset": offset, "byteLength": length});
        quaternions(json!({"file": "n.bin", "view": view}), json!([0, 0, 0, 1]))
    };
    let cases = [
        (json!([]), "line 1"),
        (json!({"entities": [{"groups": []}]}), "entities[0]"),
        (json!({"entities": [{"file": "b.pdb"}]}), "no file 'b.pdb'"),
        (
            json!({"entities": [{"file": "../a.pdb"}]}),
            "no file '../a.pdb'",
        ),
        (json!({"entities": [{"file": "n.bin"}]}), "n.bin"),
        (of(json!({})), "entities[0].instances"),
        (
            quaternions(json!("a"), json!([])),
            "expected a list of numbers",
        ),
        (quaternions(json!([1, 2]), json!([])), "multiple of 3"),
        (
            quaternions(json!([1, 2, 3]), json!([])),
            "1 positions and 0 rotations",
        ),
        (
            quaternions(json!([1, 2, 3]), json!([0, 0, 0, 0])),
            "number 0: the rotation",
        ),
        (
            quaternions(json!([1, 2, 1e30]), json!([0, 0, 0, 1])),
            "number 0: the position",
        ),
        (
            quaternions(json!([1, 2, 1e39]), json!([0, 0, 0, 1])),
            "number 0: the position",
        ),
        (
            quaternions(json!([1, 2, null]), json!([0, 0, 0, 1])),
            "positions.data[2]",
        ),
        (view(0, 100), "outside of the 13 bytes"),
        (view(12, i64::MAX), "outside of the 13 bytes"),
        (view(0, 13), "13 bytes are not numbers"),
        (view(-1, 12), "byteOffset"),
        (
            of(json!({
                "positions": {"data": [1, 2, 3]},
                "rotations": {"variant": "matrix", "data": [1, 0, 0, 0, 1, 0, 0, 0, -1]},
            })),
            "no rotation: it reflects",
        ),
        (
            of(json!({
                "positions": {"data": [1, 2, 3]},
                "rotations": {"variant": "spin", "data": [1]},
            })),
            "spin",
        ),
        (
            json!({"entities": [], "bevy_rapier_molecules": {"periodic_box": [1, 0, 1]}}),
            "edges of a periodic box",
        ),
        (
            json!({"entities": [{"file": "a.pdb", "bevy_rapier_molecules": {"spheres": []}}]}),
            "has no atoms",
        ),
        (
            json!({"entities": [{"file": "a.pdb",
            "bevy_rapier_molecules": {"spheres": [[0, 0, 0, -1]]}}]}),
            "radius",
        ),
    ];
    for (number, (manifest, expected)) in cases.iter().enumerate() {
        let path = folder.join(format!("case_{number}.zip"));
        let files: [(&str, &[u8]); 2] = [("a.pdb", &lipid), ("n.bin", &[1; 13])];
        written_manifest(&path, manifest, &files);
        assert_error(&path, expected);
    }
}

#[test]
fn malformed_archives_are_rejected_and_nothing_is_unpacked() {
    let folder = scratch("malformed archives");
    let path = folder.join("archive.zip");
    let lipid = fs::read(assets().join("popc.pdb")).unwrap();
    let text = json!({"entities": [{"file": "../../evil.pdb"}]}).to_string();
    let whole = stored(&[
        ("manifest.json", text.as_bytes()),
        ("../../evil.pdb", &lipid),
        ("/etc/evil", b"evil"),
    ]);
    // Names are only names: nothing is written.
    fs::write(&path, &whole).unwrap();
    assert_eq!(read(&path).unwrap().molecule_count(), 1);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    assert!(!folder.join("../../evil.pdb").exists());

    let changed = |at: usize, value: &[u8]| {
        let mut bytes = whole.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        bytes
    };
    let end = whole.len() - 22;
    let directory = u32::from_le_bytes(whole[end + 16..end + 20].try_into().unwrap()) as usize;
    let cases = [
        (b"not a zip archive".to_vec(), "not a zip archive"),
        (Vec::new(), "not a zip archive"),
        (whole[..whole.len() - 30].to_vec(), "not a zip archive"),
        (
            changed(directory + 16, &[1, 2, 3, 4]),
            "manifest.json: the checksum is wrong",
        ),
        (changed(directory + 24, &[0xff; 4]), "zip64"),
        (changed(end + 10, &[0xff; 2]), "zip64"),
        (changed(end + 4, &[1, 0]), "several parts"),
        (
            changed(end + 16, &[0, 0, 0, 0x70]),
            "the directory is outside",
        ),
        (changed(directory + 8, &[1, 0]), "encrypted"),
        (changed(directory + 10, &[99, 0]), "compression method 99"),
        (
            changed(directory + 24, &[0, 0, 0, 0xf0]),
            "exceed the limit",
        ),
        (changed(directory + 20, &[0, 0, 0, 0x10]), "truncated"),
        (stored(&[("other", b"")]), "no file 'manifest.json'"),
        (
            stored(&[("manifest.json", &[b'['; 100_000])]),
            "manifest.json",
        ),
    ];
    for (bytes, expected) in cases {
        fs::write(&path, bytes).unwrap();
        assert_error(&path, expected);
    }
}
