//! The command line of `docking` and `docking_path`.

use std::fs;
use std::sync::Arc;

use bevy_rapier_molecules::docking::log::Recorder;
use bevy_rapier_molecules::docking::{ResponseMode, RigidMotion, Role, Session, SessionInput};
use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::Pose;
use glam::{Quat, Vec3};

use super::run_example::{
    assert_help_names, assert_rejected, assert_usage_error, json, run, scratch, text,
};

/// The recorded path of p-xylene into T4 lysozyme.
const LOG: &str = "assets/docking/p_xylene_into_t4_lysozyme.log";

#[test]
fn help_names_all_options() {
    let options = [
        "[RECEPTOR]",
        "[LIGAND]",
        "[MORE]...",
        "--torsion",
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
    let report = json(&run("docking", &["--play", LOG, "-b", "--report", "-"]), 0);
    assert_eq!(report["ended_the_same"], true);
    assert_eq!(report["overlaps"], 0);
    assert!(report["distance_to_file_nm"].as_f64().unwrap() < 0.2);
    // Brute force ran as well. Different overlaps would be an error.
    assert!(report["brute_force_us"].as_f64().unwrap() > 0.0);
    // Half of the path ends outside, and there is no recorded end to compare with.
    let half = ["--play", LOG, "--steps", "100", "--report", "-"];
    let report = json(&run("docking", &half), 0);
    assert!(report["ended_the_same"].is_null());
    assert!(report["distance_to_file_nm"].as_f64().unwrap() > 1.0);
}

/// Two small molecules with a small energy grid.
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

/// Records inputs for the small molecules. Returns the log and the final session.
fn record(name: &str, inputs: &[SessionInput]) -> (String, Session) {
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
        SessionInput::Place(Role::LIGAND, Pose::from_translation(Vec3::X * 3.0)),
        SessionInput::Response(ResponseMode::Push),
    ];
    inputs.extend(vec![
        SessionInput::Move(RigidMotion::translation(
            Vec3::NEG_X * 0.2
        ));
        20
    ]);
    let (log, session) = record("push.log", &inputs);
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
    // The lipid is pushed away.
    let moved = report["receptor_pose"]["position"][0].as_f64().unwrap();
    assert!(moved < -0.05, "{moved}");
    let position = session.pose(Role::Receptor).position;
    assert_eq!(moved as f32, position.x);
}

#[test]
fn recorded_body_poses_are_played_without_physics() {
    let carried = |k: i16| {
        let angle = f32::from(k) / 7.0;
        let receptor = Pose::new(Vec3::Y * angle, Quat::from_rotation_x(angle));
        let ligand = Pose::new(Vec3::X * (3.0 - angle), Quat::from_rotation_y(-angle));
        SessionInput::BodyPoses(vec![receptor, ligand])
    };
    let mut inputs = vec![SessionInput::Response(ResponseMode::Push)];
    inputs.extend((1..9).map(carried));
    let (log, session) = record("carried.log", &inputs);
    let arguments = [&SMALL[..], &["--headless", "--play", &log, "--report", "-"]].concat();
    let report = json(&run("docking", &arguments), 0);
    assert_eq!(report["ended_the_same"], true);
    let position = session.pose(Role::LIGAND).position.to_array();
    for (axis, number) in position.into_iter().enumerate() {
        let reported = report["ligand_pose"]["position"][axis].as_f64().unwrap();
        assert_eq!(reported as f32, number);
    }
    // A truncated pose.
    let text = fs::read_to_string(&log).unwrap();
    let invalid = scratch("carried_invalid.log");
    let line = text
        .lines()
        .find(|line| line.starts_with("carried"))
        .unwrap();
    let (truncated, _) = line.rsplit_once(' ').unwrap();
    fs::write(&invalid, text.replacen(line, truncated, 1)).unwrap();
    let arguments = [&SMALL[..], &["--play", &invalid]].concat();
    assert_rejected("docking", &arguments, "fewer numbers");
}

