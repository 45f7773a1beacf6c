//! Time of impact of a molecule and a shape that translate and rotate.
//!
//! Rapier's continuous collision detection calls this for custom shapes. Parry's own
//! algorithm casts the bounding sphere of the other shape against every BVH node; a large
//! floor always hits, so that each atom of a protein would be cast. Here:
//! 1. BVH nodes are visited in the order of the earliest time at which they could hit the
//!    shape: their distance divided by an upper bound on the approach speed;
//! 2. each atom advances by the same quotient (conservative advancement), until it touches
//!    or passes the earliest time found.

use glam::Vec3;
use rapier3d::parry::math::Pose3;
use rapier3d::parry::query::{NonlinearRigidMotion, ShapeCastHit, ShapeCastStatus};
use rapier3d::parry::shape::Shape;

use super::MoleculeShape;
use super::distance::bounding_ball;

/// Gap (nm) below which surfaces touch: a thousandth of an atom.
const TOUCH_DISTANCE: f32 = 1.0e-4;

/// Maximum steps of conservative advancement; an atom that grazes the shape stops there.
const MAX_STEPS: usize = 128;

/// Two rigid motions over an interval, in nm and the caller's unit of time.
pub(super) struct RelativeMotion<'a> {
    pub molecule: &'a NonlinearRigidMotion,
    pub other: &'a NonlinearRigidMotion,
    pub start: f32,
    pub end: f32,
    pub stop_at_penetration: bool,
}

impl RelativeMotion<'_> {
    /// Pose of the molecule in the frame of the other shape.
    fn pose_at(&self, time: f32) -> Pose3 {
        self.other
            .position_at_time(time)
            .inv_mul(&self.molecule.position_at_time(time))
    }

    /// Upper bound on the speed, in the frame of the other shape, of any body-frame point
    /// within `radius` of `center`.
    ///
    /// In a rotating frame the speed grows with the distance, which is largest at the end
    /// of the interval.
    fn max_speed(&self, center: Vec3, radius: f32) -> f32 {
        let (a, b) = (self.molecule, self.other);
        let arm = (center - a.local_center).length() + radius;
        let speed = (a.linvel - b.linvel).length() + a.angvel.length() * arm;
        let frame_rate = b.angvel.length();
        if frame_rate == 0.0 {
            return speed;
        }
        let distance = (a.start * a.local_center).distance(b.start * b.local_center);
        let drift = (a.linvel - b.linvel).length() * self.end.abs().max(self.start.abs());
        speed + frame_rate * (distance + drift + arm)
    }
}

/// First impact of a molecule and another shape, with the molecule as the first shape.
///
/// Atoms that touch the shape at the start count only with `stop_at_penetration`;
/// otherwise existing contacts handle them.
pub(super) fn cast_nonlinear(
    molecule: &MoleculeShape,
    other: &dyn Shape,
    motion: &RelativeMotion,
) -> Option<ShapeCastHit> {
    let start_pose = motion.pose_at(motion.start);
    let (atom, (time, status)) = molecule.tree().find_best(
        motion.end,
        |node, _| {
            let (center, radius) = bounding_ball(node);
            let gap =
                other.distance_to_local_point(start_pose * center, true) - radius - TOUCH_DISTANCE;
            if gap > 0.0 {
                motion.start + gap / motion.max_speed(center, radius)
            } else {
                motion.start
            }
        },
        |atom, best| cast_atom(molecule, other, motion, atom, best),
    )?;
    let (center, radius) = molecule.atom(atom)?;
    let pose = motion.pose_at(time);
    let local = pose * center;
    let projection = other.project_local_point(local, false);
    let outwards = (local - projection.point).normalize_or(Vec3::Y);
    let normal2 = if projection.is_inside {
        -outwards
    } else {
        outwards
    };
    let normal1 = pose.rotation.inverse() * -normal2;
    Some(ShapeCastHit {
        time_of_impact: time,
        witness1: center + normal1 * radius,
        witness2: projection.point,
        normal1,
        normal2,
        status,
    })
}

/// Time at which one atom hits the shape, if before `end`.
fn cast_atom(
    molecule: &MoleculeShape,
    other: &dyn Shape,
    motion: &RelativeMotion,
    atom: u32,
    end: f32,
) -> Option<(f32, ShapeCastStatus)> {
    let (center, radius) = molecule.atom(atom)?;
    let max_speed = motion.max_speed(center, 0.0);
    let mut time = motion.start;
    for step in 0..MAX_STEPS {
        let local = motion.pose_at(time) * center;
        let gap = other.distance_to_local_point(local, true) - radius;
        if gap <= TOUCH_DISTANCE {
            return match step {
                0 if motion.stop_at_penetration => {
                    Some((time, ShapeCastStatus::PenetratingOrWithinTargetDist))
                }
                0 => None,
                _ => Some((time, ShapeCastStatus::Converged)),
            };
        }
        time += gap / max_speed;
        if time.is_nan() || time >= end {
            return None;
        }
    }
    Some((time, ShapeCastStatus::OutOfIterations))
}
