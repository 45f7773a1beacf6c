//! The command line of `lipid_bilayer`.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use super::clashes::{self, POPC_ATOMS};
use super::run_example::{
    assert_help_names, assert_rejected, assert_usage_error, json, run, scratch, text,
};

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
        "--species",
        "--outer-species",
        "--inner-species",
        "--area-scale",
        "--conformers",
        "--protein",
        "--fixed-proteins",
        "--flat",
        "--certify",
        "--certificate",
    ];
    assert_help_names("lipid_bilayer", &options);
}

#[test]
fn presets_are_listed_with_their_descriptions() {
    let output = run("lipid_bilayer", &["--list-presets"]);
    assert!(output.status.success());
    let lines: Vec<_> = text(&output.stdout).lines().collect();
    assert_eq!(lines.len(), 8, "{lines:?}");
    let halves = lines.iter().filter_map(|line| line.split_once('\t'));
    for (name, what) in halves.clone() {
        assert!(!what.is_empty() && what.ends_with('.'), "{name}: {what}");
        assert!(!name.contains("atoms") || what.contains("7462"), "{what}");
    }
    assert_eq!(halves.count(), 8);
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
        (&["--radius", "1"], "no space for lipids"),
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
        (&["--species", "popq"], "did you mean 'popc'?"),
        (&["--species", "water"], "there is no lipid 'water'"),
        (&["--species", "popc:lots"], "'lots' is not a ratio"),
        (&["--species", "popc:0"], "no lipids"),
        (&["--species", "popc:-1"], "ratios must be"),
        (&["--species", "nowhere.pdb@0.7"], "nowhere.pdb"),
        (&["--species", "assets/molecules/p_xylene.pdb"], "in nm²"),
        (&["--inner-species", "chol:0"], "no lipids"),
        (&["--area-scale", "0"], "--area-scale must be positive"),
        (&["--protein", "2por"], "--protein must be FILE:COUNT"),
        (&["--protein", "2prr:1"], "did you mean '2por'?"),
        (&["--protein", "2por:500"], "500 proteins do not fit"),
        (
            &["--protein", "2por:1", "--radius", "2.1"],
            "more protein than surface",
        ),
        (&["--flat", "20"], "--flat must be two edges"),
        (&["--flat", "20x-1"], "an edge of --flat must be positive"),
        (&["--flat", "1x9"], "popc needs"),
    ] {
        assert_rejected("lipid_bilayer", arguments, words);
    }
    let path = scratch("uncertified.pdb");
    let arguments = ["--certify", "--export", &path, "--outer", "20"];
    assert_rejected("lipid_bilayer", &arguments, "add --tolerance 0.2");
    let arguments = ["--export", &path, "--certificate", "nowhere/clean.json"];
    assert_rejected("lipid_bilayer", &arguments, "nowhere");
    assert!(!Path::new(&path).exists());
}

#[test]
fn options_of_membranes_and_of_one_kind_of_lipid_exclude_each_other() {
    for membrane in [
        &["--species", "popc"][..],
        &["--outer-species", "popc"],
        &["--inner-species", "popc"],
        &["--area-scale", "1"],
        &["--conformers", "2"],
        &["--protein", "2por:1"],
        &["--fixed-proteins"],
        &["--flat", "9x9"],
    ] {
        for other in [
            ["--outer", "9"],
            ["--inner", "9"],
            ["--lipids", "900"],
            ["--area-per-lipid", "1"],
            ["--lipid", "x.pdb"],
            ["--positions", "even"],
        ] {
            assert_usage_error("lipid_bilayer", &[membrane, &other].concat());
        }
    }
    for arguments in [
        &["--flat", "9x9", "--radius", "5"][..],
        &["--certify"],
        &["--certificate", "clean.json"],
        &["--conformers", "0"],
    ] {
        assert_usage_error("lipid_bilayer", arguments);
    }
}

