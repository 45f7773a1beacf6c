//! What holds for all commands: help, common options, and invalid input rejected in one sentence.

use std::fs;
#[cfg(target_os = "linux")]
use std::process::Stdio;

use super::run_program::{
    assert_rejected, assert_usage_error, command, run, scratch, scratch_file, stdout, text,
};

/// A small molecule.
const XYLENE: &str = "assets/molecules/p_xylene.pdb";

/// A short run of each command that reads a structure file.
fn small_runs() -> [Vec<String>; 4] {
    // Tests run at the same time.
    let name = std::thread::current().name().unwrap().replace("::", "_");
    let out = scratch(&format!("{name}.pdb"));
    let convert = format!("convert {XYLENE} -o {out}");
    [
        format!("certify {XYLENE}"),
        format!("clashes {XYLENE}"),
        convert,
        format!("inspect {XYLENE}"),
    ]
    .map(|run| run.split(' ').map(String::from).collect())
}

/// Arguments of a run with more options.
fn with<'a>(run: &'a [String], options: &[&'a str]) -> Vec<&'a str> {
    let run = run.iter().map(String::as_str);
    run.chain(options.iter().copied()).collect()
}

#[test]
fn the_program_names_its_commands_and_version() {
    let help = stdout(&["--help"]);
    for command in [
        "certify", "clashes", "convert", "inspect", "pack", "relax", "schema",
    ] {
        let listed = help
            .lines()
            .filter_map(|line| line.split_whitespace().next());
        assert!(listed.into_iter().any(|name| name == command), "{help}");
    }
    let version = stdout(&["--version"]);
    assert_eq!(
        version,
        format!("molecules {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn the_help_of_each_command_has_options_examples_and_exit_codes() {
    for (name, options) in [
        ("certify", &["--tolerance", "--json"][..]),
        (
            "clashes",
            &["--by", "--tolerance", "--box", "--periodic", "--worst"],
        ),
        (
            "convert",
            &["--output", "--by", "--model", "--assembly", "--chains"],
        ),
        (
            "inspect",
            &["--waters", "--top", "--json", "--allow-outside"],
        ),
        (
            "relax",
            &[
                "--output",
                "--tolerance",
                "--fixed",
                "--max-time",
                "--format",
            ],
        ),
        (
            "pack",
            &[
                "--output",
                "--seed",
                "--tolerance",
                "--max-time",
                "--dry-run",
            ],
        ),
    ] {
        let help = stdout(&[name, "--help"]);
        for option in options.iter().chain(&["--report", "--quiet", "--threads"]) {
            assert!(help.contains(option), "{name} --help lacks {option}");
        }
        assert!(help.contains(&format!("Examples:\n  molecules {name} ")));
        assert!(help.contains("Exit codes:\n  0  "), "{help}");
    }
}

#[test]
fn unknown_commands_and_options_are_usage_errors() {
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty() && text(&output.stderr).contains("Usage:"));
    assert_usage_error(&["melt"]);
    for small in small_runs() {
        assert_usage_error(&with(&small, &["--color-of-atoms"]));
        assert_usage_error(&with(&small, &["--threads", "-1"]));
        assert_usage_error(&[&small[0]]);
    }
}

#[test]
fn invalid_structure_files_are_rejected_in_one_sentence() {
    let empty = scratch_file("empty.pdb", "");
    let unknown = scratch_file("molecule.xyz", "3\nwater\nO 0 0 0\n");
    for (file, words) in [
        ("nowhere.pdb", "nowhere.pdb"),
        ("assets", "assets"),
        (&empty, "the file is empty"),
        (&unknown, "not a PDB, mmCIF, BinaryCIF or GRO file"),
    ] {
        for small in small_runs() {
            let mut arguments = with(&small, &[]);
            arguments[1] = file;
            assert_rejected(&arguments, words);
        }
    }
}

#[test]
fn unwritable_reports_are_rejected_before_the_work() {
    for small in small_runs() {
        for (target, words) in [
            ("nowhere/report.json", "there is no folder 'nowhere'"),
            ("assets", "'assets': it is not a file"),
        ] {
            assert_rejected(&with(&small, &["--report", target]), words);
        }
    }
}

#[test]
fn quiet_runs_print_nothing() {
    for small in small_runs() {
        let output = run(&with(&small, &["--quiet"]));
        assert_eq!(output.status.code(), Some(0), "{small:?}");
        let printed = [&*output.stdout, &*output.stderr].concat();
        assert!(printed.is_empty(), "{small:?}: {}", text(&printed));
    }
}

#[test]
fn reports_are_alone_on_standard_output_or_in_a_file() {
    for small in small_runs() {
        let printed = stdout(&with(&small, &["--report", "-", "--threads", "1"]));
        let report: serde_json::Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(report["file"], XYLENE);
        let path = scratch(&format!("{}.json", small[0]));
        let table = stdout(&with(&small, &["--report", &path]));
        assert!(!table.is_empty() && !table.contains('{'), "{table}");
        let written = fs::read_to_string(&path).unwrap();
        let written: serde_json::Value = serde_json::from_str(&written).unwrap();
        for (key, value) in report.as_object().unwrap() {
            if key != "seconds" && key != "threads" {
                assert_eq!(&written[key], value, "{key}");
            }
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_closed_standard_output_exits_with_1_and_without_a_message() {
    for small in small_runs() {
        for options in [&["--report", "-"][..], &[]] {
            let mut child = command()
                .args(with(&small, options))
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            drop(child.stdout.take());
            let output = child.wait_with_output().unwrap();
            let stderr = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{small:?}: {stderr}");
            assert!(stderr.is_empty(), "{small:?}: {stderr}");
        }
    }
}
