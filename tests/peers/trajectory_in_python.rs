//! `MDAnalysis` plays XTC files over the structure of the first frame, and `.simularium` files follow
//! the description of their format.

use std::path::Path;
use std::sync::Arc;

use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::trajectory::{
    TrajectoryKind, TrajectoryMolecule, TrajectoryOptions, TrajectoryWriter,
};
use glam::{DMat3, DVec3, Quat, Vec3};
use serde_json::Value;

use super::programs::{python, run_script, scratch};

const SCRIPT: &str = "trajectory_in_python.py";

/// Half a step of XTC, 0.001 nm, and single-precision rounding of 720 nm and of its ångström.
const ROUNDING_NM: f64 = 0.000_5 + 0.000_15;

fn asset(name: &str) -> Arc<MoleculeTemplate> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets/molecules")
        .join(name);
    Arc::new(load(path, &LoadOptions::default()).unwrap())
}

/// Molecules of two kinds in turn that turn and move.
fn moving(count: u16, frame: u16, spacing: f32) -> Vec<TrajectoryMolecule> {
    let molecule = |k: u16| {
        let at = Vec3::new(f32::from(k % 5), f32::from(k / 5 % 5), f32::from(k / 25));
        let angle = f32::from(k) + 0.1 * f32::from(frame);
        TrajectoryMolecule {
            id: u64::from(k),
            kind: u32::from(k % 2),
            pose: Pose::new(
                spacing * at + 0.05 * f32::from(frame) * Vec3::ONE,
                Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), angle),
            ),
        }
    };
    (0..count).map(molecule).collect()
}

fn world_positions(
    templates: &[Arc<MoleculeTemplate>],
    molecules: &[TrajectoryMolecule],
) -> Vec<DVec3> {
    let positions = molecules.iter().flat_map(|molecule| {
        let rotation = DMat3::from_quat(molecule.pose.rotation.as_dquat().normalize());
        let at = molecule.pose.position.as_dvec3();
        let local = templates[molecule.kind as usize].positions().iter();
        local.map(move |local| rotation * local.as_dvec3() + at)
    });
    positions.collect()
}

fn point(value: &Value) -> DVec3 {
    DVec3::from_array([0, 1, 2].map(|axis| value[axis].as_f64().unwrap()))
}

fn assert_close(found: &Value, expected: &[DVec3], tolerance: f64) {
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let error = (point(found) - *expected).abs().max_element();
        assert!(error <= tolerance, "{found}: {expected}");
    }
}

#[test]
fn mdanalysis_plays_xtc_over_the_first_frame() {
    let Some(_) = python() else { return };
    let templates = [asset("popc.pdb"), asset("p_xylene.pdb")];
    let folder = scratch("trajectory_xtc");
    let size = Vec3::new(12.0, 13.0, 14.0);
    // Few atoms are not compressed; ranges beyond 16.8 µm have no common number of bits.
    for (name, count, spacing, periodic_box) in [
        ("crowd", 60, 2.2, Some(PeriodicBox::new(size).unwrap())),
        ("far", 12, 180.0, None),
        ("one", 1, 0.0, None),
    ] {
        let path = folder.join(name).with_extension("xtc");
        let options = TrajectoryOptions {
            periodic_box,
            ..TrajectoryOptions::default()
        };
        let kinds = templates.iter().map(TrajectoryKind::from);
        let mut writer = TrajectoryWriter::create(&path, kinds, options).unwrap();
        for frame in 0..3 {
            let time = 2.5e-12 * f64::from(frame);
            writer.write(time, moving(count, frame, spacing)).unwrap();
        }
        writer.finish().unwrap();
        let structure = path.with_extension("first.pdb");
        let arguments = ["xtc".as_ref(), structure.as_os_str(), path.as_os_str()];
        let read = run_script(python().unwrap(), SCRIPT, arguments);
        let first = world_positions(&templates, &moving(count, 0, spacing));
        assert_eq!(read["atoms"], first.len());
        assert_close(&read["structure"], &first, 0.000_1);
        let atoms = moving(count, 0, spacing);
        let atoms = atoms.iter().flat_map(|molecule| {
            let template = &templates[molecule.kind as usize];
            (0..template.atom_count()).map(move |atom| {
                let residue = template.residue_of(atom).name.as_str();
                (template.atom_names()[atom].as_str(), residue)
            })
        });
        for (index, (atom, residue)) in atoms.enumerate() {
            assert_eq!(
                (&read["names"][index], &read["residues"][index]),
                (&atom.into(), &residue.into())
            );
        }
        let frames = read["frames"].as_array().unwrap();
        assert_eq!(frames.len(), 3);
        for (frame, number) in frames.iter().zip(0_u16..) {
            assert_eq!(frame["time"], 2.5 * f64::from(number));
            match periodic_box {
                None => assert_eq!(frame["box"], Value::Null),
                Some(_) => {
                    let expected = [120.0, 130.0, 140.0, 90.0, 90.0, 90.0];
                    assert_eq!(frame["box"], serde_json::json!(expected));
                }
            }
            let expected = world_positions(&templates, &moving(count, number, spacing));
            assert_close(&frame["positions"], &expected, ROUNDING_NM);
        }
    }
}

