//! What is written can be read again: same atoms, same places, molecules apart.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bevy_rapier_molecules::export::{
    ExportError, ExportOptions, ExportSummary, export, write_mmcif, write_pdb,
};
use bevy_rapier_molecules::molecule::{
    Atom, Element, LoadOptions, MoleculePart, MoleculeTemplate, Residue, SplitBy, load,
    load_structure, read_bytes,
};
use bevy_rapier_molecules::pose::Pose;
use glam::{DMat3, DVec3, Quat, Vec3};

/// Largest difference between a position and the same position in a file, nm:
/// half of the last decimal (0.0005 Å), and the rounding of 32-bit floats.
const FILE_ROUNDING: f64 = 0.000_05 + 0.000_002;

fn asset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets/molecules")
        .join(name)
}

/// An empty folder of its own for a test.
fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("export")
        .join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn residue(name: &str, chain: &str, number: i32) -> Residue {
    Residue {
        name: name.into(),
        number,
        insertion_code: None,
        chain: chain.into(),
    }
}

fn atom(name: &str, element: Element, position: [f32; 3], residue: u32) -> Atom {
    Atom {
        position: Vec3::from_array(position),
        radius: 0.1,
        element,
        name: name.into(),
        residue,
    }
}

/// Three atoms in one residue.
fn triatomic() -> MoleculeTemplate {
    let atoms = vec![
        atom("C1", Element::C, [0.0, 0.0, 0.0], 0),
        atom("O1", Element::O, [0.12, 0.0, 0.0], 0),
        atom("H11", Element::H, [-0.05, 0.09, 0.0], 0),
    ];
    MoleculeTemplate::new("triatomic", atoms, vec![residue("LIG", "A", 7)]).unwrap()
}

/// Two residues of one atom each, numbers 5 and 7 of chain P.
fn dimer() -> MoleculeTemplate {
    let atoms = vec![
        atom("CA", Element::C, [0.0, 0.0, 0.0], 0),
        atom("CA", Element::C, [0.38, 0.0, 0.0], 1),
    ];
    let residues = vec![residue("ALA", "P", 5), residue("GLY", "P", 7)];
    MoleculeTemplate::new("dimer", atoms, residues).unwrap()
}

/// The k-th pose of a loose lattice with turning molecules.
fn lattice(k: usize) -> Pose {
    let at = |step: usize| (k / step % 40) as f32 * 0.7;
    let axis = Vec3::new(1.0, 0.1 * (k % 7) as f32, 0.3).normalize();
    Pose::new(
        Vec3::new(at(1), at(40), at(1600)),
        Quat::from_axis_angle(axis, k as f32),
    )
}

fn pdb_text(molecules: &[(&MoleculeTemplate, Pose)], options: &ExportOptions) -> String {
    let mut text = Vec::new();
    write_pdb(&mut text, molecules.iter().copied(), options).unwrap();
    String::from_utf8(text).unwrap()
}

fn mmcif_text(molecules: &[(&MoleculeTemplate, Pose)], options: &ExportOptions) -> String {
    let mut text = Vec::new();
    write_mmcif(&mut text, molecules.iter().copied(), options).unwrap();
    String::from_utf8(text).unwrap()
}

fn split(text: &str, name: &str, by: SplitBy) -> Vec<MoleculePart> {
    let options = LoadOptions::default();
    let structure = read_bytes(text.as_bytes(), name, &options).unwrap();
    structure.split_by(by, &options).unwrap()
}

/// World positions (nm) in 64 bits, worked out independently of the writers.
fn world(template: &MoleculeTemplate, pose: Pose) -> Vec<DVec3> {
    let rotation = DMat3::from_quat(pose.rotation.as_dquat().normalize());
    let place = |p: &Vec3| rotation * p.as_dvec3() + pose.position.as_dvec3();
    template.positions().iter().map(place).collect()
}

