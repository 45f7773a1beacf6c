//! Picking of atoms of [`InstancedMolecules`] by rays, which needs no adapter.

use std::sync::Arc;

use bevy::math::Ray3d;
use bevy::prelude::*;
use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::render::{InstancedMolecules, MoleculeInstance};

fn lipids() -> InstancedMolecules {
    let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default()).unwrap();
    let molecules = (0..9).map(|k| {
        let position = Vec3::new((k % 3) as f32, (k / 3) as f32, 0.1 * k as f32);
        MoleculeInstance::new(
            0,
            Pose::new(position, Quat::from_rotation_x(0.7 * k as f32)),
        )
    });
    InstancedMolecules {
        molecules: molecules.collect(),
        templates: vec![Arc::new(lipid)],
        ..InstancedMolecules::default()
    }
}

/// Brute force over all atoms, in f64.
fn brute_force(
    instances: &InstancedMolecules,
    transform: &Transform,
    ray: Ray3d,
) -> Option<(usize, usize, f64)> {
    let mut best: Option<(usize, usize, f64)> = None;
    for (index, molecule) in instances.molecules.iter().enumerate() {
        let template = &instances.templates[0];
        for (atom, center) in template.positions().iter().enumerate() {
            let center = transform.transform_point(molecule.pose.transform_point(*center));
            let to_center = center.as_dvec3() - ray.origin.as_dvec3();
            let direction = ray.direction.as_dvec3().normalize();
            let radius = f64::from(template.radii()[atom] * transform.scale.x);
            let along = to_center.dot(direction);
            let chord = radius * radius - (to_center - along * direction).length_squared();
            let distance = along - chord.max(0.0).sqrt();
            if chord >= 0.0 && distance >= 0.0 && best.is_none_or(|b| distance < b.2) {
                best = Some((index, atom, distance));
            }
        }
    }
    best
}

#[test]
fn hits_equal_brute_force() {
    let instances = lipids();
    let transform = Transform::from_xyz(3.0, -2.0, 1.0)
        .with_rotation(Quat::from_rotation_y(0.8))
        .with_scale(Vec3::splat(1.7));
    let global = GlobalTransform::from(transform);
    let mut hits = 0;
    for k in 0..400 {
        let aim = transform.transform_point(Vec3::new(
            (k % 20) as f32 * 0.2 - 1.0,
            (k / 20) as f32 * 0.2 - 1.0,
            0.0,
        ));
        let origin = Vec3::new(40.0, 30.0, 60.0);
        let ray = Ray3d::new(origin, Dir3::new(aim - origin).unwrap());
        let found = instances.pick(&global, ray, 1.0);
        let expected = brute_force(&instances, &transform, ray);
        match (found, expected) {
            (Some(hit), Some((_, _, distance))) => {
                hits += 1;
                assert!((f64::from(hit.distance) - distance).abs() < 2.0e-3);
                assert!(hit.point.distance(ray.get_point(hit.distance)) < 1.0e-2);
                assert!(hit.normal.dot(*ray.direction) <= 1.0e-3);
            }
            (None, None) => {}
            other => panic!("ray {k}: {other:?}"),
        }
    }
    assert!((50..350).contains(&hits), "{hits}");
}

#[test]
fn invalid_molecules_are_not_picked() {
    let mut instances = lipids();
    let ray = Ray3d::new(Vec3::Z * 50.0, Dir3::NEG_Z);
    let here = GlobalTransform::default();
    for molecule in &mut instances.molecules {
        molecule.template = 7;
    }
    assert_eq!(instances.pick(&here, ray, 1.0), None);
    let mut instances = lipids();
    for molecule in &mut instances.molecules {
        molecule.pose.position.x = f32::NAN;
    }
    assert_eq!(instances.pick(&here, ray, 1.0), None);
    let flat = GlobalTransform::from(Transform::from_scale(Vec3::new(1.0, 1.0, 0.0)));
    assert_eq!(lipids().pick(&flat, ray, 1.0), None);
    assert_eq!(InstancedMolecules::default().pick(&here, ray, 1.0), None);
}
