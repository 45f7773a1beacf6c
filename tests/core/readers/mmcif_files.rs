//! The mmCIF reader on small files.

use super::*;

const HEAD: &str = "data_X\nloop_\n_atom_site.type_symbol\n_atom_site.label_atom_id\n\
    _atom_site.label_asym_id\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n";

fn mmcif(text: &str) -> Structure {
    read(text, "a.cif")
}

fn error(text: &str) -> (FileLocation, ReadErrorKind) {
    read_error(text.as_bytes(), "a.cif")
}

#[test]
fn most_columns_are_optional() {
    let structure = mmcif(&format!("{HEAD}C C1 A 1.0 2.0 3.0\nFE 'FE' B 4 5 6\n"));
    assert_eq!(structure.atoms().len(), 2);
    assert_eq!(structure.chains(), ["A", "B"]);
    assert_eq!(structure.models(), [1]);
    assert_eq!(structure.atoms()[1].position, Vec3::new(0.4, 0.5, 0.6));
}

#[test]
fn single_items_can_define_an_atom() {
    let structure = mmcif(
        "data_X _atom_site.Cartn_x 1 _atom_site.Cartn_y 2 _atom_site.Cartn_z 3 \
         _atom_site.type_symbol NA",
    );
    assert_eq!(structure.atoms()[0].name, "NA");
}

#[test]
fn only_the_first_block_with_atoms_is_read() {
    let block = format!("{HEAD}C C1 A 1 2 3\n");
    let structure = mmcif(&format!("data_empty\n{block}{block}"));
    assert_eq!(structure.atoms().len(), 1);
}

#[test]
fn errors_contain_the_line_or_the_column() {
    let invalid_number = |field: &'static str, text: &str| ReadErrorKind::InvalidNumber {
        field,
        text: text.to_owned(),
    };
    let rows = |rows: &str| error(&format!("{HEAD}{rows}"));
    assert_eq!(
        rows("C C1 A 1 2 3\nC C2 A 1 x 3\n"),
        (FileLocation::Line(10), invalid_number("Cartn_y", "x"))
    );
    assert_eq!(rows("C C1 A 1 2 ?").1, invalid_number("Cartn_z", "?"));
    assert_eq!(rows("C C1 A 1 2 nan").1, invalid_number("Cartn_z", "nan"));
    assert!(matches!(rows("C C1 A 1 2").1, ReadErrorKind::Syntax(_)));
    let far = rows("C C1 A 1 2 1e9").1;
    assert!(matches!(far, ReadErrorKind::TooFar { .. }));
    assert_eq!(rows("").1, ReadErrorKind::NoAtoms);
    let head = HEAD.replace("_atom_site.Cartn_z\n", "");
    let (_, missing) = error(&format!("{head}C C1 A 1 2"));
    assert_eq!(missing, ReadErrorKind::MissingColumn("Cartn_z"));
    assert!(matches!(error("hello").1, ReadErrorKind::Syntax(_)));
    assert_eq!(error("data_X\n\u{0}").0, FileLocation::Line(2));
}
