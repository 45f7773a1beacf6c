//! Files that deviate from their formats.

use super::*;

#[test]
fn the_alternate_location_with_the_highest_occupancy_is_kept() {
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
        // A repeated name without alternate location is kept.
        line(' ', "N", "6.000", "1.00"),
    ]
    .concat();
    let options = LoadOptions::default();
    let structure = read(&text, "a.pdb");
    let template = structure.template(&options).unwrap();
    let found: Vec<i32> = template
        .positions()
        .iter()
        .map(|body| (template.file_pose().transform_point(*body).x * 10.0).round() as i32)
        .collect();
    assert_eq!(found, [1, 3, 4, 6]);
}

#[test]
fn the_alternate_residue_with_the_higher_occupancy_is_kept() {
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
    let structure = read(&text, "a.pdb");
    let template = structure.template(&options).unwrap();
    assert_eq!(template.atom_names(), ["CA", "OG1"]);
    assert_eq!(template.residues()[0].name, "THR");
}

#[test]
fn residue_numbers_that_exceed_their_columns_are_read() {
    let text = [
        "ATOM  99999  C1  LIG A9999      10.000  20.000  30.000",
        "ATOM  A0000  C1  LIG AA000      10.000  20.000  30.000",
        "ATOM  *****  C1  LIG AA001      10.000  20.000  30.000",
        "ATOM  186a0  C1  LIG A   1      10.000  20.000  30.000",
    ]
    .join("\n");
    let structure = read(&text, "a.pdb");
    let numbers: Vec<i32> = structure
        .residues()
        .iter()
        .map(|residue| residue.number)
        .collect();
    assert_eq!(numbers, [9_999, 10_000, 10_001, 1]);
}

