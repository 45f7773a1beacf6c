//! Linear shape casts against a molecule.

use glam::Vec3;
use rapier3d::parry::bounding_volume::{Aabb, BoundingVolume};
use rapier3d::parry::math::Pose3;
use rapier3d::parry::query::{
    DefaultQueryDispatcher, ShapeCastHit, ShapeCastOptions, ShapeCastStatus,
};
use rapier3d::parry::shape::{CompositeShapeRef, HalfSpace, Shape};

use super::convex_parts::visit_parts;
use super::distance::{bounding_ball, nearest};
use super::{AtomHit, MoleculeShape};

impl MoleculeShape {
    /// The first atom that a moving shape hits within `max_time`.
    ///
    /// The shape starts at `pose` (nm) and moves with `velocity` (nm per unit of time) without
    /// rotating, both in the body frame. A shape that overlaps atoms at the start hits one of them
    /// at time zero: the deepest, or the largest of those whose centers lie inside the shape.
    #[must_use]
    pub fn atom_hit_by_shape(
        &self,
        other: &dyn Shape,
        pose: &Pose3,
        velocity: Vec3,
        max_time: f32,
    ) -> Option<AtomHit> {
        if !(pose.is_finite() && velocity.is_finite() && max_time >= 0.0) {
            return None;
        }
        if let Some(found) = nearest(self, other, pose, 0.0_f32.next_up()) {
            return Some(AtomHit {
                atom: found.atom,
                time: 0.0,
                normal: found.normal,
            });
        }
        if velocity == Vec3::ZERO {
            return None;
        }
        let options = ShapeCastOptions {
            max_time_of_impact: max_time.min(f32::MAX).next_up().min(f32::MAX),
            ..ShapeCastOptions::default()
        };
        let (atom, hit) = cast(self, other, pose, velocity, options)?;
        let (center, _) = self.atom(atom)?;
        Some(AtomHit {
            atom,
            time: hit.time_of_impact,
            normal: (hit.witness1 - center).normalize_or(hit.normal1),
        })
    }
}

/// First impact between a molecule and `other`, which starts at `pose` and moves with `velocity`,
/// both in the body frame: the atom, and the hit with the molecule as its first shape.
pub(super) fn cast(
    molecule: &MoleculeShape,
    other: &dyn Shape,
    pose: &Pose3,
    velocity: Vec3,
    options: ShapeCastOptions,
) -> Option<(u32, ShapeCastHit)> {
    if let Some(half_space) = other.as_halfspace() {
        cast_half_space(molecule, half_space, pose, velocity, options)
    } else if other.as_heightfield().is_some() || other.as_voxels().is_some() {
        cast_cells(molecule, other, pose, velocity, options)
    } else {
        // Casts each atom with parry's ball cast, over the BVH of the molecule.
        let atoms = CompositeShapeRef(molecule);
        atoms.cast_shape(&DefaultQueryDispatcher, pose, velocity, other, options)
    }
}

/// Casts the atom that is lowest above the plane.
///
/// With `n` the outward normal of the half-space and `q` a point of its face, the height of
/// an atom at time `t` is `n·(c − q − v t) − r`. It reaches the face, less the target
/// distance, at `t = height(0) / n·v`.
fn cast_half_space(
    molecule: &MoleculeShape,
    half_space: &HalfSpace,
    pose: &Pose3,
    velocity: Vec3,
    options: ShapeCastOptions,
) -> Option<(u32, ShapeCastHit)> {
    let normal = pose.rotation * half_space.normal;
    let height = |point: Vec3| normal.dot(point - pose.translation);
    let (atom, height) = molecule.tree().find_best(
        f32::MAX,
        |node, _| {
            let (center, radius) = bounding_ball(node);
            height(center) - radius
        },
        |index, _| {
            let (center, radius) = molecule.atom(index)?;
            Some(height(center) - radius)
        },
    )?;
    let (center, radius) = molecule.atom(atom)?;
    let gap = height - options.target_distance;
    let approach_speed = normal.dot(velocity);
    let penetrating = gap <= 0.0;
    let time = if penetrating {
        if !options.stop_at_penetration && approach_speed < 0.0 {
            return None;
        }
        0.0
    } else if approach_speed > 0.0 {
        gap / approach_speed
    } else {
        return None;
    };
    if time.is_nan() || time > options.max_time_of_impact {
        return None;
    }
    let on_atom = center - normal * radius;
    // The point of the face under the atom at the impact, in the frame of the half-space.
    let moved = Pose3::from_parts(pose.translation + velocity * time, pose.rotation);
    let local = moved.inverse_transform_point(on_atom);
    let hit = ShapeCastHit {
        time_of_impact: time,
        witness1: on_atom,
        witness2: local - half_space.normal * half_space.normal.dot(local),
        normal1: -normal,
        normal2: half_space.normal,
        status: if penetrating {
            ShapeCastStatus::PenetratingOrWithinTargetDist
        } else {
            ShapeCastStatus::Converged
        },
    };
    Some((atom, hit))
}

/// Casts against the parts of a height field or of voxels along the path of the molecule.
///
/// Parry's own traversals are not used: the one over a height field ends early if the motion is
/// horizontal, and the one over voxels returns later hits than a loop over all voxels.
fn cast_cells(
    molecule: &MoleculeShape,
    cells: &dyn Shape,
    pose: &Pose3,
    velocity: Vec3,
    mut options: ShapeCastOptions,
) -> Option<(u32, ShapeCastHit)> {
    // In the frame of the cells, the molecule moves in the opposite direction.
    let start = molecule
        .aabb()
        .transform_by(&pose.inverse())
        .loosened(options.target_distance);
    let motion = pose.rotation.inverse() * -velocity;
    let end =
        options
            .max_time_of_impact
            .min(time_to_pass(&start, &cells.compute_local_aabb(), motion));
    let path = Aabb::new(
        start.mins.min(start.mins + motion * end),
        start.maxs.max(start.maxs + motion * end),
    );
    let mut first = None;
    visit_parts(cells, &path, &mut |_, inner, part| {
        let inner = inner.copied().unwrap_or(Pose3::IDENTITY);
        if let Some((atom, hit)) = cast(molecule, part, &(*pose * inner), velocity, options) {
            options.max_time_of_impact = hit.time_of_impact;
            // From the frame of the part to that of the shape.
            first = Some((atom, hit.swapped().transform1_by(&inner).swapped()));
        }
    });
    first
}

/// Upper bound on the time that a moving box needs to pass another, in any direction.
fn time_to_pass(moving: &Aabb, resting: &Aabb, motion: Vec3) -> f32 {
    let length = moving.center().distance(resting.center())
        + moving.half_extents().length()
        + resting.half_extents().length();
    let speed = motion.length();
    if speed > 0.0 { length / speed } else { 0.0 }
}
