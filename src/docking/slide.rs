//! Sliding along a surface.

use glam::Vec3;

use super::interference::closer_than;
use super::touch::normal_of;
use super::{AtomPair, DockingError, DockingMolecule, Motion, TouchReport, move_to_touch};
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
pub struct SlideReport {
    /// Where the molecule is now.
    pub pose: Pose,
    /// Atoms that touch at the end: the moved molecule's and the other's.
    pub pairs: Vec<AtomPair>,
    /// Whether it could not go on though some of the motion was left.
    pub stuck: bool,
}

/// Moves a molecule along `motion`; where it touches another, the part of the motion into
/// the surface is taken out, and it goes on along it. Several contacts at once are obeyed
/// at once. The molecule may turn as it slides, as its inertia lets it.
///
/// # Errors
/// As [`move_to_touch`].
pub fn slide(
    moving: &DockingMolecule,
    pose: &Pose,
    fixed: &DockingMolecule,
    fixed_pose: &Pose,
    motion: &Motion,
    tolerance: f32,
) -> Result<SlideReport, DockingError> {
    let mut here = *pose;
    let mut rest = *motion;
    let whole = size(motion, moving);
    for _ in 0..MOST_PIECES {
        let touch = move_to_touch(moving, &here, fixed, fixed_pose, &rest, tolerance)?;
        here = touch.pose;
        if touch.pairs.is_empty() {
            return Ok(SlideReport {
                pose: here,
                pairs: touch.pairs,
                stuck: false,
            });
        }
        let left = rest.scaled((1.0 - touch.fraction) as f32);
        rest = along(&left, &touch, moving, fixed, fixed_pose);
        if size(&rest, moving) <= REST * whole {
            return Ok(SlideReport {
                pose: here,
                pairs: touch.pairs,
                stuck: true,
            });
        }
    }
    let pairs = closer_than(moving, &here, fixed, fixed_pose, tolerance);
    Ok(SlideReport {
        pose: here,
        pairs,
        stuck: true,
    })
}

/// Furthest that any atom moves, about, nm.
fn size(motion: &Motion, molecule: &DockingMolecule) -> f32 {
    let turn = motion.rotation.length() * molecule.template().bounding_radius();
    motion.translation.length() + turn
}

/// A contact while the motion is being bent.
struct Row {
    normal: Vec3,
    /// From the centre of the moved molecule to the contact, crossed with the normal.
    turn: Vec3,
    /// What a unit impulse changes, weighted by inertia.
    turned: Vec3,
    mobility: f32,
    impulse: f32,
}

/// The motion nearest to `motion`, as inertia measures it, that leads into no contact.
fn along(
    motion: &Motion,
    touch: &TouchReport,
    moving: &DockingMolecule,
    fixed: &DockingMolecule,
    fixed_pose: &Pose,
) -> Motion {
    let template = moving.template();
    let pose = &touch.pose;
    let body = Body::new(template, pose);
    let away = AWAY * size(motion, moving);
    let mut rows: Vec<Row> = touch
        .pairs
        .iter()
        .map(|pair| {
            let normal = normal_of(pair, moving, pose, fixed, fixed_pose);
            let atom = pair.a as usize;
            let arm = pose.rotation * template.positions()[atom] - normal * template.radii()[atom];
            let turn = arm.cross(normal);
            Row {
                normal,
                turn,
                turned: body.inverse_inertia * turn,
                mobility: body.mobility(arm, normal),
                impulse: 0.0,
            }
        })
        .collect();
    let mut bent = *motion;
    for _ in 0..ROUNDS {
        for row in &mut rows {
            let approach = bent.translation.dot(row.normal) + bent.rotation.dot(row.turn);
            let before = row.impulse;
            row.impulse = (before + (away - approach) / row.mobility).max(0.0);
            let change = row.impulse - before;
            bent.translation += row.normal * (change * body.inverse_mass);
            bent.rotation += row.turned * change;
        }
    }
    bent
}
