//! `molecules pack --checkpoint`: interrupted and resumed runs write the same files.

use std::fs;
use std::path::Path;

use serde_json::{Value, json as value};

use super::run_program::{assert_rejected, assert_usage_error, json, run, scratch, text};

/// Spheres that do not fit.
const RECIPE: &str = "tests/data/recipes/spheres_in_a_box.json";

/// Iterations of a whole run: they do not come to rest.
const ITERATIONS: &str = "300";

/// Packs `RECIPE`; returns the report. The run stops before it is at rest.
fn pack(file: &str, options: &[&str]) -> Value {
    let arguments = ["pack", RECIPE, "-o", file, "--no-certificate", "--json"];
    json(&[&arguments[..], options].concat(), 1)
}

#[test]
fn a_resumed_run_writes_the_same_file() {
    let [whole, part, resumed] =
        ["whole.cif", "part.cif", "resumed.cif"].map(|name| scratch(&format!("checkpoint_{name}")));
    let report = pack(&whole, &["--max-iterations", ITERATIONS]);
    assert_eq!(report["resumed_after"], Value::Null);
    let state = scratch("resumed.checkpoint");
    let checkpoint = ["--checkpoint", &*state, "--max-iterations"];
    for (iterations, before) in [("7", Value::Null), ("8", value!(7)), ("120", value!(8))] {
        let options = [&checkpoint[..], &[iterations, "--threads", "1"]].concat();
        let report = pack(&part, &options);
        assert_eq!(report["iterations"].to_string(), iterations);
        assert_eq!(report["resumed_after"], before);
    }
    let last = pack(
        &resumed,
        &[&checkpoint[..], &[ITERATIONS, "--threads", "3"]].concat(),
    );
    assert_eq!(last["resumed_after"], 120);
    for key in [
        "iterations",
        "overlaps_start",
        "overlaps_end",
        "max_penetration_nm",
        "left",
    ] {
        assert_eq!(last[key], report[key], "{key}");
    }
    assert!(fs::read(&resumed).unwrap() == fs::read(&whole).unwrap());
    // Once more, nothing is left to do.
    let again = pack(&part, &[&checkpoint[..], &[ITERATIONS]].concat());
    assert_eq!(again["resumed_after"].to_string(), ITERATIONS);
    assert!(fs::read(&part).unwrap() == fs::read(&whole).unwrap());
    // From the start.
    let report = pack(&part, &[&checkpoint[..], &["7", "--restart"]].concat());
    assert_eq!(report["resumed_after"], Value::Null);
    assert_eq!(report["iterations"], 7);
}

#[test]
fn a_run_at_rest_is_written_again_from_its_checkpoint() {
    let [file, again] = ["rest.cif", "rest_again.cif"].map(scratch);
    let state = scratch("rest.checkpoint");
    let recipe = "tests/data/recipes/sphere_tree.json";
    let pack = |file: &str| {
        let arguments = [
            "pack",
            recipe,
            "-o",
            file,
            "--checkpoint",
            &*state,
            "--json",
        ];
        json(&arguments, 0)
    };
    let first = pack(&file);
    let second = pack(&again);
    assert_eq!(second["resumed_after"], first["iterations"]);
    assert_eq!(second["complete"], true);
    assert!(fs::read(file).unwrap() == fs::read(again).unwrap());
}

#[cfg(unix)]
#[test]
fn an_interruption_saves_the_state() {
    use std::process::{Command, Stdio};
    use std::thread::sleep;
    use std::time::Duration;

    use super::run_program::command;

    let [whole, part] = ["interrupted_whole.cif", "interrupted.cif"].map(scratch);
    let iterations = "590";
    pack(&whole, &["--max-iterations", iterations]);
    let state = scratch("interrupted.checkpoint");
    let options = ["--checkpoint", &*state, "--max-iterations", iterations];
    let mut child = command()
        .args(["pack", RECIPE, "-o", &part, "--no-certificate", "--json"])
        .args(options)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // It is there before the first iteration.
    while !Path::new(&state).exists() {
        sleep(Duration::from_millis(1));
    }
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let report = pack(&part, &options);
    let reached = report["resumed_after"].as_u64().unwrap();
    assert!(reached < 590, "interrupted too late");
    assert_eq!(report["iterations"].to_string(), iterations);
    assert!(fs::read(part).unwrap() == fs::read(whole).unwrap());
}

#[test]
fn other_recipes_seeds_and_damaged_files_are_rejected() {
    let state = scratch("foreign.checkpoint");
    let pack = |recipe: &str, options: &[&str]| {
        let arguments = [
            "pack",
            recipe,
            "--checkpoint",
            &*state,
            "--max-iterations",
            "2",
        ];
        let output = run(&[&arguments[..], &["--quiet"], options].concat());
        (output.status.code(), text(&output.stderr).to_owned())
    };
    assert_eq!(pack(RECIPE, &[]).0, Some(1));
    for (recipe, options) in [
        (RECIPE, &["--seed", "2"][..]),
        ("tests/data/recipes/sphere_tree.json", &[]),
    ] {
        let (code, error) = pack(recipe, options);
        assert_eq!(code, Some(2), "{error}");
        assert!(error.contains("is of another recipe or seed"), "{error}");
        let errors = error.lines().filter(|line| line.starts_with("error: "));
        assert_eq!(errors.count(), 1, "{error}");
    }
    let (code, error) = pack(RECIPE, &["--tolerance", "0.1"]);
    assert_eq!(code, Some(1), "{error}");

    let whole = fs::read(&state).unwrap();
    let mut changed = whole.clone();
    changed[300] ^= 1;
    let mut newer = whole.clone();
    newer[8] += 1;
    for (content, words) in [
        (&whole[..whole.len() - 9], "it is incomplete"),
        (&changed[..], "it is damaged: its checksum does not match"),
        (&newer[..], "its format has version 2, expected 1"),
        (&b""[..], "it is not a checkpoint"),
        (&b"data_"[..], "it is not a checkpoint"),
    ] {
        let damaged = scratch("damaged.checkpoint");
        fs::write(&damaged, content).unwrap();
        assert_rejected(&["pack", RECIPE, "--checkpoint", &damaged], words);
        assert_eq!(fs::read(&damaged).unwrap(), content, "it is left alone");
        let options = ["--restart", "--max-iterations", "2", "--quiet"];
        let restarted = run(&[&["pack", RECIPE, "--checkpoint", &damaged], &options[..]].concat());
        assert_eq!(restarted.status.code(), Some(1));
    }
}

#[test]
fn options_of_checkpoints_are_checked() {
    let state = scratch("options.checkpoint");
    let checkpoint = ["pack", RECIPE, "--checkpoint"];
    let with = |options: &[&'static str]| [&checkpoint[..], &[&state], options].concat();
    assert_rejected(
        &with(&["--checkpoint-every", "-1"]),
        "--checkpoint-every must be finite",
    );
    assert_rejected(
        &with(&["--checkpoint-every", "nan"]),
        "--checkpoint-every must be finite",
    );
    assert_rejected(
        &["pack", RECIPE, "--checkpoint", "nowhere/a"],
        "there is no folder",
    );
    assert_rejected(
        &["pack", RECIPE, "--checkpoint", "assets"],
        "it is not a file",
    );
    assert_usage_error(&with(&["--dry-run"]));
    assert_usage_error(&["pack", RECIPE, "--restart"]);
    assert_usage_error(&["pack", RECIPE, "--checkpoint-every", "3"]);
    assert!(!Path::new(&state).exists());
}
