//! `.simularium` files have the poses of all molecules.

use std::f64::consts::PI;
use std::fs;
use std::path::Path;

use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::trajectory::{
    TimeUnit, TrajectoryKind, TrajectoryMolecule, TrajectoryOptions, TrajectoryWriter,
};
use glam::{DQuat, DVec3, EulerRot, Quat, Vec3};
use serde_json::{Value, json};

use super::fixtures::{chain, files, kind, moving, protein, scratch};

/// Half a step of 0.001 nm, and single-precision rounding.
const ROUNDING_NM: f64 = 0.000_5 + 0.000_001;

/// Rotation by half a step of 0.001 rad about each axis.
const ROUNDING_RAD: f64 = 0.001;

/// Numbers of an agent without points.
const AGENT: usize = 11;

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn agents(file: &Value, frame: usize) -> Vec<Vec<f64>> {
    let data = file["spatialData"]["bundleData"][frame]["data"]
        .as_array()
        .unwrap();
    let data: Vec<f64> = data.iter().map(|value| value.as_f64().unwrap()).collect();
    data.chunks(AGENT).map(<[f64]>::to_vec).collect()
}

fn point(value: &Value) -> [f64; 3] {
    ["x", "y", "z"].map(|axis| value[axis].as_f64().unwrap())
}

#[test]
fn the_file_describes_frames_types_and_box() {
    let path = scratch("simularium_shape").join("run.simularium");
    let kinds = [
        TrajectoryKind {
            color: Some([1.0, 0.5, 0.0]),
            ..kind("a \"quoted\" protéin", &protein())
        },
        kind("chain", &chain(5)),
        kind("", &chain(1)),
        // A conformer.
        kind("chain", &chain(9)),
    ];
    let options = TrajectoryOptions {
        title: "a title".into(),
        bounds: Some([Vec3::new(-1.0, 0.0, 0.0), Vec3::new(23.0, 24.0, 6.0)]),
        ..TrajectoryOptions::default()
    };
    let mut writer = TrajectoryWriter::create(&path, kinds, options).unwrap();
    for step in 0..5 {
        let time = 0.1e-9 * f64::from(step);
        writer.write(time, moving(20, 4, step)).unwrap();
    }
    let summary = writer.finish().unwrap();
    assert_eq!(summary.bytes, fs::metadata(&path).unwrap().len());
    let file = read(&path);
    let info = &file["trajectoryInfo"];
    assert_eq!(info["version"], 3);
    assert_eq!(info["trajectoryTitle"], "a title");
    assert_eq!(info["timeUnits"], json!({"magnitude": 1, "name": "ns"}));
    assert_eq!(info["spatialUnits"], json!({"magnitude": 1, "name": "nm"}));
    assert_eq!(info["timeStepSize"], 0.1);
    assert_eq!(info["totalSteps"], 5);
    assert_eq!(info["size"], json!({"x": 24, "y": 24, "z": 6}));
    assert_eq!(
        info["cameraDefault"]["position"],
        json!({"x": 0, "y": 0, "z": 36})
    );
    let look = |name: &str, color: &str| json!({"name": name, "geometry": {"displayType": "SPHERE", "color": color}});
    assert_eq!(
        info["typeMapping"],
        json!({
            "0": look("a \"quoted\" protéin", "#ff8000"),
            "1": look("chain", ""),
            "2": look("molecule", ""),
        })
    );
    assert_eq!(file["plotData"], json!({"version": 1, "data": []}));
    let spatial = &file["spatialData"];
    assert_eq!(spatial["bundleSize"], 5);
    assert_eq!(
        [
            &spatial["version"],
            &spatial["msgType"],
            &spatial["bundleStart"]
        ],
        [1, 1, 0]
    );
    for (number, frame) in spatial["bundleData"].as_array().unwrap().iter().enumerate() {
        assert_eq!(frame["frameNumber"], number);
        let time = 0.1 * number as f64;
        assert!((frame["time"].as_f64().unwrap() - time).abs() < 1.0e-6);
        assert_eq!(frame["data"].as_array().unwrap().len(), 20 * AGENT);
    }
}

#[test]
fn poses_are_restored_from_angles() {
    let path = scratch("simularium_poses").join("run.simularium");
    let options = TrajectoryOptions::default();
    let mut writer = TrajectoryWriter::create(&path, [kind("chain", &chain(5))], options).unwrap();
    let mut molecules = moving(60, 1, 0);
    // Gimbal lock, and a rotation by half a turn.
    molecules[0].pose.rotation = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2);
    molecules[1].pose.rotation = Quat::from_rotation_z(1.0)
        * Quat::from_rotation_y(-std::f32::consts::FRAC_PI_2)
        * Quat::from_rotation_x(2.0);
    molecules[2].pose.rotation = Quat::from_xyzw(0.0, 0.0, 1.0, 0.0);
    writer.write(0.0, molecules.clone()).unwrap();
    let agents = agents(&read(&path), 0);
    assert_eq!(agents.len(), 60);
    for (agent, molecule) in agents.iter().zip(&molecules) {
        assert_eq!(agent[..3], [1000.0, molecule.id as f64, 0.0]);
        assert_eq!(agent[10], 0.0);
        let error = DVec3::from_slice(&agent[3..6]) - molecule.pose.position.as_dvec3();
        assert!(error.abs().max_element() <= ROUNDING_NM, "{error}");
        let [a, b, c] = [agent[6], agent[7], agent[8]];
        assert!([a, b, c].iter().all(|angle| angle.abs() < PI + 0.001));
        let rotation = DQuat::from_euler(EulerRot::XYZ, a, b, c);
        let expected = molecule.pose.rotation.as_dquat().normalize();
        let angle = rotation.angle_between(expected);
        assert!(angle <= ROUNDING_RAD, "{molecule:?}: {angle}");
    }
}

