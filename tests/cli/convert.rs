//! `molecules convert`.

use std::fs;

use bevy_rapier_molecules::molecule::{
    Element, LoadOptions, MoleculePart, SplitBy, Structure, load_structure,
};

use super::run_program::{assert_rejected, assert_usage_error, json, run, scratch, text};

/// Half of the last digit of a coordinate, and its rounding in 32 bits, nm.
const ROUNDING_NM: f32 = 1.0e-4;

fn molecule(name: &str) -> String {
    format!("assets/molecules/{name}")
}

fn structure(file: &str) -> Structure {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    load_structure(folder.join(file), &LoadOptions::default()).unwrap()
}

fn parts(file: &str, by: SplitBy) -> Vec<MoleculePart> {
    structure(file)
        .split_by(by, &LoadOptions::default())
        .unwrap()
}

/// Converts a file, and returns the new one and the report.
fn convert(from: &str, to: &str, options: &[&str]) -> (String, serde_json::Value) {
    let (from, to) = (molecule(from), scratch(to));
    let arguments = ["convert", &from, "-o", &to, "--report", "-"];
    let report = json(&[&arguments, options].concat(), 0);
    assert_eq!(report["output"], *to);
    (to, report)
}

/// Asserts that two files have the same molecules at the same places.
fn assert_same(before: &str, after: &str, by: SplitBy) {
    let [before, after] = [before, after].map(|file| parts(file, by));
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        let [a, b] = [&before.template, &after.template];
        assert_eq!(a.elements(), b.elements());
        assert_eq!(a.atom_names(), b.atom_names());
        for (x, y) in a.positions().iter().zip(b.positions()) {
            let [x, y] = [
                before.pose.transform_point(*x),
                after.pose.transform_point(*y),
            ];
            assert!(x.abs_diff_eq(y, ROUNDING_NM), "{x} and {y}");
        }
    }
}

#[test]
fn all_formats_are_converted_without_moving_atoms() {
    for (name, options, by) in [
        ("1gzx.pdb", &[][..], SplitBy::Molecule),
        ("1ubq.cif", &[], SplitBy::Chain),
        ("4hhb.bcif.gz", &[], SplitBy::Molecule),
        ("popc_bilayer.pdb", &["--by", "residue"], SplitBy::Residue),
    ] {
        for extension in ["pdb", "cif", "ent.gz", "mmcif.gz"] {
            let (file, _) = convert(name, &format!("{name}_{by:?}.{extension}"), options);
            assert_same(&molecule(name), &file, by);
            let is_gzipped = fs::read(&file).unwrap().starts_with(&[0x1f, 0x8b]);
            assert_eq!(is_gzipped, extension.ends_with("gz"));
        }
    }
}

#[test]
fn a_pdb_file_of_one_molecule_keeps_the_chain_names() {
    let (file, _) = convert("1gzx.pdb", "whole.pdb", &["--by", "whole"]);
    assert_same(&molecule("1gzx.pdb"), &file, SplitBy::Chain);
    assert_eq!(structure(&file).chains(), ["A", "B", "C", "D"]);
}

#[test]
fn the_periodic_box_is_kept() {
    let (file, report) = convert("popc_bilayer.pdb", "bilayer_with_box.cif", &[]);
    let cell = structure(&file).unit_cell().unwrap().orthorhombic();
    let expected = structure(&molecule("popc_bilayer.pdb"));
    assert_eq!(cell, expected.unit_cell().unwrap().orthorhombic());
    assert!(report["box_nm"][0].is_f64(), "{report}");
}

#[test]
fn another_unit_cell_is_left_out_with_a_note() {
    let to = scratch("without_cell.pdb");
    let output = run(&["convert", &molecule("4hhb.bcif.gz"), "-o", &to]);
    assert_eq!(output.status.code(), Some(0));
    let note = text(&output.stderr);
    assert!(note.starts_with("note: ") && note.contains("90°"), "{note}");
    assert!(structure(&to).unit_cell().is_none());
}

#[test]
fn parts_become_molecules() {
    for (by, molecules) in [("residue", 128), ("whole", 1), ("model", 1)] {
        let name = format!("bilayer_by_{by}.pdb");
        let (file, report) = convert("popc_bilayer.pdb", &name, &["--by", by]);
        assert_eq!(report["molecules"], molecules, "{by}");
        assert_eq!(report["atoms"], 128 * 134);
        assert_eq!(parts(&file, SplitBy::Molecule).len(), molecules, "{by}");
    }
}

