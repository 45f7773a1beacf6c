//! Up direction and depth of proteins, and what makes them invalid.

use std::f32::consts::{FRAC_PI_2, TAU};
use std::sync::Arc;

use bevy_rapier_molecules::membrane::{MembraneProtein, MembraneProteinError};
use bevy_rapier_molecules::molecule::{
    Atom, Element, MoleculeTemplate, Residue, SplitBy, Structure, read_bytes,
};
use bevy_rapier_molecules::prelude::*;
use glam::{Quat, Vec3};

use super::fixtures::{angle_between, barrel_axis, carbons, opm_file, porin};

/// Largest error of a guessed axis, degrees.
const GUESS_TOLERANCE: f32 = 25.0;

fn structure(file: &str) -> Structure {
    read_bytes(file.as_bytes(), "porin.pdb", &LoadOptions::default()).unwrap()
}

#[test]
fn an_opm_file_gives_up_depth_and_thickness() {
    let file = structure(&opm_file(0.37, true));
    let protein = MembraneProtein::from_opm_structure(&file, &LoadOptions::default()).unwrap();
    assert_eq!(protein.name, "porin");
    assert_eq!(protein.up, Vec3::Z);
    assert!((protein.depth - 0.37).abs() < 1.0e-3, "{}", protein.depth);
    assert_eq!(protein.half_thickness, Some(1.24));
    assert!(angle_between(barrel_axis(&protein.template), Vec3::Z) < 0.1);
}

#[test]
fn an_opm_file_is_loaded_from_disk() {
    let folder = tempfile_folder();
    let path = folder.join("porin_opm.pdb");
    std::fs::write(&path, opm_file(-0.5, true)).unwrap();
    let protein = MembraneProtein::from_opm(&path, &LoadOptions::default()).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    assert!((protein.depth + 0.5).abs() < 1.0e-3);
    assert_eq!(protein.name, "porin_opm");
}

fn tempfile_folder() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("membrane_proteins_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn membrane_markers_are_never_part_of_a_molecule() {
    let file = structure(&opm_file(0.0, true));
    let is_marker = |residue: &Residue| residue.name == "DUM";
    assert!(file.residues().iter().any(is_marker), "the file has them");
    for waters in [false, true] {
        let options = LoadOptions {
            waters,
            ..LoadOptions::default()
        };
        let template = file.template(&options).unwrap();
        assert!(!template.residues().iter().any(is_marker));
        let parts = file.split_by(SplitBy::Residue, &options).unwrap();
        let mut residues = parts.iter().flat_map(|part| part.template.residues());
        assert!(!residues.any(is_marker));
    }
}

#[test]
fn a_file_of_markers_only_has_no_atoms() {
    let file = "REMARK      1/2 of bilayer thickness:   12.4\n\
                HETATM 9000  N   DUM  9000       0.000   0.000 -12.400\n";
    let error = MembraneProtein::from_opm_structure(&structure(file), &LoadOptions::default());
    assert!(matches!(error, Err(MembraneProteinError::Molecule(_))));
}

#[test]
fn a_file_without_a_valid_opm_header_is_rejected() {
    let atoms = opm_file(0.0, false);
    let remarks = ["", "0.0", "-3.0", "thick", "NaN", "inf", "1e30"];
    let remarks = remarks.map(|value| format!("REMARK      1/2 of bilayer thickness: {value}\n"));
    for remark in std::iter::once(String::new()).chain(remarks) {
        let file = structure(&(remark.clone() + &atoms));
        assert_eq!(file.bilayer_half_thickness(), None, "{remark}");
        let error = MembraneProtein::from_opm_structure(&file, &LoadOptions::default());
        assert!(
            matches!(error, Err(MembraneProteinError::NoOpmHeader { .. })),
            "{remark}"
        );
    }
}

#[test]
fn an_axis_is_normalized_and_invalid_ones_are_rejected() {
    let atoms = carbons([Vec3::ZERO], 0.2);
    let protein = |up, depth| MembraneProtein::with_axis("carbon", Arc::clone(&atoms), up, depth);
    for length in [1.0e-30, 1.0, 1.0e30] {
        let up = protein(Vec3::Y * length, 0.5).unwrap().up;
        assert!(up.abs_diff_eq(Vec3::Y, 1.0e-6), "{length}");
    }
    for up in [Vec3::ZERO, Vec3::NAN, Vec3::X * f32::INFINITY] {
        let error = protein(up, 0.5);
        assert!(
            matches!(error, Err(MembraneProteinError::NoDirection { .. })),
            "{up}"
        );
    }
    for depth in [f32::NAN, f32::INFINITY, -1.0e30] {
        let error = protein(Vec3::Y, depth);
        assert!(
            matches!(error, Err(MembraneProteinError::InvalidDepth { .. })),
            "{depth}"
        );
    }
}

#[test]
fn a_flipped_protein_is_upside_down_at_the_same_place() {
    let protein = MembraneProtein::with_axis("porin", porin(), Vec3::X, 0.4).unwrap();
    let flipped = protein.flipped();
    let point = Vec3::new(0.3, -1.0, 2.0);
    assert_eq!(flipped.height(point), -protein.height(point));
    assert_eq!(flipped.flipped(), protein);
}

