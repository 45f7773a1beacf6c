//! XTC files have all atoms where they are, to their precision.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use bevy_rapier_molecules::export::ExportError;
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, SplitBy, load, read_bytes};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::trajectory::{
    TimeUnit, TopologyFile, TrajectoryError, TrajectoryKind, TrajectoryMolecule, TrajectoryOptions,
    TrajectoryWriter,
};
use glam::{DVec3, Vec3};
use molly::{Frame, XTCReader};

use super::fixtures::{chain, files, kind, moving, protein, scratch, world_positions};

/// Half a step of 0.001 nm, and single-precision rounding.
const ROUNDING_NM: f64 = 0.000_5 + 0.000_02;

fn read(path: &Path) -> Vec<Frame> {
    let mut reader = XTCReader::open(path).unwrap();
    reader.read_all_frames().unwrap().into_vec()
}

fn assert_positions(frame: &Frame, expected: &[DVec3]) {
    assert_eq!(frame.natoms(), expected.len());
    for (read, expected) in frame.coords().zip(expected) {
        let error = (Vec3::from(read).as_dvec3() - *expected).abs();
        assert!(error.max_element() <= ROUNDING_NM, "{read:?}: {expected}");
    }
}

fn kinds(templates: &[Arc<MoleculeTemplate>]) -> Vec<TrajectoryKind> {
    templates.iter().map(TrajectoryKind::from).collect()
}

#[test]
fn all_atoms_are_restored_from_one_atom_to_many() {
    let folder = scratch("xtc_sizes");
    // Up to nine atoms are not compressed.
    for (atoms, count) in [(1, 1), (3, 3), (5, 2), (1, 10), (11, 1), (20, 300)] {
        let path = folder.join(format!("{atoms}_{count}.xtc"));
        let templates = [chain(atoms)];
        let options = TrajectoryOptions::default();
        let mut writer = TrajectoryWriter::create(&path, kinds(&templates), options).unwrap();
        for step in 0..4 {
            let time = 2.0e-12 * f64::from(step);
            writer.write(time, moving(count, 1, step)).unwrap();
        }
        let summary = writer.finish().unwrap();
        assert_eq!(summary.frames, 4);
        assert_eq!(summary.bytes, fs::metadata(&path).unwrap().len());
        let frames = read(&path);
        assert_eq!(frames.len(), 4);
        for (frame, step) in frames.iter().zip(0..) {
            assert_eq!(
                (frame.step, frame.time),
                (step.into(), 2.0 * f32::from(step))
            );
            assert_eq!(frame.boxvec, [0.0; 9]);
            assert_positions(frame, &world_positions(&templates, &moving(count, 1, step)));
        }
    }
}

#[test]
fn the_structure_file_has_the_atoms_in_the_same_order() {
    let folder = scratch("xtc_topology");
    let path = folder.join("run.xtc");
    let templates = [protein(), chain(12)];
    let options = TrajectoryOptions {
        title: "two kinds".into(),
        ..TrajectoryOptions::default()
    };
    let mut writer = TrajectoryWriter::create(&path, kinds(&templates), options).unwrap();
    for step in 0..2 {
        writer.write(f64::from(step), moving(5, 2, step)).unwrap();
    }
    drop(writer);
    assert_eq!(files(&folder), ["run.first.pdb", "run.xtc"]);
    let bytes = fs::read(folder.join("run.first.pdb")).unwrap();
    let load = LoadOptions::default();
    let structure = read_bytes(&bytes, "run.first.pdb", &load).unwrap();
    let parts = structure.split_by(SplitBy::Molecule, &load).unwrap();
    assert_eq!(parts.len(), 5);
    let atoms = parts.iter().flat_map(|part| {
        let local = part.template.positions().iter();
        local.map(|&local| part.pose.transform_point(local).as_dvec3())
    });
    let frame = &read(&path)[0];
    for (read, expected) in frame.coords().zip(atoms) {
        let error = (Vec3::from(read).as_dvec3() - expected).abs().max_element();
        assert!(error < 2.0 * ROUNDING_NM, "{read:?}: {expected}");
    }
}

#[test]
fn molecules_that_pdb_cannot_hold_are_beside_in_mmcif() {
    let folder = scratch("xtc_far");
    let path = folder.join("far.xtc");
    let templates = [chain(12)];
    let far = Vec3::new(-200.0, 1_500.0, -90_000.0);
    let molecule = |id: u64| TrajectoryMolecule {
        id,
        kind: 0,
        pose: Pose::from_translation(far * id as f32),
    };
    let options = TrajectoryOptions::default();
    let mut writer = TrajectoryWriter::create(&path, kinds(&templates), options).unwrap();
    writer.write(0.0, [molecule(0), molecule(1)]).unwrap();
    assert_eq!(files(&folder), ["far.first.cif", "far.xtc"]);
    let path = folder.join("far.first.cif");
    assert_eq!(
        load(path, &LoadOptions::default()).unwrap().atom_count(),
        24
    );
    // At 90 µm, single precision is 8 nm/1024.
    let frame = &read(&folder.join("far.xtc"))[0];
    let expected = world_positions(&templates, &[molecule(0), molecule(1)]);
    for (read, expected) in frame.coords().zip(expected) {
        assert!((Vec3::from(read).as_dvec3() - expected).length() < 0.01);
    }
}

