//! What holds for all examples: the same flags mean the same, reports begin alike, and bad
//! input is answered with one sentence.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::program::{assert_refused, program, run, scratch, text};

/// All examples.
const EXAMPLES: [&str; 9] = [
    "broad_phase_race",
    "brownian_crowd",
    "circulating_particles",
    "clashes",
    "docking",
    "docking_path",
    "lipid_bilayer",
    "playground",
    "proxies",
];

/// Those that have a window unless told otherwise.
const WINDOWED: [&str; 5] = [
    "brownian_crowd",
    "circulating_particles",
    "docking",
    "lipid_bilayer",
    "playground",
];

/// Flags that mean something of their own in one example.
const ON_THEIR_OWN: [(&str, &str); 2] = [
    ("docking_path", "--radius-scale"),
    ("proxies", "--tolerance"),
];

/// A small molecule.
const XYLENE: &str = "assets/molecules/p_xylene.pdb";

/// What makes an example end in a moment.
fn small(example: &str) -> Vec<String> {
    let out = scratch("contract_race");
    let log = scratch("contract_way.log");
    let arguments = match example {
        "broad_phase_race" => format!("splitting --quick --out {out}"),
        "brownian_crowd" => "--molecules 8 --steps 2".into(),
        "circulating_particles" => "--particles 20 --seconds 0.1".into(),
        "docking" => format!("assets/molecules/popc.pdb {XYLENE}"),
        "docking_path" => format!("{log} --radius-scale 0.2"),
        "lipid_bilayer" => "--outer 20 --inner 0 --radius 3.2 --tolerance 0.1".into(),
        "playground" => "--proteins 1 --steps 2".into(),
        _ => XYLENE.into(),
    };
    arguments.split(' ').map(String::from).collect()
}

/// The small scene with other options.
fn run_small(example: &str, options: &[&str]) -> std::process::Output {
    let small = small(example);
    let small = small.iter().map(String::as_str);
    run(
        example,
        &small.chain(options.iter().copied()).collect::<Vec<_>>(),
    )
}

/// Flags of an example: name of the value, and what the help says of it.
fn flags(help: &str) -> BTreeMap<String, (String, String)> {
    let mut flags = BTreeMap::new();
    let mut lines = help.lines().peekable();
    while let Some(line) = lines.next() {
        let line = line.trim();
        let (words, said) = line.split_once("  ").unwrap_or((line, ""));
        let Some(start) = words.find("--").filter(|_| words.starts_with('-')) else {
            continue;
        };
        let words = &words[start..];
        let (flag, value) = words.split_once(' ').unwrap_or((words, ""));
        let said = match said.trim() {
            "" => lines.peek().copied().unwrap_or_default().trim(),
            said => said,
        };
        flags.insert(flag.to_owned(), (value.to_owned(), said.to_owned()));
    }
    flags
}

/// What comes before examples, defaults and further sentences.
fn first_sentence(text: &str) -> &str {
    let ends = [" [", ": ", ". "].into_iter();
    let end = ends.filter_map(|end| text.find(end)).min();
    text[..end.unwrap_or(text.len())].trim_end_matches('.')
}

