//! Distances between the atoms of a molecule and another shape.
//!
//! All traversals use one bound. The distance from a point to a shape changes no faster
//! than the point moves. A BVH node with center `c` and half diagonal `R` contains the
//! balls of all its atoms, so none of them is closer to the shape than `distance(c) − R`.

use glam::Vec3;
use rapier3d::parry::math::Pose3;
use rapier3d::parry::partitioning::{BvhNode, TraversalAction};
use rapier3d::parry::query::ClosestPoints;
use rapier3d::parry::shape::Shape;

use super::MoleculeShape;
use super::manifolds::AtomContact;

/// Center and half diagonal of the box of a node.
#[inline]
pub(super) fn bounding_ball(node: &BvhNode) -> (Vec3, f32) {
    let (low, high) = (node.mins(), node.maxs());
    (0.5 * (low + high), 0.5 * high.distance(low))
}

/// Visits every atom whose surface may be closer than `max_gap` to `other`, which has
/// `pose` in the body frame, until `visit` returns `true`. It may also visit atoms that
/// are a little further away.
pub(super) fn visit_atoms_near(
    molecule: &MoleculeShape,
    other: &dyn Shape,
    pose: &Pose3,
    max_gap: f32,
    mut visit: impl FnMut(u32) -> bool,
) {
    molecule.tree().traverse(|node| {
        let (center, radius) = bounding_ball(node);
        let distance = other.distance_to_point(pose, center, true);
        if distance.is_nan() || distance > radius + max_gap {
            return TraversalAction::Prune;
        }
        match node.leaf_data() {
            Some(atom) if visit(atom) => TraversalAction::EarlyExit,
            _ => TraversalAction::Continue,
        }
    });
}

/// Whether any atom touches or overlaps `other`, which has `pose` in the body frame.
pub(super) fn intersects(molecule: &MoleculeShape, other: &dyn Shape, pose: &Pose3) -> bool {
    let mut found = false;
    visit_atoms_near(molecule, other, pose, 0.0, |index| {
        found = molecule.atom(index).is_some_and(|(center, radius)| {
            let projection = other.project_point(pose, center, true);
            projection.is_inside || projection.point.distance_squared(center) <= radius * radius
        });
        found
    });
    found
}

/// The contact of the atom nearest to `other`, which has `pose` in the body frame, if it is
/// closer than `max_gap` nm. If the center of the atom is inside `other`, so is `on_other`.
pub(super) fn nearest(
    molecule: &MoleculeShape,
    other: &dyn Shape,
    pose: &Pose3,
    max_gap: f32,
) -> Option<AtomContact> {
    let (atom, (dist, on_other)) = molecule.tree().find_best(
        max_gap,
        |node, _| {
            let (center, radius) = bounding_ball(node);
            other.distance_to_point(pose, center, true) - radius
        },
        |index, _| {
            let (center, radius) = molecule.atom(index)?;
            let projection = other.project_point(pose, center, true);
            let distance = if projection.is_inside {
                0.0
            } else {
                projection.point.distance(center)
            };
            Some((distance - radius, projection.point))
        },
    )?;
    let (center, radius) = molecule.atom(atom)?;
    let towards_other = (pose.translation - center).normalize_or(Vec3::Y);
    let normal = (on_other - center).normalize_or(towards_other);
    Some(AtomContact {
        atom,
        other: 0,
        on_atom: center + normal * radius,
        on_other,
        normal,
        dist,
        direction: 0,
    })
}

/// Closest points of a molecule and `other`, each in its own frame, if they are closer
/// than `max_gap` nm.
pub(super) fn closest_points(
    molecule: &MoleculeShape,
    other: &dyn Shape,
    pose: &Pose3,
    max_gap: f32,
) -> ClosestPoints {
    match nearest(molecule, other, pose, max_gap.next_up()) {
        None => ClosestPoints::Disjoint,
        Some(found) if found.dist <= 0.0 => ClosestPoints::Intersecting,
        Some(found) => {
            ClosestPoints::WithinMargin(found.on_atom, pose.inverse_transform_point(found.on_other))
        }
    }
}