#[test]
fn structure_files_are_where_they_are_wanted() {
    let folder = scratch("xtc_topology_at");
    for (topology, expected) in [
        (TopologyFile::None, vec!["a.xtc"]),
        (
            TopologyFile::At(folder.join("b.cif.gz")),
            vec!["a.xtc", "b.cif.gz"],
        ),
    ] {
        let options = TrajectoryOptions {
            topology,
            ..TrajectoryOptions::default()
        };
        let path = folder.join("a.xtc");
        let mut writer = TrajectoryWriter::create(&path, kinds(&[chain(2)]), options).unwrap();
        writer.write(0.0, moving(4, 1, 0)).unwrap();
        assert_eq!(files(&folder), expected);
    }
}

#[test]
fn molecules_are_wrapped_into_a_periodic_box() {
    let path = scratch("xtc_box").join("box.xtc");
    let size = Vec3::new(4.0, 5.0, 6.0);
    let options = TrajectoryOptions {
        periodic_box: Some(PeriodicBox::new(size).unwrap()),
        time_unit: TimeUnit::Iterations,
        ..TrajectoryOptions::default()
    };
    let mut writer = TrajectoryWriter::create(&path, kinds(&[chain(10)]), options).unwrap();
    let molecule = |position| TrajectoryMolecule {
        id: 0,
        kind: 0,
        pose: Pose::from_translation(position),
    };
    writer
        .write(7.0, [molecule(Vec3::new(9.0, -1.0, 3.0))])
        .unwrap();
    let frame = &read(&path)[0];
    assert_eq!(frame.boxvec, [4.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 6.0]);
    assert_eq!(frame.time, 7.0);
    let expected = world_positions(&[chain(10)], &[molecule(Vec3::new(1.0, 4.0, 3.0))]);
    assert_positions(frame, &expected);
}

#[test]
fn other_molecules_end_the_trajectory() {
    let folder = scratch("xtc_changes");
    let path = folder.join("run.xtc");
    let templates = [chain(12), chain(12)];
    let options = TrajectoryOptions::default();
    let mut writer = TrajectoryWriter::create(&path, kinds(&templates), options).unwrap();
    let same = moving(6, 1, 0);
    writer.write(0.0, same.clone()).unwrap();
    let mut reordered = same.clone();
    reordered.swap(0, 1);
    let mut other_kind = same.clone();
    other_kind[3].kind = 1;
    for changed in [
        moving(5, 1, 1),
        moving(7, 1, 1),
        Vec::new(),
        reordered,
        other_kind,
    ] {
        let error = writer.write(1.0, changed).unwrap_err();
        assert!(matches!(
            error,
            TrajectoryError::MoleculesChanged { frame: 1, .. }
        ));
        assert!(error.to_string().contains("use .simularium"), "{error}");
    }
    // A kind may be there twice, say with two colors.
    let again = writer.add_kind(TrajectoryKind::from(&templates[0]));
    let mut recolored = same;
    recolored[3].kind = again;
    writer.write(2.0, recolored).unwrap();
    assert_eq!(writer.finish().unwrap().frames, 2);
    assert_eq!(read(&path).len(), 2);
}

#[test]
fn a_trajectory_without_atoms_is_an_error() {
    let folder = scratch("xtc_empty");
    let options = TrajectoryOptions::default();
    let path = folder.join("empty.xtc");
    let mut writer = TrajectoryWriter::create(path, kinds(&[chain(2)]), options).unwrap();
    let error = writer.write(0.0, []).unwrap_err();
    assert!(matches!(error, TrajectoryError::AtomCount { atoms: 0, .. }));
    // A later frame may be the first.
    writer.write(0.0, moving(1, 1, 0)).unwrap();
    assert_eq!(writer.frames(), 1);
}

#[test]
fn atoms_beyond_the_range_are_an_error() {
    let folder = scratch("xtc_range");
    let path = folder.join("range.xtc");
    let options = TrajectoryOptions::default();
    let mut writer = TrajectoryWriter::create(path, [kind("far", &chain(2))], options).unwrap();
    let molecule = TrajectoryMolecule {
        id: 0,
        kind: 0,
        pose: Pose::from_translation(Vec3::X * 3.0e6),
    };
    let error = writer.write(0.0, [molecule]).unwrap_err();
    assert!(matches!(
        error,
        TrajectoryError::Molecule {
            frame: 0,
            error: ExportError::OutOfRange { .. }
        }
    ));
    drop(writer);
    assert!(files(&folder).is_empty());
}
