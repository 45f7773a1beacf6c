//! The command line of `clashes`. `tests/cli/clashes.rs` tests what it shares with the program
//! `molecules`.

use super::run_example::{assert_help_names, json, run};
use serde_json::Value;

/// Atoms of a POPC lipid.
pub const POPC_ATOMS: u64 = 134;

/// The report of `clashes` on a file.
pub fn report(file: &str, by: &str, tolerance: &str, options: &[&str]) -> Value {
    let arguments = [file, "--by", by, "--tolerance", tolerance, "--report", "-"];
    json(&run("clashes", &[&arguments, options].concat()), 0)
}

#[test]
fn help_names_all_options() {
    assert_help_names(
        "clashes",
        &[
            "<FILE>",
            "--by",
            "--tolerance",
            "--box",
            "--periodic",
            "--backend",
            "--report",
        ],
    );
}

#[test]
fn json_is_short_for_a_report_on_standard_output() {
    let output = run("clashes", &["assets/molecules/p_xylene.pdb", "--json"]);
    let report = json(&output, 0);
    assert_eq!((&report["parts"], &report["pairs"]), (&1.into(), &0.into()));
}