#[test]
fn the_same_flag_has_the_same_value_and_sentence_everywhere() {
    let mut known: BTreeMap<String, (String, String, &str)> = BTreeMap::new();
    for example in EXAMPLES {
        let output = run(example, &["--help"]);
        assert_eq!(output.status.code(), Some(0), "{example}");
        let help = text(&output.stdout);
        let codes = [
            "Exit codes:",
            "  0  done",
            "  1  stopped before it was done",
            "  2  the input cannot be used, or a file cannot be read or written",
        ];
        assert!(help.trim_end().ends_with(&codes.join("\n")), "{help}");
        let flags = flags(help);
        let everywhere = ["--report", "--quiet", "--threads", "--help"].iter();
        let in_windows = ["--headless", "--screenshot", "--seed", "--backend"].iter();
        let in_windows = in_windows.filter(|_| WINDOWED.contains(&example));
        for wanted in everywhere.chain(in_windows) {
            assert!(flags.contains_key(*wanted), "{example} lacks {wanted}");
        }
        for (flag, (value, said)) in flags {
            // The help on help is clap's.
            if flag == "--help" || ON_THEIR_OWN.contains(&(example, &flag)) {
                continue;
            }
            let sentence = first_sentence(&said).to_owned();
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
fn reports_have_one_head_and_standard_output_to_themselves() {
    for example in EXAMPLES {
        let output = run_small(example, &["--threads", "1", "--report", "-"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{example}: {said}");
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
            // One spelling of units and rates.
            assert!(!key.contains("_a_"), "{key}");
        }
    }
}

#[test]
fn quiet_examples_say_nothing_on_standard_output() {
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
fn clashes_prints_its_report_for_json_too() {
    let short = run("clashes", &[XYLENE, "--json"]);
    let report: Value = serde_json::from_slice(&short.stdout).unwrap();
    assert_eq!((&report["parts"], &report["pairs"]), (&1.into(), &0.into()));
}

#[test]
fn a_flag_that_there_is_not_is_bad_input() {
    for example in EXAMPLES {
        let output = run_small(example, &["--no-such-flag"]);
        assert_eq!(output.status.code(), Some(2), "{example}");
        assert!(output.stdout.is_empty(), "{example}");
        assert!(text(&output.stderr).starts_with("error: "), "{example}");
    }
}

#[test]
fn reports_that_cannot_be_written_are_refused_before_the_work() {
    for example in EXAMPLES {
        let small = small(example);
        let mut arguments: Vec<&str> = small.iter().map(String::as_str).collect();
        arguments.extend(["--report", "nowhere/report.json"]);
        assert_refused(example, &arguments, "there is no folder 'nowhere'");
        if let Some(path) = arguments.last_mut() {
            *path = "assets";
        }
        assert_refused(example, &arguments, "'assets': it is not a file");
    }
}

#[test]
fn files_that_are_no_structures_are_refused_in_one_sentence() {
    let empty = scratch("empty.pdb");
    fs::write(&empty, "").unwrap();
    let unknown = scratch("molecule.xyz");
    fs::write(&unknown, "3\nwater\nO 0 0 0\n").unwrap();
    for (file, words) in [
        ("nowhere.pdb", "nowhere.pdb"),
        ("assets", "assets"),
        (&*empty, "the file is empty"),
        (&*unknown, "not a PDB, mmCIF or BinaryCIF file"),
    ] {
        for example in ["clashes", "proxies"] {
            assert_refused(example, &[file], words);
        }
        assert_refused("docking", &["--headless", file], words);
        assert_refused("lipid_bilayer", &["--lipid", file], words);
    }
    let way = ["--headless", "--play", "assets"];
    assert_refused("docking", &way, "cannot read 'assets'");
    assert_refused("docking_path", &["assets"], "it is not a file");
    let preset = ["--headless", "--preset", "Cargo.toml"];
    assert_refused("lipid_bilayer", &preset, "Cargo.toml");
}

#[test]
fn impossible_numbers_are_refused_in_one_sentence() {
    for (example, arguments, words) in [
        (
            "clashes",
            &[XYLENE, "--tolerance", "nan"][..],
            "a tolerance of",
        ),
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
        ("broad_phase_race", &["--most", "999"], "--most must be"),
    ] {
        assert_refused(example, arguments, words);
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
        let output = run(example, arguments);
        assert_eq!(output.status.code(), Some(2), "{example} {arguments:?}");
        assert!(text(&output.stderr).starts_with("error: "), "{example}");
    }
}

/// Whoever reads may stop reading: nothing panics, and nothing is said about it.
#[test]
#[cfg(target_os = "linux")]
fn a_reader_that_goes_away_is_no_panic() {
    for example in EXAMPLES {
        let mut child = Command::new(program(example))
            .args(small(example))
            .args(["--report", "-"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env_remove("DISPLAY")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{example}: {said}");
        let quiet = !said.contains("panicked") && !said.contains("pipe");
        assert!(quiet, "{example}: {said}");
    }
}
