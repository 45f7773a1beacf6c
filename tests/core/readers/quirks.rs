//! What files do that their formats do not foresee.

use super::*;

#[test]
fn alternate_locations_keep_the_most_occupied_and_the_first_of_equals() {
    let line = |altloc: char, name: &str, x: &str, occupancy: &str| {
        format!(
            "ATOM      1  {name:<3}{altloc}SER A   1    {x:>8}   0.000   0.000  {occupancy}  0.00\n"
        )
    };
    let text = [
        line(' ', "N", "1.000", "1.00"),
        line('A', "CA", "2.000", "0.40"),
        line('B', "CA", "3.000", "0.60"),
        line('A', "CB", "4.000", "0.50"),
        line('B', "CB", "5.000", "0.50"),
        // The same name without a location stays twice.
        line(' ', "N", "6.000", "1.00"),
    ]
    .concat();
    let options = LoadOptions::default();
    let structure = read_bytes(text.as_bytes(), "a.pdb", &options).unwrap();
    let template = structure.template(&options).unwrap();
    let found: Vec<i32> = template
        .positions()
        .iter()
        .map(|body| (template.file_pose().transform_point(*body).x * 10.0).round() as i32)
        .collect();
    assert_eq!(found, [1, 3, 4, 6]);
}

#[test]
fn of_two_residues_at_one_place_the_more_occupied_stays() {
    let line = |altloc: char, residue: &str, name: &str, occupancy: &str| {
        format!(
            "ATOM      1  {name:<3}{altloc}{residue} A   1       1.000   0.000   0.000  {occupancy}  0.00\n"
        )
    };
    let text = [
        line('A', "SER", "CA", "0.30"),
        line('B', "THR", "CA", "0.70"),
        line('A', "SER", "OG", "0.30"),
        line('B', "THR", "OG1", "0.70"),
    ]
    .concat();
    let options = LoadOptions::default();
    let structure = read_bytes(text.as_bytes(), "a.pdb", &options).unwrap();
    let template = structure.template(&options).unwrap();
    assert_eq!(template.atom_names(), ["CA", "OG1"]);
    assert_eq!(template.residues()[0].name, "THR");
}

#[test]
fn numbers_past_the_columns_are_read() {
    let text = [
        "ATOM  99999  C1  LIG A9999      10.000  20.000  30.000",
        "ATOM  A0000  C1  LIG AA000      10.000  20.000  30.000",
        "ATOM  *****  C1  LIG AA001      10.000  20.000  30.000",
        "ATOM  186a0  C1  LIG A   1      10.000  20.000  30.000",
    ]
    .join("\n");
    let structure = read_bytes(text.as_bytes(), "a.pdb", &LoadOptions::default()).unwrap();
    let numbers: Vec<i32> = structure
        .residues()
        .iter()
        .map(|residue| residue.number)
        .collect();
    assert_eq!(numbers, [9_999, 10_000, 10_001, 1]);
}

#[test]
fn wrapped_residue_numbers_give_new_residues() {
    let mut text = String::new();
    for lipid in 0..25_000 {
        let number = lipid % 10_000;
        for name in ["C1", "C2"] {
            text += &format!("ATOM      1  {name}  LIG  {number:>4}      10.000  20.000  30.000\n");
        }
    }
    let options = LoadOptions::default();
    let structure = read_bytes(text.as_bytes(), "a.pdb", &options).unwrap();
    assert_eq!(structure.residues().len(), 25_000);
    assert_eq!(
        structure
            .split_by(SplitBy::Residue, &options)
            .unwrap()
            .len(),
        25_000
    );
}

#[test]
fn gzip_and_content_are_recognized() {
    let options = LoadOptions::default();
    for (name, count) in [("popc.pdb", 134), ("1ubq.cif", 660)] {
        let bytes = std::fs::read(path(name)).unwrap();
        for (bytes, source) in [
            (gzip(&bytes), format!("{name}.gz")),
            (gzip(&bytes), name.to_owned()),
            (gzip(&bytes), "unnamed".to_owned()),
            (bytes.clone(), "unnamed".to_owned()),
        ] {
            let structure = read_bytes(&bytes, &source, &options).unwrap();
            assert_eq!(structure.atoms().len(), count);
        }
    }
    let packed = std::fs::read(path("4hhb.bcif.gz")).unwrap();
    assert_eq!(
        read_bytes(&packed, "x", &options).unwrap().atoms().len(),
        4_779
    );
    let forced = LoadOptions {
        format: Some(Format::Pdb),
        ..LoadOptions::default()
    };
    assert_eq!(
        read_bytes(ATOM.as_bytes(), "x.cif", &forced)
            .unwrap()
            .atoms()
            .len(),
        1
    );
}
