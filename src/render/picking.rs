//! Picking: the first atom of [`InstancedMolecules`] along a ray.

use bevy::math::Ray3d;
use bevy::prelude::*;

use super::instanced_molecules::{InstancedMolecules, Similarity};
use crate::molecule::MoleculeTemplate;
use crate::rapier::ball_entry;

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

/// A ray with a unit direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PickingRay {
    /// nm.
    pub origin: Vec3,
    pub direction: Vec3,
}

impl PickingRay {
    /// Lower bound on the distance (nm) at which the ray enters a ball, 0 if it starts inside;
    /// `None` if it misses the ball.
    pub fn reach(&self, center: Vec3, radius: f32) -> Option<f32> {
        let to_center = center - self.origin;
        let along = to_center.dot(self.direction);
        let aside = to_center - along.max(0.0) * self.direction;
        let hits = aside.length_squared() <= radius * radius;
        hits.then(|| (along - radius).max(0.0))
    }
}

/// Radius (nm) of a ball around the center of mass that contains all atoms of a template, if their
/// radii are multiplied by `radius_scale`.
pub(crate) fn picking_radius(template: &MoleculeTemplate, radius_scale: f32) -> f32 {
    template.bounding_radius() * radius_scale.max(1.0)
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
        let local = PickingRay {
            origin: similarity.inverse_transform_point(ray.origin),
            direction: similarity.pose.rotation.inverse() * *ray.direction,
        };
        let mut best: Option<(usize, usize, f32)> = None;
        for (index, molecule) in self.molecules.iter().enumerate() {
            if self.check_molecule(index).is_err() {
                continue;
            }
            let template = &self.templates[molecule.template as usize];
            let radius = picking_radius(template, radius_scale);
            let reach = local.reach(molecule.pose.position, radius);
            let nearest = best.map_or(f32::MAX, |(_, _, nearest)| nearest);
            if reach.is_none_or(|reach| reach > nearest) {
                continue;
            }
            let atoms = template.positions().iter().zip(template.radii());
            for (atom, (&center, &radius)) in atoms.enumerate() {
                let center = molecule.pose.transform_point(center);
                let radius = radius * radius_scale;
                if let Some(distance) = ball_entry(local.origin, local.direction, center, radius)
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
