//! What holds for all examples: the same options mean the same, reports begin with the same
//! fields, and invalid input is rejected in one sentence.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;

use serde_json::Value;

use super::run_example::{assert_rejected, assert_usage_error, command, run, scratch, text};

/// All examples.
const EXAMPLES: [&str; 10] = [
    "broad_phase_race",
    "brownian_crowd",
    "cell",
    "circulating_particles",
    "clashes",
    "docking",
    "docking_path",
    "lipid_bilayer",
    "playground",
    "proxies",
];

/// The examples that open a window by default.
const WINDOWED: [&str; 6] = [
    "brownian_crowd",
    "cell",
    "circulating_particles",
    "docking",
    "lipid_bilayer",
    "playground",
];

/// Options with a different meaning in one example.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("brownian_crowd", "--steps"),
    ("docking_path", "--radius-scale"),
    ("proxies", "--tolerance"),
];

/// A small molecule.
const XYLENE: &str = "assets/molecules/p_xylene.pdb";

/// A small recipe.
const PROTEINS: &str = "assets/recipes/proteins_in_a_box.json";

/// Arguments of a short run.
fn small(example: &str) -> Vec<String> {
    let log = scratch("all_examples_path.log");
    let arguments = match example {
        "broad_phase_race" => "crossovers --quick".into(),
        "brownian_crowd" => "--molecules 8 --steps 2".into(),
        "cell" => PROTEINS.into(),
        "circulating_particles" => "--particles 20 --seconds 0.1".into(),
        "docking" => format!("assets/molecules/popc.pdb {XYLENE}"),
        "docking_path" => format!("{log} --radius-scale 0.2"),
        "lipid_bilayer" => "--outer 20 --inner 0 --radius 3.2 --tolerance 0.1".into(),
        "playground" => "--proteins 1 --steps 2".into(),
        _ => XYLENE.into(),
    };
    arguments.split(' ').map(String::from).collect()
}

/// A short run with more options.
fn run_small(example: &str, options: &[&str]) -> std::process::Output {
    let small = small(example);
    let small = small.iter().map(String::as_str);
    run(
        example,
        &small.chain(options.iter().copied()).collect::<Vec<_>>(),
    )
}

/// Options in the help of an example: name of the value, and description.
fn flags(help: &str) -> BTreeMap<String, (String, String)> {
    let mut flags = BTreeMap::new();
    let mut lines = help.lines().peekable();
    while let Some(line) = lines.next() {
        let line = line.trim();
        let (words, description) = line.split_once("  ").unwrap_or((line, ""));
        let Some(start) = words.find("--").filter(|_| words.starts_with('-')) else {
            continue;
        };
        let words = &words[start..];
        let (flag, value) = words.split_once(' ').unwrap_or((words, ""));
        let description = match description.trim() {
            "" => lines.peek().copied().unwrap_or_default().trim(),
            description => description,
        };
        flags.insert(flag.to_owned(), (value.to_owned(), description.to_owned()));
    }
    flags
}

/// The description before details, defaults and further sentences.
fn first_sentence(text: &str) -> &str {
    let ends = [" [", ": ", ". "].into_iter();
    let end = ends.filter_map(|end| text.find(end)).min();
    text[..end.unwrap_or(text.len())].trim_end_matches('.')
}

#[test]
fn the_same_option_has_the_same_description_in_all_examples() {
    let mut known: BTreeMap<String, (String, String, &str)> = BTreeMap::new();
    for example in EXAMPLES {
        let output = run(example, &["--help"]);
        assert_eq!(output.status.code(), Some(0), "{example}");
        let help = text(&output.stdout);
        let codes = [
            "Exit codes:",
            "  0  done",
            "  1  stopped before it was done",
            "  2  invalid input, or a file cannot be read or written",
        ];
        assert!(help.trim_end().ends_with(&codes.join("\n")), "{help}");
        let flags = flags(help);
        let everywhere = ["--report", "--quiet", "--threads", "--help"].iter();
        let in_windows = ["--headless", "--screenshot", "--seed", "--backend"].iter();
        let in_windows = in_windows.filter(|_| WINDOWED.contains(&example));
        for wanted in everywhere.chain(in_windows) {
            assert!(flags.contains_key(*wanted), "{example} lacks {wanted}");
        }
        for (flag, (value, description)) in flags {
            // The help of --help comes from clap.
            if flag == "--help" || EXCEPTIONS.contains(&(example, &flag)) {
                continue;
            }
            let sentence = first_sentence(&description).to_owned();
            assert!(!sentence.is_empty(), "{example} {flag}");
            let new = (value, sentence, example);
            let (value, sentence, other) = known.entry(flag.clone()).or_insert(new.clone());
            assert_eq!(
                (&*value, &*sentence),
                (&new.0, &new.1),
                "{flag} of {other} and of {example}"
            );
        }
    }
}

