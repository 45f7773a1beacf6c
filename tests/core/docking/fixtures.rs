//! Molecules, random poses, and brute-force references.

use std::sync::Arc;

use bevy_rapier_molecules::docking::{DockingMolecule, RigidMotion};
use bevy_rapier_molecules::molecule::{
    Atom, Element, LoadOptions, MoleculeTemplate, Residue, load,
};
use bevy_rapier_molecules::pose::Pose;
use glam::{DVec3, Quat, Vec3};
use rand::{Rng, RngExt};

/// A bundled structure.
pub fn molecule(file: &str) -> DockingMolecule {
    let path = format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"));
    let template = load(&path, &LoadOptions::default()).unwrap();
    DockingMolecule::new(Arc::new(template))
}

/// One residue of a bundled structure.
pub fn residue(file: &str, chain: &str, number: i32) -> MoleculeTemplate {
    let whole = molecule(file);
    let whole = whole.template();
    let belongs = |atom: &usize| {
        let residue = whole.residue_of(*atom);
        residue.chain == chain && residue.number == number
    };
    let atoms = (0..whole.atom_count()).filter(belongs).map(|atom| Atom {
        position: whole.positions()[atom],
        radius: whole.radii()[atom],
        element: whole.elements()[atom],
        name: whole.atom_names()[atom].clone(),
        residue: 0,
    });
    MoleculeTemplate::new("residue", atoms.collect(), vec![Residue::default()]).unwrap()
}

/// p-Xylene and T4 lysozyme L99A.
pub fn ligand_and_receptor() -> (DockingMolecule, DockingMolecule) {
    (molecule("p_xylene.pdb"), molecule("t4_lysozyme_l99a.pdb"))
}

/// A molecule of one atom with a radius in nm.
pub fn ball(radius: f32) -> DockingMolecule {
    let atom = Atom {
        position: Vec3::ZERO,
        radius,
        element: Element::from_symbol("C").unwrap(),
        name: "C".into(),
        residue: 0,
    };
    let template = MoleculeTemplate::new("ball", vec![atom], vec![Residue::default()]);
    DockingMolecule::new(Arc::new(template.unwrap()))
}

pub fn random_vector(random: &mut impl Rng, max_length: f32) -> Vec3 {
    loop {
        let vector = Vec3::from_array([(); 3].map(|()| random.random_range(-1.0..1.0)));
        if vector.length_squared() <= 1.0 {
            return vector * max_length;
        }
    }
}

pub fn random_pose(random: &mut impl Rng, max_distance: f32) -> Pose {
    let turn = random_vector(random, std::f32::consts::PI);
    Pose::new(
        random_vector(random, max_distance),
        Quat::from_scaled_axis(turn),
    )
}

/// A random motion, from tiny to extremely fast.
pub fn random_motion(random: &mut impl Rng) -> RigidMotion {
    let longest = [0.02, 0.3, 3.0, 30.0][random.random_range(0..4)];
    let turn = [0.0, 0.01, 0.5, 6.0][random.random_range(0..4)];
    RigidMotion {
        translation: random_vector(random, longest),
        rotation: random_vector(random, turn),
    }
}

/// Centers and radii of the atoms at a pose, in `f64`.
pub fn atoms(molecule: &DockingMolecule, pose: &Pose) -> Vec<(DVec3, f64)> {
    let template = molecule.template();
    let rotation = pose.rotation.as_dquat().normalize();
    let to_world = |position: &Vec3| rotation * position.as_dvec3() + pose.position.as_dvec3();
    let atoms = template.positions().iter().zip(template.radii());
    atoms
        .map(|(position, radius)| (to_world(position), f64::from(*radius)))
        .collect()
}

/// Gaps between all pairs of atoms, nm.
pub fn gaps<'a>(
    a: &'a [(DVec3, f64)],
    b: &'a [(DVec3, f64)],
) -> impl Iterator<Item = (u32, u32, f64)> + 'a {
    a.iter().zip(0..).flat_map(move |((one, radius), i)| {
        b.iter().zip(0..).map(move |((other, other_radius), j)| {
            (i, j, one.distance(*other) - radius - other_radius)
        })
    })
}

/// Smallest gap between two molecules, nm.
pub fn smallest_gap(a: &DockingMolecule, pose_a: &Pose, b: &DockingMolecule, pose_b: &Pose) -> f64 {
    let (a, b) = (atoms(a, pose_a), atoms(b, pose_b));
    gaps(&a, &b).fold(f64::INFINITY, |min, (_, _, gap)| min.min(gap))
}
