//! Writes atom contacts into the manifolds that Rapier keeps for a pair.

use glam::{Quat, Vec3};
use rapier3d::parry::math::Pose3;
use rapier3d::parry::query::details::{
    ContactManifoldsWorkspace, TypedWorkspaceData, WorkspaceData,
};
use rapier3d::parry::query::{ContactManifold, TrackedContact};
use rapier3d::parry::shape::PackedFeatureId;

use super::atom_contact::AtomContact;
use super::direction;
use super::reduction::{MOST_POINTS, choose};

/// Most indices that parry's feature names have room for.
const NAME_MASK: u32 = 0x3fff_ffff;

/// How contacts are to be written.
pub(in crate::rapier) struct Written {
    /// Pose of the other shape in the frame that the contacts are in.
    pub pose: Pose3,
    /// The other shape is the first of the pair.
    pub flipped: bool,
    /// Distance (nm) up to which contacts were collected.
    pub prediction: f32,
    /// Rotation to the contacts' frame from the one in which directions are fixed.
    pub directions: Quat,
}

/// Tells Rapier that the number of a pair's manifolds is not constant.
///
/// Rapier's solver remembers manifolds by their number. Only for pairs that have a
/// workspace does it look again at what became of them; without one, a manifold that
/// is gone would stay in its lists.
#[derive(Clone, Copy)]
struct ManifoldsComeAndGo;

impl WorkspaceData for ManifoldsComeAndGo {
    fn as_typed_workspace_data(&self) -> TypedWorkspaceData<'_> {
        TypedWorkspaceData::Custom
    }

    fn clone_dyn(&self) -> Box<dyn WorkspaceData> {
        Box::new(*self)
    }
}

/// Removes all manifolds of a pair.
pub(in crate::rapier) fn clear<M, C>(
    manifolds: &mut Vec<ContactManifold<M, C>>,
    workspace: &mut Option<ContactManifoldsWorkspace>,
) {
    *workspace = (!manifolds.is_empty()).then(|| ManifoldsComeAndGo.into());
    manifolds.clear();
}

/// Replaces the manifolds of a pair by those of `contacts`, which are sorted on the
/// way. What Rapier stored with a point stays with it as long as the point is there.
pub(in crate::rapier) fn write<M, C>(
    contacts: &mut [AtomContact],
    how: &Written,
    manifolds: &mut Vec<ContactManifold<M, C>>,
    workspace: &mut Option<ContactManifoldsWorkspace>,
) where
    M: Default + Clone,
    C: Default + Copy,
{
    let inverse = how.directions.inverse();
    for contact in contacts.iter_mut() {
        contact.direction = direction(inverse * contact.normal);
    }
    contacts.sort_unstable_by(|a, b| a.direction.cmp(&b.direction).then_with(|| a.deeper(b)));

    let before: Vec<TrackedContact<C>> = manifolds
        .iter()
        .flat_map(|manifold| manifold.points.iter().copied())
        .collect();
    let old_count = manifolds.len();
    let mut count = 0;
    for patch in contacts.chunk_by(|a, b| a.direction == b.direction) {
        if count == manifolds.len() {
            manifolds.push(ContactManifold::new());
        }
        write_patch(patch, how, &before, &mut manifolds[count]);
        count += 1;
    }
    manifolds.truncate(count);
    let constant = count == old_count && count <= 1;
    *workspace = (!constant).then(|| ManifoldsComeAndGo.into());
}

/// Writes contacts of one direction, deepest first, into one manifold.
fn write_patch<M, C: Default + Copy>(
    patch: &[AtomContact],
    how: &Written,
    before: &[TrackedContact<C>],
    manifold: &mut ContactManifold<M, C>,
) {
    let normal = mean_normal(patch, how.prediction);
    let find = |contact: &AtomContact| {
        let (name1, name2) = names(contact, how.flipped);
        before
            .iter()
            .find(|old| old.fid1 == name1 && old.fid2 == name2)
    };
    let (count, chosen): (usize, [usize; MOST_POINTS]) =
        choose(patch, normal, |contact| find(contact).is_some());

    manifold.points.clear();
    for &index in &chosen[..count] {
        let contact = &patch[index];
        let (name1, name2) = names(contact, how.flipped);
        let on_other = how.pose.inverse_transform_point(contact.on_other);
        let (point1, point2) = if how.flipped {
            (on_other, contact.on_atom)
        } else {
            (contact.on_atom, on_other)
        };
        let mut point = TrackedContact::new(point1, point2, name1, name2, contact.dist);
        if let Some(old) = find(contact) {
            point.data = old.data;
        }
        manifold.points.push(point);
    }
    let towards_molecule = how.pose.rotation.inverse() * -normal;
    let deepest = &patch[0];
    if how.flipped {
        (manifold.local_n1, manifold.local_n2) = (towards_molecule, normal);
        (manifold.subshape1, manifold.subshape2) = (deepest.other, deepest.atom);
    } else {
        (manifold.local_n1, manifold.local_n2) = (normal, towards_molecule);
        (manifold.subshape1, manifold.subshape2) = (deepest.atom, deepest.other);
    }
    manifold.subshape_poses = None;
}

/// Mean of the normals, each with the depth below the prediction distance as weight,
/// so that a contact that comes or goes there does not turn the mean.
fn mean_normal(patch: &[AtomContact], prediction: f32) -> Vec3 {
    let sum: Vec3 = patch
        .iter()
        .map(|contact| contact.normal * (prediction - contact.dist))
        .sum();
    sum.try_normalize().unwrap_or(patch[0].normal)
}

/// Names of the two sides of a contact, first shape first.
fn names(contact: &AtomContact, flipped: bool) -> (PackedFeatureId, PackedFeatureId) {
    let atom = PackedFeatureId::face(contact.atom & NAME_MASK);
    let other = PackedFeatureId::face(contact.other & NAME_MASK);
    if flipped {
        (other, atom)
    } else {
        (atom, other)
    }
}
