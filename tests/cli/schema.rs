//! `molecules schema`.

use std::fs;

use serde_json::Value;

use super::run_program::{assert_rejected, run, scratch, stdout};

#[test]
fn the_schema_describes_the_keys_of_recipes() {
    let text = stdout(&["schema"]);
    let schema: Value = serde_json::from_str(&text).unwrap();
    assert!(schema["$schema"].is_string());
    for key in [
        "bounding_box",
        "objects",
        "composition",
        "bevy_rapier_molecules",
    ] {
        assert!(schema["properties"][key].is_object(), "{key}");
    }
    assert!(text.contains("\"single_sphere\"") && text.ends_with("}\n"));
}

#[test]
fn the_schema_is_written_to_a_file() {
    let path = scratch("recipe.schema.json");
    let output = run(&["schema", "-o", &path]);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
    assert_eq!(fs::read_to_string(&path).unwrap(), stdout(&["schema"]));
}

#[test]
fn the_help_says_how_an_editor_finds_the_schema() {
    let help = stdout(&["schema", "--help"]);
    assert!(
        help.contains("\"$schema\"") && help.contains("json.schemas"),
        "{help}"
    );
}

#[test]
fn unwritable_targets_are_rejected() {
    assert_rejected(&["schema", "-o", "nowhere/a.json"], "there is no folder");
    assert_rejected(&["schema", "-o", "assets"], "it is not a file");
}