#[test]
fn a_mixed_vesicle_with_a_protein_is_exported_and_certified() {
    let [export, certificate] = ["mixed.cif", "mixed.json"].map(scratch);
    let options = "--radius 4 --area-scale 1.3 --conformers 3 --protein 2por:1 --report - \
        --outer-species popc:2,cholesterol:1";
    let mut options: Vec<&str> = options.split_whitespace().collect();
    options.extend(["--export", &export, "--certificate", &certificate]);
    let output = run("lipid_bilayer", &options);
    assert!(text(&output.stderr).contains("note: the orientation of '2por'"));
    let report = json(&output, 0);
    assert_eq!(report["lipid"], "popc, cholesterol");
    assert_eq!(report["radius_nm"], 4.0);
    assert!(report["box_nm"].is_null());
    assert_eq!(report["notes"].as_array().unwrap().len(), 1);
    let membrane = &report["membrane"];
    assert_eq!(membrane["proteins"][0]["number"], 1);
    let numbers = |leaflet: &str| -> Vec<u64> {
        let species = membrane[leaflet]["species"].as_array().unwrap();
        species
            .iter()
            .map(|one| one["number"].as_u64().unwrap())
            .collect()
    };
    let (outer, inner) = (numbers("outer"), numbers("inner"));
    assert!(
        outer.len() == 2 && outer[0].abs_diff(2 * outer[1]) <= 2,
        "{outer:?}"
    );
    assert_eq!(inner.len(), 1);
    assert_eq!(report["outer"], outer.iter().sum::<u64>());
    assert_eq!(report["inner"], inner[0]);

    let clean: Value = serde_json::from_slice(&fs::read(&certificate).unwrap()).unwrap();
    assert_eq!(clean["molecules"], report["molecules"]);
    assert_eq!(clean["atoms"], report["atoms"]);
    assert_eq!(clean["pairs_below_tolerance"], 0);
    assert_eq!(clean["members"]["out_of_place"], 0);
}

#[test]
fn the_summary_of_a_flat_patch_has_its_box_its_numbers_and_the_certificate() {
    let path = scratch("patch.pdb");
    let options = "--flat 7x6 --area-scale 1.4 --conformers 3 --headless --certify --export";
    let mut options: Vec<&str> = options.split(' ').collect();
    options.push(&path);
    let output = run("lipid_bilayer", &options);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let summary = text(&output.stdout);
    for words in [
        "in a periodic box of 7.00 × 6.00 × ",
        "outer leaflet at +",
        "popc",
        "--by molecule --tolerance 0.2 --periodic\n",
        "clean: ",
    ] {
        assert!(summary.contains(words), "{words} in {summary}");
    }
    let first = fs::read_to_string(&path).unwrap();
    assert!(first.contains("CRYST1   70.000   60.000"));
}

#[test]
fn overlaps_in_the_file_are_not_clean_and_exit_with_1() {
    let [export, certificate] = ["overlaps.cif", "overlaps.json"].map(scratch);
    let options = ["--radius", "4", "--steps", "0", "--report", "-", "--export"];
    let more = [&*export, "--certificate", &certificate];
    json(&run("lipid_bilayer", &[&options[..], &more].concat()), 1);
    let found: Value = serde_json::from_slice(&fs::read(&certificate).unwrap()).unwrap();
    assert_ne!(found["pairs_below_tolerance"], 0);
}

#[test]
fn the_default_is_a_popc_vesicle_in_several_shapes() {
    let report = json(&run("lipid_bilayer", &["--steps", "0", "--report", "-"]), 1);
    assert_eq!(
        (&report["lipid"], &report["radius_nm"]),
        (&"popc".into(), &8.0.into())
    );
    // The area of the spheres in the middle of the leaflets over 0.65 nm².
    assert!((1500..1650).contains(&report["outer"].as_u64().unwrap()));
    assert!((900..1000).contains(&report["inner"].as_u64().unwrap()));
    assert!((0.19..0.21).contains(&report["tolerance_nm"].as_f64().unwrap()));
    assert_eq!(report["warnings"].as_array().unwrap().len(), 0);
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
