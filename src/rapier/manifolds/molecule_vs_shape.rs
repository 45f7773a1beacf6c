//! Contacts between the atoms of a molecule and another shape.

use glam::Vec3;
use rapier3d::parry::bounding_volume::BoundingVolume;
use rapier3d::parry::math::Pose3;
use rapier3d::parry::shape::Shape;

use super::AtomContact;
use crate::rapier::MoleculeShape;
use crate::rapier::convex_parts::{has_parts, visit_parts};
use crate::rapier::distance::visit_atoms_near;

/// Height (nm) above the tangent plane of a deeper contact from which a contact is separate:
/// far above rounding, far below an atom.
const SEPARATE_HEIGHT: f32 = 1.0e-4;

/// Collects all contacts between atoms and convex parts of `other` that are closer than
/// `prediction` nm, in the body frame. `pose` is the pose of `other` in the body frame.
pub(in crate::rapier) fn collect(
    molecule: &MoleculeShape,
    other: &dyn Shape,
    pose: &Pose3,
    prediction: f32,
    contacts: &mut Vec<AtomContact>,
) {
    let region = molecule
        .aabb()
        .transform_by(&pose.inverse())
        .loosened(prediction);
    visit_parts(other, &region, &mut |id, part_pose, part| {
        let pose = part_pose.map_or(*pose, |inner| *pose * *inner);
        visit_atoms_near(molecule, part, &pose, prediction, |atom| {
            contacts.extend(atom_vs_part(molecule, atom, part, &pose, id));
            false
        });
    });
    contacts.retain(|contact| contact.dist <= prediction);
    if has_parts(other) {
        remove_ghost_contacts(contacts);
    }
}

/// The contact of an atom with a convex part, which has `pose` in the body frame.
///
/// With `p` the point of the surface of the part nearest to the center `c`, the normal is
/// along `p − c` if `c` is outside the part and along `c − p` if it is inside.
fn atom_vs_part(
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
        let towards_surface = between / distance;
        if projection.is_inside {
            (-towards_surface, -distance)
        } else {
            (towards_surface, distance)
        }
    } else {
        // The center lies on the surface: use the normal of the surface.
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

/// Removes ghost contacts with inner edges: of two triangles of a flat floor, only the one
/// under the atom is a real contact.
///
/// Where an atom touches several parts, a contact stays if its point lies above the tangent
/// planes of all deeper ones, as for a wall above a floor. Points in or below such a plane
/// belong to the same flat or convex region.
fn remove_ghost_contacts(contacts: &mut Vec<AtomContact>) {
    contacts.sort_unstable_by(|a, b| a.atom.cmp(&b.atom).then_with(|| a.cmp_depth(b)));
    let mut kept = 0;
    let mut atom_start = 0;
    for index in 0..contacts.len() {
        let contact = contacts[index];
        if atom_start < kept && contacts[atom_start].atom != contact.atom {
            atom_start = kept;
        }
        let is_real = contacts[atom_start..kept].iter().all(|deeper| {
            (deeper.on_other - contact.on_other).dot(deeper.normal) > SEPARATE_HEIGHT
        });
        if is_real {
            contacts[kept] = contact;
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
    fn inner_edges_are_removed_and_walls_stay() {
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
        remove_ghost_contacts(&mut contacts);
        assert_eq!(contacts, [second, floor, wall]);
    }
}