fn assert_same_atoms(
    (read, read_pose): (&MoleculeTemplate, Pose),
    (written, pose): (&MoleculeTemplate, Pose),
) {
    assert_eq!(read.elements(), written.elements());
    assert_eq!(read.atom_names(), written.atom_names());
    for (a, b) in world(read, read_pose).iter().zip(world(written, pose)) {
        let error = (*a - b).abs().max_element();
        assert!(error <= FILE_ROUNDING, "{a} nm was written, {b} nm read");
    }
}

#[test]
fn pdb_columns_are_where_the_format_wants_them() {
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
fn the_last_coordinates_that_fit_the_columns_are_written() {
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
fn a_small_scene_is_written_exactly_so() {
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
fn long_titles_go_on_in_further_rows() {
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
fn structures_come_back_from_every_kind_of_file() {
    let folder = scratch("structures_come_back");
    let options = LoadOptions::default();
    for name in [
        "popc.pdb",
        "1gzx.pdb",
        "4c64_dna.pdb",
        "1ubq.cif",
        "4hhb.bcif.gz",
    ] {
        let template = load(asset(name), &options).unwrap();
        for ending in ["pdb", "ent.gz", "cif", "mmcif.gz"] {
            let path = folder.join(format!("out.{ending}"));
            let scene = [(&template, template.file_pose())];
            let summary = export(&path, scene, &ExportOptions::default()).unwrap();
            assert_eq!(
                (summary.molecules, summary.atoms),
                (1, template.atom_count())
            );
            let read = load(&path, &options).unwrap();
            assert_same_atoms((&read, read.file_pose()), scene[0]);
            assert_eq!(
                read.residues().len(),
                template.residues().len(),
                "{name} {ending}"
            );
            if template.residues().len() > 1 {
                for (a, b) in read.residues().iter().zip(template.residues()) {
                    assert_eq!((&a.name, a.number), (&b.name, b.number));
                    assert_eq!(a.insertion_code, b.insertion_code);
                    if ending == "pdb" {
                        assert_eq!(a.chain, b.chain);
                    }
                }
            }
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 4, "leftovers");
}

#[test]
fn compressed_files_hold_the_same_text() {
    let folder = scratch("compressed_files");
    let template = triatomic();
    let scene = || (0..1000).map(|k| (&template, lattice(k)));
    let options = ExportOptions::default();
    for ending in ["pdb", "cif"] {
        let plain = folder.join(format!("plain.{ending}"));
        let packed = folder.join(format!("packed.{ending}.gz"));
        let summary = export(&plain, scene(), &options).unwrap();
        assert_eq!(export(&packed, scene(), &options).unwrap(), summary);
        let text = fs::read(&plain).unwrap();
        assert_eq!(text.len() as u64, summary.bytes);
        let mut unpacked = Vec::new();
        let file = fs::File::open(&packed).unwrap();
        io::copy(&mut flate2::read::GzDecoder::new(file), &mut unpacked).unwrap();
        assert_eq!(unpacked, text);
    }
}

#[test]
fn molecules_of_one_residue_stay_apart_past_every_limit() {
    // 40,000 residues cross 9,999, and 120,000 atoms cross 99,999.
    let template = triatomic();
    let scene: Vec<_> = (0..40_000).map(|k| (&template, lattice(k))).collect();
    let options = ExportOptions::default();
    let pdb = pdb_text(&scene, &options);
    let mmcif = mmcif_text(&scene, &options);
    for (parts, by) in [
        (split(&pdb, "a.pdb", SplitBy::Residue), "PDB residue"),
        (split(&mmcif, "a.cif", SplitBy::Chain), "mmCIF chain"),
        (split(&mmcif, "a.cif", SplitBy::Residue), "mmCIF residue"),
    ] {
        assert_eq!(parts.len(), scene.len(), "{by}");
        for (part, &written) in parts.iter().zip(&scene) {
            assert_same_atoms((&part.template, part.pose), written);
        }
    }
    assert!(pdb.contains("HETATMA0001"));
    assert!(pdb.contains(" LIG AA000 "));
}

#[test]
fn molecules_of_several_residues_stay_apart() {
    let template = dimer();
    let scene: Vec<_> = (0..100).map(|k| (&template, lattice(k))).collect();
    let options = ExportOptions::default();

    let mmcif = split(&mmcif_text(&scene, &options), "a.cif", SplitBy::Chain);
    assert_eq!(mmcif.len(), 100);
    for (part, &written) in mmcif.iter().zip(&scene) {
        assert_same_atoms((&part.template, part.pose), written);
        let numbers: Vec<i32> = part.template.residues().iter().map(|r| r.number).collect();
        assert_eq!(numbers, [5, 7]);
    }

    // As many as a PDB file has chain letters.
    let pdb = split(&pdb_text(&scene[..62], &options), "a.pdb", SplitBy::Chain);
    assert_eq!(pdb.len(), 62);
    for (part, &written) in pdb.iter().zip(&scene) {
        assert_same_atoms((&part.template, part.pose), written);
        let numbers: Vec<i32> = part.template.residues().iter().map(|r| r.number).collect();
        assert_eq!(numbers, [5, 7]);
    }
    assert_eq!(pdb[0].template.residues()[0].chain, "P");

    // Beyond that no two molecules share a residue, and gaps in the numbers stay.
    let pdb = split(&pdb_text(&scene, &options), "a.pdb", SplitBy::Residue);
    assert_eq!(pdb.len(), 200);
    let mut seen = std::collections::HashSet::new();
    for pair in pdb.chunks(2) {
        let (a, b) = (
            &pair[0].template.residues()[0],
            &pair[1].template.residues()[0],
        );
        assert_eq!((&a.chain, a.number + 2), (&b.chain, b.number));
        assert!(
            seen.insert((a.chain.clone(), a.number)) && seen.insert((b.chain.clone(), b.number))
        );
    }
}

#[test]
fn proteins_and_lipids_share_a_file_without_sharing_residues() {
    let (protein, lipid) = (dimer(), triatomic());
    let scene: Vec<_> = (0..60)
        .map(|k| (if k % 3 == 0 { &protein } else { &lipid }, lattice(k)))
        .collect();
    let options = ExportOptions::default();
    let text = pdb_text(&scene, &options);
    // Twenty proteins with a chain each, and the chain of all lipids.
    assert_eq!(split(&text, "a.pdb", SplitBy::Chain).len(), 21);
    assert_eq!(split(&text, "a.pdb", SplitBy::Residue).len(), 20 * 2 + 40);
    assert_eq!(
        split(&mmcif_text(&scene, &options), "a.cif", SplitBy::Chain).len(),
        60
    );
}

#[test]
fn a_molecule_of_several_chains_is_one_chain_in_mmcif_and_several_in_pdb() {
    let template = load(asset("1gzx.pdb"), &LoadOptions::default()).unwrap();
    let far = Pose::from_translation(Vec3::new(20.0, 0.0, 0.0));
    let scene = [(&template, template.file_pose()), (&template, far)];
    let options = ExportOptions::default();
    assert_eq!(
        split(&mmcif_text(&scene, &options), "a.cif", SplitBy::Chain).len(),
        2
    );
    assert_eq!(
        split(&pdb_text(&scene, &options), "a.pdb", SplitBy::Chain).len(),
        8
    );
}

#[test]
fn names_with_quotes_and_spaces_survive_mmcif() {
    let names = ["O5'", "C\"", "a b", "_x", "#1", "loop_", "'", "a' \"b"];
    let atoms = names
        .iter()
        .enumerate()
        .map(|(k, name)| atom(name, Element::O, [k as f32, 0.0, 0.0], 0))
        .collect();
    let template = MoleculeTemplate::new("odd", atoms, vec![residue("A'", "A", 1)]).unwrap();
    let scene = [(&template, template.file_pose())];
    let text = mmcif_text(&scene, &ExportOptions::default());
    let parts = split(&text, "a.cif", SplitBy::Chain);
    assert_same_atoms((&parts[0].template, parts[0].pose), scene[0]);
    assert_eq!(parts[0].template.residues()[0].name, "A'");
}

#[test]
fn mmcif_can_have_more_decimals() {
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
fn far_molecules_need_mmcif() {
    let template = triatomic();
    let options = ExportOptions::default();
    for far in [Vec3::new(1_000.0, 0.0, 0.0), Vec3::new(0.0, 0.0, -100.0)] {
        let scene = [
            (&template, Pose::default()),
            (&template, Pose::from_translation(far)),
        ];
        let error = write_pdb(io::sink(), scene, &options).unwrap_err();
        assert!(matches!(error, ExportError::OutsidePdb { molecule: 1, .. }));
        assert!(error.to_string().contains("use mmCIF instead"));
        assert_eq!(
            split(&mmcif_text(&scene, &options), "a.cif", SplitBy::Chain).len(),
            2
        );
    }
    for far in [1.0e6, 1.0e30, f32::MAX] {
        let scene = [(&template, Pose::from_translation(Vec3::splat(far)))];
        assert!(matches!(
            write_mmcif(io::sink(), scene, &options),
            Err(ExportError::TooFar { molecule: 0, .. })
        ));
        assert!(matches!(
            write_pdb(io::sink(), scene, &options),
            Err(ExportError::OutsidePdb { .. })
        ));
    }
}

#[test]
fn poses_that_are_no_poses_are_refused() {
    let template = triatomic();
    let options = ExportOptions::default();
    for pose in [
        Pose::from_translation(Vec3::new(0.0, f32::NAN, 0.0)),
        Pose::from_translation(Vec3::INFINITY),
        Pose::new(Vec3::ZERO, Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0)),
        Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)),
        Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 2.0)),
    ] {
        let scene = [(&template, Pose::default()), (&template, pose)];
        for result in [
            write_pdb(io::sink(), scene, &options),
            write_mmcif(io::sink(), scene, &options),
        ] {
            assert!(matches!(
                result,
                Err(ExportError::BadPose { molecule: 1, .. })
            ));
        }
    }
}

#[test]
fn names_that_do_not_fit_are_refused() {
    let named = |atom_name: &str, residue_name: &str| {
        let atoms = vec![atom(atom_name, Element::C, [0.0; 3], 0)];
        MoleculeTemplate::new("named", atoms, vec![residue(residue_name, "A", 1)]).unwrap()
    };
    let options = ExportOptions::default();
    for (atom_name, residue_name) in [("HH111", "ALA"), ("C", "A1ABC"), ("Cµ", "LIG")] {
        let template = named(atom_name, residue_name);
        let scene = [(&template, Pose::default())];
        let error = write_pdb(io::sink(), scene, &options).unwrap_err();
        assert!(matches!(error, ExportError::NameOutsidePdb { .. }));
        assert!(write_mmcif(io::sink(), scene, &options).is_ok());
    }
    let template = named("C\n1", "LIG");
    let result = write_mmcif(io::sink(), [(&template, Pose::default())], &options);
    assert!(matches!(result, Err(ExportError::BadName { .. })));
    // Nothing in a name is nothing in the columns.
    let template = named("", "");
    let text = pdb_text(&[(&template, Pose::default())], &options);
    assert!(text.starts_with("HETATM    1          A   1    "), "{text}");
}

#[test]
fn an_empty_scene_is_an_empty_file() {
    let options = ExportOptions::default();
    assert_eq!(pdb_text(&[], &options), "END\n");
    assert!(mmcif_text(&[], &options).starts_with("data_scene\n#\n_entry.id scene\n#\nloop_\n"));
}

#[test]
fn paths_that_cannot_be_written_are_named() {
    let folder = scratch("paths");
    let template = triatomic();
    let scene = [(&template, Pose::default())];
    let options = ExportOptions::default();
    let error = export(folder.join("scene.xyz"), scene, &options).unwrap_err();
    assert!(matches!(error, ExportError::UnknownFormat { .. }));
    assert!(error.to_string().contains("scene.xyz"));
    let error = export(folder.join("nowhere/scene.pdb"), scene, &options).unwrap_err();
    assert!(matches!(error, ExportError::File { .. }));
    assert!(error.to_string().contains("nowhere"));
    // A folder is in the way of the finished file.
    fs::create_dir(folder.join("taken.pdb")).unwrap();
    let error = export(folder.join("taken.pdb"), scene, &options).unwrap_err();
    assert!(matches!(error, ExportError::File { .. }));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "leftovers");
}

