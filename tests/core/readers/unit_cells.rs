//! Unit cells of all formats.

use super::*;

fn assert_cell(structure: &Structure, lengths: [f64; 3]) {
    let cell = structure.unit_cell().unwrap();
    assert!(cell.lengths.abs_diff_eq(DVec3::from_array(lengths), 1.0e-9));
    assert_eq!(cell.angles, DVec3::splat(90.0));
    let size = cell.orthorhombic().unwrap().size();
    assert!(size.as_dvec3().abs_diff_eq(cell.lengths, 1.0e-6));
    assert!(structure.warnings().is_empty());
}

#[test]
fn the_cell_of_real_files_is_read() {
    assert_cell(&structure("popc_bilayer.pdb"), [6.3701, 6.6874, 7.3136]);
    assert_cell(&structure("4c64_dna.pdb"), [2.5149, 3.9840, 6.5598]);
    assert_cell(&structure("1ubq.cif"), [5.084, 4.277, 2.895]);
    // Hemoglobin has a monoclinic crystal: no box.
    let cell = structure("4hhb.bcif.gz").unit_cell().unwrap();
    assert!(
        cell.lengths
            .abs_diff_eq(DVec3::new(6.315, 8.359, 5.380), 1.0e-6)
    );
    assert!((cell.angles.y - 99.34).abs() < 1.0e-6);
    assert_eq!(cell.orthorhombic(), None);
    // A placeholder, and no cell at all.
    let placeholder = structure("4udv.pdb").unit_cell().unwrap();
    assert!(placeholder.is_placeholder());
    assert_eq!(placeholder.orthorhombic(), None);
    assert_eq!(structure("popc.pdb").unit_cell(), None);
}

#[test]
fn invalid_cells_are_ignored_and_counted() {
    for cell in [
        "CRYST1    0.000    0.000    0.000  90.00  90.00  90.00 P 1           1",
        "CRYST1   50.000  -50.000   50.000  90.00  90.00  90.00 P 1           1",
        "CRYST1   50.000   50.000   50.000  90.00 190.00  90.00 P 1           1",
        "CRYST1   50.000",
        "CRYST1   5x.000   50.000   50.000  90.00  90.00  90.00 P 1           1",
    ] {
        let read = read(&format!("{cell}\n{ATOM}\n"), "a.pdb");
        assert_eq!((read.unit_cell(), read.atoms().len()), (None, 1), "{cell}");
        assert_eq!(read.warnings().invalid_cells, 1, "{cell}");
        assert_eq!(read.warnings().to_string(), "1 invalid unit cells, ignored");
    }
    let blank = read(&format!("CRYST1\n{ATOM}\n"), "a.pdb");
    assert_eq!(blank.unit_cell(), None);
    assert!(blank.warnings().is_empty());
}

#[test]
fn a_cell_without_angles_has_right_angles() {
    let text = format!("CRYST1   50.000   40.000   30.000\n{ATOM}\n");
    assert_cell(&read(&text, "a.pdb"), [5.0, 4.0, 3.0]);
}

#[test]
fn the_cell_of_the_first_model_counts() {
    let row = "CRYST1   50.000   40.000   30.000  90.00  90.00  90.00 P 1           1";
    let text = format!("{row}\nMODEL 1\n{ATOM}\nENDMDL\nCRYST1   90.000   40.000   30.000\n");
    assert_cell(&read(&text, "a.pdb"), [5.0, 4.0, 3.0]);
}

#[test]
fn the_cell_of_mmcif_may_be_a_table_or_unknown() {
    let atoms = "loop_\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n_atom_site.type_symbol\n1 2 3 C\n";
    let table = "loop_\n_cell.length_a\n_cell.length_b\n_cell.length_c\n50 40 30\n#\n";
    for text in [
        format!("data_x\n{table}{atoms}"),
        format!("data_x\n{atoms}{table}"),
        // The cell of an earlier block without atoms does not count.
        format!("data_w\n_cell.length_a 10\ndata_x\n{atoms}{table}"),
    ] {
        assert_cell(&read(&text, "a.cif"), [5.0, 4.0, 3.0]);
    }
    let unknown = "_cell.length_a ?\n_cell.length_b ?\n_cell.length_c .\n";
    let unknown = read(&format!("data_x\n{unknown}{atoms}"), "a.cif");
    assert_eq!(unknown.unit_cell(), None);
    assert!(unknown.warnings().is_empty());
    let partial = read(&format!("data_x\n_cell.length_a 5\n{atoms}"), "a.cif");
    assert_eq!(partial.warnings().invalid_cells, 1);
}
