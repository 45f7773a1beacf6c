//! Sliding along a surface.

use glam::Vec3;

use super::conservative_advancement::normal_of;
use super::overlap::closer_than;
use super::{AtomPair, DockingError, DockingMolecule, DockingPair, RigidMotion};
use crate::force::Body;
use crate::pose::Pose;

/// Pieces that a motion is cut into by what it touches.
const MOST_PIECES: usize = 12;

/// Rounds in which the contacts of a piece are brought to agree.
const ROUNDS: usize = 60;

/// Share of a motion that always leads away from a contact: what is exactly along the
/// surface would touch again at once.
const AWAY: f32 = 2.0e-3;

/// Share of a motion below which the rest only leads away.
const REST: f32 = 2.0 * AWAY;

/// Where sliding ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SlideReport {
    /// Where the molecule is now, world frame, nm.
    pub pose: Pose,
    /// Atoms that touch at the end: the moved molecule's and the other's.
    pub pairs: Vec<AtomPair>,
    /// Whether it could not go on though some of the motion was left.
    pub blocked: bool,
}

impl DockingPair<'_> {
    /// Moves the molecule along `motion`; where it touches the other, the part of the motion
    /// into the surface is taken out, and it goes on along it. Several contacts at once are
    /// obeyed at once. The molecule may turn as it slides, as its inertia lets it.
    ///
    /// # Errors
    /// As [`sweep`](Self::sweep).
    pub fn slide(&self, motion: &RigidMotion) -> Result<SlideReport, DockingError> {
        glide(self, motion, 0.0).map(|(report, _)| report)
    }
}

/// Slides along a molecule that gives way: it is pushed along, without turning, as its
/// `inverse_mass`, 1/Da, lets it. Also says where that one is at the end.
///
/// Both motions are seen from the other molecule, which does not turn, so that the way of
/// the moved one past it is as exact as past one that stands still.
pub(super) fn glide(
    encounter: &DockingPair,
    motion: &RigidMotion,
    inverse_mass: f32,
) -> Result<(SlideReport, Pose), DockingError> {
    let mut now = *encounter;
    // What is left of both motions.
    let (mut rest, mut pushed) = (*motion, Vec3::ZERO);
    let whole = size(motion, now.moving);
    for _ in 0..MOST_PIECES {
        let seen = RigidMotion {
            translation: rest.translation - pushed,
            ..rest
        };
        let touch = now.sweep(&seen)?;
        let carried = pushed * touch.fraction as f32;
        now.pose = Pose::new(touch.pose.position + carried, touch.pose.rotation);
        now.other_pose.position += carried;
        if touch.pairs.is_empty() {
            let report = SlideReport {
                pose: now.pose,
                pairs: touch.pairs,
                blocked: false,
            };
            return Ok((report, now.other_pose));
        }
        let left = (1.0 - touch.fraction) as f32;
        (rest, pushed) = along(
            (rest.scaled(left), pushed * left),
            &touch.pairs,
            &now,
            inverse_mass,
        );
        if size(&rest, now.moving) + pushed.length() <= REST * whole {
            let report = SlideReport {
                pose: now.pose,
                pairs: touch.pairs,
                blocked: true,
            };
            return Ok((report, now.other_pose));
        }
    }
    let report = SlideReport {
        pose: now.pose,
        pairs: closer_than(
            now.moving,
            &now.pose,
            now.other,
            &now.other_pose,
            now.tolerance,
        ),
        blocked: true,
    };
    Ok((report, now.other_pose))
}

/// Furthest that any atom moves, about, nm.
fn size(motion: &RigidMotion, molecule: &DockingMolecule) -> f32 {
    let turn = motion.rotation.length() * molecule.template().bounding_radius();
    motion.translation.length() + turn
}

/// A contact while the motion is being bent.
struct Row {
    normal: Vec3,
    /// From the center of the moved molecule to the contact, crossed with the normal.
    turn: Vec3,
    /// What a unit impulse changes, weighted by inertia.
    turned: Vec3,
    mobility: f32,
    impulse: f32,
}

/// The motions nearest to those given, as inertia measures it, that lead into no contact.
fn along(
    (mut bent, mut pushed): (RigidMotion, Vec3),
    pairs: &[AtomPair],
    encounter: &DockingPair,
    inverse_mass: f32,
) -> (RigidMotion, Vec3) {
    let &DockingPair {
        moving,
        pose,
        other,
        ..
    } = encounter;
    let template = moving.template();
    let body = Body::new(template, &pose);
    let away = AWAY * size(&bent, moving);
    let mut rows: Vec<Row> = pairs
        .iter()
        .map(|pair| {
            let normal = normal_of(pair, moving, &pose, other, &encounter.other_pose);
            let atom = pair.a as usize;
            let arm = pose.rotation * template.positions()[atom] - normal * template.radii()[atom];
            let turn = arm.cross(normal);
            Row {
                normal,
                turn,
                turned: body.inverse_inertia * turn,
                mobility: body.mobility(arm, normal) + inverse_mass,
                impulse: 0.0,
            }
        })
        .collect();
    for _ in 0..ROUNDS {
        for row in &mut rows {
            let approach =
                (bent.translation - pushed).dot(row.normal) + bent.rotation.dot(row.turn);
            let before = row.impulse;
            row.impulse = (before + (away - approach) / row.mobility).max(0.0);
            let change = row.impulse - before;
            bent.translation += row.normal * (change * body.inverse_mass);
            bent.rotation += row.turned * change;
            pushed -= row.normal * (change * inverse_mass);
        }
    }
    (bent, pushed)
}
