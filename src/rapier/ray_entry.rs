//! Rays that enter atoms from outside, as a camera sees them.

use glam::Vec3;
use rapier3d::parry::partitioning::BvhNode;

use super::MoleculeShape;

/// Enlargement of the boxes of the BVH, nm, so that rounding does not hide an atom.
const SLACK: f32 = 1.0e-4;

/// Distance (nm) at which a ray with a unit direction enters a ball from outside. `None` if it
/// misses the ball or starts inside or behind it.
pub(crate) fn ball_entry(origin: Vec3, direction: Vec3, center: Vec3, radius: f32) -> Option<f32> {
    let to_center = center - origin;
    let along = to_center.dot(direction);
    // From the closest point: the difference of large squares would lose precision.
    let nearest = to_center - along * direction;
    let chord = radius * radius - nearest.length_squared();
    if chord < 0.0 {
        return None;
    }
    let distance = along - chord.sqrt();
    (distance >= 0.0).then_some(distance)
}

impl MoleculeShape {
    /// The first atom that a body-frame ray (nm) with a unit direction enters from outside, closer
    /// than `max_distance` nm, and the distance. Atoms that contain the origin are ignored. Radii
    /// are multiplied by `radius_scale`.
    #[must_use]
    pub fn atom_entered_by_ray(
        &self,
        origin: Vec3,
        direction: Vec3,
        radius_scale: f32,
        max_distance: f32,
    ) -> Option<(u32, f32)> {
        let growth = (radius_scale - 1.0).max(0.0) * self.grid().largest_radius();
        let margin = Vec3::splat(growth + SLACK);
        let inverse = direction.recip();
        self.tree().find_best(
            max_distance,
            |node: &BvhNode, _| {
                let to_low = (node.mins() - margin - origin) * inverse;
                let to_high = (node.maxs() + margin - origin) * inverse;
                let enters = to_low.min(to_high).max_element().max(0.0);
                let leaves = to_low.max(to_high).min_element();
                if enters <= leaves { enters } else { f32::MAX }
            },
            |index, _| {
                let (center, radius) = self.atom(index)?;
                ball_entry(origin, direction, center, radius * radius_scale)
            },
        )
    }
}
