//! A molecule and a shape moving and turning: when do they meet?
//!
//! This is what Rapier's continuous collision detection asks for custom shapes.
//! Parry's own answer casts the bounding sphere of the other shape against every
//! node, which a large floor always meets, so that each atom of a protein would be
//! swept. Here:
//! 1. nodes of the molecule's tree are visited in the order in which they could meet
//!    the shape at all: their distance divided by the fastest they can approach;
//! 2. each atom advances by the same quotient (conservative advancement), until it
//!    touches or the best time so far is up.

use glam::Vec3;
use rapier3d::parry::math::Pose3;
use rapier3d::parry::query::{NonlinearRigidMotion, ShapeCastHit, ShapeCastStatus};
use rapier3d::parry::shape::Shape;

use super::MoleculeShape;
use super::distance::ball_around;

/// Surfaces nearer than this (nm) touch: a thousandth of an atom.
const TOUCH: f32 = 1.0e-4;

/// Most steps towards a touch; an atom that grazes the shape is stopped where it is.
const MOST_STEPS: usize = 128;

/// Two rigid motions over a span of time, nm and the caller's unit of time.
pub(super) struct Sweep<'a> {
    pub molecule: &'a NonlinearRigidMotion,
    pub other: &'a NonlinearRigidMotion,
    pub start: f32,
    pub end: f32,
    pub stop_at_penetration: bool,
}

impl Sweep<'_> {
    /// Pose of the molecule in the frame of the other shape.
    fn pose_at(&self, time: f32) -> Pose3 {
        self.other
            .position_at_time(time)
            .inv_mul(&self.molecule.position_at_time(time))
    }

    /// Bound on the speed, seen from the other shape, of any body-frame point within
    /// `radius` of `center`.
    ///
    /// A turning observer sees distant points fly by, and they are most distant after
    /// the whole span.
    fn fastest(&self, center: Vec3, radius: f32) -> f32 {
        let (a, b) = (self.molecule, self.other);
        let arm = (center - a.local_center).length() + radius;
        let plain = (a.linvel - b.linvel).length() + a.angvel.length() * arm;
        let turning = b.angvel.length();
        if turning == 0.0 {
            return plain;
        }
        let apart = (a.start * a.local_center).distance(b.start * b.local_center);
        let most = (a.linvel - b.linvel).length() * self.end.abs().max(self.start.abs());
        plain + turning * (apart + most + arm)
    }
}

/// First meeting of a molecule and another shape on their way.
///
/// Atoms that touch the shape from the start count only with `stop_at_penetration`:
/// otherwise those are left to the contacts they already have. The molecule is the
/// first shape of the hit.
pub(super) fn sweep(
    molecule: &MoleculeShape,
    other: &dyn Shape,
    sweep: &Sweep,
) -> Option<ShapeCastHit> {
    let first = sweep.pose_at(sweep.start);
    let (atom, (time, status)) = molecule.tree().find_best(
        sweep.end,
        |node, _| {
            let (center, radius) = ball_around(node);
            let gap = other.distance_to_local_point(first * center, true) - radius - TOUCH;
            if gap > 0.0 {
                sweep.start + gap / sweep.fastest(center, radius)
            } else {
                sweep.start
            }
        },
        |atom, best| sweep_atom(molecule, other, sweep, atom, best),
    )?;
    let (center, radius) = molecule.atom(atom)?;
    let pose = sweep.pose_at(time);
    let seen = pose * center;
    let projection = other.project_local_point(seen, false);
    let outwards = (seen - projection.point).normalize_or(Vec3::Y);
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

/// When one atom meets the shape, if before `end`.
fn sweep_atom(
    molecule: &MoleculeShape,
    other: &dyn Shape,
    sweep: &Sweep,
    atom: u32,
    end: f32,
) -> Option<(f32, ShapeCastStatus)> {
    let (center, radius) = molecule.atom(atom)?;
    let fastest = sweep.fastest(center, 0.0);
    let mut time = sweep.start;
    for step in 0..MOST_STEPS {
        let seen = sweep.pose_at(time) * center;
        let gap = other.distance_to_local_point(seen, true) - radius;
        if gap <= TOUCH {
            return match step {
                0 if sweep.stop_at_penetration => {
                    Some((time, ShapeCastStatus::PenetratingOrWithinTargetDist))
                }
                0 => None,
                _ => Some((time, ShapeCastStatus::Converged)),
            };
        }
        time += gap / fastest;
        if time.is_nan() || time >= end {
            return None;
        }
    }
    Some((time, ShapeCastStatus::OutOfIterations))
}
