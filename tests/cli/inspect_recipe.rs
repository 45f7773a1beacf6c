//! `molecules inspect` of a recipe.

use serde_json::json;

use super::run_program::{assert_rejected, json as report_of, run, scratch_file, stdout, text};

fn recipe(name: &str) -> String {
    format!("tests/data/recipes/{name}.json")
}

#[test]
fn compartments_are_a_tree_with_volumes() {
    let report = report_of(&["inspect", &recipe("nested_mesh_gradient"), "--json"], 0);
    assert_eq!(report["format"], "cellpack");
    assert_eq!(report["name"], "nested_mesh_gradient");
    let names = ["bounding_area", "membrane", "nucleus"];
    let volumes = names.into_iter().enumerate().map(|(depth, name)| {
        let compartment = &report["compartments"][depth];
        assert_eq!(
            (&compartment["name"], &compartment["depth"]),
            (&json!(name), &json!(depth))
        );
        compartment["volume_nm3"].as_f64().unwrap()
    });
    let volumes: Vec<f64> = volumes.collect();
    assert!(volumes[0] > volumes[1] && volumes[1] > volumes[2]);
    assert_eq!(report["compartments"][2]["parent"], "membrane");
    let table = stdout(&["inspect", &recipe("nested_mesh_gradient")]);
    assert!(table.contains("\n    membrane: ") && table.contains("\n      nucleus: "));
}

#[test]
fn ingredients_and_entries_have_sizes_and_numbers() {
    let report = report_of(&["inspect", &recipe("one_sphere"), "--json"], 0);
    assert_eq!(report["size_nm"], json!([12.0, 12.0, 12.0]));
    assert_eq!(report["periodic"], false);
    let ball = &report["ingredients"][0];
    assert_eq!(
        (&ball["kind"], &ball["atoms"], &ball["radius_nm"]),
        (&json!("sphere"), &json!(1), &json!(4.0))
    );
    let volume = 4.0 / 3.0 * std::f64::consts::PI * 64.0;
    assert!((ball["volume_nm3"].as_f64().unwrap() / volume - 1.0).abs() < 1.0e-5);
    let entry = &report["entries"][0];
    assert_eq!(
        (&entry["region"], &entry["count"], &entry["mean_count"]),
        (&json!("space.interior"), &json!("1"), &json!(1.0))
    );
    let fraction = report["regions"][0]["fraction"].as_f64().unwrap();
    assert!((fraction / (volume / 1728.0) - 1.0).abs() < 1.0e-5);
}

#[test]
fn distributions_are_written_as_text() {
    let report = report_of(&["inspect", &recipe("variable_count"), "--json"], 0);
    let counts = report["entries"].as_array().unwrap().iter();
    let counts: Vec<&str> = counts
        .map(|entry| entry["count"].as_str().unwrap())
        .collect();
    assert!(counts.iter().any(|count| count.contains(" to ")));
    let table = stdout(&["inspect", &recipe("variable_size")]);
    assert!(table.contains(", radius "), "{table}");
}

#[test]
fn too_many_molecules_are_a_warning() {
    let output = run(&["inspect", &recipe("spheres_in_a_box")]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("630 molecules ask for 103 %"));
    assert!(text(&output.stdout).contains("102.6 %"));
}

#[test]
fn a_large_recipe_is_described_without_filling_it() {
    let text = std::fs::read_to_string(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(recipe("one_sphere")),
    );
    let many = text
        .unwrap()
        .replace("\"count\": 1", "\"count\": 5000000")
        .replace("40", "1");
    let file = scratch_file("many_spheres.json", &many);
    let report = report_of(&["inspect", &file, "--json"], 0);
    assert_eq!(report["entries"][0]["mean_count"], 5.0e6);
    assert!(report["regions"].is_null());
    assert!(stdout(&["inspect", &file]).contains("--dry-run"));
}

#[test]
fn options_of_the_other_kind_of_file_are_rejected() {
    let sphere = recipe("one_sphere");
    for options in [&["--by", "chain"][..], &["--waters"]] {
        let arguments = [&["inspect", &sphere][..], options].concat();
        assert_rejected(&arguments, "for structure files");
    }
    let molecule = "assets/molecules/popc.pdb";
    assert_rejected(&["inspect", molecule, "--allow-outside"], "for recipes");
}