#[test]
fn a_placed_protein_stands_along_the_normal_at_its_depth() {
    let protein = MembraneProtein::with_axis("porin", porin(), Vec3::new(1.0, 2.0, 0.5), 0.4);
    let protein = protein.unwrap();
    let [x, y] = protein.plane_axes();
    assert!(x.cross(y).abs_diff_eq(protein.up, 1.0e-5));
    for normal in [Vec3::Y, protein.up, -protein.up] {
        let pose = protein.pose_at(Vec3::ONE, normal, 0.0);
        let turned = protein.pose_at(Vec3::ONE, normal, FRAC_PI_2);
        assert!((pose.rotation * protein.up).abs_diff_eq(normal, 1.0e-5));
        let center = Vec3::ONE + normal * 0.4;
        assert!(pose.position.abs_diff_eq(center, 1.0e-5));
        let quarter = Quat::from_axis_angle(normal, FRAC_PI_2) * (pose.rotation * x);
        assert!((turned.rotation * x).abs_diff_eq(quarter, 1.0e-5));
    }
}

#[test]
fn the_guessed_axis_of_porin_is_near_its_barrel_axis() {
    let porin = porin();
    let guess = MembraneProtein::guess("porin", Arc::clone(&porin)).unwrap();
    let angle = angle_between(guess.up, barrel_axis(&porin));
    assert!(angle < GUESS_TOLERANCE, "{angle}°");
    assert!(guess.depth.abs() < 1.5, "{} nm", guess.depth);
    let again = MembraneProtein::guess("porin", porin).unwrap();
    assert_eq!(guess, again);
}

/// Porin in another frame: the guess depends on directions only by the spacing of the scan.
#[test]
fn the_guess_turns_with_the_protein() {
    let porin = porin();
    for turn in [
        Quat::from_rotation_x(1.1),
        Quat::from_rotation_y(2.5),
        Quat::from_rotation_z(0.7) * Quat::from_rotation_x(0.4),
    ] {
        let atoms = (0..porin.atom_count()).map(|atom| Atom {
            position: turn * porin.positions()[atom],
            radius: porin.radii()[atom],
            element: porin.elements()[atom],
            name: porin.atom_names()[atom].clone(),
            residue: porin.residue_indices()[atom],
        });
        let turned = MoleculeTemplate::new("turned", atoms.collect(), porin.residues().to_vec());
        let turned = Arc::new(turned.unwrap());
        let guess = MembraneProtein::guess("turned", Arc::clone(&turned)).unwrap();
        let angle = angle_between(guess.up, turn * barrel_axis(&porin));
        assert!(angle < GUESS_TOLERANCE, "{turn}: {angle}°");
    }
}

/// Helices side by side along `axis`: leucine within 1.3 nm of the mid-plane, lysine beyond, and
/// more of it above.
fn helix_bundle(axis: Vec3) -> Arc<MoleculeTemplate> {
    let frame = Quat::from_rotation_arc(Vec3::Z, axis);
    let (mut atoms, mut residues) = (Vec::new(), Vec::new());
    for helix in 0..7 {
        let around = Quat::from_rotation_z(TAU * helix as f32 / 6.0);
        let place = if helix == 6 {
            Vec3::ZERO
        } else {
            around * Vec3::X
        };
        for step in 0..36 {
            let height = -2.0 + 0.15 * step as f32;
            let side = Quat::from_rotation_z(step as f32 * 100f32.to_radians()) * Vec3::X;
            let name = if height.abs() < 1.3 { "LEU" } else { "LYS" };
            for (atom, distance) in [("CA", 0.23), ("CB", 0.33)] {
                atoms.push(Atom {
                    position: frame * (place + side * distance + Vec3::Z * height),
                    radius: 0.17,
                    element: Element::C,
                    name: atom.into(),
                    residue: residues.len() as u32,
                });
            }
            residues.push(Residue {
                name: name.into(),
                number: step,
                chain: helix.to_string().into(),
                ..Residue::default()
            });
        }
    }
    Arc::new(MoleculeTemplate::new("bundle", atoms, residues).unwrap())
}

#[test]
fn the_guess_finds_the_slab_of_a_helix_bundle() {
    for axis in [Vec3::Z, Vec3::X, Vec3::new(-0.6, 0.0, -0.8)] {
        let bundle = helix_bundle(axis);
        let mid_plane = -bundle.file_pose().position;
        let guess = MembraneProtein::guess("bundle", bundle).unwrap();
        assert!(
            guess.up.dot(axis) > 10f32.to_radians().cos(),
            "{axis}: {}",
            guess.up
        );
        assert!(guess.height(mid_plane).abs() < 0.2, "{axis}");
    }
}

#[test]
fn a_molecule_without_amino_acids_has_no_guess() {
    let error = MembraneProtein::guess("carbon", carbons([Vec3::ZERO], 0.2));
    assert!(matches!(
        error,
        Err(MembraneProteinError::TooFewResidues { found: 0, .. })
    ));
}
