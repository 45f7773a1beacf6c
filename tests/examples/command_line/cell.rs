//! The command line of `cell`.

use std::fs;

use super::clashes;
use super::run_example::{assert_help_names, assert_rejected, json, run, scratch};

const PROTEINS: &str = "assets/recipes/proteins_in_a_box.json";

#[test]
fn help_names_all_options() {
    let options = [
        "--export",
        "--steps",
        "--panel",
        "--cut-open",
        "--structures",
        "--allow-outside",
        "--seed",
        "--threads",
        "--screenshot",
        "--size-of-picture",
        "--headless",
        "--report",
    ];
    assert_help_names("cell", &options);
}

#[test]
fn a_recipe_is_packed_and_exported_without_overlaps() {
    let path = scratch("packed_cell.cif");
    let arguments = [PROTEINS, "--export", &path, "--report", "-", "--seed", "4"];
    let report = json(&run("cell", &arguments), 0);
    assert_eq!(
        (&report["molecules"], &report["seed"]),
        (&28.into(), &4.into())
    );
    assert_eq!(report["overlaps_end"], 0);
    assert!(report["overlaps_start"].as_u64() > Some(0));
    assert_eq!(report["entries"].as_array().map(Vec::len), Some(2));
    let clashes = clashes::report(&path, "molecule", "0.2", &[]);
    assert_eq!(clashes["pairs"], 0);
}

#[test]
fn a_packing_that_is_stopped_says_so_by_its_exit_code() {
    let report = json(
        &run("cell", &[PROTEINS, "--steps", "1", "--report", "-"]),
        1,
    );
    assert_eq!(
        (&report["iterations"], &report["converged"]),
        (&1.into(), &false.into())
    );
    assert!(
        report["left"]
            .as_array()
            .is_some_and(|left| !left.is_empty())
    );
}

#[test]
fn invalid_recipes_are_rejected_in_one_sentence() {
    let broken = scratch("broken_cell.json");
    let text = fs::read_to_string(PROTEINS).unwrap();
    fs::write(
        &broken,
        text.replace("\"object\": \"ubiquitin\"", "\"object\": \"ubiquitine\""),
    )
    .unwrap();
    let words = "composition.space.regions.interior[1].object: there is no object 'ubiquitine'; did you mean 'ubiquitin'?";
    assert_rejected("cell", &["--headless", &broken], words);
    assert_rejected("cell", &["nowhere.json"], "nowhere.json");
    assert_rejected("cell", &["Cargo.toml", "--headless"], "expected a recipe");
    assert_rejected("cell", &[PROTEINS, "--export", "cell.xyz"], "cell.xyz");
}