/// A disk that is full after some bytes.
struct FullDisk(usize);

impl Write for FullDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_reported() {
    let template = triatomic();
    let scene = || (0..1000).map(|k| (&template, lattice(k)));
    let options = ExportOptions::default();
    for room in [0, 1, 100_000] {
        let result = write_pdb(FullDisk(room), scene(), &options);
        assert!(matches!(result, Err(ExportError::Write(_))));
        let result = write_mmcif(FullDisk(room), scene(), &options);
        assert!(matches!(result, Err(ExportError::Write(_))));
    }
}

#[test]
fn a_failed_or_interrupted_export_leaves_what_was_there() {
    let folder = scratch("interrupted");
    let template = triatomic();
    let bad = Pose::from_translation(Vec3::NAN);
    let options = ExportOptions::default();
    for ending in ["pdb", "pdb.gz", "cif", "cif.gz"] {
        let path = folder.join(format!("scene.{ending}"));
        let failing = || (0..5000).map(|k| (&template, if k == 4999 { bad } else { lattice(k) }));
        assert!(export(&path, failing(), &options).is_err());
        assert!(!path.exists());

        fs::write(&path, "the old file").unwrap();
        assert!(export(&path, failing(), &options).is_err());
        let panicking = (0..5000).map(|k| {
            assert!(k < 4999, "the program stops in the middle");
            (&template, lattice(k))
        });
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            export(&path, panicking, &options)
        }));
        assert!(outcome.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "the old file");

        export(&path, [(&template, Pose::default())], &options).unwrap();
        assert_eq!(
            load(&path, &LoadOptions::default()).unwrap().atom_count(),
            3
        );
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 4, "leftovers");
}

#[test]
#[ignore = "times an export of four million atoms; run in release"]
fn four_million_atoms_take_seconds() {
    let folder = scratch("four_million");
    let template = load(asset("popc.pdb"), &LoadOptions::default()).unwrap();
    let copies = 4_000_000_usize.div_ceil(template.atom_count());
    for ending in ["pdb", "cif", "pdb.gz", "cif.gz"] {
        let path = folder.join(format!("scene.{ending}"));
        let scene = (0..copies).map(|k| (&template, lattice(k)));
        let start = std::time::Instant::now();
        let summary: ExportSummary = export(&path, scene, &ExportOptions::default()).unwrap();
        let (wrote, size) = (start.elapsed(), fs::metadata(&path).unwrap().len());
        let start = std::time::Instant::now();
        let structure = load_structure(&path, &LoadOptions::default()).unwrap();
        assert_eq!(structure.atoms().len(), summary.atoms);
        assert_eq!(structure.residues().len(), copies);
        #[expect(clippy::print_stderr, reason = "the times are what this test is for")]
        {
            eprintln!(
                "{ending}: {wrote:.2?}, {size} bytes, read in {:.2?}",
                start.elapsed()
            );
        }
        fs::remove_file(&path).unwrap();
    }
}
