//! `molecules inspect`.

use serde_json::{Value, json};

use super::run_program::{atom, json as report_of, scratch_file, stdout};

fn report(file: &str, options: &[&str]) -> Value {
    report_of(&[&["inspect", file, "--json"], options].concat(), 0)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn a_bilayer_is_one_species_with_box_and_density() {
    let report = report("assets/molecules/popc_bilayer.pdb", &["--by", "residue"]);
    assert_eq!(
        (&report["format"], &report["by"]),
        (&json!("pdb"), &json!("residue"))
    );
    assert_eq!(report["gzipped"], false);
    assert_eq!(report["atoms"], 128 * 134);
    assert_eq!(
        report["molecules"].as_u64(),
        report["species"][0]["count"].as_u64()
    );
    let lipid = &report["species"][0];
    assert_eq!(
        (&lipid["name"], &lipid["residues"]),
        (&json!("POP"), &json!(1))
    );
    assert_eq!(
        (&lipid["atoms"], &lipid["count"]),
        (&json!(134), &json!(128))
    );
    assert!(
        (number(&lipid["mass_kda"]) - 0.760).abs() < 0.001,
        "{lipid}"
    );
    assert!(
        (0.7..1.0).contains(&number(&lipid["volume_nm3"])),
        "{lipid}"
    );
    assert_eq!(report["residue_names"][0]["count"], 128);

    let size: Vec<f64> = report["box_nm"]
        .as_array()
        .unwrap()
        .iter()
        .map(number)
        .collect();
    let volume: f64 = size.iter().product();
    let density = 128.0 * 760.0 * 1.66054e-3 / volume;
    let found = number(&report["density"]["g_per_cm3"]);
    assert!((found / density - 1.0).abs() < 0.001, "{found} g/cm³");
    let concentration = number(&lipid["concentration_mm"]);
    assert!((concentration / (128.0 * 1660.54 / volume) - 1.0).abs() < 1.0e-4);
    let fraction = 128.0 * number(&lipid["volume_nm3"]) / volume;
    assert!((number(&report["density"]["occupied_fraction"]) - fraction).abs() < 1.0e-6);
}

#[test]
fn a_crystal_has_chains_assemblies_and_no_density() {
    let report = report("assets/molecules/4hhb.bcif.gz", &[]);
    assert_eq!(
        (&report["format"], &report["gzipped"]),
        (&json!("bcif"), &json!(true))
    );
    assert_eq!(report["chains"], 4);
    assert_eq!(report["assemblies"], json!([{"id": "1", "operators": 1}]));
    assert!((number(&report["unit_cell"]["angles_deg"][1]) - 99.34).abs() < 1.0e-9);
    assert_eq!(
        (&report["box_nm"], &report["density"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(report["species"][0]["concentration_mm"], Value::Null);
    // Two α and two β chains, each with its heme.
    let counts: Vec<u64> = report["species"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["count"].as_u64().unwrap())
        .collect();
    assert_eq!(counts.iter().sum::<u64>(), 4);
}

#[test]
fn the_format_is_recognized_by_content() {
    let text = std::fs::read_to_string(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/molecules/1ubq.cif"),
    );
    let file = scratch_file("structure_without_extension", &text.unwrap());
    assert_eq!(report(&file, &[])["format"], "mmcif");
}

#[test]
fn waters_are_included_on_request() {
    let file = "assets/molecules/1ubq.cif";
    let [dry, wet] = [&[][..], &["--waters"]].map(|options| report(file, options));
    let atoms = |report: &Value| -> u64 {
        let species = report["species"].as_array().unwrap().iter();
        species
            .map(|one| one["atoms"].as_u64().unwrap() * one["count"].as_u64().unwrap())
            .sum()
    };
    assert!(atoms(&wet) > atoms(&dry));
    assert_eq!(dry["atoms"], wet["atoms"]);
    let water = scratch_file(
        "waters.pdb",
        &atom(1, "HOH", 1, [0.0; 3]).replace(" C ", " O "),
    );
    let only = report(&water, &[]);
    assert_eq!(
        (&only["molecules"], &only["species"]),
        (&json!(0), &json!([]))
    );
    assert_eq!(only["residue_names"], json!([{"name": "HOH", "count": 1}]));
}

#[test]
fn the_volume_of_one_atom_is_that_of_its_sphere() {
    let file = scratch_file("one_atom.pdb", &atom(1, "LIG", 1, [10.0, 20.0, 30.0]));
    let report = report(&file, &[]);
    let volume = number(&report["species"][0]["volume_nm3"]);
    let sphere = 4.0 / 3.0 * std::f64::consts::PI * 0.17_f64.powi(3);
    assert!((volume / sphere - 1.0).abs() < 1.0e-5, "{volume} nm³");
    assert_eq!(
        report["bounds_nm"],
        json!([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    );
}

#[test]
fn the_table_is_limited_to_the_top_rows() {
    let file = "assets/molecules/1gzx.pdb";
    let table = stdout(&["inspect", file, "--top", "2"]);
    assert!(
        table.starts_with("assets/molecules/1gzx.pdb: pdb\natoms "),
        "{table}"
    );
    assert!(table.contains("\nresidue "), "{table}");
    assert!(
        table.contains("\nand ") && table.ends_with(" more\n"),
        "{table}"
    );
    let all = stdout(&["inspect", file, "--top", "1000"]);
    assert!(!all.contains(" more\n"), "{all}");
}
