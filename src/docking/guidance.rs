//! A soft pull along a force.

use glam::Vec3;

use super::{DockingMolecule, RigidMotion};
use crate::force::Body;
use crate::pose::Pose;

/// Furthest that the pull moves any atom, nm: little beside what a hand does.
const FURTHEST_NM: f32 = 0.004;

/// A short motion along a force and a torque, as mass and inertia let a molecule follow
/// them; none if nothing pulls.
pub(super) fn guide(
    molecule: &DockingMolecule,
    pose: &Pose,
    force: Vec3,
    torque: Vec3,
) -> Option<RigidMotion> {
    let body = Body::new(molecule.template(), pose);
    let motion = RigidMotion {
        translation: force * body.inverse_mass,
        rotation: body.inverse_inertia * torque,
    };
    let turn = motion.rotation.length() * molecule.template().bounding_radius();
    let size = motion.translation.length() + turn;
    let factor = FURTHEST_NM / size;
    (size > 0.0 && factor.is_finite()).then(|| motion.scaled(factor))
}
