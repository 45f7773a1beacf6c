//! Molecules, poses and comparisons shared by the tests.

use std::fs;
use std::path::{Path, PathBuf};

use bevy_rapier_molecules::export::{ExportOptions, write_mmcif, write_pdb};
use bevy_rapier_molecules::molecule::{
    Atom, Element, LoadOptions, MoleculePart, MoleculeTemplate, Residue, SplitBy, read_bytes,
};
use bevy_rapier_molecules::pose::Pose;
use glam::{DMat3, DVec3, Quat, Vec3};

/// Maximum difference between a position and its value in a file, nm: half of the last decimal
/// (0.0005 Å) and single-precision rounding.
const FILE_ROUNDING: f64 = 0.000_05 + 0.000_002;

pub fn asset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets/molecules")
        .join(name)
}

/// An empty folder for a test.
pub fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("export")
        .join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

pub fn residue(name: &str, chain: &str, number: i32) -> Residue {
    Residue {
        name: name.into(),
        number,
        insertion_code: None,
        chain: chain.into(),
    }
}

pub fn atom(name: &str, element: Element, position: [f32; 3], residue: u32) -> Atom {
    Atom {
        position: Vec3::from_array(position),
        radius: 0.1,
        element,
        name: name.into(),
        residue,
    }
}

/// Three atoms in one residue.
pub fn triatomic() -> MoleculeTemplate {
    let atoms = vec![
        atom("C1", Element::C, [0.0, 0.0, 0.0], 0),
        atom("O1", Element::O, [0.12, 0.0, 0.0], 0),
        atom("H11", Element::H, [-0.05, 0.09, 0.0], 0),
    ];
    MoleculeTemplate::new("triatomic", atoms, vec![residue("LIG", "A", 7)]).unwrap()
}

/// Two residues of one atom each, with numbers 5 and 7 in chain P.
pub fn dimer() -> MoleculeTemplate {
    let atoms = vec![
        atom("CA", Element::C, [0.0, 0.0, 0.0], 0),
        atom("CA", Element::C, [0.38, 0.0, 0.0], 1),
    ];
    let residues = vec![residue("ALA", "P", 5), residue("GLY", "P", 7)];
    MoleculeTemplate::new("dimer", atoms, residues).unwrap()
}

/// The k-th pose of a lattice with rotated molecules.
pub fn lattice(k: usize) -> Pose {
    let at = |step: usize| (k / step % 40) as f32 * 0.7;
    let axis = Vec3::new(1.0, 0.1 * (k % 7) as f32, 0.3).normalize();
    Pose::new(
        Vec3::new(at(1), at(40), at(1600)),
        Quat::from_axis_angle(axis, k as f32),
    )
}

pub fn pdb_text(molecules: &[(&MoleculeTemplate, Pose)], options: &ExportOptions) -> String {
    let mut text = Vec::new();
    write_pdb(&mut text, molecules.iter().copied(), options).unwrap();
    String::from_utf8(text).unwrap()
}

pub fn mmcif_text(molecules: &[(&MoleculeTemplate, Pose)], options: &ExportOptions) -> String {
    let mut text = Vec::new();
    write_mmcif(&mut text, molecules.iter().copied(), options).unwrap();
    String::from_utf8(text).unwrap()
}

pub fn split(text: &str, name: &str, by: SplitBy) -> Vec<MoleculePart> {
    let options = LoadOptions::default();
    let structure = read_bytes(text.as_bytes(), name, &options).unwrap();
    structure.split_by(by, &options).unwrap()
}

/// World positions (nm) in double precision, independent of the writers.
fn world_positions(template: &MoleculeTemplate, pose: Pose) -> Vec<DVec3> {
    let rotation = DMat3::from_quat(pose.rotation.as_dquat().normalize());
    let transform = |p: &Vec3| rotation * p.as_dvec3() + pose.position.as_dvec3();
    template.positions().iter().map(transform).collect()
}

pub fn assert_same_atoms(
    (read, read_pose): (&MoleculeTemplate, Pose),
    (written, pose): (&MoleculeTemplate, Pose),
) {
    assert_eq!(read.elements(), written.elements());
    assert_eq!(read.atom_names(), written.atom_names());
    for (a, b) in world_positions(read, read_pose)
        .iter()
        .zip(world_positions(written, pose))
    {
        let error = (*a - b).abs().max_element();
        assert!(error <= FILE_ROUNDING, "read {a} nm, expected {b} nm");
    }
}
