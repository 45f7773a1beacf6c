//! `molecules relax`.

use std::fs;

use super::run_program::{
    assert_rejected, assert_usage_error, atom, json, run, scratch, scratch_file, text,
};

/// Carbons of different molecules in a row, `step` ångström apart.
fn carbons(name: &str, count: u32, step: f32) -> String {
    let rows = (0..count).map(|k| atom(k + 1, "LIG", k + 1, [step * k as f32, 0.0, 0.0]) + "TER\n");
    scratch_file(name, &rows.collect::<String>())
}

/// The x coordinates of all atoms of a PDB file, ångström.
fn places(file: &str) -> Vec<f32> {
    let content = fs::read_to_string(file).unwrap();
    let rows = content.lines().filter(|row| row.starts_with("HETATM"));
    rows.map(|row| row[30..38].trim().parse().unwrap())
        .collect()
}

#[test]
fn molecules_are_pushed_apart_and_certified() {
    let file = carbons("close.pdb", 5, 1.2);
    let output = scratch("relaxed.pdb");
    let report = json(&["relax", &file, "-o", &output, "--json"], 0);
    assert_eq!(
        (&report["molecules"], &report["atoms"]),
        (&5.into(), &5.into())
    );
    assert_eq!(
        (&report["overlaps_start"], &report["overlaps_end"]),
        (&4.into(), &0.into())
    );
    assert_eq!(report["reason"], "at_rest");
    assert_eq!(report["certificate"]["pairs_below_tolerance"], 0);
    assert!(report["largest_move_nm"].as_f64().unwrap() < 0.5);
    let places = places(&output);
    assert!(
        places
            .windows(2)
            .all(|pair| (pair[1] - pair[0]).abs() >= 2.0),
        "{places:?}"
    );
}

#[test]
fn molecules_that_do_not_overlap_stay() {
    let file = carbons("apart.pdb", 3, 2.5);
    let output = scratch("unchanged.cif");
    let report = json(&["relax", &file, "-o", &output, "--json"], 0);
    assert_eq!(
        (&report["iterations"], &report["largest_move_nm"]),
        (&0.into(), &0.0.into())
    );
}

#[test]
fn fixed_kinds_do_not_move() {
    let first = atom(1, "ION", 1, [0.0; 3]) + "TER\n";
    let second = atom(2, "LIG", 2, [1.0, 0.0, 0.0]) + "TER\n";
    let file = scratch_file("fixed.pdb", &(first + &second));
    let output = scratch("fixed_relaxed.pdb");
    let report = json(
        &["relax", &file, "-o", &output, "--fixed", "ION", "--json"],
        0,
    );
    assert_eq!(report["fixed"], 1);
    let places = places(&output);
    assert!(places[0].abs() < 1.0e-3 && places[1] >= 2.0, "{places:?}");
    let arguments = ["relax", &file, "--fixed", "WAT"];
    assert_rejected(&arguments, "has no 'WAT'; it has ION, LIG");
}

#[test]
fn the_tolerance_is_that_of_the_option() {
    let file = carbons("tolerance.pdb", 3, 2.5);
    let output = scratch("tolerance_relaxed.pdb");
    let arguments = [
        "relax",
        &file,
        "-o",
        &output,
        "--tolerance",
        "0.3",
        "--json",
    ];
    let report = json(&arguments, 0);
    assert_eq!(
        (&report["overlaps_start"], &report["overlaps_end"]),
        (&2.into(), &0.into())
    );
    assert!(places(&output)[1] - places(&output)[0] >= 3.0);
}

#[test]
fn a_run_that_is_stopped_exits_with_1_and_writes_what_is_there() {
    let file = carbons("stopped.pdb", 5, 0.5);
    let output = scratch("stopped_relaxed.pdb");
    let arguments = [
        "relax",
        &file,
        "-o",
        &output,
        "--max-iterations",
        "1",
        "--json",
    ];
    let report = json(&arguments, 1);
    assert_eq!(
        (&report["iterations"], &report["reason"]),
        (&1.into(), &"max_iterations".into())
    );
    assert_eq!(places(&output).len(), 5);
}

#[test]
fn a_summary_is_printed() {
    let file = carbons("summary.pdb", 2, 1.0);
    let output = run(&["relax", &file]);
    assert_eq!(output.status.code(), Some(0));
    let summary = text(&output.stdout);
    assert!(summary.contains("2 atoms in 2 molecules"), "{summary}");
    assert!(summary.contains("from 1 overlaps to 0"), "{summary}");
}

#[test]
fn invalid_input_is_rejected_in_one_sentence() {
    let file = carbons("invalid_relax.pdb", 2, 3.0);
    assert_rejected(&["relax", "none.pdb"], "none.pdb");
    assert_rejected(&["relax", "a.xyz"], "a.xyz");
    assert_rejected(
        &["relax", &file, "-o", "a.xyz"],
        "unknown format of 'a.xyz'",
    );
    assert_rejected(&["relax", &file, "--tolerance", "-1"], "must be positive");
    assert_rejected(&["relax", &file, "--max-time", "-1"], "not negative");
    assert_usage_error(&["relax"]);
    assert_usage_error(&["relax", &file, "--format", "word"]);
}
