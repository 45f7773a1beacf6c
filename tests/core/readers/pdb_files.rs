//! The PDB reader on small files.

use super::*;

const SHORT_ATOM: &str = "ATOM      1  CA  ALA A   1      10.000  20.000 -30.500";

fn pdb(text: &str) -> Structure {
    read(text, "a.pdb")
}

#[test]
fn columns_after_the_coordinates_are_optional() {
    let structure = pdb(SHORT_ATOM);
    let atom = &structure.atoms()[0];
    assert_eq!(atom.position, Vec3::new(1.0, 2.0, -3.05));
    assert_eq!(atom.element, Element::C);
    assert_eq!((atom.name.as_str(), atom.occupancy), ("CA", 1.0));
    assert_eq!((atom.altloc, atom.model), (None, 1));
}

#[test]
fn the_element_column_takes_precedence_over_the_name() {
    let element = |columns: &str| pdb(&format!("{SHORT_ATOM}{columns}")).atoms()[0].element;
    assert_eq!(element("  1.00  0.00          ZN"), Element::ZN);
    // Old files have line numbers in the element columns.
    assert_eq!(element("  1.00  0.00      1ABC 123"), Element::C);
}

#[test]
fn terminators_and_decreasing_numbers_start_new_residues() {
    let atom = SHORT_ATOM;
    let residues = |text: String| pdb(&text).residues().len();
    let other = atom.replace("A   1 ", "A   2 ");
    assert_eq!(residues(format!("{atom}\n{atom}")), 1);
    assert_eq!(residues(format!("{atom}\nTER\n{atom}")), 2);
    // Back to residue 1 after residue 2: the numbers have restarted.
    assert_eq!(residues(format!("{atom}\n{other}\n{atom}")), 3);
    // Interleaved residues with the same number are two, not four.
    let mutant = atom.replace("ALA", "SER");
    assert_eq!(residues(format!("{atom}\n{mutant}\n{atom}\n{mutant}")), 2);
}

#[test]
fn atoms_after_end_start_a_new_model() {
    let structure = pdb(&format!("{ATOM}\nEND\n{ATOM}\nEND\n"));
    assert_eq!(structure.models(), [1, 2]);
    let structure = pdb(&format!("MODEL 7\n{ATOM}\nENDMDL\nMODEL 7\n{ATOM}\n"));
    assert_eq!(structure.models(), [7, 8]);
}

#[test]
fn windows_line_endings_and_long_residue_names_are_supported() {
    let structure = pdb(&format!(
        "{}\r\nEND\r\n",
        SHORT_ATOM.replace("ALA A", "POPCA")
    ));
    assert_eq!(structure.residues()[0].name, "POPC");
    assert_eq!(structure.residues()[0].chain, "A");
}
