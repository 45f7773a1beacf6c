//! The command line of `lipid_bilayer`.

use std::fs;
use std::process::Output;

use serde_json::Value;

use super::clashes::{self, POPC_ATOMS};
use super::run_example::{assert_help_names, assert_rejected, json, run, scratch, text};

/// A vesicle that relaxes quickly.
const SMALL: &str = "--outer 70 --inner 6 --radius 3.2 --tolerance 0.2";

/// Lipids of the small vesicle.
const SMALL_LIPIDS: u64 = 76;

/// Relaxes the small vesicle.
fn small_vesicle(options: &[&str]) -> Output {
    let arguments: Vec<&str> = SMALL.split(' ').chain(options.iter().copied()).collect();
    run("lipid_bilayer", &arguments)
}

#[test]
fn help_names_all_options() {
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
fn presets_are_listed_with_their_descriptions() {
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
    // The list is printed in any case.
    for other in [&["--quiet"][..], &["--report", "-"]] {
        let again = run("lipid_bilayer", &[&["--list-presets"], other].concat());
        assert_eq!(again.stdout, output.stdout, "{other:?}");
    }
}

#[test]
fn invalid_input_is_rejected_in_one_sentence() {
    for (arguments, words) in [
        (&["--lipid", "nowhere.pdb"][..], "nowhere.pdb"),
        (&["--tolerance", "0"], "--tolerance must be positive"),
        (&["--tolerance", "-1"], "--tolerance must be positive"),
        (&["--tolerance", "nan"], "--tolerance must be positive"),
        (&["--radius", "-1"], "--radius must be positive"),
        (&["--radius", "1", "--inner", "6"], "too small for an inner"),
        (&["--lipids", "0"], "at least one lipid"),
        (&["--lipids", "10"], "10 lipids of 1.23 nm² are too few"),
        (&["--lipids", "4000000000"], "atoms are too many"),
        (&["--outer", "4000000000"], "atoms are too many"),
        (&["--leeway", "inf"], "--leeway must be finite"),
        (&["--lipids", "900", "--outer", "9"], "exclude"),
        (&["--area-per-lipid", "1"], "needs --lipids"),
        (&["--export", "vesicle.xyz"], "vesicle.xyz"),
        (&["--preset", "sparse"], "there is no preset 'sparse'"),
        (&["--report", "nowhere/report.json"], "nowhere"),
    ] {
        assert_rejected("lipid_bilayer", arguments, words);
    }
}

#[test]
fn an_exported_vesicle_has_no_clashes() {
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

        let clashes = clashes::report(&path, by, "0.2", &[]);
        assert_eq!(clashes["pairs"], 0, "{clashes}");
        assert_eq!(clashes["parts"], report["molecules"]);
        assert_eq!(clashes["atoms"], report["atoms"]);
        assert!(clashes["closest_nm"].as_f64().unwrap() >= 0.2);
    }
}

#[test]
fn the_report_has_all_fields() {
    let path = scratch("report.json");
    let options = ["--seed", "7", "--threads", "1", "--report", &path];
    let output = small_vesicle(&options);
    assert_eq!(output.status.code(), Some(0));
    // The report is in a file, the summary on standard output.
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

/// Without an adapter the CPU does the work, and the report says why.
#[cfg(feature = "gpu")]
#[test]
fn the_report_names_the_backend() {
    let options = ["--backend", "cpu", "--report", "-"];
    let report = json(&small_vesicle(&options), 0);
    assert_eq!(report["backend"], "cpu");
    assert!(report["adapter"].is_null() && report["fell_back"].is_null());

    let options = ["--backend", "gpu", "--max-iterations", "3", "--report", "-"];
    let report = json(&small_vesicle(&options), 1);
    let file = "assets/molecules/popc_bilayer.pdb";
    let search = |backend| clashes::report(file, "residue", "0.25", &["--backend", backend]);
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
fn the_same_seed_gives_the_same_file_with_any_number_of_threads() {
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
fn an_unfinished_vesicle_is_exported_and_exits_with_1() {
    let path = scratch("unfinished.cif");
    let options = ["--max-iterations", "1", "--report", "-", "--export", &path];
    let report = json(&small_vesicle(&options), 1);
    assert_eq!(report["converged"], false);
    assert_eq!(report["reason"], "max_iterations");
    assert_eq!(report["iterations"], 1);
    assert_ne!(report["overlaps_end"], 0);

    let clashes = clashes::report(&path, "chain", "0.2", &[]);
    assert_eq!(clashes["parts"], SMALL_LIPIDS);
    assert_ne!(clashes["pairs"], 0);
}

#[test]
fn presets_are_loaded_by_name_or_file() {
    let missing = ["--headless", "--preset", "missing.ron"];
    assert_rejected("lipid_bilayer", &missing, "missing.ron");
    let invalid = scratch("invalid.ron");
    fs::write(&invalid, "Preset(\n    outer: lots,\n)").unwrap();
    let arguments = ["--headless", "--preset", &invalid];
    assert_rejected("lipid_bilayer", &arguments, "line 2, column 1");
    let named = "--preset|dense bilayer|--max-iterations|1|--report|-|--law|thesis";
    let report = json(
        &run("lipid_bilayer", &named.split('|').collect::<Vec<_>>()),
        1,
    );
    assert_eq!(
        (&report["outer"], &report["law"]),
        (&520.into(), &"thesis".into())
    );
}

/// One cell for all atoms makes the search quadratic.
#[test]
fn the_cell_width_of_a_preset_holds_without_a_window() {
    let search_ms = |preset: &str| {
        let path = scratch("cell_width.ron");
        fs::write(&path, preset).unwrap();
        let options = ["--preset", &path, "--backend", "cpu", "--steps", "3"];
        let report = json(
            &small_vesicle(&[&options[..], &["--report", "-"]].concat()),
            1,
        );
        let stages = &report["ms_per_iteration"];
        stages["grid"].as_f64().unwrap() + stages["search"].as_f64().unwrap()
    };
    let (default, wide) = (search_ms("()"), search_ms("(cell_width: 100.0)"));
    assert!(wide > 4.0 * default, "{default} ms, {wide} ms");
}

#[test]
fn max_seconds_stops_the_relaxation() {
    let report = json(&small_vesicle(&["--max-seconds", "0", "--report", "-"]), 1);
    assert_eq!(report["reason"], "max_time");
    assert_eq!(report["iterations"], 0);
}

#[test]
fn the_report_says_whether_it_counts_atoms_or_proxies() {
    let path = scratch("coarse.ron");
    fs::write(&path, "(coarse_start: true)").unwrap();
    let counted = |steps: &str| {
        let options = ["--preset", &path, "--backend", "cpu", "--steps", steps];
        let options = [&options[..], &["--leeway", "0.01", "--report", "-"]].concat();
        json(&small_vesicle(&options), 1)["counted_spheres"].clone()
    };
    assert_eq!(counted("2"), "proxies");
    assert_eq!(counted("22"), "atoms");
}
