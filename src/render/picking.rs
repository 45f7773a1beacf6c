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
