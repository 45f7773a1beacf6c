//! Docking from the command line: logs that are played, and those that cannot be.

use std::fs;

use super::program::{assert_help_names, assert_refused, json, run, scratch, text};

/// The recorded way of p-xylene into T4 lysozyme.
const WAY: &str = "assets/docking/p_xylene_into_t4_lysozyme.log";

#[test]
fn docking_names_its_options() {
    let options = [
        "[RECEPTOR]",
        "[LIGAND]",
        "--response",
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
    assert_eq!(report["clashes"], 0);
    assert!(report["distance_to_file_nm"].as_f64().unwrap() < 0.2);
    // By brute force as well: it would have been an error if that had found others.
    assert!(report["brute_force_us"].as_f64().unwrap() > 0.0);
    // Half of the way: outside, and nothing to compare with.
    let half = ["--play", WAY, "--steps", "100", "--report", "-"];
    let report = json(&run("docking", &half), 0);
    assert!(report["ended_the_same"].is_null());
    assert!(report["distance_to_file_nm"].as_f64().unwrap() > 1.0);
}

#[test]
fn a_session_without_inputs_is_recorded_and_played() {
    let log = scratch("empty_session.log");
    let output = run("docking", &["--headless", "--log", &log]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report = json(&run("docking", &["--play", &log, "--report", "-"]), 0);
    assert_eq!(report["ended_the_same"], true);
    assert!(report["energy_kj_per_mol"].is_number());
}

#[test]
fn docking_refuses_bad_input_in_one_sentence() {
    let whole = fs::read_to_string(WAY).unwrap();
    let cut = scratch("cut.log");
    fs::write(&cut, &whole[..3000]).unwrap();
    assert_refused("docking", &["--play", &cut], "the log is truncated");
    let nonsense = scratch("nonsense.log");
    fs::write(
        &nonsense,
        whole.replace("collisions on", "collisions maybe"),
    )
    .unwrap();
    assert_refused("docking", &["--play", &nonsense], "line 9 of the log");
    let other = [
        "assets/molecules/1ubq.cif",
        "assets/molecules/p_xylene.pdb",
        "--play",
        WAY,
    ];
    assert_refused("docking", &other, "another receptor");
    assert_refused("docking", &["--play", "nowhere.log"], "nowhere.log");
    assert_refused("docking", &["nowhere.pdb"], "nowhere.pdb");
    let folder = ["--headless", "--log", "/nowhere/session.log"];
    assert_refused("docking", &folder, "cannot write");
}
