//! Contacts between the atoms of a molecule and any other shape.

use glam::Vec3;
use rapier3d::parry::bounding_volume::BoundingVolume;
use rapier3d::parry::math::Pose3;
use rapier3d::parry::shape::Shape;

use super::atom_contact::AtomContact;
use crate::rapier::MoleculeShape;
use crate::rapier::convex_parts::{has_parts, visit_parts};
use crate::rapier::distance::visit_atoms_near;

/// A point this far (nm) above the tangent plane of a deeper contact is a place of
/// its own: far above rounding, far below an atom.
const APART: f32 = 1.0e-4;

/// Adds all contacts of atoms and convex parts of `other` that are nearer than
/// `prediction` nm.
///
/// `pose` is that of `other` in the body frame, in which the contacts are.
pub(in crate::rapier) fn collect(
    molecule: &MoleculeShape,
    other: &dyn Shape,
    pose: &Pose3,
    prediction: f32,
    contacts: &mut Vec<AtomContact>,
) {
    let first = contacts.len();
    let region = molecule
        .aabb()
        .transform_by(&pose.inverse())
        .loosened(prediction);
    visit_parts(other, &region, &mut |id, part_pose, part| {
        let pose = part_pose.map_or(*pose, |inner| *pose * *inner);
        visit_atoms_near(molecule, part, &pose, prediction, |atom| {
            contacts.extend(atom_and_part(molecule, atom, part, &pose, id));
            false
        });
    });
    // Walks visit atoms that are near; which of them are near enough shows here.
    retain_from(contacts, first, |contact| contact.dist <= prediction);
    if has_parts(other) {
        remove_ghosts(contacts, first);
    }
}

/// The contact of one atom with a convex part that has `pose` in the body frame.
///
/// With `p` the point of the part's surface that is nearest to the center `c`, the
/// normal is `p − c` from outside and `c − p` from inside, where the way out of the
/// part is the way back to its surface.
fn atom_and_part(
    molecule: &MoleculeShape,
    atom: u32,
    part: &dyn Shape,
    pose: &Pose3,
    id: u32,
) -> Option<AtomContact> {
    let (center, radius) = molecule.atom(atom)?;
    let (projection, feature) = part.project_point_and_get_feature(pose, center);
    let between = projection.point - center;
    let distance = between.length();
    let (normal, signed) = if distance > f32::EPSILON {
        let way = between / distance;
        if projection.is_inside {
            (-way, -distance)
        } else {
            (way, distance)
        }
    } else {
        // The center lies on the surface: the surface itself must say where out is.
        let outwards = part
            .feature_normal_at_point(feature, pose.inverse_transform_point(projection.point))
            .filter(|normal| normal.is_normalized())
            .map_or_else(
                || (center - pose.translation).normalize_or(Vec3::Y),
                |normal| pose.rotation * normal,
            );
        (-outwards, 0.0)
    };
    (signed.is_finite() && normal.is_finite()).then(|| AtomContact {
        atom,
        other: id,
        on_atom: center + normal * radius,
        on_other: projection.point,
        normal,
        dist: signed - radius,
        direction: 0,
    })
}

/// Removes contacts with inner edges: of two triangles of a flat floor, only the one
/// under the atom is really there.
///
/// Where an atom touches several parts, a contact stays if its point lies above the
/// tangent planes of all deeper ones, as that of a wall does over a floor. Points in
/// or below such a plane belong to the same flat or convex place.
fn remove_ghosts(contacts: &mut Vec<AtomContact>, first: usize) {
    contacts[first..].sort_unstable_by(|a, b| a.atom.cmp(&b.atom).then_with(|| a.deeper(b)));
    let mut kept = first;
    let mut of_atom = first;
    for at in first..contacts.len() {
        let contact = contacts[at];
        if of_atom < kept && contacts[of_atom].atom != contact.atom {
            of_atom = kept;
        }
        let real = contacts[of_atom..kept]
            .iter()
            .all(|deeper| (deeper.on_other - contact.on_other).dot(deeper.normal) > APART);
        if real {
            contacts[kept] = contact;
            kept += 1;
        }
    }
    contacts.truncate(kept);
}

/// `Vec::retain` for the elements from `first` on.
fn retain_from(contacts: &mut Vec<AtomContact>, first: usize, keep: impl Fn(&AtomContact) -> bool) {
    let mut kept = first;
    for at in first..contacts.len() {
        if keep(&contacts[at]) {
            contacts[kept] = contacts[at];
            kept += 1;
        }
    }
    contacts.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contact(atom: u32, on_other: Vec3, normal: Vec3, dist: f32) -> AtomContact {
        AtomContact {
            atom,
            other: 0,
            on_atom: on_other - normal * dist,
            on_other,
            normal,
            dist,
            direction: 0,
        }
    }

    #[test]
    fn an_inner_edge_goes_and_a_wall_stays() {
        let floor = contact(1, Vec3::ZERO, Vec3::NEG_Y, -0.01);
        let edge = contact(
            1,
            Vec3::X * 0.05,
            Vec3::new(0.4, -0.9, 0.0).normalize(),
            0.005,
        );
        let wall = contact(1, Vec3::new(0.1, 0.1, 0.0), Vec3::X, 0.0);
        let second = contact(0, Vec3::X * 0.05, Vec3::NEG_Y, 0.01);
        let mut contacts = vec![edge, wall, floor, second];
        remove_ghosts(&mut contacts, 0);
        assert_eq!(contacts, [second, floor, wall]);
    }
}