#[test]
fn restarted_residue_numbers_start_new_residues() {
    let mut text = String::new();
    for lipid in 0..25_000 {
        let number = lipid % 10_000;
        for name in ["C1", "C2"] {
            text += &format!("ATOM      1  {name}  LIG  {number:>4}      10.000  20.000  30.000\n");
        }
    }
    let options = LoadOptions::default();
    let structure = read(&text, "a.pdb");
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
fn gzip_and_formats_are_recognized_by_content() {
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

/// A PDB atom with the component of unknown atoms and ions, as in entry 5PTI.
const UNKNOWN_ATOM: &str =
    "HETATM    2 UNK  UNX A 324      12.000  20.000  30.000  1.00  0.00           X";

/// An mmCIF file with atoms of these (element, occupancy, residue number).
fn mmcif(atoms: &[(&str, &str, &str)]) -> String {
    let mut text = "data_X\nloop_\n".to_owned();
    for column in [
        "type_symbol",
        "label_atom_id",
        "occupancy",
        "auth_seq_id",
        "Cartn_x",
        "Cartn_y",
        "Cartn_z",
    ] {
        text += &format!("_atom_site.{column}\n");
    }
    for (k, (element, occupancy, number)) in atoms.iter().enumerate() {
        text += &format!("{element} UNK {occupancy} {number} {k}.0 2.0 3.0\n");
    }
    text
}

#[test]
fn unknown_elements_are_loaded_as_carbon_with_a_warning() {
    for (text, source) in [
        (format!("{ATOM}\n{UNKNOWN_ATOM}\n"), "a.pdb"),
        (
            format!("{ATOM}\n{}\n", UNKNOWN_ATOM.replace(" X", "QQ")),
            "a.pdb",
        ),
        // Without element column, from the atom name.
        (
            format!("{ATOM}\n{}\n", &UNKNOWN_ATOM[..66].replace("UNK ", " X1 ")),
            "a.pdb",
        ),
        (mmcif(&[("C", "1", "1"), ("X", "1", "1")]), "a.cif"),
        (mmcif(&[("C", "1", "1"), ("Qq", "1", "1")]), "a.cif"),
    ] {
        let structure = read(&text, source);
        assert_eq!(structure.warnings().unknown_elements, 1, "{text}");
        let template = structure.template(&LoadOptions::default()).unwrap();
        assert_eq!(template.elements(), [Element::C, Element::UNKNOWN]);
        assert_eq!(template.radii()[0], template.radii()[1]);
        assert_relative_eq!(template.mass(), 2.0 * Element::C.mass());
        assert_eq!(template.load_warnings(), structure.warnings());
        assert_eq!(
            template.load_warnings().to_string(),
            "1 unknown elements, loaded with the radius and mass of carbon"
        );
    }
}

#[test]
fn invalid_occupancies_are_loaded_as_1_with_a_warning() {
    for occupancy in ["inf", "NaN", "x", "1e99"] {
        let pdb = ATOM.replace("  1.00  0.00", &format!("{occupancy:>6}  0.00"));
        let cif = mmcif(&[("C", occupancy, "1")]);
        for (text, source) in [(pdb, "a.pdb"), (cif, "a.cif")] {
            let structure = read(&text, source);
            assert_eq!(structure.warnings().invalid_occupancies, 1, "{text}");
            assert_eq!(structure.atoms()[0].occupancy, 1.0, "{text}");
        }
    }
    assert!(read(ATOM, "a.pdb").warnings().is_empty());
    // A blank occupancy is valid.
    assert!(read(&ATOM[..54], "a.pdb").warnings().is_empty());
    let missing = mmcif(&[("C", "?", "1"), ("C", ".", "?")]);
    assert!(read(&missing, "a.cif").warnings().is_empty());
}

#[test]
fn invalid_residue_numbers_are_loaded_as_missing_with_a_warning() {
    let pdb = ATOM.replace("ALA A   1", "ALA A   x");
    let cif = mmcif(&[("C", "1", "x")]);
    for (text, source) in [(pdb, "a.pdb"), (cif, "a.cif")] {
        let structure = read(&text, source);
        assert_eq!(structure.warnings().invalid_numbers, 1, "{text}");
        assert_eq!(structure.residues()[0].number, 0, "{text}");
    }
}

#[test]
fn binary_cif_replaces_unknown_elements_and_invalid_occupancies() {
    let floats = |values: [f32; 2]| values.map(f32::to_le_bytes).concat();
    let bytes = binary_cif(&[
        ("Cartn_x", 32, floats([1.0, 2.0])),
        ("Cartn_y", 32, floats([1.0, 2.0])),
        ("Cartn_z", 32, floats([1.0, 2.0])),
        ("occupancy", 32, floats([f32::INFINITY, f32::NAN])),
        ("auth_seq_id", 4, vec![1, 1]),
    ]);
    let structure = read_bytes(&bytes, "a.bcif", &LoadOptions::default()).unwrap();
    assert_eq!(structure.warnings().unknown_elements, 2);
    assert_eq!(structure.warnings().invalid_occupancies, 2);
    assert!(structure.atoms().iter().all(|atom| atom.occupancy == 1.0));
    let infinite = binary_cif(&[
        ("Cartn_x", 32, floats([1.0, f32::INFINITY])),
        ("Cartn_y", 32, floats([1.0, 2.0])),
        ("Cartn_z", 32, floats([1.0, 2.0])),
    ]);
    let (location, kind) = read_error(&infinite, "a.bcif");
    assert_eq!(location, FileLocation::Row(2));
    assert!(matches!(
        kind,
        ReadErrorKind::InvalidNumber {
            field: "Cartn_x",
            ..
        }
    ));
}

/// A `BinaryCIF` file with two atoms of element `X`, and `ByteArray` columns of (name, type,
/// bytes).
fn binary_cif(columns: &[(&str, u8, Vec<u8>)]) -> Vec<u8> {
    fn text(text: &str) -> Vec<u8> {
        [&[0xd9, text.len() as u8], text.as_bytes()].concat()
    }
    fn binary(bytes: &[u8]) -> Vec<u8> {
        [&[0xc4, bytes.len() as u8], bytes].concat()
    }
    fn list(items: &[Vec<u8>]) -> Vec<u8> {
        [vec![0x90 | items.len() as u8], items.concat()].concat()
    }
    fn map(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let pairs = entries
            .iter()
            .map(|(key, value)| [text(key), value.clone()]);
        let pairs: Vec<u8> = pairs.flatten().flatten().collect();
        [vec![0x80 | entries.len() as u8], pairs].concat()
    }
    fn byte_array(kind: u8) -> Vec<u8> {
        map(&[("kind", text("ByteArray")), ("type", vec![kind])])
    }
    fn column(name: &str, encoding: Vec<u8>, bytes: &[u8]) -> Vec<u8> {
        let data = map(&[("encoding", list(&[encoding])), ("data", binary(bytes))]);
        map(&[("name", text(name)), ("data", data)])
    }
    let symbols = map(&[
        ("kind", text("StringArray")),
        ("dataEncoding", list(&[byte_array(4)])),
        ("stringData", text("X")),
        ("offsetEncoding", list(&[byte_array(4)])),
        ("offsets", binary(&[0, 1])),
    ]);
    let mut all = vec![column("type_symbol", symbols, &[0, 0])];
    for (name, kind, bytes) in columns {
        all.push(column(name, byte_array(*kind), bytes));
    }
    let atoms = map(&[
        ("name", text("_atom_site")),
        ("rowCount", vec![2]),
        ("columns", list(&all)),
    ]);
    let block = map(&[("header", text("X")), ("categories", list(&[atoms]))]);
    map(&[("dataBlocks", list(&[block]))])
}

#[test]
fn names_identify_formats() {
    assert_eq!(Format::from_name("a/b.PDB"), Some(Format::Pdb));
    assert_eq!(Format::from_name("pdb1abc.ent.gz"), Some(Format::Pdb));
    assert_eq!(Format::from_name("x.cif.gz"), Some(Format::Mmcif));
    assert_eq!(Format::from_name("x.bcif"), Some(Format::BinaryCif));
    assert_eq!(Format::from_name("a.b.mmcif.GZ"), Some(Format::Mmcif));
    assert_eq!(Format::from_name("x.gro.gz"), Some(Format::Gro));
    assert_eq!(Format::from_name("x.gz"), None);
    assert_eq!(Format::from_name("pdb"), None);
    assert_eq!(Format::from_name(".pdb"), None);
    assert_eq!(Format::from_name("x.txt"), None);
    assert_eq!(Format::from_name(""), None);
}

#[test]
fn content_identifies_formats() {
    assert_eq!(
        Format::from_content(b"# hello\n\ndata_X\n"),
        Some(Format::Mmcif)
    );
    assert_eq!(Format::from_content(b"\nATOM      1"), Some(Format::Pdb));
    assert_eq!(
        Format::from_content(b"\x83\xaadataBlocks"),
        Some(Format::BinaryCif)
    );
    assert_eq!(Format::from_content(b"hello"), None);
    assert_eq!(Format::from_content(b""), None);
}
