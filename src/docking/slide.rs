//! Sliding along a surface.

use glam::Vec3;

use super::{AtomPair, DockingError, DockingPair, MoveReport, RigidMotion};
use crate::force::Body;
use crate::pose::Pose;

/// Maximum number of sweeps that a motion is divided into by its contacts.
const MAX_SWEEPS: usize = 12;

/// Solver iterations per contact set.
const ITERATIONS: usize = 60;

/// Fraction of the motion that separates from each contact. Motion exactly along the surface
/// would touch again immediately.
const SEPARATION: f32 = 2.0e-3;

/// Fraction of the motion below which the remainder only separates.
const MIN_REMAINDER: f32 = 2.0 * SEPARATION;

impl DockingPair<'_> {
    /// Moves the molecule and slides along contacts: removes the component of the motion into
    /// the surface, for all contacts at once, and continues. The molecule may rotate according
    /// to its inertia.
    ///
    /// # Errors
    /// As [`sweep`](Self::sweep).
    pub fn slide(&self, motion: &RigidMotion) -> Result<MoveReport, DockingError> {
        self.slide_and_push(motion, 0.0)
    }

    /// [`Self::slide`] along a molecule that translates when pushed, with an inverse mass in 1/Da.
    ///
    /// Sweeps use the motion relative to the other molecule, which does not rotate, so they are
    /// as exact as past a fixed one.
    pub(super) fn slide_and_push(
        &self,
        motion: &RigidMotion,
        inverse_mass: f32,
    ) -> Result<MoveReport, DockingError> {
        let mut pair = *self;
        // Remaining motion of the molecule, and translation of the other one.
        let (mut rest, mut pushed) = (*motion, Vec3::ZERO);
        let radius = self.moving.template().bounding_radius();
        let total = motion.max_displacement(radius);
        let report = |pair: &Self, pairs, blocked| MoveReport {
            pose: pair.pose,
            other_pose: pair.other_pose,
            pairs,
            blocked,
        };
        for _ in 0..MAX_SWEEPS {
            let relative = RigidMotion {
                translation: rest.translation - pushed,
                ..rest
            };
            let swept = pair.sweep(&relative)?;
            let carried = pushed * swept.fraction as f32;
            pair.pose = Pose::new(swept.pose.position + carried, swept.pose.rotation);
            pair.other_pose.position += carried;
            if swept.pairs.is_empty() {
                return Ok(report(&pair, swept.pairs, false));
            }
            let left = (1.0 - swept.fraction) as f32;
            (rest, pushed) = deflect(
                (rest.scaled(left), pushed * left),
                &swept.pairs,
                &pair,
                inverse_mass,
            );
            if rest.max_displacement(radius) + pushed.length() <= MIN_REMAINDER * total {
                return Ok(report(&pair, swept.pairs, true));
            }
        }
        Ok(report(&pair, pair.atoms_within(pair.tolerance), true))
    }
}

/// A contact constraint on the motion.
struct ContactRow {
    normal: Vec3,
    /// Lever arm of the contact crossed with the normal.
    angular: Vec3,
    /// Change of the rotation per unit impulse.
    angular_response: Vec3,
    /// Change of the approach per unit impulse, 1/Da.
    mobility: f32,
    impulse: f32,
}

/// The motions closest to the given ones, measured by inertia, that enter no contact:
/// projected Gauss-Seidel over the contacts.
fn deflect(
    (mut motion, mut pushed): (RigidMotion, Vec3),
    pairs: &[AtomPair],
    pair: &DockingPair,
    inverse_mass: f32,
) -> (RigidMotion, Vec3) {
    let template = pair.moving.template();
    let body = Body::new(template, &pair.pose);
    let separation = SEPARATION * motion.max_displacement(template.bounding_radius());
    let row = |atoms: &AtomPair| {
        let normal = pair.contact_normal(atoms);
        let atom = atoms.a as usize;
        let arm = pair.pose.rotation * template.positions()[atom] - normal * template.radii()[atom];
        let angular = arm.cross(normal);
        ContactRow {
            normal,
            angular,
            angular_response: body.inverse_inertia * angular,
            mobility: body.mobility(arm, normal) + inverse_mass,
            impulse: 0.0,
        }
    };
    let mut rows: Vec<ContactRow> = pairs.iter().map(row).collect();
    for _ in 0..ITERATIONS {
        for row in &mut rows {
            let approach =
                (motion.translation - pushed).dot(row.normal) + motion.rotation.dot(row.angular);
            let previous = row.impulse;
            row.impulse = (previous + (separation - approach) / row.mobility).max(0.0);
            let change = row.impulse - previous;
            motion.translation += row.normal * (change * body.inverse_mass);
            motion.rotation += row.angular_response * change;
            pushed -= row.normal * (change * inverse_mass);
        }
    }
    (motion, pushed)
}
