//! Picking: the first atom of [`InstancedMolecules`] along a ray.

use bevy::math::Ray3d;
use bevy::prelude::*;

use super::instanced_molecules::{InstancedMolecules, Similarity};

/// Hit of a ray on an atom of [`InstancedMolecules`]. World frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InstanceHit {
    /// Index of the molecule in [`InstancedMolecules::molecules`].
    pub molecule: usize,
    /// Index of the atom in its template.
    pub atom: usize,
    /// Distance from the ray's origin, nm.
    pub distance: f32,
    /// Point of the hit, nm.
    pub point: Vec3,
    /// Outward unit normal of the atom at that point.
    pub normal: Vec3,
}

/// A ray in the frame of the instances, with a unit direction.
#[derive(Clone, Copy)]
struct LocalRay {
    origin: Vec3,
    direction: Vec3,
}

impl LocalRay {
    /// Distance at which the ray enters a ball from outside, nm.
    fn entry(&self, center: Vec3, radius: f32) -> Option<f32> {
        let to_center = center - self.origin;
        let along = to_center.dot(self.direction);
        // From the closest point: the difference of large squares would lose precision.
        let nearest = to_center - along * self.direction;
        let chord = radius * radius - nearest.length_squared();
        if chord < 0.0 {
            return None;
        }
        let distance = along - chord.sqrt();
        (distance >= 0.0).then_some(distance)
    }

    /// Whether the ray intersects a ball, even if it starts inside.
    fn intersects(&self, center: Vec3, radius: f32) -> bool {
        let to_center = center - self.origin;
        let along = to_center.dot(self.direction).max(0.0);
        (to_center - along * self.direction).length_squared() <= radius * radius
    }
}

impl InstancedMolecules {
    /// The first atom that a ray enters. Atoms that contain the ray's origin are ignored, as
    /// they are not visible. `transform` is that of the entity; radii are multiplied by
    /// `radius_scale`, as in [`MoleculeStyle`](super::MoleculeStyle).
    ///
    /// Tests all bounding spheres, and the atoms of intersected molecules.
    /// `None` if the transform is invalid; invalid molecules are ignored. Poses are those of
    /// [`molecules`](Self::molecules), even if they are drawn from
    /// [`device_poses`](Self::device_poses).
    #[must_use]
    pub fn pick(
        &self,
        transform: &GlobalTransform,
        ray: Ray3d,
        radius_scale: f32,
    ) -> Option<InstanceHit> {
        let similarity = Similarity::of(transform).ok()?;
        let local = LocalRay {
            origin: similarity.inverse_transform_point(ray.origin),
            direction: similarity.pose.rotation.inverse() * *ray.direction,
        };
        let mut best: Option<(usize, usize, f32)> = None;
        for (index, molecule) in self.molecules.iter().enumerate() {
            if self.check_molecule(index).is_err() {
                continue;
            }
            let template = &self.templates[molecule.template as usize];
            let largest = (radius_scale - 1.0).max(0.0) * template.bounding_radius();
            if !local.intersects(molecule.pose.position, template.bounding_radius() + largest) {
                continue;
            }
            let atoms = template.positions().iter().zip(template.radii());
            for (atom, (&center, &radius)) in atoms.enumerate() {
                let center = molecule.pose.transform_point(center);
                if let Some(distance) = local.entry(center, radius * radius_scale)
                    && best.is_none_or(|(_, _, nearest)| distance < nearest)
                {
                    best = Some((index, atom, distance));
                }
            }
        }
        let (index, atom, distance) = best?;
        let molecule = &self.molecules[index];
        let template = &self.templates[molecule.template as usize];
        let center = molecule.pose.transform_point(template.positions()[atom]);
        let point = local.origin + local.direction * distance;
        Some(InstanceHit {
            molecule: index,
            atom,
            distance: distance * similarity.scale,
            point: similarity.transform_point(point),
            normal: (similarity.pose.rotation * (point - center)).normalize_or_zero(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::molecule::{LoadOptions, load};
    use crate::pose::Pose;
    use crate::render::MoleculeInstance;

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
}
