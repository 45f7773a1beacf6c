//! Contacts between the atoms of two molecules.

use std::ops::ControlFlow;

use glam::Vec3;
use rapier3d::parry::bounding_volume::BoundingVolume;
use rapier3d::parry::math::Pose3;

use super::AtomContact;
use crate::rapier::MoleculeShape;

/// Depth, relative to the radius of the smaller atom, beyond which the line between two
/// centers is no longer a reliable separation direction.
///
/// With 0.5, eight proteins dropped on each other with overlaps of up to 0.2 nm separated
/// within seconds; with 1.0 some stayed interlocked.
const DEEP_RATIO: f32 = 0.5;

/// Collects all pairs of atoms that are closer than `prediction` nm, in the frame of `a`.
///
/// `pose` is the pose of `b` in the frame of `a`. The atoms of the smaller molecule inside
/// the box of the larger one are looked up in the grid of the larger one.
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
    collect_small_large(b, a, &pose.inverse(), prediction, contacts);
    for contact in contacts {
        let flipped = contact.flipped();
        *contact = AtomContact {
            on_atom: pose * flipped.on_atom,
            on_other: pose * flipped.on_other,
            normal: pose.rotation * flipped.normal,
            ..flipped
        };
    }
}

/// Blends the normals of deep contacts towards the separation direction of the molecules.
///
/// When two atoms have almost passed through each other, the line between their centers may
/// point further in, and the contacts of two interlocked surfaces block each other. The
/// separation direction is the one in which the overlap shrinks fastest: the sum of the
/// normals weighted by depth (the gradient of the sum of squared depths). To the extent that
/// the normals disagree, it is the line between the centers of mass. The blend factor of a
/// contact is its depth relative to [`DEEP_RATIO`], so shallow contacts keep their normals.
/// Contacts that point the opposite way use the factor of the deepest one.
pub(in crate::rapier) fn blend_deep_normals(
    a: &MoleculeShape,
    b: &MoleculeShape,
    pose: &Pose3,
    contacts: &mut [AtomContact],
) {
    let blend_factor = |contact: &AtomContact| match (a.atom(contact.atom), b.atom(contact.other)) {
        (Some((_, ra)), Some((_, rb))) => {
            (-contact.dist / (DEEP_RATIO * ra.min(rb))).clamp(0.0, 1.0)
        }
        _ => 0.0,
    };
    let (mut sum, mut total, mut max_factor) = (Vec3::ZERO, 0.0, 0.0_f32);
    for contact in contacts.iter().filter(|contact| contact.dist < 0.0) {
        sum -= contact.normal * contact.dist;
        total -= contact.dist;
        max_factor = max_factor.max(blend_factor(contact));
    }
    if max_factor == 0.0 {
        return;
    }
    let between_centers = pose.translation.normalize_or(Vec3::Y);
    let agreement = sum.length() / total;
    let separation =
        (sum / total + (1.0 - agreement) * between_centers).normalize_or(between_centers);
    for contact in contacts {
        let factor = if contact.normal.dot(separation) < 0.0 {
            max_factor
        } else {
            blend_factor(contact)
        };
        let blended = contact.normal.lerp(separation, factor);
        contact.normal = blended.normalize_or(separation);
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
    // An atom that touches the box has its center at most this far outside.
    let margin = small.grid().largest_radius();
    let inverse = pose.inverse();
    let between_centers = pose.translation.normalize_or(Vec3::Y);
    small
        .grid()
        .visit_in_box(region.mins - margin, region.maxs + margin, |atom| {
            let local = inverse * atom.center;
            let _ = large
                .grid()
                .visit_touching(local, atom.radius + prediction, |other| {
                    // The difference is taken in the frame of the large molecule, where
                    // the grid compared the atoms, and rotated afterwards.
                    let between = other.center - local;
                    let distance = between.length();
                    let normal = if distance > f32::MIN_POSITIVE {
                        pose.rotation * (between / distance)
                    } else {
                        between_centers
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
