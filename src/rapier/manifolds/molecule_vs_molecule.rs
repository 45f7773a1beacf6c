//! Contacts between the atoms of two molecules.

use std::ops::ControlFlow;

use glam::Vec3;
use rapier3d::parry::bounding_volume::BoundingVolume;
use rapier3d::parry::math::Pose3;

use super::atom_contact::AtomContact;
use crate::rapier::MoleculeShape;

/// Depth, in units of the smaller atom's radius, from which on the line between two
/// centers is no longer trusted to show the way out.
///
/// With 0.5, eight proteins dropped on each other with overlaps of up to 0.2 nm were
/// apart within seconds; with 1.0 some stayed interlocked.
const DEEP: f32 = 0.5;

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

/// Turns the normals of deep contacts towards the way out of the whole overlap.
///
/// Where two atoms have all but passed through each other, the line between their
/// centers says little about where out is: it may even point further in, and then the
/// contacts of two interlocked surfaces hold each other fast. The way out is the way
/// in which the overlap shrinks fastest, the sum of normals weighted with depth (the
/// gradient of the sum of squared depths); as far as the normals do not agree on one,
/// it is the way from center to center. A contact follows it by the share of [`DEEP`]
/// that it is deep, so that shallow contacts stay as they are; only those that point
/// the other way, and so would hold the rest fast, follow as far as the deepest does.
pub(in crate::rapier) fn turn_deep_contacts(
    a: &MoleculeShape,
    b: &MoleculeShape,
    pose: &Pose3,
    contacts: &mut [AtomContact],
) {
    let share = |contact: &AtomContact| match (a.atom(contact.atom), b.atom(contact.other)) {
        (Some((_, ra)), Some((_, rb))) => (-contact.dist / (DEEP * ra.min(rb))).clamp(0.0, 1.0),
        _ => 0.0,
    };
    let (mut sum, mut total, mut largest) = (Vec3::ZERO, 0.0, 0.0_f32);
    for contact in contacts.iter().filter(|contact| contact.dist < 0.0) {
        sum -= contact.normal * contact.dist;
        total -= contact.dist;
        largest = largest.max(share(contact));
    }
    if largest == 0.0 {
        return;
    }
    let apart = pose.translation.normalize_or(Vec3::Y);
    let agreement = sum.length() / total;
    let out = (sum / total + (1.0 - agreement) * apart).normalize_or(apart);
    for contact in contacts {
        let share = if contact.normal.dot(out) < 0.0 {
            largest
        } else {
            share(contact)
        };
        contact.normal = contact.normal.lerp(out, share).normalize_or(out);
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
    // Centers lie at least this far outside of the box that their balls meet.
    let reach = small.grid().largest_radius();
    let inverse = pose.inverse();
    let apart = pose.translation.normalize_or(Vec3::Y);
    small
        .grid()
        .visit_in_box(region.mins - reach, region.maxs + reach, |atom| {
            let seen = inverse * atom.center;
            let _ = large
                .grid()
                .visit_touching(seen, atom.radius + prediction, |other| {
                    // Differences are taken in the frame of the large molecule, where
                    // they were compared, and only then turned.
                    let between = other.center - seen;
                    let distance = between.length();
                    let normal = if distance > f32::MIN_POSITIVE {
                        pose.rotation * (between / distance)
                    } else {
                        apart
                    };
                    contacts.push(AtomContact {
                        atom: atom.index,
                        other: other.index,
                        on_atom: atom.center + normal * atom.radius,
                        on_other: atom.center + normal * (distance - other.radius),
                        normal,
                        dist: distance - atom.radius - other.radius,
                        direction: 0,
                    });
                    ControlFlow::<()>::Continue(())
                });
        });
}
