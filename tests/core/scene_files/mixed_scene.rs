//! A scene of lipids, a protein, water and a coarse sphere, which tests of the core and of other
//! programs share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bevy_rapier_molecules::molecule::{
    Atom, Element, LoadOptions, MoleculeTemplate, Residue, load,
};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::scene_files::{Scene, SceneKind};
use glam::{DMat3, DVec3, Quat, Vec3};

/// Edges of the box, nm.
pub const BOX: Vec3 = Vec3::new(12.0, 12.0, 16.0);

/// Lowest corner of the box, nm.
pub const LOW: Vec3 = Vec3::new(-3.0, 5.25, 0.0);

/// Lipids along each axis.
const LIPIDS: usize = 6;

/// Distance between lipids, nm: some overlap.
const SPACING: f32 = 1.8;

pub fn asset(name: &str) -> MoleculeTemplate {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets/molecules")
        .join(name);
    load(path, &LoadOptions::default()).unwrap()
}

/// A water molecule.
pub fn water() -> MoleculeTemplate {
    let atom = |name: &str, element: Element, position: [f32; 3]| Atom {
        position: Vec3::from_array(position),
        radius: element.vdw_radius() * 0.7,
        element,
        name: name.into(),
        residue: 0,
    };
    let atoms = vec![
        atom("OW", Element::O, [0.0, 0.0, 0.0]),
        atom("HW1", Element::H, [0.0957, 0.0, 0.0]),
        atom("HW2", Element::H, [-0.024, 0.0927, 0.0]),
    ];
    let residue = Residue {
        name: "SOL".into(),
        number: 1,
        ..Residue::default()
    };
    MoleculeTemplate::new("water", atoms, vec![residue]).unwrap()
}

/// Kinds with their poses: protein, lipids, sphere, ions, water, more lipids.
pub fn mixed_scene(is_periodic: bool) -> Scene {
    let kind = |name: &str, template: MoleculeTemplate, poses: Vec<Pose>| {
        let mut kind = SceneKind::new(name, Arc::new(template));
        kind.poses = poses;
        kind
    };
    let at = |x: f32, y: f32, z: f32| LOW + Vec3::new(x, y, z);
    let lipids: Vec<Pose> = (0..LIPIDS * LIPIDS * LIPIDS).map(lipid_pose).collect();
    let (first, second) = lipids.split_at(150);
    let lipid = asset("popc.pdb");
    let turned = Quat::from_rotation_x(0.5);
    let sphere = MoleculeTemplate::coarse("granule", &[(Vec3::ZERO, 1.5)]).unwrap();
    let ion = Atom {
        position: Vec3::ZERO,
        radius: 0.16,
        element: Element::NA,
        name: "NA".into(),
        residue: 0,
    };
    let residue = Residue {
        name: "NA".into(),
        number: 1,
        ..Residue::default()
    };
    let ion = MoleculeTemplate::new("sodium", vec![ion], vec![residue]).unwrap();
    let mut kinds = vec![
        kind(
            "ubiquitin",
            asset("1ubq.cif"),
            vec![
                Pose::new(at(3.5, 6.0, 13.4), turned),
                Pose::new(at(3.5, 11.0, 13.4), turned * turned),
            ],
        ),
        kind("popc", lipid.clone(), first.to_vec()),
        kind(
            "granule",
            sphere,
            vec![Pose::from_translation(at(9.0, 6.0, 13.4))],
        ),
        kind(
            "sodium",
            ion,
            (0..5)
                .map(|k| Pose::from_translation(at(1.0 + 2.0 * k as f32, 0.5, 15.5)))
                .collect(),
        ),
        kind(
            "water",
            water(),
            (0..7)
                .map(|k| Pose::new(at(1.0 + k as f32, 9.0, 15.6), turned))
                .collect(),
        ),
        kind("popc", lipid, second.to_vec()),
    ];
    for (index, includes) in [
        (0, ["forcefield.itp", "ubiquitin.itp"]),
        (1, ["forcefield.itp", "popc.itp"]),
        (2, ["forcefield.itp", "granule.itp"]),
        (3, ["forcefield.itp", "sodium.itp"]),
        (4, ["forcefield.itp", "water.itp"]),
        (5, ["forcefield.itp", "popc.itp"]),
    ] {
        kinds[index].topology.includes = includes.map(str::to_owned).to_vec();
    }
    Scene {
        name: "mixed scene".into(),
        kinds,
        periodic_box: is_periodic.then(|| PeriodicBox::new(BOX).unwrap()),
        bounds: is_periodic.then_some([LOW, LOW + BOX]),
    }
}

fn lipid_pose(k: usize) -> Pose {
    let place = [k % LIPIDS, k / LIPIDS % LIPIDS, k / (LIPIDS * LIPIDS)];
    let place = Vec3::from_array(place.map(|step| 1.0 + SPACING * step as f32));
    let axis = Vec3::new(1.0, 0.1 * (k % 7) as f32, 0.3).normalize();
    Pose::new(LOW + place, Quat::from_axis_angle(axis, k as f32))
}

/// World positions (nm) in double precision, independent of the writers.
pub fn world_positions(template: &MoleculeTemplate, pose: Pose) -> Vec<DVec3> {
    let rotation = DMat3::from_quat(pose.rotation.as_dquat().normalize());
    let transform = |p: &Vec3| rotation * p.as_dvec3() + pose.position.as_dvec3();
    template.positions().iter().map(transform).collect()
}

/// Compares the atoms of two scenes, molecule by molecule, up to `tolerance` and a translation (nm)
/// of the first.
#[track_caller]
pub fn assert_same_places(read: &Scene, written: &Scene, moved_by: DVec3, tolerance: f64) {
    assert_eq!(read.molecule_count(), written.molecule_count());
    for ((a, pose), (b, expected)) in read.instances().zip(written.instances()) {
        assert_eq!(a.atom_count(), b.atom_count());
        for (a, b) in world_positions(a, pose)
            .iter()
            .zip(world_positions(b, expected))
        {
            let error = (*a + moved_by - b).abs().max_element();
            assert!(error <= tolerance, "read {a} nm, expected {b} nm");
        }
    }
}
