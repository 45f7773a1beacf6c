//! Docking from the command line: logs that are played, and those that cannot be.

use std::fs;
use std::sync::Arc;

use bevy_rapier_molecules::docking::log::Recorder;
use bevy_rapier_molecules::docking::{ResponseMode, RigidMotion, Role, Session, SessionInput};
use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::Pose;
use glam::{Quat, Vec3};

use super::run_example::{assert_help_names, assert_rejected, json, run, scratch, text};

/// The recorded way of p-xylene into T4 lysozyme.
const WAY: &str = "assets/docking/p_xylene_into_t4_lysozyme.log";

#[test]
fn help_names_all_options() {
    let options = [
        "[RECEPTOR]",
        "[LIGAND]",
        "--response",
        "--backend",
        "-b,",
        "--log",
        "--play",
        "--search",
        "--stereo",
        "--headless",
        "--report",
        "--screenshot",
        "--steps",
    ];
    assert_help_names("docking", &options);
}

#[test]
fn a_log_is_played_to_the_crystal_pose_bit_for_bit() {
    let report = json(&run("docking", &["--play", WAY, "-b", "--report", "-"]), 0);
    assert_eq!(report["ended_the_same"], true);
    assert_eq!(report["overlaps"], 0);
    assert!(report["distance_to_file_nm"].as_f64().unwrap() < 0.2);
    // By brute force as well: it would have been an error if that had found others.
    assert!(report["brute_force_us"].as_f64().unwrap() > 0.0);
    // Half of the way: outside, and nothing to compare with.
    let half = ["--play", WAY, "--steps", "100", "--report", "-"];
    let report = json(&run("docking", &half), 0);
    assert!(report["ended_the_same"].is_null());
    assert!(report["distance_to_file_nm"].as_f64().unwrap() > 1.0);
}

/// Two small molecules, whose lattice is made in no time.
const SMALL: [&str; 2] = ["assets/molecules/popc.pdb", "assets/molecules/p_xylene.pdb"];

#[test]
fn a_session_without_inputs_is_recorded_and_played() {
    let log = scratch("empty_session.log");
    let arguments = [&SMALL[..], &["--headless", "--log", &log]].concat();
    let output = run("docking", &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let arguments = [&SMALL[..], &["--play", &log, "--report", "-"]].concat();
    let report = json(&run("docking", &arguments), 0);
    assert_eq!(report["ended_the_same"], true);
    assert!(report["energy_kj_per_mol"].is_number());
}

/// The log of what those two are told, and where that leads.
fn log_of(name: &str, inputs: &[SessionInput]) -> (String, Session) {
    let [receptor, ligand] = SMALL.map(|file| {
        let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        Arc::new(load(path, &LoadOptions::default()).unwrap())
    });
    let mut session = Session::new(receptor, ligand);
    let mut recorder = Recorder::new(Vec::new(), &session).unwrap();
    for input in inputs {
        recorder.record(input).unwrap();
        session.apply(input).unwrap();
    }
    let path = scratch(name);
    fs::write(&path, recorder.finish(&session).unwrap()).unwrap();
    (path, session)
}

#[test]
fn molecules_push_each_other_without_a_window() {
    let mut inputs = vec![
        SessionInput::Place(Role::Receptor, Pose::IDENTITY),
        SessionInput::Place(Role::Ligand, Pose::from_translation(Vec3::X * 3.0)),
        SessionInput::Response(ResponseMode::Push),
    ];
    inputs.extend([SessionInput::Move(RigidMotion::translation(Vec3::NEG_X * 0.2)); 20]);
    let (log, session) = log_of("push.log", &inputs);
    let arguments = [
        &SMALL[..],
        &["--play", &log, "--backend", "cpu", "--report", "-"],
    ]
    .concat();
    let report = json(&run("docking", &arguments), 0);
    assert_eq!(report["ended_the_same"], true);
    assert_eq!(
        (&report["overlaps"], &report["backend"]),
        (&0.into(), &"cpu".into())
    );
    // The lipid gave way.
    let moved = report["receptor_pose"]["position"][0].as_f64().unwrap();
    assert!(moved < -0.05, "{moved}");
    let place = session.pose(Role::Receptor).position;
    assert_eq!(moved as f32, place.x);
}

#[test]
fn where_bodies_went_is_played_without_physics() {
    let carried = |k: i16| {
        let angle = f32::from(k) / 7.0;
        let receptor = Pose::new(Vec3::Y * angle, Quat::from_rotation_x(angle));
        let ligand = Pose::new(Vec3::X * (3.0 - angle), Quat::from_rotation_y(-angle));
        SessionInput::BodyPoses([receptor, ligand])
    };
    let mut inputs = vec![SessionInput::Response(ResponseMode::Push)];
    inputs.extend((1..9).map(carried));
    let (log, session) = log_of("carried.log", &inputs);
    let arguments = [&SMALL[..], &["--headless", "--play", &log, "--report", "-"]].concat();
    let report = json(&run("docking", &arguments), 0);
    assert_eq!(report["ended_the_same"], true);
    let place = session.pose(Role::Ligand).position.to_array();
    for (axis, number) in place.into_iter().enumerate() {
        let said = report["ligand_pose"]["position"][axis].as_f64().unwrap();
        assert_eq!(said as f32, number);
    }
    // A pose that is cut short, in the middle of a line that is otherwise right.
    let text = fs::read_to_string(&log).unwrap();
    let broken = scratch("carried_broken.log");
    let line = text
        .lines()
        .find(|line| line.starts_with("carried"))
        .unwrap();
    let (most, _) = line.rsplit_once(' ').unwrap();
    fs::write(&broken, text.replacen(line, most, 1)).unwrap();
    let arguments = [&SMALL[..], &["--play", &broken]].concat();
    assert_rejected("docking", &arguments, "fewer numbers");
}

#[test]
fn invalid_input_is_rejected_in_one_sentence() {
    let whole = fs::read_to_string(WAY).unwrap();
    let cut = scratch("cut.log");
    fs::write(&cut, &whole[..3000]).unwrap();
    assert_rejected("docking", &["--play", &cut], "the log is truncated");
    let nonsense = scratch("nonsense.log");
    fs::write(
        &nonsense,
        whole.replace("collisions on", "collisions maybe"),
    )
    .unwrap();
    assert_rejected("docking", &["--play", &nonsense], "line 9 of the log");
    let other = [
        "assets/molecules/1ubq.cif",
        "assets/molecules/p_xylene.pdb",
        "--play",
        WAY,
    ];
    assert_rejected("docking", &other, "another receptor");
    assert_rejected("docking", &["--play", "nowhere.log"], "nowhere.log");
    assert_rejected("docking", &["nowhere.pdb"], "nowhere.pdb");
    let folder = ["--headless", "--log", "/nowhere/session.log"];
    assert_rejected("docking", &folder, "cannot write");
}
