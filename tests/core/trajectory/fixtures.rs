//! Molecules that move, and where they should be.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bevy_rapier_molecules::molecule::{
    Atom, Element, LoadOptions, MoleculeTemplate, Residue, load,
};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::trajectory::{TrajectoryKind, TrajectoryMolecule};
use glam::{DMat3, DVec3, Quat, Vec3};

/// An empty folder for a test.
pub fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("trajectory")
        .join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Names of the files in a folder.
pub fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

pub fn protein() -> Arc<MoleculeTemplate> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/molecules/1ubq.cif");
    Arc::new(load(path, &LoadOptions::default()).unwrap())
}

/// Carbons along x, 0.15 nm apart.
pub fn chain(atoms: u16) -> Arc<MoleculeTemplate> {
    let atoms = (0..atoms).map(|k| Atom {
        position: Vec3::X * 0.15 * f32::from(k),
        radius: 0.17,
        element: Element::C,
        name: "C".into(),
        residue: 0,
    });
    let residue = Residue {
        name: "CHN".into(),
        number: 1,
        insertion_code: None,
        chain: "A".into(),
    };
    Arc::new(MoleculeTemplate::new("chain", atoms.collect(), vec![residue]).unwrap())
}

pub fn kind(name: &str, template: &Arc<MoleculeTemplate>) -> TrajectoryKind {
    TrajectoryKind {
        name: name.into(),
        ..TrajectoryKind::from(template)
    }
}

/// Rotated molecules of `kinds` kinds in turn, which move from frame to frame.
pub fn moving(count: u16, kinds: u32, frame: u16) -> Vec<TrajectoryMolecule> {
    let molecule = |k: u16| {
        let at = Vec3::new(f32::from(k % 8), f32::from(k / 8 % 8), f32::from(k / 64));
        let axis = Vec3::new(1.0, 0.1 * f32::from(k % 7), 0.3).normalize();
        let angle = f32::from(k) + 0.2 * f32::from(frame);
        TrajectoryMolecule {
            id: u64::from(k),
            kind: u32::from(k) % kinds,
            pose: Pose::new(
                3.0 * at + Vec3::new(0.01, -0.02, 0.03) * f32::from(frame),
                Quat::from_axis_angle(axis, angle),
            ),
        }
    };
    (0..count).map(molecule).collect()
}

/// World positions of all atoms, nm, independent of the writers.
pub fn world_positions(
    templates: &[Arc<MoleculeTemplate>],
    molecules: &[TrajectoryMolecule],
) -> Vec<DVec3> {
    let positions = molecules.iter().flat_map(|molecule| {
        let pose = molecule.pose;
        let rotation = DMat3::from_quat(pose.rotation.as_dquat().normalize());
        let local = templates[molecule.kind as usize].positions().iter();
        local.map(move |local| rotation * local.as_dvec3() + pose.position.as_dvec3())
    });
    positions.collect()
}
