//! Contacts between the atoms of two molecules.

use std::ops::ControlFlow;

use bevy_rapier3d::parry::bounding_volume::BoundingVolume;
use bevy_rapier3d::parry::math::Pose3;
use glam::Vec3;

use super::contact::AtomContact;
use crate::rapier::MoleculeShape;

/// Adds all pairs of atoms that are nearer than `prediction` nm.
///
/// `pose` is that of `b` in the frame of `a`, and the contacts are seen from `a`.
/// The smaller molecule's atoms inside of the larger one's box are looked up in the
/// larger one's grid.
pub(in crate::rapier) fn collect(
    a: &MoleculeShape,
    b: &MoleculeShape,
    pose: &Pose3,
    prediction: f32,
    contacts: &mut Vec<AtomContact>,
) {
    if a.template().atom_count() <= b.template().atom_count() {
        collect_small_large(a, b, pose, prediction, contacts);
        return;
    }
    let first = contacts.len();
    collect_small_large(b, a, &pose.inverse(), prediction, contacts);
    for contact in &mut contacts[first..] {
        let seen = contact.flipped();
        *contact = AtomContact {
            on_atom: pose * seen.on_atom,
            on_other: pose * seen.on_other,
            normal: pose.rotation * seen.normal,
            ..seen
        };
    }
}

fn collect_small_large(
    small: &MoleculeShape,
    large: &MoleculeShape,
    pose: &Pose3,
    prediction: f32,
    contacts: &mut Vec<AtomContact>,
) {
    let region = large.aabb().transform_by(pose).loosened(prediction);
    // Centres lie at least this far outside of the box that their balls meet.
    let reach = small.grid().largest_radius();
    let inverse = pose.inverse();
    let apart = pose.translation.normalize_or(Vec3::Y);
    small
        .grid()
        .visit_in_box(region.mins - reach, region.maxs + reach, |atom| {
            let seen = inverse * atom.centre;
            let _ = large
                .grid()
                .visit_touching(seen, atom.radius + prediction, |other| {
                    // Differences are taken in the frame of the large molecule, where
                    // they were compared, and only then turned.
                    let between = other.centre - seen;
                    let distance = between.length();
                    let normal = if distance > f32::MIN_POSITIVE {
                        pose.rotation * (between / distance)
                    } else {
                        apart
                    };
                    contacts.push(AtomContact {
                        atom: atom.index,
                        other: other.index,
                        on_atom: atom.centre + normal * atom.radius,
                        on_other: atom.centre + normal * (distance - other.radius),
                        normal,
                        dist: distance - atom.radius - other.radius,
                        direction: 0,
                    });
                    ControlFlow::<()>::Continue(())
                });
        });
}