#[test]
fn mdanalysis_reads_coordinates_whose_ranges_are_packed_one_by_one() {
    let Some(_) = python() else { return };
    let templates = [asset("popc.pdb"), asset("p_xylene.pdb")];
    let folder = scratch("trajectory_wide");
    let path = folder.join("wide.xtc");
    let structure = folder.join("wide.pdb");
    let kinds = || templates.iter().map(TrajectoryKind::from);
    // The structure file has the same atoms elsewhere: PDB ends at 1 µm.
    bevy_rapier_molecules::export::export(
        &structure,
        moving(8, 0, 3.0)
            .iter()
            .map(|molecule| (&*templates[molecule.kind as usize], molecule.pose)),
        &bevy_rapier_molecules::export::ExportOptions::default(),
    )
    .unwrap();
    let options = TrajectoryOptions {
        topology: bevy_rapier_molecules::trajectory::TopologyFile::None,
        ..TrajectoryOptions::default()
    };
    let mut writer = TrajectoryWriter::create(&path, kinds(), options).unwrap();
    let spacing = 10_000.0;
    writer.write(0.0, moving(8, 0, spacing)).unwrap();
    let arguments = ["xtc".as_ref(), structure.as_os_str(), path.as_os_str()];
    let read = run_script(python().unwrap(), SCRIPT, arguments);
    let expected = world_positions(&templates, &moving(8, 0, spacing));
    // At 40 µm, single precision is 4 nm/1024, in ångström here.
    assert_close(&read["frames"][0]["positions"], &expected, 0.01);
}

#[test]
fn simularium_files_follow_the_format() {
    let Some(python) = python() else { return };
    let templates = [asset("popc.pdb"), asset("p_xylene.pdb")];
    let path = scratch("trajectory_simularium").join("run.simularium");
    let kinds = templates.iter().map(|template| TrajectoryKind {
        color: Some([0.2, 0.4, 0.6]),
        ..TrajectoryKind::from(template)
    });
    let options = TrajectoryOptions {
        title: "\"quoted\" \\ µ".into(),
        ..TrajectoryOptions::default()
    };
    let mut writer = TrajectoryWriter::create(&path, kinds, options).unwrap();
    for frame in 0..4 {
        let time = 0.3e-9 * f64::from(frame);
        writer.write(time, moving(10 * frame, frame, 2.0)).unwrap();
    }
    let arguments = ["simularium".as_ref(), path.as_os_str()];
    let read = run_script(python, SCRIPT, arguments);
    assert_eq!(read["types"], 2);
    let frames = read["frames"].as_array().unwrap();
    assert_eq!(frames.len(), 4);
    for (frame, number) in frames.iter().zip(0_u16..) {
        let expected = moving(10 * number, number, 2.0);
        let agents = frame["agents"].as_array().unwrap();
        assert_eq!(agents.len(), expected.len());
        for (agent, molecule) in agents.iter().zip(&expected) {
            assert_eq!(
                (&agent[0], &agent[1]),
                (&molecule.id.into(), &molecule.kind.into())
            );
            let position = DVec3::from_array([2, 3, 4].map(|k| agent[k].as_f64().unwrap()));
            let error = position - molecule.pose.position.as_dvec3();
            assert!(error.abs().max_element() < 0.000_51, "{error}");
        }
    }
}
