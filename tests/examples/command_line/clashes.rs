//! The command line of `clashes`.

use super::run_example::{assert_help_names, assert_rejected, json, run};
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
fn invalid_input_is_rejected_in_one_sentence() {
    let popc = "assets/molecules/popc.pdb";
    assert_rejected("clashes", &["nowhere.pdb"], "nowhere.pdb");
    assert_rejected("clashes", &["Cargo.toml"], "Cargo.toml: not a PDB");
    for tolerance in ["0", "-1", "nan", "inf"] {
        let arguments = [popc, "--tolerance", tolerance];
        assert_rejected("clashes", &arguments, "tolerance");
    }
    for edges in ["1,2", "1,2,-3", "0,2,3"] {
        assert_rejected("clashes", &[popc, "--box", edges], "edges");
    }
    assert_rejected("clashes", &[popc, "--periodic"], "no unit cell");
    let crystal = "assets/molecules/4hhb.bcif.gz";
    assert_rejected("clashes", &[crystal, "--periodic"], "other angles than 90°");
}

/// The equilibrated membrane has no clash with its images either; in a smaller box it has.
#[test]
fn clashes_with_images_are_found() {
    let file = "assets/molecules/popc_bilayer.pdb";
    let own = report(file, "residue", "0.15", &["--periodic"]);
    assert_eq!((&own["parts"], &own["pairs"]), (&128.into(), &0.into()));
    let edge = own["box_nm"][0].as_f64().unwrap();
    assert!((edge - 6.3701).abs() < 1.0e-6, "{edge} nm");
    let small = report(file, "residue", "0.15", &["--box", "6.0,6.0,7.0"]);
    assert!(small["pairs"].as_u64().unwrap() > 0);
    assert_ne!(small["worst"][0]["image"], serde_json::json!([0, 0, 0]));
}

#[test]
fn the_closest_atoms_of_a_bilayer_are_found() {
    let file = "assets/molecules/popc_bilayer.pdb";
    let report = report(file, "residue", "0.25", &[]);
    assert_eq!(report["file"], file);
    assert_eq!(report["parts"], 128);
    assert_eq!(report["atoms"], 128 * POPC_ATOMS);
    let closest = report["closest_nm"].as_f64().unwrap();
    assert!((closest - 0.169).abs() < 0.0005, "{closest} nm");
    assert_eq!(report["worst"][0]["distance_nm"], report["closest_nm"]);
}

#[test]
fn json_is_short_for_a_report_on_standard_output() {
    let output = run("clashes", &["assets/molecules/p_xylene.pdb", "--json"]);
    let report = json(&output, 0);
    assert_eq!((&report["parts"], &report["pairs"]), (&1.into(), &0.into()));
}
