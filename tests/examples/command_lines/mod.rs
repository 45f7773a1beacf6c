//! The examples as their users meet them: options, exit codes, reports and files.

mod broad_phase_race;
mod brownian_crowd;
mod circulating_particles;
mod contract;
mod docking;
#[cfg(feature = "draw")]
mod pictures;
mod playground;
mod program;

use std::fs;
#[cfg(target_os = "linux")]
use std::process::Command;
use std::process::Output;

#[cfg(target_os = "linux")]
use program::program;
use program::{assert_help_names, assert_refused, json, run, scratch, text};
use serde_json::Value;

/// A vesicle that comes to rest in a moment.
const SMALL: &str = "--outer 70 --inner 6 --radius 3.2 --tolerance 0.2";

/// Lipids of the small vesicle.
const SMALL_LIPIDS: u64 = 76;

/// Atoms of a POPC lipid.
const POPC_ATOMS: u64 = 134;

/// The report of `clashes`.
fn clashes(file: &str, by: &str, tolerance: &str, options: &[&str]) -> Value {
    let words = [file, "--by", by, "--tolerance", tolerance, "--report", "-"];
    json(&run("clashes", &[&words, options].concat()), 0)
}

/// Relaxes the small vesicle.
fn small_vesicle(options: &[&str]) -> Output {
    let arguments: Vec<&str> = SMALL.split(' ').chain(options.iter().copied()).collect();
    run("lipid_bilayer", &arguments)
}

#[test]
fn clashes_names_its_options() {
    assert_help_names(
        "clashes",
        &["<FILE>", "--by", "--tolerance", "--backend", "--report"],
    );
}

#[test]
fn lipid_bilayer_names_its_options() {
    let options = [
        "--outer",
        "--inner",
        "--radius",
        "--lipids",
        "--area-per-lipid",
        "--lipid",
        "--tolerance",
        "--law",
        "--seed",
        "--threads",
        "--backend",
        "--max-iterations",
        "--headless",
        "--report",
        "--export",
        "--preset",
        "--list-presets",
        "--screenshot",
        "--steps",
    ];
    assert_help_names("lipid_bilayer", &options);
}

#[test]
fn proxies_are_measured_in_a_table_and_in_a_report() {
    assert_help_names(
        "proxies",
        &["--proxies", "--tolerance", "--backend", "--report"],
    );
    let file = "assets/molecules/p_xylene.pdb";
    let table = run("proxies", &[file, "--proxies", "4"]);
    let table = text(&table.stdout);
    assert!(table.contains("| p_xylene.pdb | 18 | 4 |"), "{table}");
    let report = json(
        &run("proxies", &[file, "--proxies", "4", "--report", "-"]),
        0,
    );
    assert_eq!(
        (&report["molecules"], &report["atoms"]),
        (&1.into(), &18.into())
    );
    let row = &report["structures"][0];
    assert_eq!(row["structure"], "p_xylene.pdb");
    assert_eq!((&row["atoms"], &row["proxies"]), (&18.into(), &4.into()));
    assert!(row["overestimate"].as_f64().unwrap() > 0.0);
    assert_refused("proxies", &["nowhere.pdb"], "nowhere.pdb");
    assert_refused("proxies", &[file, "--proxies", "0"], "--proxies must be");
}

#[test]
fn docking_path_names_its_options() {
    assert_help_names("docking_path", &["<FILE>", "--radius-scale", "--seed"]);
}

#[test]
fn presets_are_listed_with_what_they_are() {
    let output = run("lipid_bilayer", &["--list-presets"]);
    assert!(output.status.success());
    let lines: Vec<_> = text(&output.stdout).lines().collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    let halves = lines.iter().filter_map(|line| line.split_once('\t'));
    for (name, what) in halves.clone() {
        assert!(!what.is_empty() && what.ends_with('.'), "{name}: {what}");
        assert!(!name.contains("atoms") || what.contains("7462"), "{what}");
    }
    assert_eq!(halves.count(), 4);
    // What was asked for is said, also to those who want to be left alone.
    for other in [&["--quiet"][..], &["--report", "-"]] {
        let again = run("lipid_bilayer", &[&["--list-presets"], other].concat());
        assert_eq!(again.stdout, output.stdout, "{other:?}");
    }
}