#[test]
fn reports_begin_with_the_same_fields_and_are_alone_on_standard_output() {
    for example in EXAMPLES {
        let output = run_small(example, &["--threads", "1", "--report", "-"]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{example}: {stderr}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let keys: Vec<&String> = report.as_object().unwrap().keys().collect();
        for key in ["adapter", "fell_back"] {
            assert!(report.get(key).is_some(), "{example}: {keys:?}");
        }
        assert_eq!(report["scene"], example);
        assert_eq!(report["threads"], 1);
        assert!(report["seconds"].is_f64(), "{example}");
        let fixed = ["broad_phase_race", "clashes"].contains(&example);
        assert_eq!(report["seed"].is_null(), fixed, "{example}");
        assert_eq!(report["adapter"].is_null(), report["backend"] == "cpu");
        for key in keys {
            // Rates are spelled `_per_`.
            assert!(!key.contains("_a_"), "{key}");
        }
    }
}

#[test]
fn quiet_examples_print_nothing() {
    for example in [
        "brownian_crowd",
        "circulating_particles",
        "clashes",
        "proxies",
    ] {
        let output = run_small(example, &["--quiet"]);
        assert_eq!(output.status.code(), Some(0), "{example}");
        assert!(output.stdout.is_empty(), "{example}");
        assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    }
}

#[test]
fn unknown_options_and_values_are_rejected() {
    for example in EXAMPLES {
        let mut arguments = small(example);
        arguments.push("--no-such-option".into());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        assert_usage_error(example, &arguments);
    }
    for (example, arguments) in [
        ("broad_phase_race", &["octree"][..]),
        ("broad_phase_race", &["--spheres", "many"]),
        ("clashes", &[]),
        ("clashes", &["a.pdb", "--by", "color"]),
        ("lipid_bilayer", &["--law", "murphy"]),
        ("lipid_bilayer", &["--backend", "cuda"]),
        ("lipid_bilayer", &["--tolerance", "small"]),
        ("lipid_bilayer", &["--lipids", "-1"]),
        ("playground", &["--contacts", "glue"]),
        ("playground", &["--headless", "--screenshot", "picture.png"]),
    ] {
        assert_usage_error(example, arguments);
    }
}

#[test]
fn unwritable_reports_are_rejected_before_the_work() {
    for example in EXAMPLES {
        let small = small(example);
        let mut arguments: Vec<&str> = small.iter().map(String::as_str).collect();
        arguments.extend(["--report", "nowhere/report.json"]);
        assert_rejected(example, &arguments, "there is no folder 'nowhere'");
        if let Some(path) = arguments.last_mut() {
            *path = "assets";
        }
        assert_rejected(example, &arguments, "'assets': it is not a file");
    }
}

#[test]
fn invalid_structure_files_are_rejected_in_one_sentence() {
    let empty = scratch("empty.pdb");
    fs::write(&empty, "").unwrap();
    let unknown = scratch("molecule.xyz");
    fs::write(&unknown, "3\nwater\nO 0 0 0\n").unwrap();
    for (file, words) in [
        ("nowhere.pdb", "nowhere.pdb"),
        ("assets", "assets"),
        (&*empty, "the file is empty"),
        (&*unknown, "not a PDB, mmCIF, BinaryCIF or GRO file"),
    ] {
        for example in ["clashes", "proxies"] {
            assert_rejected(example, &[file], words);
        }
        assert_rejected("docking", &["--headless", file], words);
        assert_rejected("lipid_bilayer", &["--lipid", file], words);
    }
    let log = ["--headless", "--play", "assets"];
    assert_rejected("docking", &log, "cannot read 'assets'");
    assert_rejected("docking_path", &["assets"], "it is not a file");
    let preset = ["--headless", "--preset", "Cargo.toml"];
    assert_rejected("lipid_bilayer", &preset, "Cargo.toml");
}

#[test]
fn invalid_numbers_are_rejected() {
    for (example, arguments, words) in [
        ("clashes", &[XYLENE, "--tolerance", "nan"][..], "tolerance"),
        ("proxies", &[XYLENE, "--tolerance", "-1"], "-1"),
        ("proxies", &[XYLENE, "--radius-scale", "0"], "0"),
        ("docking", &["--radius-scale", "-1"], "-1"),
        ("docking_path", &["way.log", "--radius-scale", "nan"], "NaN"),
        ("lipid_bilayer", &["--max-seconds", "-1"], "--max-seconds"),
        ("lipid_bilayer", &["--leeway", "nan"], "--leeway"),
        ("brownian_crowd", &["--stick", "-1"], "--stick must be from"),
        ("brownian_crowd", &["--spread", "inf"], "--spread must be"),
        (
            "circulating_particles",
            &["--seconds", "-1"],
            "--seconds must be from",
        ),
        (
            "circulating_particles",
            &["--acceleration", "-3"],
            "--acceleration must be positive",
        ),
    ] {
        assert_rejected(example, arguments, words);
    }
    for (example, arguments) in [
        ("brownian_crowd", &["--molecules", "0"][..]),
        ("broad_phase_race", &["--show", "--spheres", "0"]),
        ("playground", &["--proteins", "0"]),
        ("playground", &["--substeps", "0"]),
        ("docking", &["--threads", "99999"]),
        ("clashes", &[XYLENE, "--threads", "-1"]),
        ("proxies", &[XYLENE, "--size-of-picture", "0x0"]),
    ] {
        assert_usage_error(example, arguments);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_closed_standard_output_exits_with_1_and_without_a_message() {
    for example in EXAMPLES {
        let mut child = command(example)
            .args(small(example))
            .args(["--report", "-"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{example}: {stderr}");
        let silent = !stderr.contains("panicked") && !stderr.contains("pipe");
        assert!(silent, "{example}: {stderr}");
    }
}
