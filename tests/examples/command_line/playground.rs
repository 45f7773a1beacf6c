//! The command line of `playground`.

use std::fs;

use serde_json::Value;

use super::run_example::{assert_help_names, assert_rejected, json, run, scratch, text};

/// Two seconds of five proteins, one of each kind, which fall on the floor.
const SMALL: &str = "--headless --proteins 5 --steps 120";

/// Proteins of the small scene.
const SMALL_PROTEINS: u64 = 5;

/// The report of the small scene.
fn small_scene(contacts: &str, threads: &str) -> Value {
    let mut arguments: Vec<&str> = SMALL.split(' ').collect();
    arguments.extend([
        "--contacts",
        contacts,
        "--threads",
        threads,
        "--report",
        "-",
    ]);
    json(&run("playground", &arguments), 0)
}

/// Asserts that all fields exist, no body is lost, and the number of threads changes no bit.
fn assert_valid_and_deterministic(contacts: &str) {
    let report = small_scene(contacts, "1");
    assert_eq!(report["scene"], "playground");
    assert_eq!(report["contacts"], contacts);
    assert_eq!(report["molecules"], SMALL_PROTEINS);
    assert_eq!(report["steps"], 120);
    assert_eq!(report["simulated_seconds"], 2.0);
    assert_eq!(report["threads"], 1);
    assert!(["cpu", "gpu"].contains(&report["backend"].as_str().unwrap()));
    assert_eq!(report["adapter"].is_null(), report["backend"] == "cpu");
    assert_eq!(report["non_finite"], 0);
    assert_eq!(report["outside"], 0);
    for field in [
        "atoms", "things", "substeps", "seed", "sleeping", "overlaps",
    ] {
        assert!(report[field].is_u64(), "{field}");
    }
    for field in [
        "kinetic_energy_per_molecule",
        "rms_speed_nm_per_s",
        "max_penetration_nm",
        "max_penetration_share",
        "seconds",
    ] {
        let value = report[field].as_f64();
        assert!(
            value.is_some_and(|value| value >= 0.0),
            "{field}: {value:?}"
        );
    }
    for stage in ["total", "gather", "detect", "respond", "apply", "step"] {
        assert!(report["ms_per_step"][stage].is_f64(), "{stage}");
    }
    let hash = report["state_hash"].as_str().unwrap();
    assert_eq!(hash.len(), 16);
    assert!(u64::from_str_radix(hash, 16).is_ok());
    assert_eq!(
        report["state_hash"],
        small_scene(contacts, "2")["state_hash"]
    );
}

#[test]
fn crowd_contacts_are_valid_and_deterministic() {
    assert_valid_and_deterministic("crowd");
}

#[test]
fn solver_contacts_are_valid_and_deterministic() {
    assert_valid_and_deterministic("solver");
}

/// The report of a short run, and its standard error.
fn short_run(backend: &str) -> (Value, String) {
    let arguments = "--headless --quiet --proteins 5 --steps 45 --report - --backend";
    let mut arguments: Vec<&str> = arguments.split(' ').collect();
    arguments.push(backend);
    let output = run("playground", &arguments);
    (json(&output, 0), text(&output.stderr).to_owned())
}

#[test]
fn the_backend_is_reported_and_changes_no_bit() {
    let (cpu, _) = short_run("cpu");
    assert_eq!(cpu["backend"], "cpu");
    assert_eq!(cpu["adapter"], Value::Null);
    let (gpu, stderr) = short_run("gpu");
    if gpu["backend"] == "gpu" {
        assert!(gpu["adapter"].as_str().is_some_and(|name| !name.is_empty()));
    } else {
        // Without an adapter or the feature `gpu`, the CPU takes over with a warning.
        let required = std::env::var("REQUIRE_GPU").is_ok_and(|value| value == "1");
        assert!(!required, "REQUIRE_GPU=1, but {stderr}");
        assert!(stderr.contains("GPU"), "{stderr}");
    }
    assert_eq!(cpu["state_hash"], gpu["state_hash"]);
}

#[test]
fn help_names_all_options() {
    let options = [
        "--proteins",
        "--contacts",
        "--backend",
        "--substeps",
        "--seed",
        "--threads",
        "--headless",
        "--steps",
        "--report",
        "--screenshot",
    ];
    assert_help_names("playground", &options);
}

#[test]
fn invalid_input_is_rejected_in_one_sentence() {
    let nowhere = ["--headless", "--report", "nowhere/report.json"];
    assert_rejected("playground", &nowhere, "nowhere");
    assert_rejected(
        "playground",
        &["--screenshot", "picture.txt"],
        "must end in .png",
    );
}

#[test]
#[cfg(target_os = "linux")]
fn without_a_display_it_runs_without_a_window() {
    let report = scratch("playground.json");
    let arguments = ["--proteins", "1", "--steps", "3", "--report", &report];
    let output = run("playground", &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("no display"));
    assert!(text(&output.stdout).starts_with("playground: 1 molecules"));
    let report: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
    assert_eq!(report["steps"], 3);
}