/// Of however many files.
#[test]
#[cfg(target_os = "linux")]
fn a_gpu_that_there_is_not_is_told_once() {
    let file = "assets/molecules/p_xylene.pdb";
    let output = Command::new(program("proxies"))
        .args([file, file, "--proxies", "4"])
        .args(["--backend", "gpu", "--report", "-"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        // No driver.
        .env("VK_ICD_FILENAMES", "/nowhere.json")
        .env("VK_DRIVER_FILES", "/nowhere.json")
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert_eq!(said.matches("warning: ").count(), 1, "{said}");
    let report = json(&output, 0);
    assert_eq!(report["backend"], "cpu");
    assert_eq!(report["molecules"], 2);
    assert!(report["fell_back"].is_string());
}

#[test]
fn clashes_refuses_bad_input_in_one_sentence() {
    let popc = "assets/molecules/popc.pdb";
    assert_refused("clashes", &["nowhere.pdb"], "nowhere.pdb");
    assert_refused("clashes", &["Cargo.toml"], "Cargo.toml: not a PDB");
    for tolerance in ["0", "-1", "nan", "inf"] {
        let arguments = [popc, "--tolerance", tolerance];
        assert_refused("clashes", &arguments, "a tolerance of ");
    }
}

#[test]
fn lipid_bilayer_refuses_bad_input_in_one_sentence() {
    for (arguments, words) in [
        (&["--lipid", "nowhere.pdb"][..], "nowhere.pdb"),
        (&["--tolerance", "0"], "--tolerance must be positive"),
        (&["--tolerance", "-1"], "--tolerance must be positive"),
        (&["--tolerance", "nan"], "--tolerance must be positive"),
        (&["--radius", "-1"], "--radius must be positive"),
        (&["--radius", "1", "--inner", "6"], "no room for an inner"),
        (&["--lipids", "0"], "at least one lipid"),
        (&["--lipids", "10"], "10 lipids of 1.23 nm² are too few"),
        (&["--lipids", "4000000000"], "atoms are too many"),
        (&["--outer", "4000000000"], "atoms are too many"),
        (&["--leeway", "inf"], "--leeway must be finite"),
        (&["--lipids", "900", "--outer", "9"], "not some of both"),
        (&["--area-per-lipid", "1"], "needs --lipids"),
        (&["--export", "vesicle.xyz"], "vesicle.xyz"),
        (&["--preset", "sparse"], "there is no preset 'sparse'"),
        (&["--report", "nowhere/report.json"], "nowhere"),
    ] {
        assert_refused("lipid_bilayer", arguments, words);
    }
}

#[test]
fn words_that_are_no_values_are_bad_input_too() {
    for (example, arguments) in [
        ("clashes", &[][..]),
        ("clashes", &["a.pdb", "--by", "color"]),
        ("lipid_bilayer", &["--law", "murphy"]),
        ("lipid_bilayer", &["--backend", "cuda"]),
        ("lipid_bilayer", &["--tolerance", "small"]),
        ("lipid_bilayer", &["--lipids", "-1"]),
    ] {
        let output = run(example, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(text(&output.stderr).starts_with("error: "));
    }
}

#[test]
fn a_relaxed_vesicle_is_free_of_clashes_in_its_files() {
    for (name, by) in [("vesicle.pdb", "residue"), ("vesicle.cif", "chain")] {
        let path = scratch(name);
        let options = ["--headless", "--report", "-", "--export", &path];
        let report = json(&small_vesicle(&options), 0);
        assert_eq!(report["scene"], "lipid_bilayer");
        assert_eq!(report["molecules"], SMALL_LIPIDS);
        assert_eq!(report["atoms"], SMALL_LIPIDS * POPC_ATOMS);
        assert_eq!(report["converged"], true);
        assert_eq!(report["reason"], "at_rest");
        assert_ne!(report["overlaps_start"], 0);
        assert_eq!(report["overlaps_end"], 0);
        assert_eq!(report["max_penetration_nm"], 0.0);
        assert_eq!(report["out_of_place"], 0);

        let clashes = clashes(&path, by, "0.2", &[]);
        assert_eq!(clashes["pairs"], 0, "{clashes}");
        assert_eq!(clashes["parts"], report["molecules"]);
        assert_eq!(clashes["atoms"], report["atoms"]);
        assert!(clashes["closest_nm"].as_f64().unwrap() >= 0.2);
    }
}

#[test]
fn reports_have_every_field_and_what_was_asked_for() {
    let path = scratch("report.json");
    let options = ["--seed", "7", "--threads", "1", "--report", &path];
    let output = small_vesicle(&options);
    assert_eq!(output.status.code(), Some(0));
    // The report is in a file, so that standard output has the summary.
    assert!(text(&output.stdout).starts_with("lipid_bilayer: 70 outer + 6 inner lipids"));
    let report: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert!(report["converged"].is_boolean());
    for field in ["scene", "reason", "backend"] {
        assert!(report[field].is_string(), "{field}");
    }
    for field in [
        "molecules",
        "atoms",
        "seed",
        "threads",
        "iterations",
        "overlaps_start",
        "overlaps_end",
        "out_of_place",
    ] {
        assert!(report[field].is_u64(), "{field}");
    }
    for field in ["max_penetration_nm", "seconds"] {
        assert!(report[field].is_f64(), "{field}");
    }
    for stage in ["gather", "grid", "search", "respond", "apply"] {
        assert!(report["ms_per_iteration"][stage].is_f64(), "{stage}");
    }
    let memory = report.get("peak_memory_bytes").unwrap();
    assert!(memory.is_u64() || !cfg!(target_os = "linux") && memory.is_null());
    assert_eq!(
        (&report["seed"], &report["threads"]),
        (&7.into(), &1.into())
    );
    assert_ne!(report["iterations"], 0);
}

/// Where there is no adapter this ends on the CPU all the same, and says why.
#[cfg(feature = "gpu")]
#[test]
fn a_gpu_can_be_asked_for_and_is_in_the_report() {
    let options = ["--backend", "cpu", "--report", "-"];
    let report = json(&small_vesicle(&options), 0);
    assert_eq!(report["backend"], "cpu");
    assert!(report["adapter"].is_null() && report["fell_back"].is_null());

    let options = ["--backend", "gpu", "--max-iterations", "3", "--report", "-"];
    let report = json(&small_vesicle(&options), 1);
    let file = "assets/molecules/popc_bilayer.pdb";
    let search = |backend| clashes(file, "residue", "0.25", &["--backend", backend]);
    let (cpu, gpu) = (search("cpu"), search("gpu"));
    assert_eq!(gpu["pairs"], cpu["pairs"]);
    assert_eq!(gpu["worst"], cpu["worst"]);
    assert_eq!(gpu["backend"], report["backend"]);
    if report["backend"] == "gpu" {
        assert!(report["adapter"].is_string() && report["fell_back"].is_null());
        assert_eq!(gpu["adapter"], report["adapter"]);
    } else {
        assert!(report["adapter"].is_null() && report["fell_back"].is_string());
    }
}

#[test]
fn the_same_seed_gives_the_same_file_on_any_number_of_threads() {
    let export = |name: &str, seed: &str, threads: &str| {
        let path = scratch(name);
        let options = ["--seed", seed, "--threads", threads, "--export", &path];
        let output = small_vesicle(&options);
        assert_eq!(output.status.code(), Some(0));
        fs::read(&path).unwrap()
    };
    let first = export("first.pdb", "3", "1");
    assert!(first == export("again.pdb", "3", "2"));
    assert!(first != export("other.pdb", "4", "1"));
}

#[test]
fn a_vesicle_that_does_not_come_to_rest_ends_with_1_and_is_written_all_the_same() {
    let path = scratch("unfinished.cif");
    let options = ["--max-iterations", "1", "--report", "-", "--export", &path];
    let report = json(&small_vesicle(&options), 1);
    assert_eq!(report["converged"], false);
    assert_eq!(report["reason"], "max_iterations");
    assert_eq!(report["iterations"], 1);
    assert_ne!(report["overlaps_end"], 0);

    let clashes = clashes(&path, "chain", "0.2", &[]);
    assert_eq!(clashes["parts"], SMALL_LIPIDS);
    assert_ne!(clashes["pairs"], 0);
}

#[test]
fn clashes_of_a_bilayer_are_what_they_were() {
    let file = "assets/molecules/popc_bilayer.pdb";
    let clashes = clashes(file, "residue", "0.25", &[]);
    assert_eq!(clashes["file"], file);
    assert_eq!(clashes["parts"], 128);
    assert_eq!(clashes["atoms"], 128 * POPC_ATOMS);
    let closest = clashes["closest_nm"].as_f64().unwrap();
    assert!((closest - 0.169).abs() < 0.0005, "{closest} nm");
    assert_eq!(clashes["worst"][0]["distance_nm"], clashes["closest_nm"]);
}
