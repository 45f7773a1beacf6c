//! `molecules certify`.

use super::run_program::{
    assert_rejected, assert_usage_error, atom, json, run, scratch_file, stdout, text,
};

#[test]
fn a_clean_file_is_one_line_and_exit_code_0() {
    let line = stdout(&["certify", "assets/molecules/p_xylene.pdb"]);
    assert!(line.starts_with("clean: 1 molecules, 18 atoms"), "{line}");
    assert_eq!(line.lines().count(), 1);
}

#[test]
fn molecules_that_are_too_close_are_not_clean() {
    let rows = [
        atom(1, "LIG", 1, [0.0; 3]),
        atom(2, "LIG", 2, [1.5, 0.0, 0.0]),
    ];
    let file = scratch_file("close.pdb", &rows.join("TER\n"));
    let output = run(&["certify", &file]);
    assert_eq!(output.status.code(), Some(1));
    let line = text(&output.stdout);
    assert!(line.starts_with("not clean: 2 molecules"), "{line}");
    assert!(output.stderr.is_empty());
    let report = json(&["certify", &file, "--report", "-"], 1);
    assert_eq!(
        (&report["molecules"], &report["atoms"]),
        (&2.into(), &2.into())
    );
    assert_eq!(report["pairs_below_tolerance"], 1);
    assert_eq!(report["members"], serde_json::Value::Null);
    let report = json(&["certify", &file, "--json", "--tolerance", "0.1"], 0);
    assert_eq!(report["pairs_below_tolerance"], 0);
}

#[test]
fn invalid_input_is_rejected_in_one_sentence() {
    let file = "assets/molecules/p_xylene.pdb";
    for tolerance in ["0", "-1", "nan", "inf"] {
        let arguments = ["certify", file, "--tolerance", tolerance];
        assert_rejected(&arguments, "--tolerance must be positive");
    }
    let crystal = "assets/molecules/4hhb.bcif.gz";
    assert_rejected(&["certify", crystal], "other angles than 90°");
    assert_usage_error(&["certify", file, "--tolerance", "small"]);
}
