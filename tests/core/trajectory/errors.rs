//! Frames and files that cannot be written are reported and leave what was there.

use std::fs;
use std::path::Path;

use bevy_rapier_molecules::export::ExportError;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::trajectory::{
    TrajectoryError, TrajectoryMolecule, TrajectoryOptions, TrajectoryWriter,
};
use glam::{Quat, Vec3};

use super::fixtures::{chain, files, kind, moving, scratch};

/// The extensions of this build.
const EXTENSIONS: &[&str] = if cfg!(feature = "xtc") {
    &["simularium", "xtc"]
} else {
    &["simularium"]
};

fn create(path: &Path) -> Result<TrajectoryWriter, TrajectoryError> {
    TrajectoryWriter::create(
        path,
        [kind("chain", &chain(12))],
        TrajectoryOptions::default(),
    )
}

#[test]
fn unknown_formats_are_named() {
    let folder = scratch("formats");
    for name in ["run", "run.dcd", "run.xtc.gz", ".simularium", "run.json"] {
        let error = create(&folder.join(name)).unwrap_err();
        assert!(matches!(error, TrajectoryError::UnknownFormat { .. }));
        assert!(error.to_string().contains(name), "{error}");
    }
    assert!(files(&folder).is_empty());
    create(&folder.join("RUN.SIMULARIUM")).unwrap();
}

#[cfg(not(feature = "xtc"))]
#[test]
fn builds_without_the_feature_say_so() {
    let error = create(&scratch("no_xtc").join("run.xtc")).unwrap_err();
    assert!(error.to_string().contains("feature `xtc`"), "{error}");
}

#[test]
fn files_that_cannot_be_created_are_reported_at_once() {
    let folder = scratch("paths");
    for extension in EXTENSIONS {
        let taken = folder.join(format!("taken.{extension}"));
        fs::create_dir(&taken).unwrap();
        for path in [taken, folder.join(format!("nowhere/run.{extension}"))] {
            let error = create(&path).unwrap_err();
            assert!(matches!(error, TrajectoryError::File { .. }), "{error}");
            assert!(error.to_string().contains(&*path.to_string_lossy()));
        }
    }
    assert_eq!(files(&folder).len(), EXTENSIONS.len(), "leftovers");
}

#[test]
fn a_trajectory_without_frames_leaves_the_old_file() {
    let folder = scratch("no_frames");
    for extension in EXTENSIONS {
        let path = folder.join(format!("run.{extension}"));
        drop(create(&path).unwrap());
        assert!(!path.exists());
        fs::write(&path, "an old file").unwrap();
        let summary = create(&path).unwrap().finish().unwrap();
        assert_eq!((summary.frames, summary.bytes), (0, 0));
        assert_eq!(fs::read(&path).unwrap(), b"an old file");
    }
    assert_eq!(files(&folder).len(), EXTENSIONS.len(), "leftovers");
}

#[test]
fn invalid_frames_are_left_out() {
    let folder = scratch("invalid");
    for extension in EXTENSIONS {
        let path = folder.join(format!("run.{extension}"));
        let mut writer = create(&path).unwrap();
        writer.write(0.0, moving(3, 1, 0)).unwrap();
        let size = fs::metadata(&path).unwrap().len();
        for time in [f64::NAN, f64::INFINITY] {
            let error = writer.write(time, moving(3, 1, 0)).unwrap_err();
            assert!(matches!(
                error,
                TrajectoryError::InvalidTime { frame: 1, .. }
            ));
        }
        for pose in [
            Pose::from_translation(Vec3::NAN),
            Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 2.0)),
            Pose::from_translation(Vec3::X * 1.0e9),
        ] {
            let mut molecules = moving(3, 1, 0);
            molecules[2].pose = pose;
            let error = writer.write(1.0, molecules).unwrap_err();
            let TrajectoryError::Molecule { frame: 1, error } = error else {
                panic!("{error}");
            };
            assert!(matches!(
                error,
                ExportError::InvalidPose { molecule: 2, .. }
                    | ExportError::OutOfRange { molecule: 2, .. }
            ));
        }
        let unknown = TrajectoryMolecule {
            id: 0,
            kind: 1,
            pose: Pose::IDENTITY,
        };
        let error = writer.write(1.0, [unknown]).unwrap_err();
        assert!(matches!(
            error,
            TrajectoryError::UnknownKind {
                kind: 1,
                count: 1,
                ..
            }
        ));
        assert_eq!(fs::metadata(&path).unwrap().len(), size);
        writer.write(1.0, moving(3, 1, 1)).unwrap();
        assert_eq!(writer.finish().unwrap().frames, 2);
    }
}

#[test]
fn a_first_frame_that_cannot_be_renamed_may_follow_later() {
    let folder = scratch("rename");
    for extension in EXTENSIONS {
        let path = folder.join(format!("run.{extension}"));
        let mut writer = create(&path).unwrap();
        // The path becomes a folder with a file.
        fs::create_dir(&path).unwrap();
        fs::write(path.join("file"), "").unwrap();
        for _ in 0..2 {
            let error = writer.write(0.0, moving(3, 1, 0)).unwrap_err();
            assert!(matches!(error, TrajectoryError::File { .. }), "{error}");
        }
        fs::remove_dir_all(&path).unwrap();
        writer.write(0.0, moving(3, 1, 0)).unwrap();
        writer.write(1.0, moving(3, 1, 1)).unwrap();
        let summary = writer.finish().unwrap();
        assert_eq!(summary.bytes, fs::metadata(&path).unwrap().len());
    }
    let hidden = files(&folder);
    assert!(
        hidden.iter().all(|name| !name.starts_with('.')),
        "{hidden:?}"
    );
}
