//! Molecules, other shapes, and poses from separated to overlapping.

use std::sync::Arc;

use bevy_rapier_molecules::molecule::{
    Atom, Element, LoadOptions, MoleculeTemplate, Residue, load,
};
use bevy_rapier_molecules::rapier::{MoleculeDispatcher, MoleculePairFilter, MoleculeShape};
use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rapier3d::parry::math::Pose3;
use rapier3d::parry::shape::Shape;

pub fn dispatcher() -> MoleculeDispatcher {
    MoleculeDispatcher::new(MoleculePairFilter::default())
}

pub fn random(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}

pub fn unit_vector(random: &mut Pcg64) -> Vec3 {
    loop {
        let v = Vec3::from_array([(); 3].map(|()| random.random_range(-1.0..1.0)));
        if (0.01..1.0).contains(&v.length_squared()) {
            return v.normalize();
        }
    }
}

pub fn rotation(random: &mut Pcg64) -> Quat {
    let angle = random.random_range(-3.0..3.0);
    Quat::from_axis_angle(unit_vector(random), angle)
}

/// A molecule of atoms at `positions` with `radii`, nm.
pub fn molecule(positions: &[Vec3], radii: &[f32]) -> MoleculeShape {
    let elements = ["H", "C", "O", "S"];
    let atoms = positions.iter().zip(radii).enumerate();
    let atoms = atoms.map(|(k, (&position, &radius))| Atom {
        position,
        radius,
        element: Element::from_symbol(elements[k % elements.len()]).unwrap(),
        name: "X".into(),
        residue: 0,
    });
    let template = MoleculeTemplate::new("test", atoms.collect(), vec![Residue::default()]);
    MoleculeShape::new(Arc::new(template.unwrap()))
}

/// About thirty atoms of mixed radii, one of them far from the others.
pub fn small() -> MoleculeShape {
    let mut random = random(30);
    let mut positions: Vec<Vec3> = (0..30)
        .map(|_| unit_vector(&mut random) * random.random_range(0.0..0.6))
        .collect();
    positions.push(Vec3::new(0.9, 0.2, -0.1));
    let radii: Vec<f32> = positions
        .iter()
        .map(|_| random.random_range(0.05..0.2))
        .collect();
    molecule(&positions, &radii)
}

pub fn from_file(path: &str) -> MoleculeShape {
    MoleculeShape::new(Arc::new(load(path, &LoadOptions::default()).unwrap()))
}

pub fn ubiquitin() -> MoleculeShape {
    from_file("assets/molecules/1ubq.cif")
}

/// Poses of `other` in the frame of `molecule`: separated, touching and overlapping.
pub fn poses(molecule: &dyn Shape, other: &dyn Shape, count: usize, seed: u64) -> Vec<Pose3> {
    let mut random = random(seed);
    let radius = |shape: &dyn Shape| {
        let radius = shape.compute_local_bounding_sphere().radius;
        if radius < 100.0 { radius } else { 0.0 }
    };
    let max_distance = radius(molecule) + radius(other) + 0.5;
    (0..count)
        .map(|k| {
            let distance = max_distance * (k as f32 + 0.5) / count as f32;
            Pose3::from_parts(unit_vector(&mut random) * distance, rotation(&mut random))
        })
        .collect()
}
