//! The command line of `brownian_crowd`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::run_example::{assert_help_names, assert_rejected, assert_usage_error, json, run};

#[test]
fn help_names_all_options() {
    let options = [
        "--molecules",
        "--filled",
        "--spread",
        "--stick",
        "--backend",
        "--seed",
        "--steps",
        "--record",
        "--every",
        "--headless",
        "--report",
        "--screenshot",
    ];
    assert_help_names("brownian_crowd", &options);
}

#[test]
fn crowded_proteins_diffuse_slower_and_reproducibly() {
    let arguments = ["--molecules", "64", "--steps", "60", "--report", "-"];
    let first = json(&run("brownian_crowd", &arguments), 0);
    let second = json(&run("brownian_crowd", &arguments), 0);
    let slowed = first["slowed_to"].as_f64().unwrap();
    assert!(slowed > 0.2 && slowed < 0.95, "{slowed}");
    assert_eq!(first["slowed_to"], second["slowed_to"]);
    assert!(first["collisions_per_step"].as_f64().unwrap() > 0.5);
    assert!(first["ms_per_step"]["total"].is_f64());
    let [step, all] = ["step_ns", "simulated_ns"].map(|field| first[field].as_f64().unwrap());
    assert!(step > 0.0 && (all / step - 60.0).abs() < 1.0e-6, "{all}");
}

#[test]
fn fine_steps_slow_diffusion_down_less() {
    let report = |steps: &[&str]| {
        let arguments = ["--molecules", "64", "--spread", "0.3", "--report", "-"];
        json(&run("brownian_crowd", &[&arguments, steps].concat()), 0)
    };
    let coarse = report(&["--steps", "40"]);
    let fine = report(&["--steps", "40,fine"]);
    assert_eq!(coarse["step_kind"], "coarse");
    assert_eq!(fine["step_kind"], "fine");
    assert_eq!(fine["steps"], 40);
    assert_eq!(fine["step_ns"], coarse["step_ns"]);
    let figure = |report: &Value, name: &str| report[name].as_f64().unwrap();
    let [slow, fast] = [&coarse, &fine].map(|report| figure(report, "slowed_to"));
    assert!(slow < fast && fast < 0.95, "{slow} {fast}");
    // Same seed, same bits; both values may be options of their own.
    let again = report(&["--steps", "fine", "--steps", "40"]);
    assert_eq!(again["slowed_to"], fine["slowed_to"]);
    // The kind alone leaves the number of steps at its default.
    let few = [
        "--headless",
        "--molecules",
        "1",
        "--steps",
        "fine",
        "--report",
        "-",
    ];
    assert_eq!(json(&run("brownian_crowd", &few), 0)["steps"], 400);
}

#[test]
fn proteins_that_stick_form_clusters() {
    let arguments = ["--molecules", "64", "--steps", "40", "--stick"];
    let report = json(
        &run(
            "brownian_crowd",
            &[&arguments[..], &["--report", "-"]].concat(),
        ),
        0,
    );
    let clusters = report["clusters"].as_object().unwrap();
    let proteins: u64 = clusters
        .iter()
        .map(|(size, count)| size.parse::<u64>().unwrap() * count.as_u64().unwrap())
        .sum();
    assert!((10..=64).contains(&proteins), "{clusters:?}");
    assert!(report["mean_cluster"].as_f64().unwrap() > 2.0);
}

#[test]
fn the_motion_is_recorded() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recorded_crowd.simularium");
    let path = file.to_str().unwrap();
    let arguments = ["--headless", "--molecules", "8", "--steps", "7"];
    let record = ["--record", path, "--every", "3"];
    let output = run("brownian_crowd", &[&arguments[..], &record].concat());
    assert!(output.status.success(), "{output:?}");
    let recorded: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let frames = recorded["spatialData"]["bundleData"].as_array().unwrap();
    assert_eq!(frames.len(), 3);
    let data = |frame: &Value| frame["data"].as_array().unwrap().len();
    assert!(frames.iter().all(|frame| data(frame) == 8 * 11));
    assert_eq!(frames[0]["time"], 0);
    assert_ne!(frames[0]["data"], frames[2]["data"]);
    let types = recorded["trajectoryInfo"]["typeMapping"]
        .as_object()
        .unwrap();
    assert_eq!(types.len(), 4);
}

#[cfg(feature = "draw")]
#[test]
fn gpu_and_cpu_find_the_same_collisions() {
    if crate::test_common::gpu_device::device().is_none() {
        return;
    }
    let arguments = ["--molecules", "64", "--steps", "20", "--report", "-"];
    let report = |backend: &str| {
        let backend = ["--backend", backend];
        json(
            &run("brownian_crowd", &[&arguments[..], &backend].concat()),
            0,
        )
    };
    let (cpu, gpu) = (report("cpu"), report("gpu"));
    assert_eq!(gpu["backend"], "gpu");
    assert!(gpu["adapter"].is_string() && cpu["adapter"].is_null());
    for figure in ["slowed_to", "collisions_per_step"] {
        assert_eq!(cpu[figure], gpu[figure]);
    }
}

#[test]
fn invalid_input_is_rejected_in_one_sentence() {
    for filled in ["0", "0.9", "nan"] {
        let arguments = ["--headless", "--filled", filled];
        assert_rejected("brownian_crowd", &arguments, "--filled must be from");
    }
    let spread = ["--headless", "--spread=-1"];
    assert_rejected("brownian_crowd", &spread, "spread");
    let stick = ["--headless", "--stick=2"];
    assert_rejected("brownian_crowd", &stick, "--stick must be from");
    let steps = ["--headless", "--steps", "finer"];
    assert_usage_error("brownian_crowd", &steps);
    let folder = ["--report", "/nowhere/report.json"];
    assert_rejected("brownian_crowd", &folder, "no folder");
    let format = ["--headless", "--record", "crowd.dcd"];
    assert_rejected("brownian_crowd", &format, "unknown format of 'crowd.dcd'");
}
