//! The crowded cytoplasm from the command line.

use super::program::{assert_help_names, assert_refused, json, run};

#[test]
fn brownian_crowd_names_its_options() {
    let options = [
        "--molecules",
        "--filled",
        "--spread",
        "--seed",
        "--steps",
        "--headless",
        "--report",
        "--screenshot",
    ];
    assert_help_names("brownian_crowd", &options);
}

#[test]
fn proteins_in_a_crowd_are_slower_than_alone_and_the_same_every_time() {
    let arguments = ["--molecules", "64", "--steps", "60", "--report", "-"];
    let first = json(&run("brownian_crowd", &arguments), 0);
    let second = json(&run("brownian_crowd", &arguments), 0);
    let slowed = first["slowed_to"].as_f64().unwrap();
    assert!(slowed > 0.2 && slowed < 0.95, "{slowed}");
    assert_eq!(first["slowed_to"], second["slowed_to"]);
    assert!(first["collisions_a_step"].as_f64().unwrap() > 0.5);
}

#[test]
fn brownian_crowd_refuses_bad_input_in_one_sentence() {
    for filled in ["0", "0.9", "nan"] {
        let arguments = ["--headless", "--filled", filled];
        assert_refused("brownian_crowd", &arguments, "--filled must be from");
    }
    let spread = ["--headless", "--spread=-1"];
    assert_refused("brownian_crowd", &spread, "spread");
    let folder = ["--report", "/nowhere/report.json"];
    assert_refused("brownian_crowd", &folder, "no folder");
}
