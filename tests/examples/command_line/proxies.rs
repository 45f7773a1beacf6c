//! The command line of `proxies`.

use super::run_example::{assert_help_names, assert_rejected, json, run, text};
#[cfg(target_os = "linux")]
use super::run_example::{command, without_gpu};

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
    assert_rejected("proxies", &["nowhere.pdb"], "nowhere.pdb");
    assert_rejected("proxies", &[file, "--proxies", "0"], "--proxies must be");
}

/// Once for all files.
#[test]
#[cfg(target_os = "linux")]
fn a_missing_gpu_is_reported_once() {
    let file = "assets/molecules/p_xylene.pdb";
    let mut command = command("proxies");
    command
        .args([file, file, "--proxies", "4"])
        .args(["--backend", "gpu", "--report", "-"]);
    let output = without_gpu(&mut command).output().unwrap();
    let stderr = text(&output.stderr);
    assert_eq!(stderr.matches("warning: ").count(), 1, "{stderr}");
    let report = json(&output, 0);
    assert_eq!(report["backend"], "cpu");
    assert_eq!(report["molecules"], 2);
    assert!(report["fell_back"].is_string());
}