#[test]
fn chains_waters_and_hydrogens_are_selected() {
    let (all, _) = convert("1gzx.pdb", "all_chains.pdb", &[]);
    let (file, _) = convert(
        "1gzx.pdb",
        "two_chains.pdb",
        &["--by", "whole", "--chains", "A,C"],
    );
    assert!(structure(&file).atoms().len() < structure(&all).atoms().len());
    assert_eq!(structure(&file).chains(), ["A", "C"]);
    let (_, dry) = convert("1ubq.cif", "dry.cif", &[]);
    let (_, wet) = convert("1ubq.cif", "wet.cif", &["--waters"]);
    assert!(wet["atoms"].as_u64() > dry["atoms"].as_u64());
    let (file, _) = convert("popc.pdb", "heavy.pdb", &["--no-hydrogens"]);
    let structure = structure(&file);
    let hydrogens = structure.atoms().iter().filter(|a| a.element == Element::H);
    assert_eq!((structure.atoms().len(), hydrogens.count()), (52, 0));
}

#[test]
fn models_are_selected() {
    let file = molecule("multi.pdb");
    let models = structure(&file).models().to_vec();
    assert!(models.len() > 1);
    let (_, first) = convert("multi.pdb", "first_model.pdb", &[]);
    let last = models[models.len() - 1].to_string();
    let (_, one) = convert("multi.pdb", "last_model.pdb", &["--model", &last]);
    assert!(one["atoms"].as_u64() > Some(0));
    let (_, all) = convert("multi.pdb", "all_models.pdb", &["--model", "all"]);
    assert!(all["atoms"].as_u64() > first["atoms"].as_u64());
    let (_, apart) = convert("multi.pdb", "apart.pdb", &["--by", "model"]);
    assert_eq!(apart["molecules"], models.len());
    let to = scratch("no_model.pdb");
    assert_rejected(
        &["convert", &file, "-o", &to, "--model", "999"],
        "no model '999'",
    );
    assert_usage_error(&["convert", &file, "-o", &to, "--model", "some"]);
}

#[test]
fn assemblies_are_built() {
    let options = ["--assembly", "1", "--by", "chain"];
    let (file, report) = convert("4udv.pdb", "virus.cif.gz", &options);
    assert_eq!(
        structure(&file).atoms().len() as u64,
        report["atoms"].as_u64().unwrap()
    );
    let (_, one) = convert("4udv.pdb", "unit.cif", &[]);
    let copies = report["atoms"].as_u64().unwrap() / one["atoms"].as_u64().unwrap();
    assert_eq!(copies, 49);
    let options = ["--assembly", "1", "--by", "whole"];
    let (_, whole) = convert("4udv.pdb", "whole.cif", &options);
    assert_eq!(
        (&whole["molecules"], &whole["atoms"]),
        (&1.into(), &report["atoms"])
    );
}

#[test]
fn invalid_targets_and_selections_are_rejected_and_leave_no_file() {
    let file = molecule("p_xylene.pdb");
    let output = scratch("invalid.pdb");
    for (target, words) in [
        ("assets", "'assets': it is not a file"),
        ("nowhere/a.pdb", "there is no folder 'nowhere'"),
        ("a.xyz", "unknown format of 'a.xyz'"),
        ("a", "unknown format of 'a'"),
    ] {
        assert_rejected(&["convert", &file, "-o", target], words);
    }
    for (option, value, words) in [
        ("--chains", "Q", "no chain 'Q'"),
        ("--assembly", "7", "no assembly '7'"),
        ("--model", "-3", "no model '-3'"),
    ] {
        let arguments = ["convert", &file, "-o", &output, option, value];
        assert_rejected(&arguments, words);
    }
    assert!(!fs::exists(&output).unwrap());
    assert_usage_error(&["convert", &file]);
    assert_usage_error(&["convert", &file, "-o", ""]);
}

#[test]
fn a_failed_conversion_keeps_the_existing_file() {
    let output = scratch("kept.pdb");
    fs::write(&output, "kept").unwrap();
    let row = super::run_program::atom(1, "LIG", 1, [0.0; 3]);
    let far = row.replace("   0.000", "99999.99");
    let file = super::run_program::scratch_file("far.pdb", &far);
    assert_rejected(&["convert", &file, "-o", &output], "outside the range");
    assert_eq!(fs::read_to_string(&output).unwrap(), "kept");
}
