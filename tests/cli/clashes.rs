//! `molecules clashes`.

use serde_json::Value;

use super::run_program::{assert_rejected, assert_usage_error, json, stdout};

const BILAYER: &str = "assets/molecules/popc_bilayer.pdb";

/// The report on a file.
fn report(file: &str, by: &str, tolerance: &str, options: &[&str]) -> Value {
    let arguments = [
        "clashes",
        file,
        "--by",
        by,
        "--tolerance",
        tolerance,
        "--json",
    ];
    json(&[&arguments, options].concat(), 0)
}

#[test]
fn invalid_options_are_rejected_in_one_sentence() {
    let popc = "assets/molecules/popc.pdb";
    assert_rejected(&["clashes", "Cargo.toml"], "Cargo.toml: not a PDB");
    for tolerance in ["0", "-1", "nan", "inf"] {
        let arguments = ["clashes", popc, "--tolerance", tolerance];
        assert_rejected(&arguments, "tolerance");
    }
    for edges in ["1,2", "1,2,3,4", "1,2,-3", "0,2,3", "-1,2,3", "1,2,nan"] {
        assert_rejected(&["clashes", popc, "--box", edges], "edges");
    }
    assert_rejected(&["clashes", popc, "--periodic"], "no unit cell");
    let many = ["clashes", popc, "--worst", "1000000000"];
    assert_rejected(&many, "too many to list");
    let crystal = "assets/molecules/4hhb.bcif.gz";
    assert_rejected(&["clashes", crystal, "--periodic"], "other angles than 90°");
    assert_usage_error(&["clashes", popc, "--by", "color"]);
    assert_usage_error(&["clashes", popc, "--periodic", "--box", "1,2,3"]);
    assert_usage_error(&["clashes", popc, "--box", "1,x,3"]);
}

/// The equilibrated membrane has no clash with its images either; in a smaller box it has.
#[test]
fn clashes_with_images_are_found() {
    let own = report(BILAYER, "residue", "0.15", &["--periodic"]);
    assert_eq!((&own["parts"], &own["pairs"]), (&128.into(), &0.into()));
    let edge = own["box_nm"][0].as_f64().unwrap();
    assert!((edge - 6.3701).abs() < 1.0e-6, "{edge} nm");
    let small = report(BILAYER, "residue", "0.15", &["--box", "6.0,6.0,7.0"]);
    assert!(small["pairs"].as_u64().unwrap() > 0);
    assert_ne!(small["worst"][0]["image"], serde_json::json!([0, 0, 0]));
}

#[test]
fn the_closest_atoms_of_a_bilayer_are_found() {
    let report = report(BILAYER, "residue", "0.25", &["--worst", "3"]);
    assert_eq!(report["file"], BILAYER);
    assert_eq!(report["parts"], 128);
    assert_eq!(report["atoms"], 128 * 134);
    let closest = report["closest_nm"].as_f64().unwrap();
    assert!((closest - 0.169).abs() < 0.0005, "{closest} nm");
    assert_eq!(report["worst"][0]["distance_nm"], report["closest_nm"]);
    assert_eq!(report["worst"].as_array().unwrap().len(), 3);
}

#[test]
fn the_table_lists_the_worst_clashes() {
    let arguments = ["clashes", BILAYER, "--by", "residue", "--tolerance", "0.2"];
    let table = stdout(&arguments);
    assert!(table.contains("17152 atoms in 128 parts"), "{table}");
    assert!(table.contains("\ndistance nm  penetration nm  atoms\n"));
    assert!(table.contains(" POP "), "{table}");
}
