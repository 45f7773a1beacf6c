//! Periodic boxes are written as unit cells, with whole molecules inside.

use bevy_rapier_molecules::export::{ExportError, ExportOptions, export, write_mmcif, write_pdb};
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculePart, SplitBy, load, load_structure};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;

use crate::export::fixtures::{
    assert_same_atoms, asset, dimer, lattice, mmcif_text, pdb_text, scratch, split, triatomic,
};

fn in_box(size: Vec3) -> ExportOptions {
    ExportOptions {
        periodic_box: Some(PeriodicBox::new(size).unwrap()),
        ..ExportOptions::default()
    }
}

#[test]
fn the_cell_is_written_exactly() {
    let options = in_box(Vec3::new(12.5, 0.1235, 9_999.0));
    assert_eq!(
        pdb_text(&[], &options),
        "\
CRYST1  125.000    1.23599990.000  90.00  90.00  90.00 P 1           1
END
"
    );
    let text = mmcif_text(&[], &options);
    let expected = "\
data_scene
#
_entry.id scene
#
_cell.entry_id scene
_cell.length_a 125.000000
_cell.length_b 1.235000
_cell.length_c 99990.000000
_cell.angle_alpha 90.00
_cell.angle_beta 90.00
_cell.angle_gamma 90.00
_cell.Z_PDB 1
#
_symmetry.entry_id scene
_symmetry.space_group_name_H-M 'P 1'
#
loop_
";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn boxes_that_do_not_fit_are_rejected() {
    for edge in [1.0e4, 1.0e-6] {
        let options = in_box(Vec3::new(5.0, edge, 5.0));
        let error = write_pdb(Vec::new(), [], &options).unwrap_err();
        assert!(matches!(error, ExportError::BoxOutOfRange { .. }));
        assert!(error.to_string().contains("mmCIF"), "{error}");
    }
    let options = in_box(Vec3::new(5.0, 5.0, 1.1e5));
    let error = write_mmcif(Vec::new(), [], &options).unwrap_err();
    assert!(matches!(error, ExportError::BoxOutOfRange { .. }));
    write_mmcif(Vec::new(), [], &in_box(Vec3::splat(1.0e4))).unwrap();
}

#[test]
fn molecules_and_cell_round_trip_through_every_format() {
    let folder = scratch("periodic_boxes");
    let lipid = load(asset("popc.pdb"), &LoadOptions::default()).unwrap();
    let protein = load(asset("1gzx.pdb"), &LoadOptions::default()).unwrap();
    let single = triatomic();
    let size = Vec3::new(7.5, 6.25, 9.0);
    let periodic = PeriodicBox::new(size).unwrap();
    // Lipids of one residue and proteins of four chains, in and around the box.
    let molecules = [&lipid, &protein, &single, &protein, &lipid, &lipid];
    let scene = molecules.iter().enumerate().map(|(k, &molecule)| {
        let pose = lattice(7 * k);
        let away = Vec3::new(k as f32 - 2.0, 1.0, -(k as f32)) * size;
        (molecule, Pose::new(pose.position + away, pose.rotation))
    });
    let scene: Vec<_> = scene.collect();
    for ending in ["pdb", "ent.gz", "cif", "mmcif.gz"] {
        let path = folder.join(format!("out.{ending}"));
        export(&path, scene.iter().copied(), &in_box(size)).unwrap();
        let structure = load_structure(&path, &LoadOptions::default()).unwrap();
        assert_eq!(
            structure.unit_cell().unwrap().orthorhombic(),
            Some(periodic)
        );
        let options = LoadOptions {
            waters: true,
            ..LoadOptions::default()
        };
        let parts = structure.split_by(SplitBy::Molecule, &options).unwrap();
        assert_eq!(parts.len(), scene.len(), "{ending}");
        for (MoleculePart { template, pose, .. }, (written, given)) in parts.iter().zip(&scene) {
            let wrapped = periodic.wrap_pose(given);
            assert_same_atoms((&**template, *pose), (*written, wrapped));
        }
    }
}

#[test]
fn molecules_stay_outside_of_the_box_without_wrapping() {
    let single = triatomic();
    let pose = Pose::from_translation(Vec3::new(-7.0, 6.0, 25.0));
    let options = ExportOptions {
        wrap: false,
        ..in_box(Vec3::splat(5.0))
    };
    let scene = [(&single, pose)];
    for (text, name) in [
        (pdb_text(&scene, &options), "a.pdb"),
        (mmcif_text(&scene, &options), "a.cif"),
    ] {
        assert!(text.contains("50.000"), "{name} has no cell");
        let parts = split(&text, name, SplitBy::Molecule);
        assert_same_atoms((&*parts[0].template, parts[0].pose), scene[0]);
    }
}

#[test]
fn molecules_of_one_file_are_told_apart() {
    let [single, pair] = [triatomic(), dimer()];
    // More chains than letters.
    let scene: Vec<_> = (0..100)
        .map(|k| (if k % 3 == 0 { &single } else { &pair }, lattice(k)))
        .collect();
    let options = ExportOptions::default();
    for (text, name) in [
        (pdb_text(&scene, &options), "a.pdb"),
        (mmcif_text(&scene, &options), "a.cif"),
    ] {
        let parts = split(&text, name, SplitBy::Molecule);
        assert_eq!(parts.len(), 100, "{name}");
        for (part, scene) in parts.iter().zip(&scene) {
            assert_same_atoms((&*part.template, part.pose), *scene);
        }
    }
    // Without TER rows, chains are molecules.
    let plain = pdb_text(&scene[..4], &options).replace("TER", "REM");
    let molecules = split(&plain, "a.pdb", SplitBy::Molecule);
    assert_eq!(
        molecules.len(),
        split(&plain, "a.pdb", SplitBy::Chain).len()
    );
}
