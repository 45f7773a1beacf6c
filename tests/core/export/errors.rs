//! Unsupported molecules and failing writers are reported and leave no files.

use std::fs;
use std::io::{self, Write};

use bevy_rapier_molecules::export::{ExportError, ExportOptions, export, write_mmcif, write_pdb};
use bevy_rapier_molecules::molecule::{Element, LoadOptions, MoleculeTemplate, SplitBy, load};
use bevy_rapier_molecules::pose::Pose;
use glam::{Quat, Vec3};

use crate::export::fixtures::{
    atom, lattice, mmcif_text, pdb_text, residue, scratch, split, triatomic,
};

#[test]
fn molecules_outside_the_columns_of_pdb_are_written_as_mmcif() {
    let template = triatomic();
    let options = ExportOptions::default();
    for far in [Vec3::new(1_000.0, 0.0, 0.0), Vec3::new(0.0, 0.0, -100.0)] {
        let scene = [
            (&template, Pose::default()),
            (&template, Pose::from_translation(far)),
        ];
        let error = write_pdb(io::sink(), scene, &options).unwrap_err();
        assert!(matches!(error, ExportError::OutOfRange { molecule: 1, .. }));
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
            Err(ExportError::OutOfRange { molecule: 0, .. })
        ));
        assert!(matches!(
            write_pdb(io::sink(), scene, &options),
            Err(ExportError::OutOfRange { .. })
        ));
    }
}

#[test]
fn invalid_poses_are_rejected() {
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
                Err(ExportError::InvalidPose { molecule: 1, .. })
            ));
        }
    }
}

#[test]
fn unsupported_names_are_rejected() {
    let named = |atom_name: &str, residue_name: &str| {
        let atoms = vec![atom(atom_name, Element::C, [0.0; 3], 0)];
        MoleculeTemplate::new("named", atoms, vec![residue(residue_name, "A", 1)]).unwrap()
    };
    let options = ExportOptions::default();
    for (atom_name, residue_name) in [("HH111", "ALA"), ("C", "A1ABC"), ("Cµ", "LIG")] {
        let template = named(atom_name, residue_name);
        let scene = [(&template, Pose::default())];
        let error = write_pdb(io::sink(), scene, &options).unwrap_err();
        assert!(matches!(error, ExportError::UnsupportedName { .. }));
        assert!(write_mmcif(io::sink(), scene, &options).is_ok());
    }
    let template = named("C\n1", "LIG");
    let result = write_mmcif(io::sink(), [(&template, Pose::default())], &options);
    assert!(matches!(result, Err(ExportError::UnsupportedName { .. })));
    // An empty name gives blank columns.
    let template = named("", "");
    let text = pdb_text(&[(&template, Pose::default())], &options);
    assert!(text.starts_with("HETATM    1          A   1    "), "{text}");
}

#[test]
fn errors_contain_the_path() {
    let folder = scratch("paths");
    let template = triatomic();
    let scene = [(&template, Pose::default())];
    let options = ExportOptions::default();
    for name in ["scene.xyz", "scene.gz", "scene.bcif", "pdb", ".pdb"] {
        let error = export(folder.join(name), scene, &options).unwrap_err();
        assert!(matches!(error, ExportError::UnknownFormat { .. }));
        assert!(error.to_string().contains(name));
    }
    let error = export(folder.join("nowhere/scene.pdb"), scene, &options).unwrap_err();
    assert!(matches!(error, ExportError::File { .. }));
    assert!(error.to_string().contains("nowhere"));
    // The target is a folder.
    fs::create_dir(folder.join("taken.pdb")).unwrap();
    let error = export(folder.join("taken.pdb"), scene, &options).unwrap_err();
    assert!(matches!(error, ExportError::File { .. }));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "leftovers");
}

/// A writer that fails after some bytes, like a full disk.
struct FullDisk(usize);

impl Write for FullDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let written = bytes.len().min(self.0);
        self.0 -= written;
        Ok(written)
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
    for capacity in [0, 1, 100_000] {
        let result = write_pdb(FullDisk(capacity), scene(), &options);
        assert!(matches!(result, Err(ExportError::Write(_))));
        let result = write_mmcif(FullDisk(capacity), scene(), &options);
        assert!(matches!(result, Err(ExportError::Write(_))));
    }
}

#[test]
fn failed_and_interrupted_exports_keep_the_old_file() {
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
            assert!(k < 4999, "the export is interrupted");
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
