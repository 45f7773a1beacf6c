//! The exact text of small files.

use bevy_rapier_molecules::export::ExportOptions;
use bevy_rapier_molecules::molecule::{Element, MoleculeTemplate};
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;

use crate::export::fixtures::{atom, mmcif_text, pdb_text, residue, triatomic};

#[test]
fn pdb_fields_are_in_their_columns() {
    let atoms = vec![
        atom("N", Element::N, [1.1104, 0.6134, -0.6504], 0),
        atom("CA", Element::C, [0.0, -0.00004, -0.00006], 0),
        atom("HH11", Element::H, [12.3456, -23.4567, 3.2104], 0),
        atom("O5'", Element::O, [0.1, 0.2, 0.3], 1),
        atom("CA", Element::CA, [0.1, 0.2, 0.3], 2),
        atom("CL1", Element::CL, [0.1, 0.2, 0.3], 3),
        atom("XCL", Element::CL, [0.1, 0.2, 0.3], 3),
    ];
    let mut inserted = residue("DA", "B", -12);
    inserted.insertion_code = Some('C');
    let residues = vec![
        residue("ALA", "B", 1),
        inserted,
        residue("CA", "B", 1234),
        residue("POPC", "B", 10_000),
    ];
    let template = MoleculeTemplate::new("mixture", atoms, residues).unwrap();
    let scene = [(&template, template.file_pose())];
    assert_eq!(
        pdb_text(&scene, &ExportOptions::default()),
        "\
ATOM      1  N   ALA B   1      11.104   6.134  -6.504  1.00  0.00           N  
ATOM      2  CA  ALA B   1       0.000   0.000  -0.001  1.00  0.00           C  
ATOM      3 HH11 ALA B   1     123.456-234.567  32.104  1.00  0.00           H  
ATOM      4  O5'  DA B -12C      1.000   2.000   3.000  1.00  0.00           O  
HETATM    5 CA    CA B1234       1.000   2.000   3.000  1.00  0.00          CA  
HETATM    6 CL1  POPCBA000       1.000   2.000   3.000  1.00  0.00          CL  
HETATM    7  XCL POPCBA000       1.000   2.000   3.000  1.00  0.00          CL  
TER       8      POPCBA000 
END
"
    );
}

#[test]
fn the_largest_coordinates_that_fit_the_columns_are_written() {
    let atoms = vec![atom("FE", Element::FE, [0.0; 3], 0)];
    let template = MoleculeTemplate::new("iron", atoms, vec![residue("FE", "", 1)]).unwrap();
    let pose = Pose::from_translation(Vec3::new(-99.9999, 0.00004, 999.9999));
    assert_eq!(
        pdb_text(&[(&template, pose)], &ExportOptions::default()),
        "\
HETATM    1 FE    FE A   1    -999.999   0.0009999.999  1.00  0.00          FE  
TER       2       FE A   1 
END
"
    );
}

#[test]
fn two_molecules_are_written_exactly() {
    let template = triatomic();
    let pose = template.file_pose();
    let shifted = Pose::from_translation(pose.position + Vec3::new(1.0, -2.0, 0.0));
    let options = ExportOptions {
        title: "two of three".to_owned(),
        ..ExportOptions::default()
    };
    assert_eq!(
        pdb_text(&[(&template, pose), (&template, shifted)], &options),
        "\
TITLE     two of three
HETATM    1  C1  LIG A   1       0.000   0.000   0.000  1.00  0.00           C  
HETATM    2  O1  LIG A   1       1.200   0.000   0.000  1.00  0.00           O  
HETATM    3  H11 LIG A   1      -0.500   0.900   0.000  1.00  0.00           H  
TER       4      LIG A   1 
HETATM    5  C1  LIG A   2      10.000 -20.000   0.000  1.00  0.00           C  
HETATM    6  O1  LIG A   2      11.200 -20.000   0.000  1.00  0.00           O  
HETATM    7  H11 LIG A   2       9.500 -19.100   0.000  1.00  0.00           H  
TER       8      LIG A   2 
END
"
    );
    assert_eq!(
        mmcif_text(&[(&template, pose), (&template, shifted)], &options),
        "\
data_two_of_three
#
_entry.id two_of_three
#
_struct.entry_id two_of_three
_struct.title 'two of three'
#
loop_
_atom_site.group_PDB
_atom_site.id
_atom_site.type_symbol
_atom_site.label_atom_id
_atom_site.label_alt_id
_atom_site.label_comp_id
_atom_site.label_asym_id
_atom_site.label_entity_id
_atom_site.label_seq_id
_atom_site.pdbx_PDB_ins_code
_atom_site.Cartn_x
_atom_site.Cartn_y
_atom_site.Cartn_z
_atom_site.occupancy
_atom_site.B_iso_or_equiv
_atom_site.auth_seq_id
_atom_site.auth_comp_id
_atom_site.auth_asym_id
_atom_site.auth_atom_id
_atom_site.pdbx_PDB_model_num
HETATM 1 C C1 . LIG A 1 1 ? 0.000 0.000 0.000 1.00 0.00 7 LIG A C1 1
HETATM 2 O O1 . LIG A 1 1 ? 1.200 0.000 0.000 1.00 0.00 7 LIG A O1 1
HETATM 3 H H11 . LIG A 1 1 ? -0.500 0.900 0.000 1.00 0.00 7 LIG A H11 1
HETATM 4 C C1 . LIG B 1 1 ? 10.000 -20.000 0.000 1.00 0.00 7 LIG B C1 1
HETATM 5 O O1 . LIG B 1 1 ? 11.200 -20.000 0.000 1.00 0.00 7 LIG B O1 1
HETATM 6 H H11 . LIG B 1 1 ? 9.500 -19.100 0.000 1.00 0.00 7 LIG B H11 1
#
"
    );
}

#[test]
fn long_titles_continue_in_further_rows() {
    let options = ExportOptions {
        title: format!("{}\n{}µ", "a".repeat(75), "b".repeat(70)),
        ..ExportOptions::default()
    };
    let text = pdb_text(&[], &options);
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(rows[0], format!("TITLE     {}", "a".repeat(70)));
    assert_eq!(rows[1], format!("TITLE    2 aaaaa {}", "b".repeat(63)));
    assert_eq!(rows[2], format!("TITLE    3 {}?", "b".repeat(7)));
    assert_eq!(rows[3], "END");
}

#[test]
fn mmcif_supports_up_to_six_decimals() {
    let template = MoleculeTemplate::new(
        "one",
        vec![atom("C", Element::C, [0.0; 3], 0)],
        vec![residue("X", "", 1)],
    )
    .unwrap();
    let pose = Pose::from_translation(Vec3::new(0.123_456_7, -0.000_000_01, 0.0));
    for (decimals, expected) in [
        (0, " 1 0 0 "),
        (3, " 1.235 0.000 0.000 "),
        (6, " 1.234567 0.000000 0.000000 "),
        (200, " 1.234567 0.000000 0.000000 "),
    ] {
        let options = ExportOptions {
            decimals,
            ..ExportOptions::default()
        };
        let text = mmcif_text(&[(&template, pose)], &options);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn no_molecules_give_a_file_without_atoms() {
    let options = ExportOptions::default();
    assert_eq!(pdb_text(&[], &options), "END\n");
    assert!(mmcif_text(&[], &options).starts_with("data_scene\n#\n_entry.id scene\n#\nloop_\n"));
}
