//! The command line of `circulating_particles`.

use super::run_example::{assert_help_names, assert_rejected, json, run};

#[test]
fn help_names_all_options() {
    let options = [
        "--particles",
        "--acceleration",
        "--side",
        "--seed",
        "--backend",
        "--seconds",
        "--headless",
        "--report",
        "--bounds",
        "--subspaces",
        "--screenshot",
    ];
    assert_help_names("circulating_particles", &options);
}

#[test]
fn particles_rise_in_the_middle_and_never_overlap() {
    let arguments = [
        "--particles",
        "200",
        "--seconds",
        "4",
        "--backend",
        "gpu",
        "--report",
        "-",
    ];
    let output = run("circulating_particles", &arguments);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("do not run on a GPU"), "{stderr}");
    let report = json(&output, 0);
    assert_eq!(report["backend"], "cpu");
    assert!(report["fell_back"].is_string());
    assert_eq!(report["simulated_seconds"], 4.0);
    assert!(report["contacts"].as_u64().unwrap() > 10);
    assert!(report["max_penetration_nm"].as_f64().unwrap() < 1.0e-5);
    assert!(report["rise_in_the_middle_nm_per_s"].as_f64().unwrap() > 1.0);
    assert!(report["rise_at_the_sides_nm_per_s"].as_f64().unwrap() < 0.0);
}

#[test]
fn invalid_input_is_rejected_in_one_sentence() {
    for (option, value, message) in [
        ("--particles", "0", "--particles must be from"),
        ("--acceleration", "nan", "--acceleration must be positive"),
        ("--seconds", "1e9", "--seconds must be from"),
        ("--side", "0", "--side must be positive"),
    ] {
        let argument = format!("{option}={value}");
        assert_rejected("circulating_particles", &["--headless", &argument], message);
    }
}