#[test]
fn a_ball_has_the_volume_of_its_molecule() {
    let path = scratch("simularium_radius").join("run.simularium");
    let kinds = [kind("atom", &chain(1)), kind("protein", &protein())];
    let mut writer = TrajectoryWriter::create(&path, kinds, TrajectoryOptions::default()).unwrap();
    writer.write(0.0, moving(2, 2, 0)).unwrap();
    let agents = agents(&read(&path), 0);
    assert_eq!(agents[0][9], 0.17);
    // Ubiquitin has about 6.5 nm³ with van der Waals radii, and less with those of collisions.
    assert!((0.9..1.2).contains(&agents[1][9]), "{}", agents[1][9]);
}

#[test]
fn molecules_and_kinds_come_and_go() {
    let folder = scratch("simularium_changes");
    let path = folder.join("run.simularium");
    let options = TrajectoryOptions::default();
    let mut writer = TrajectoryWriter::create(&path, [kind("chain", &chain(5))], options).unwrap();
    writer.write(0.0, []).unwrap();
    writer.write(1.0e-9, moving(3, 1, 0)).unwrap();
    let new = writer.add_kind(kind("new", &chain(2)));
    let late = TrajectoryMolecule {
        id: 1 << 40,
        kind: new,
        pose: Pose::from_translation(Vec3::new(-70.0, 0.0, 0.0)),
    };
    writer.write(2.0e-9, [late]).unwrap();
    writer.write(3.0e-9, []).unwrap();
    let file = read(&path);
    let counts = [0, 1, 2, 3].map(|frame| agents(&file, frame).len());
    assert_eq!(counts, [0, 3, 1, 0]);
    assert_eq!(
        agents(&file, 2)[0][..4],
        [1000.0, (1_u64 << 40) as f64, 1.0, -70.0]
    );
    assert_eq!(file["trajectoryInfo"]["typeMapping"]["1"]["name"], "new");
    // The box is around all molecules of all frames.
    let [x, y, z] = point(&file["trajectoryInfo"]["size"]);
    assert!(
        x > 140.2 && x < 142.0 && y < 12.0 && z < 12.0,
        "{x} {y} {z}"
    );
    assert_eq!(files(&folder), ["run.simularium"]);
}

#[test]
fn the_file_can_be_read_after_every_frame() {
    let path = scratch("simularium_always").join("run.simularium");
    fs::write(&path, "an old file").unwrap();
    let options = TrajectoryOptions {
        time_unit: TimeUnit::Iterations,
        ..TrajectoryOptions::default()
    };
    let mut writer = TrajectoryWriter::create(&path, [kind("chain", &chain(5))], options).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"an old file");
    for step in 0..12 {
        // The step size becomes shorter and longer.
        let time = f64::from(step) + 0.123 * f64::from(step % 3);
        writer.write(time, moving(step % 4, 1, step)).unwrap();
        let file = read(&path);
        assert_eq!(file["trajectoryInfo"]["totalSteps"], step + 1);
        assert_eq!(file["trajectoryInfo"]["timeUnits"]["name"], "iterations");
    }
    drop(writer);
    assert_eq!(read(&path)["spatialData"]["bundleSize"], 12);
}

#[test]
fn positions_are_relative_to_the_center_of_the_periodic_box() {
    let path = scratch("simularium_box").join("run.simularium");
    let options = TrajectoryOptions {
        periodic_box: Some(PeriodicBox::new(Vec3::new(4.0, 6.0, 8.0)).unwrap()),
        ..TrajectoryOptions::default()
    };
    let mut writer = TrajectoryWriter::create(&path, [kind("chain", &chain(5))], options).unwrap();
    let molecule = TrajectoryMolecule {
        id: 0,
        kind: 0,
        pose: Pose::from_translation(Vec3::new(9.0, -1.0, 3.0)),
    };
    writer.write(0.0, [molecule]).unwrap();
    let file = read(&path);
    assert_eq!(agents(&file, 0)[0][3..6], [-1.0, 2.0, -1.0]);
    assert_eq!(point(&file["trajectoryInfo"]["size"]), [4.0, 6.0, 8.0]);
}

#[test]
fn the_same_frames_give_the_same_bytes() {
    let folder = scratch("simularium_bytes");
    let write = |name: &str| {
        let path = folder.join(name);
        let kinds = [kind("protein", &protein()), kind("chain", &chain(5))];
        let mut writer =
            TrajectoryWriter::create(&path, kinds, TrajectoryOptions::default()).unwrap();
        for step in 0..10 {
            writer.write(f64::from(step), moving(100, 2, step)).unwrap();
        }
        fs::read(path).unwrap()
    };
    assert_eq!(write("one.simularium"), write("two.simularium"));
}