#[test]
fn several_molecules_and_torsions_are_played_and_reported() {
    // p-Xylene as the receptor, so that the first ligand has rotatable bonds.
    let files = [SMALL[1], SMALL[0], SMALL[1]];
    let templates = files.map(|file| {
        let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        Arc::new(load(path, &LoadOptions::default()).unwrap())
    });
    let [receptor, ligand, second] = templates;
    let mut session = Session::new(receptor, ligand).with_ligand(second);
    let mut recorder = Recorder::new(Vec::new(), &session).unwrap();
    let at = |x: f32| Pose::from_translation(Vec3::X * x);
    for input in [
        SessionInput::Place(Role::Receptor, at(0.0)),
        SessionInput::Place(Role::LIGAND, at(3.0)),
        SessionInput::Place(Role::Ligand(1), at(-3.0)),
        SessionInput::Turn {
            bond: 3,
            angle: 0.4,
        },
        SessionInput::SwitchMoved,
        SessionInput::Move(RigidMotion::translation(Vec3::X * 5.0)),
    ] {
        recorder.record(&input).unwrap();
        session.apply(&input).unwrap();
    }
    let log = scratch("several.log");
    fs::write(&log, recorder.finish(&session).unwrap()).unwrap();
    let arguments = [
        &files[..],
        &["--headless", "-b", "--play", &log, "--report", "-"],
    ]
    .concat();
    let report = json(&run("docking", &arguments), 0);
    assert_eq!(report["ended_the_same"], true);
    assert_eq!(
        (&report["molecules"], &report["overlaps"]),
        (&3.into(), &0.into())
    );
    assert_eq!(report["atoms"], 18 + 134 + 18);
    let torsions = report["torsions"].as_array().unwrap();
    assert_eq!(torsions.len(), 41);
    let angles = session.torsions(Role::LIGAND);
    for (torsion, angle) in torsions.iter().zip(angles) {
        let turned = torsion["turned_deg"].as_f64().unwrap().to_radians();
        assert!((turned - f64::from(*angle)).abs() < 1.0e-3);
    }
    assert!(angles[3] != 0.0);
    let second = &report["more_ligands"][0];
    assert_eq!(
        (&second["role"], &second["name"]),
        (&"ligand2".into(), &"p_xylene".into())
    );
    let position = session.pose(Role::Ligand(1)).position.x;
    assert_eq!(
        second["pose"]["position"][0].as_f64().unwrap() as f32,
        position
    );
    // It was stopped by the receptor or by the lipid.
    assert!(position > -3.0 && position < 2.0, "{position}");
    // With other molecules.
    let fewer = ["--play", &log, files[0], files[1]];
    assert_rejected("docking", &fewer, "3 molecules, not 2");
}

#[test]
fn torsions_of_the_command_line_are_recorded() {
    let files = [SMALL[1], SMALL[0]];
    let log = scratch("torsions.log");
    let turned = [
        "--torsion",
        "28=60",
        "--torsion",
        "0=-30",
        "--log",
        &log,
        "--report",
        "-",
    ];
    let report = json(&run("docking", &[&files[..], &turned].concat()), 0);
    assert_eq!(report["torsions"][28]["turned_deg"], 60.0);
    assert_eq!(report["torsions"][0]["turned_deg"], -30.0);
    let name = report["torsions"][0]["atoms"].as_str().unwrap();
    assert!(["N-C12", "C12-N"].contains(&name), "{name}");
    let play = ["--play", &log, "--report", "-"];
    let again = json(&run("docking", &[&files[..], &play].concat()), 0);
    assert_eq!(again["ended_the_same"], true);
    assert_eq!(again["torsions"], report["torsions"]);
    let with = |torsion| [&files[..], &["--headless", "--torsion", torsion]].concat();
    assert_rejected("docking", &with("41=10"), "41 rotatable bonds");
    for invalid in ["3", "3=inf", "x=3"] {
        assert_usage_error("docking", &with(invalid));
    }
    let search = [
        &files[..],
        &["--headless", "--search", "--torsion", "28=60"],
    ]
    .concat();
    assert_rejected("docking", &search, "leave out --torsion");
    let several = [&files[..], &[SMALL[1], "--headless", "--search"]].concat();
    assert_rejected("docking", &several, "give no more files");
}

#[test]
fn invalid_input_is_rejected_in_one_sentence() {
    let complete = fs::read_to_string(LOG).unwrap();
    let cut = scratch("cut.log");
    fs::write(&cut, &complete[..3000]).unwrap();
    assert_rejected("docking", &["--play", &cut], "the log is truncated");
    let nonsense = scratch("nonsense.log");
    fs::write(
        &nonsense,
        complete.replace("collisions on", "collisions maybe"),
    )
    .unwrap();
    assert_rejected("docking", &["--play", &nonsense], "line 9 of the log");
    let other = [
        "assets/molecules/1ubq.cif",
        "assets/molecules/p_xylene.pdb",
        "--play",
        LOG,
    ];
    assert_rejected("docking", &other, "another receptor");
    assert_rejected("docking", &["--play", "nowhere.log"], "nowhere.log");
    assert_rejected("docking", &["nowhere.pdb"], "nowhere.pdb");
    let folder = ["--headless", "--log", "/nowhere/session.log"];
    assert_rejected("docking", &folder, "cannot write");
}

#[test]
fn docking_path_names_all_options() {
    assert_help_names("docking_path", &["<FILE>", "--radius-scale", "--seed"]);
}
